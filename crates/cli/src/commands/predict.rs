//! `reticent predict`: a line for each record.

use std::path::PathBuf;

use clap::Args;
use reticent::{Error, Model, Prediction, write_text};
use serde_json::json;

use super::shared::{ModelAndData, read_model};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::progress::waiting;

#[derive(Debug, Args)]
#[command(after_help = "Columns that the model was not trained on (the target among them) may be absent.\n\
                        The answer is CSV: the prediction and, for classes, the probability of each.\n\
                        With --json and without --out it is {n, classes, predictions}.")]
pub struct Predict {
    #[command(flatten)]
    what: ModelAndData,

    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Predict {
    /// Does it.
    pub fn run(self) -> Result<Answer, Failure> {
        let ModelAndData { model, data, format } = self.what;
        let model = read_model(&model)?;
        let predictions = waiting("reading and predicting", || model.predict(&data, format))?;
        let n = predictions.len();
        let Some(out) = self.out else {
            let object = json!({ "n": n, "classes": model.classes(), "predictions": predictions });
            return Ok(Answer { text: csv(&model, &predictions)?, object, remarks: Vec::new() });
        };
        write_text(&csv(&model, &predictions)?, &out)?;
        let out = out.display().to_string();
        let text = format!("Wrote {n} predictions to {out}.\n");
        Ok(Answer { text, object: json!({ "n": n, "out": out }), remarks: Vec::new() })
    }
}

fn csv(model: &Model, predictions: &[Prediction]) -> Result<String, Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = || -> csv::Result<()> {
        let header = model.classes().into_iter().flatten().map(|class| format!("probability of {class}"));
        writer.write_record(std::iter::once("prediction".to_owned()).chain(header))?;
        for prediction in predictions {
            match prediction {
                Prediction::Class { class, probabilities } => {
                    let numbers = probabilities.iter().map(f64::to_string);
                    writer.write_record(std::iter::once(class.clone()).chain(numbers))?;
                }
                Prediction::Number { value } => writer.write_record([value.to_string()])?,
            }
        }
        writer.flush()?;
        Ok(())
    };
    // Writing to memory does not fail; should it, it is no worse than a file that cannot be written.
    let fail = |reason: String| Error::Write { file: "the predictions".into(), reason };
    write().map_err(|error| fail(error.to_string()))?;
    let bytes = writer.into_inner().map_err(|error| fail(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| fail(error.to_string()))
}
