//! `reticent inspect`: what a model is and what is guaranteed, read out of its file.

use std::path::PathBuf;

use clap::Args;
use reticent::{Coefficient, Error, Model};
use serde_json::{Value, json};

use super::shared::{algorithm, certificate_fields, certificate_rows, not_private, read_model};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::layout::{columns, wrapped};
use crate::number::show;

/// So many coefficients are shown without `--all`.
const MANY: usize = 20;

#[derive(Debug, Args)]
pub struct Inspect {
    /// The model: model.json, or the folder that it is in
    model: PathBuf,

    /// Show every coefficient, not only the largest
    #[arg(long)]
    all: bool,
}

impl Inspect {
    /// Does it.
    pub fn run(self) -> Result<Answer, Failure> {
        let model = read_model(&self.model)?;
        // What its ledger says, whatever is written beside it.
        let certificate = &model.certificate().clone().recounted()?;
        let [loss, penalty, constraint] = model.problem();
        let row = |name: &str, value: &str| vec![name.to_owned(), value.to_owned()];
        let mut rows = vec![
            row("algorithm", &algorithm(certificate)),
            row("loss", loss),
            row("penalty", penalty),
            row("constraint", constraint),
        ];
        rows.extend(certificate_rows(certificate));
        rows.push(row("accountant", &certificate.accountant));
        let mut text = columns(&rows, 2, 2);
        text += &format!("\n{}\n", wrapped(&certificate.meaning));
        text += &coefficients(&model, self.all);

        let mut object = serde_json::to_value(&model)
            .map_err(|error| Error::Model { file: self.model, reason: error.to_string() })?;
        if let Value::Object(fields) = &mut object {
            fields.insert("certificate".to_owned(), json!(certificate));
            fields.extend(certificate_fields(certificate));
        }
        Ok(Answer { text, object, remarks: not_private(certificate).into_iter().collect() })
    }
}

fn coefficients(model: &Model, all: bool) -> String {
    let mut sorted: Vec<&Coefficient> = model.coefficients().iter().collect();
    let size = |c: &Coefficient| c.values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    sorted.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let shown = if all { sorted.len() } else { MANY.min(sorted.len()) };
    let line = |name: &str, values: &[f64]| {
        std::iter::once(name.to_owned()).chain(values.iter().map(|value| show(*value))).collect::<Vec<_>>()
    };
    let mut rows = vec![vec!["coefficient".to_owned()]];
    rows[0].extend(model.outputs().iter().cloned());
    if !model.intercept().is_empty() {
        rows.push(line("(intercept)", model.intercept()));
    }
    rows.extend(sorted[..shown].iter().map(|coefficient| line(&coefficient.name, &coefficient.values)));
    let mut text = columns(&rows, 2, 1);
    if shown < sorted.len() {
        text += &format!("  … and {} smaller ones; --all shows them\n", sorted.len() - shown);
    }
    text + "  (of the encoded columns: numbers scaled by their bounds, 0/1 for a category)\n"
}
