//! `reticent evaluate`: how good a model is on a table. Not private, and it says so.

use clap::Args;
use reticent::Quality;
use serde_json::json;

use super::shared::{ModelAndData, read_model};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::layout::{columns, wrapped};
use crate::number::{self, show};
use crate::progress::waiting;

const NOTE: &str = "These numbers are NOT PRIVATE: they are computed from the table as it is, without noise, and \
                    no certificate covers them. Publish them only if the table is public.";

#[derive(Debug, Args)]
#[command(after_help = NOTE)]
pub struct Evaluate {
    #[command(flatten)]
    what: ModelAndData,
}

impl Evaluate {
    /// Does it.
    pub fn run(self) -> Result<Answer, Failure> {
        let ModelAndData { model, data, format } = self.what;
        let model = read_model(&model)?;
        let quality = waiting("reading and evaluating", || model.evaluate(&data, format))?;
        let (rows, mut object) = match quality {
            Quality::Classes { accuracy, auc, log_loss, n } => (
                vec![
                    ("accuracy", show(accuracy)),
                    ("AUC", show(auc)),
                    ("log loss", show(log_loss)),
                    ("records", n.to_string()),
                ],
                json!({
                    "accuracy": number::json(accuracy),
                    "auc": number::json(auc),
                    "log_loss": number::json(log_loss),
                    "n": n,
                }),
            ),
            Quality::Range { r2, rmse, n } => (
                vec![("R²", show(r2)), ("RMSE", show(rmse)), ("records", n.to_string())],
                json!({ "r2": number::json(r2), "rmse": number::json(rmse), "n": n }),
            ),
        };
        object["private"] = false.into();
        object["note"] = NOTE.into();
        let rows: Vec<_> = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
        let text = format!("{}\n{}", columns(&rows, 2, 1), wrapped(NOTE));
        Ok(Answer { text, object, remarks: Vec::new() })
    }
}
