//! Predictions for records that somebody asked about, and what the quality of a model on a table is
//! measured from.

use std::path::Path;

use reticent_data::{
    DataError, Dataset, EncodedRow, Head, KeptCell, Purpose, ReadOptions, RecordVisitor, Schema,
    visit, visit_dataset,
};
use reticent_problem::Shape;

/// A linear model: a row-major matrix of this shape, and the constant that its intercept is
/// multiplied with.
#[derive(Clone, Copy, Debug)]
pub struct Linear<'a> {
    /// The layout of the parameter.
    pub shape: Shape,
    /// The parameter.
    pub parameter: &'a [f64],
    /// The constant behind the intercept.
    pub intercept: f64,
}

impl Linear<'_> {
    fn add_scores(&self, row: &EncodedRow, all: &mut Vec<f64>) {
        let Shape { features, outputs, .. } = self.shape;
        let (weights, last) = self.parameter.split_at(features * outputs);
        let start = all.len();
        all.resize(start + outputs, 0.0);
        let scores = &mut all[start..];
        scores.iter_mut().zip(last).for_each(|(score, b)| *score = b * self.intercept);
        for (&feature, &value) in row.indices.iter().zip(&row.values) {
            for (score, weight) in scores.iter_mut().zip(&weights[feature as usize * outputs..]) {
                *score += value * weight;
            }
        }
    }
}

/// Where a table to score is.
#[derive(Clone, Copy, Debug)]
pub enum TablePlace<'a> {
    /// In a file, read as is said; `-` is standard input.
    File(&'a Path, ReadOptions),
    /// In memory.
    Memory(&'a Dataset<'a>),
}

/// A table to score.
#[derive(Clone, Copy, Debug)]
pub struct ScoredTable<'a> {
    /// Where it is.
    pub place: TablePlace<'a>,
    /// The schema that the model carries.
    pub schema: &'a Schema,
    /// Whether the targets are read too.
    pub targets: bool,
    /// Columns of a file to hand on as they are.
    pub keep: &'a [String],
}

/// The next records of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scored {
    /// The scores, a row of `shape.outputs` for each record.
    pub scores: Vec<f64>,
    /// The encoded targets, where they were asked for.
    pub targets: Vec<f64>,
    /// The columns to hand on, each with a cell for each record.
    pub kept: Vec<Vec<KeptCell>>,
    /// Records.
    pub records: usize,
}

/// So many records are handed on at a time.
const BATCH: usize = 4096;

/// Scores every record of a table in the memory of a few thousand, and hands them on. `head` is
/// told what is known before the first of them; what says `false` ends it.
pub fn score(
    source: &ScoredTable<'_>,
    model: &Linear<'_>,
    head: &mut dyn FnMut(Head) -> bool,
    each: &mut dyn FnMut(Scored) -> bool,
) -> Result<(), DataError> {
    let purpose = if source.targets { Purpose::Fit } else { Purpose::Predict };
    let mut batches =
        ScoreBatches { model, source, batch: Scored::default(), head, each, goes_on: true };
    match source.place {
        TablePlace::File(path, reading) => {
            visit(path, reading, source.schema, purpose, source.keep, &mut batches)?;
        }
        TablePlace::Memory(dataset) => {
            if batches.head(Head { kept: Vec::new(), unread: 0 }) {
                let mut record = |row: &EncodedRow| batches.record(row, &[]);
                visit_dataset(dataset, source.schema, purpose, &mut record)?;
            }
        }
    }
    if batches.goes_on && batches.batch.records > 0 {
        batches.hand_on();
    }
    Ok(())
}

struct ScoreBatches<'a> {
    model: &'a Linear<'a>,
    source: &'a ScoredTable<'a>,
    batch: Scored,
    head: &'a mut dyn FnMut(Head) -> bool,
    each: &'a mut dyn FnMut(Scored) -> bool,
    goes_on: bool,
}

impl ScoreBatches<'_> {
    fn hand_on(&mut self) {
        let kept = vec![Vec::new(); self.source.keep.len()];
        let next = Scored {
            kept,
            scores: Vec::with_capacity(self.batch.scores.len()),
            ..Scored::default()
        };
        self.goes_on = (self.each)(std::mem::replace(&mut self.batch, next));
    }
}

impl RecordVisitor for ScoreBatches<'_> {
    fn head(&mut self, head: Head) -> bool {
        self.batch.kept = vec![Vec::new(); self.source.keep.len()];
        self.goes_on = (self.head)(head);
        self.goes_on
    }

    fn record(&mut self, row: &EncodedRow, kept: &[KeptCell]) -> bool {
        self.model.add_scores(row, &mut self.batch.scores);
        if self.source.targets {
            self.batch.targets.push(row.target);
        }
        for (column, cell) in self.batch.kept.iter_mut().zip(kept) {
            column.push(cell.clone());
        }
        self.batch.records += 1;
        if self.batch.records == BATCH {
            self.hand_on();
        }
        self.goes_on
    }
}
