//! `reticent mean`, `histogram` and `quantile`: statistics of single columns, with noise. What they
//! have in common is here, and what they say is in a file each.

mod histogram;
mod mean;
mod quantile;

use std::path::PathBuf;

use clap::Args;
use reticent::accountant::{Ledger, Unit};
use reticent::tables::{Format, ReadOptions, Schema};
use reticent::{Certificate, Error, Files, Guarantee, Payable, Run, Statistics, Value, check_new};
use serde_json::json;

pub use histogram::HistogramCommand;
pub use mean::Mean;
pub use quantile::QuantileCommand;

use super::shared::{CERTIFICATE, certificate_fields, certificate_rows, format, not_private};
use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::number::{self, show, show_down, show_up};
use crate::progress::JobBar;
use crate::purse::{PurseFlags, done};
use crate::repeated::given_twice;

/// What every statistic is told.
#[derive(Debug, Args)]
pub struct ColumnFlags {
    /// The table; several files are read as one
    #[arg(required = true)]
    data: Vec<PathBuf>,

    /// The schema of the table (TOML, see docs/schema.md)
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,

    /// A column to ask about; give it again for another one, in the same answer
    #[arg(long = "column", value_name = "COLUMN", required = true)]
    columns: Vec<String>,

    /// The column that says whose row it is: users are then protected, and count once each
    #[arg(long, value_name = "COLUMN")]
    user_column: Option<String>,

    /// The format of the table, if its name does not tell
    #[arg(long, value_parser = format())]
    format: Option<Format>,

    /// The confidence of the intervals [default: 0.95]
    #[arg(long, value_name = "C", value_parser = number::parse, allow_negative_numbers = true)]
    confidence: Option<f64>,

    /// Write the certificate to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    guarantee: Guarantee,

    #[command(flatten)]
    purse: PurseFlags,
}

/// What a statistic says: rows for people under their heads, remarks on them, and members of JSON.
struct Said {
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
    object: serde_json::Value,
}

impl ColumnFlags {
    /// The description of the job.
    fn statistics(&self) -> Result<Statistics, Error> {
        let schema = Schema::read(&self.schema)?;
        let mut asked = Statistics::new(schema).guarantee(self.guarantee);
        if let Some(name) = &self.user_column {
            asked = asked.user_column(name);
        }
        Ok(match self.confidence {
            Some(confidence) => asked.confidence(confidence),
            None => asked,
        })
    }

    /// Does the job that `open` opens, and pays for it where a budget is named.
    fn perform<R: Payable>(
        self,
        command: &'static str,
        (beforehand, user): (impl FnOnce() -> Option<Ledger>, Option<String>),
        open: impl FnOnce(&Files, &mut Run<'_>) -> Result<R, Error>,
        said: impl FnOnce(&R::Done) -> (Said, &Certificate),
    ) -> Result<Answer, CommandFailure> {
        if let Some(out) = &self.out {
            check_new(out, false)?;
        }
        let reading = ReadOptions { format: self.format, max_line: None };
        let data = Files { paths: self.data, reading };
        let label = format!("{command} of {}", self.columns.join(", "));
        let purse = self.purse.open(&self.guarantee, &data, &label, beforehand)?;
        let mut bar = JobBar::new("question");
        let mut watch = |stage| bar.watch(stage);
        let run = Run::watched(&mut watch);
        let done = done(purse, &data, user, open, run);
        bar.finish();
        let (done, receipt) = done.map_err(|failure| failure.by(command))?;
        let (said, certificate) = said(&done);
        let mut answer = answer(said, certificate);
        answer.remarks.extend(given_twice(&data.paths));
        if let Some(out) = &self.out {
            answer.write("certificate", CERTIFICATE, &json!(certificate), out);
        }
        if let Some(receipt) = receipt {
            receipt.add_to(&mut answer);
        }
        Ok(answer)
    }
}

/// A statistic has a budget.
fn of_a_statistic(flag: clap::Arg) -> clap::Arg {
    match flag.get_id().as_str() {
        "epsilon" | "delta" => flag.required(true),
        _ => flag,
    }
}

fn answer(said: Said, certificate: &Certificate) -> Answer {
    let Said { rows, notes, object } = said;
    let mut text = columns(&rows, 2, 1);
    text += &format!("\n{}", notes.iter().map(|note| wrapped(note)).collect::<String>());
    text += &format!("\n{}", columns(&certificate_rows(certificate), 2, 2));
    text += &format!("\n{}", wrapped(&format!("What this means. {}", certificate.meaning)));
    let mut whole = certificate_fields(certificate);
    if let serde_json::Value::Object(own) = object {
        whole.extend(own);
    }
    let remarks = not_private(certificate).into_iter().chain(certificate.weaknesses()).collect();
    Answer { text, object: json!(whole), remarks }
}

/// What holds for every answer about columns.
fn about(unit: Unit, confidence: f64) -> String {
    let users = match unit {
        Unit::Record => "",
        Unit::User => " A user counts once, by the mean of their records.",
    };
    format!(
        "Intervals are about the noise: each holds the figure of this table without noise with {} % confidence. A \
         value outside the bounds of the schema counts as the nearer bound.{users}",
        show(100.0 * confidence).trim_end_matches('0').trim_end_matches('.')
    )
}

/// What becomes of missing values.
fn missing<'a>(columns: impl Iterator<Item = (&'a str, &'a Value)>) -> String {
    let each: Vec<String> =
        columns.map(|(column, value)| format!("{} ({column})", shown(value))).collect();
    format!("A missing value counts as {}, as the schema says.", each.join(", "))
}

/// A value as people read it.
fn shown(value: &Value) -> String {
    match value {
        Value::Number(number) => show(*number),
        Value::Day(day) => day.clone(),
    }
}

/// A bound or an edge, which is public, in full.
fn public(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Day(day) => day.clone(),
    }
}

/// An interval as people read it, rounded outward.
fn interval([from, to]: &[Value; 2]) -> String {
    match (from, to) {
        (Value::Number(from), Value::Number(to)) => numbers([*from, *to]),
        _ => format!("{} to {}", shown(from), shown(to)),
    }
}

/// The same of numbers.
fn numbers([from, to]: [f64; 2]) -> String {
    format!("{} to {}", show_down(from), show_up(to))
}

/// A result as JSON, without its certificate, whose fields stand beside it.
fn without_certificate(mut object: serde_json::Value) -> serde_json::Value {
    if let Some(members) = object.as_object_mut() {
        members.remove("certificate");
    }
    object
}
