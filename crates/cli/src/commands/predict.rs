//! `reticent predict`: a line for each record, written as the table is read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use clap::Args;
use reticent::internal::check_new;
use reticent::tables::{Head, KeptCell, ReadOptions};
use reticent::{Model, Predicted, Prediction, PredictionInput};
use serde::Serialize;
use serde_json::Value;

use super::shared::{ModelAndData, Threshold, read_model};
use crate::answer::{Answer, object};
use crate::failure::CommandFailure;
use crate::number::JsonNumber;
use crate::predictions::{PredictionColumns, Sink, is_formula, sink};
use crate::progress::waiting;

#[derive(Debug, Args)]
#[command(
    after_help = "Only columns that the model was trained on are read, not the target; --keep copies others. DATA may \
                        be - for standard input: CSV, or LIBSVM if the model was fitted on such a file.\n\
                        The answer is a table: the kept columns, the prediction and, for classes, the probability of \
                        each (for a hinge loss, which has none, the score). With --json and without --out it is \
                        {n, classes, predictions} in memory; otherwise memory does not grow with the table."
)]
pub struct Predict {
    #[command(flatten)]
    what: ModelAndData,

    /// Write to this file instead of standard output: Parquet if it ends in .parquet, otherwise CSV
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(long, requires = "out")]
    force: bool,

    /// A column of the table to put before the prediction, such as a key; may be repeated
    #[arg(long, value_name = "COLUMN")]
    keep: Vec<String>,

    /// Put ' before text that a spreadsheet would read as a formula: it begins with = + - @ and is not a
    /// number. CSV only
    #[arg(long)]
    for_spreadsheets: bool,

    /// Two classes: the probability above which the second is predicted (of a hinge loss, the
    /// score), or prior, its share by --class-prior of the fit [default: 0.5, score 0]
    #[arg(long, value_name = "T", value_parser = Threshold::parse, allow_negative_numbers = true)]
    threshold: Option<Threshold>,
}

/// The file of the predictions.
#[derive(Serialize)]
struct WrittenPredictions {
    n: usize,
    out: String,
}

/// All predictions.
#[derive(Serialize)]
struct AllPredictions<'a> {
    n: usize,
    classes: Option<Vec<&'a str>>,
    predictions: Vec<KeptPrediction<'a>>,
}

/// The prediction for a record, beside its kept cells.
#[derive(Serialize)]
struct KeptPrediction<'a> {
    #[serde(flatten)]
    prediction: Prediction,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<BTreeMap<&'a str, Value>>,
}

/// What goes to the thread that writes.
enum PredictionPart {
    Head(Head),
    Batch(Predicted),
}

impl Predict {
    /// Does it.
    pub fn run(self, json: bool) -> Result<Answer, CommandFailure> {
        let ModelAndData { model, data, format, max_line } = self.what;
        let model = read_model(&model)?;
        let reading = ReadOptions::from(format).with(|it| it.max_line = max_line);
        let threshold = self.threshold.map(|given| given.of(&model)).transpose()?;
        let asked = PredictionInput::table(&data, reading).with(|it| {
            (it.keep, it.threshold) = (&self.keep, threshold);
        });
        let columns = PredictionColumns::new(&model, &self.keep)?;
        let Some(out) = self.out else {
            if json {
                return waiting("reading and predicting", || all(&model, &asked));
            }
            let sink = sink(None, columns, self.for_spreadsheets)?;
            let (_, mut remarks) = stream(&model, &asked, sink, !self.for_spreadsheets)?;
            remarks.extend(model.distortion());
            return Ok(Answer { remarks, ..Answer::default() });
        };
        check_new(&out, self.force)?;
        let sink = sink(Some(&out), columns, self.for_spreadsheets)?;
        let is_text = !out.extension().is_some_and(|word| word.eq_ignore_ascii_case("parquet"));
        let warns = is_text && !self.for_spreadsheets;
        let (n, mut remarks) =
            waiting("reading and predicting", || stream(&model, &asked, sink, warns))?;
        remarks.extend(model.distortion());
        let out = out.display().to_string();
        let text = format!("Wrote {n} predictions to {out}.\n");
        Ok(Answer { remarks, ..Answer::of(text, &WrittenPredictions { n, out }) })
    }

    /// Whether all that it says is that a file was written.
    pub fn writes_a_file(&self) -> bool {
        self.out.is_some()
    }
}

/// Reads on this thread and writes on another: the number of records, and what is to be remarked.
fn stream(
    model: &Model,
    asked: &PredictionInput<'_>,
    mut sink: Box<dyn Sink>,
    warns: bool,
) -> Result<(usize, Vec<String>), CommandFailure> {
    let (give, take) = mpsc::sync_channel(2);
    let mut remarks = Vec::new();
    let (read, written) = thread::scope(|scope| {
        let writer = scope.spawn(move || {
            let (mut records, mut formulas) = (0, false);
            for piece in take {
                match piece {
                    PredictionPart::Head(head) => sink.head(&head.kept)?,
                    PredictionPart::Batch(batch) => {
                        records += batch.records;
                        formulas = formulas || warns && has_formulas(&batch);
                        sink.put(batch)?;
                    }
                }
            }
            Ok::<_, CommandFailure>((records, formulas, sink))
        });
        let head = |head: Head| {
            remarks.extend(unread(&head));
            give.send(PredictionPart::Head(head)).is_ok()
        };
        let read = model
            .predict_each(asked, head, |batch| give.send(PredictionPart::Batch(batch)).is_ok());
        drop(give);
        (read, writer.join())
    });
    // A writer that failed ended the reading, so its reason comes first.
    let (records, formulas, sink) = match written {
        Ok(written) => written?,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    read?;
    sink.finish()?;
    if formulas {
        remarks.push(
            "Kept cells begin with = + - or @, which a spreadsheet takes for formulas: give --for-spreadsheets if \
             it is to be opened in one."
                .to_owned(),
        );
    }
    Ok((records, remarks))
}

fn has_formulas(batch: &Predicted) -> bool {
    let formula = |cell: &KeptCell| matches!(cell, KeptCell::Text(text) if is_formula(text));
    batch.kept.iter().flatten().any(formula)
}

/// For programs that want one object.
fn all(model: &Model, asked: &PredictionInput<'_>) -> Result<Answer, CommandFailure> {
    let mut remarks = Vec::new();
    let mut predictions = Vec::new();
    let head = |head: Head| {
        remarks.extend(unread(&head));
        true
    };
    model.predict_each(asked, head, |batch| {
        predictions.extend((0..batch.records).map(|i| {
            let cells = asked.keep.iter().zip(&batch.kept);
            let cells = cells.map(|(name, column)| (&**name, value(&column[i])));
            let kept = (!asked.keep.is_empty()).then(|| cells.collect());
            KeptPrediction { prediction: model.prediction(&batch, i), kept }
        }));
        true
    })?;
    remarks.extend(model.distortion());
    let all = AllPredictions { n: predictions.len(), classes: model.classes(), predictions };
    Ok(Answer { remarks, ..Answer::of(String::new(), &all) })
}

fn value(cell: &KeptCell) -> Value {
    match cell {
        KeptCell::Missing => Value::Null,
        KeptCell::Text(bytes) => String::from_utf8_lossy(bytes).into(),
        KeptCell::Number(x) => object(&JsonNumber(*x)),
        KeptCell::Whole(n) => i64::try_from(*n).map_or_else(|_| n.to_string().into(), Value::from),
        KeptCell::Flag(b) => (*b).into(),
    }
}

/// Nothing is left out without a word. By number: where a header is missing, "names" are values.
fn unread(head: &Head) -> Option<String> {
    let (are, know) = if head.unread == 1 { ("column is", "it") } else { ("columns are", "them") };
    (head.unread > 0).then(|| {
        format!(
            "{} {are} not read: the model does not know {know}; --keep hands a column on.",
            head.unread
        )
    })
}
