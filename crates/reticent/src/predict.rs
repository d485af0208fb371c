//! From a model and a table to predictions, a few thousand records at a time, and to the quality of
//! all of them.

use std::path::Path;

use reticent_oracle::tables::{Dataset, Head, KeptCell, ReadOptions, TargetKind};
use reticent_oracle::without_privacy::{self, Scored, ScoredTable, TablePlace};
use serde::Serialize;

use crate::error::Error;
use crate::model::Model;
use crate::quality::{ClassFigures, Quality, RangeFigures, class_of};
use crate::ranking::RocCurves;
use crate::source::{Files, no_table};

/// The table to predict for, and options.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PredictionInput<'a> {
    /// The table; `-` is standard input.
    pub data: &'a Path,
    /// The options of reading.
    pub reading: ReadOptions,
    /// Columns of it to hand on as they are.
    pub keep: &'a [String],
    /// With two classes: above which probability (or score, of a loss without probabilities) a
    /// record is taken for the second one.
    pub threshold: Option<f64>,
}

impl<'a> PredictionInput<'a> {
    /// A table, and nothing special.
    pub fn table(data: &'a Path, reading: impl Into<ReadOptions>) -> Self {
        PredictionInput { data, reading: reading.into(), keep: &[], threshold: None }
    }

    /// This with options set.
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }
}

/// Predictions for the next records of a table.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Predicted {
    /// The class of each record, by its place among [`Model::classes`]; empty for numbers.
    pub classes: Vec<usize>,
    /// The numbers that [`Model::number_columns`] names, column by column.
    pub numbers: Vec<Vec<f64>>,
    /// The columns that were to be kept.
    pub kept: Vec<Vec<KeptCell>>,
    /// The number of records.
    pub records: usize,
}

/// The prediction for one record.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Prediction {
    /// A class and the probability of each class.
    Class {
        /// The predicted class.
        class: String,
        /// The probabilities, in the order of the classes.
        probabilities: Vec<f64>,
    },
    /// A class and its score, of a loss that has no probabilities.
    Margin {
        /// The predicted class.
        class: String,
        /// The score of the second class: the further from 0, the surer.
        score: f64,
    },
    /// A number, in the units of the target.
    Number {
        /// The number.
        value: f64,
    },
}

/// The quality of a model on a table, with the curves behind it. Not private.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// The figures of quality.
    pub quality: Quality,
    /// The curves of the second class or, of more than two, of each against the rest; empty for
    /// numbers.
    pub curves: Vec<(String, RocCurves)>,
}

impl Model {
    /// The names of the numbers that a prediction has: the probability of each class, the score of
    /// the second one, or the predicted number itself.
    pub fn number_columns(&self) -> Vec<String> {
        match self.classes() {
            None => vec!["prediction".to_owned()],
            Some(classes) if self.has_probabilities() => {
                classes.iter().map(|class| format!("probability of {class}")).collect()
            }
            Some(classes) => {
                classes.iter().skip(1).map(|class| format!("score of {class}")).collect()
            }
        }
    }

    /// Predicts for every record, in the memory of a few thousand, and hands the predictions on.
    /// `head` is told what is known before the first of them; what says `false` ends it.
    ///
    /// # Errors
    /// If the table does not have the columns that the model reads, a cell cannot be read, or the
    /// threshold cannot be.
    pub fn predict_each(
        &self,
        asked: &PredictionInput<'_>,
        mut head: impl FnMut(Head) -> bool,
        mut each: impl FnMut(Predicted) -> bool,
    ) -> Result<(), Error> {
        let cut = self.cut(asked.threshold)?;
        self.predict_from(&self.source(asked, false), cut, &mut head, &mut each)
    }

    fn predict_from(
        &self,
        source: &ScoredTable<'_>,
        cut: f64,
        head: &mut dyn FnMut(Head) -> bool,
        each: &mut dyn FnMut(Predicted) -> bool,
    ) -> Result<(), Error> {
        let parameter = self.parameter();
        let mut each = |scored| each(self.predicted(scored, cut));
        Ok(without_privacy::score(source, &self.linear(&parameter), head, &mut each)?)
    }

    /// All predictions for the records of a table in memory, which needs no targets.
    ///
    /// # Errors
    /// If it does not have the columns that the model reads, or a cell cannot be read.
    pub fn predict_dataset(&self, data: &Dataset<'_>) -> Result<Vec<Prediction>, Error> {
        let mut all = Vec::new();
        let mut each = |batch: Predicted| {
            all.extend((0..batch.records).map(|i| self.prediction(&batch, i)));
            true
        };
        let source = self.source_at(TablePlace::Memory(data), false, &[]);
        self.predict_from(&source, self.cut(None)?, &mut |_| true, &mut each)?;
        Ok(all)
    }

    /// Predicts as [`Model::predict_dataset`], column by column.
    ///
    /// # Errors
    /// As there.
    pub fn predict_whole(&self, data: &Dataset<'_>) -> Result<Predicted, Error> {
        let mut whole = Predicted::default();
        let mut each = |batch: Predicted| {
            whole.classes.extend(batch.classes);
            whole.numbers.resize_with(batch.numbers.len(), Vec::new);
            whole.numbers.iter_mut().zip(batch.numbers).for_each(|(all, more)| all.extend(more));
            whole.records += batch.records;
            true
        };
        let source = self.source_at(TablePlace::Memory(data), false, &[]);
        self.predict_from(&source, self.cut(None)?, &mut |_| true, &mut each)?;
        Ok(whole)
    }

    /// The scores of the records of a table in memory, record by record and within a record one for
    /// each output: log-odds or margins, or the encoded number.
    ///
    /// # Errors
    /// As [`Model::predict_dataset`].
    pub fn score_dataset(&self, data: &Dataset<'_>) -> Result<Vec<f64>, Error> {
        let parameter = self.parameter();
        let mut all = Vec::new();
        let mut each = |batch: Scored| {
            all.extend(batch.scores);
            true
        };
        let source = self.source_at(TablePlace::Memory(data), false, &[]);
        without_privacy::score(&source, &self.linear(&parameter), &mut |_| true, &mut each)?;
        Ok(all)
    }

    /// All predictions for the records of a file.
    ///
    /// # Errors
    /// If the table does not have the columns that the model reads, or a cell cannot be read.
    pub fn predict(
        &self,
        data: &Path,
        reading: impl Into<ReadOptions>,
    ) -> Result<Vec<Prediction>, Error> {
        let mut all = Vec::new();
        let each = |batch: Predicted| {
            all.extend((0..batch.records).map(|i| self.prediction(&batch, i)));
            true
        };
        self.predict_each(&PredictionInput::table(data, reading), |_| true, each)?;
        Ok(all)
    }

    /// Record `i` of a batch.
    pub fn prediction(&self, batch: &Predicted, i: usize) -> Prediction {
        let numbers: Vec<f64> = batch.numbers.iter().map(|column| column[i]).collect();
        match (batch.classes.get(i), self.classes()) {
            (Some(&class), Some(classes)) => {
                let class = classes[class].to_owned();
                if self.has_probabilities() {
                    Prediction::Class { class, probabilities: numbers }
                } else {
                    Prediction::Margin { class, score: numbers[0] }
                }
            }
            _ => Prediction::Number { value: numbers[0] },
        }
    }

    /// The quality of the model on a file with targets. Not private.
    ///
    /// # Errors
    /// If the table does not have the columns that the model reads, or a cell cannot be read.
    pub fn evaluate(&self, data: &Path, reading: impl Into<ReadOptions>) -> Result<Quality, Error> {
        Ok(self.measure(&PredictionInput::table(data, reading))?.quality)
    }

    /// The quality of the model on a table in memory with targets. Not private.
    ///
    /// # Errors
    /// If it does not have the columns that the model reads, or a cell cannot be read.
    pub fn evaluate_dataset(&self, data: &Dataset<'_>) -> Result<Quality, Error> {
        let source = self.source_at(TablePlace::Memory(data), true, &[]);
        Ok(self.measure_from(&[source], None, self.cut(None)?)?.quality)
    }

    /// The quality on a file, with its curves.
    ///
    /// # Errors
    /// If the table does not have the columns that the model reads, or a cell cannot be read.
    pub fn measure(&self, asked: &PredictionInput<'_>) -> Result<Measured, Error> {
        let source = self.source(asked, true);
        self.measure_from(&[source], None, self.cut(asked.threshold)?)
    }

    /// The same on files that are one table, each read once. 8 bytes of a record stay in memory, for each
    /// class where there are more than two, or 64 MiB in all, and the others in files without a name in the
    /// folder of the cache.
    ///
    /// # Errors
    /// As [`Model::measure`], and if there is no file, a cache is to be kept, or a file cannot be written.
    pub fn measure_files(&self, data: &Files, threshold: Option<f64>) -> Result<Measured, Error> {
        if data.paths.is_empty() {
            return Err(no_table());
        }
        if data.keep_cache {
            let why = "an evaluation without a budget reads the table once and keeps nothing; leave it out";
            return Err(Error::value("keep_cache", "true", why));
        }
        let place = |path| TablePlace::File(path, data.reading);
        let sources: Vec<_> =
            data.paths.iter().map(|path| self.source_at(place(path), true, &[])).collect();
        self.measure_from(&sources, data.cache.as_deref(), self.cut(threshold)?)
    }

    fn measure_from(
        &self,
        sources: &[ScoredTable<'_>],
        folder: Option<&Path>,
        cut: f64,
    ) -> Result<Measured, Error> {
        let Some(classes) = self.classes() else {
            let mut figures = RangeFigures::new(folder);
            self.each_scored(sources, |scores, target| {
                figures.add(self.decode(scores[0]), self.decode(target))
            })?;
            return Ok(Measured { quality: figures.quality()?, curves: Vec::new() });
        };
        let mut figures = ClassFigures::new(classes.len(), self.has_probabilities(), folder);
        self.each_scored(sources, |scores, target| {
            figures.add(scores, target, class_of(scores, cut))
        })?;
        let quality = figures.quality()?;
        let named = |(k, curves): (usize, RocCurves)| (classes[k].to_owned(), curves);
        Ok(Measured { quality, curves: figures.curves()?.into_iter().map(named).collect() })
    }

    /// The scores and the encoded target of every record, one source behind the other.
    fn each_scored(
        &self,
        sources: &[ScoredTable<'_>],
        mut each: impl FnMut(&[f64], f64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (parameter, outputs) = (self.parameter(), self.outputs().len());
        for source in sources {
            let mut added = Ok(());
            let mut some = |batch: Scored| {
                let mut records = batch.scores.chunks_exact(outputs).zip(&batch.targets);
                added = records.try_for_each(|(scores, &target)| each(scores, target));
                added.is_ok()
            };
            without_privacy::score(source, &self.linear(&parameter), &mut |_| true, &mut some)?;
            added?;
        }
        Ok(())
    }

    fn source<'a>(&'a self, asked: &PredictionInput<'a>, targets: bool) -> ScoredTable<'a> {
        let PredictionInput { data, reading, keep, .. } = *asked;
        self.source_at(TablePlace::File(data, reading), targets, keep)
    }

    fn source_at<'a>(
        &'a self,
        place: TablePlace<'a>,
        targets: bool,
        keep: &'a [String],
    ) -> ScoredTable<'a> {
        ScoredTable { place, schema: self.preprocessing(), targets, keep }
    }

    /// The threshold as a score.
    pub(crate) fn cut(&self, threshold: Option<f64>) -> Result<f64, Error> {
        let Some(given) = threshold else { return Ok(0.0) };
        if self.outputs().len() > 1 || self.classes().is_none() {
            return Err(Error::value(
                "threshold",
                given,
                "it is for a model of two classes, and this is none; leave it out",
            ));
        }
        if !self.has_probabilities() {
            let finite = given.is_finite().then_some(given);
            return finite
                .ok_or_else(|| Error::value("threshold", given, "a finite score is needed"));
        }
        if !(0.0..=1.0).contains(&given) {
            return Err(Error::value("threshold", given, "a probability from 0 to 1 is needed"));
        }
        Ok((given / (1.0 - given)).ln())
    }

    fn predicted(&self, scored: Scored, cut: f64) -> Predicted {
        let Scored { scores, kept, records, .. } = scored;
        let outputs = self.outputs().len();
        let rows = scores.chunks_exact(outputs);
        let Some((_, TargetKind::Classes(labels))) = self.target() else {
            let numbers = vec![scores.iter().map(|&score| self.decode(score)).collect()];
            return Predicted { classes: Vec::new(), numbers, kept, records };
        };
        let classes = rows.clone().map(|scores| class_of(scores, cut)).collect();
        if !self.has_probabilities() {
            return Predicted { classes, numbers: vec![scores], kept, records };
        }
        let mut numbers = vec![Vec::with_capacity(records); labels.len()];
        let mut weights = vec![0.0; labels.len()];
        for scores in rows {
            probabilities(scores, &mut weights);
            numbers.iter_mut().zip(&weights).for_each(|(column, p)| column.push(*p));
        }
        Predicted { classes, numbers, kept, records }
    }
}

/// Scores read as log-odds, one for each class; a lone one is that of the second of two.
fn probabilities(scores: &[f64], out: &mut [f64]) {
    match scores {
        [score] => out.copy_from_slice(&[0.0, *score]),
        many => out.copy_from_slice(many),
    }
    let top = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    out.iter_mut().for_each(|score| *score = (*score - top).exp());
    let total: f64 = out.iter().sum();
    out.iter_mut().for_each(|weight| *weight /= total);
}
