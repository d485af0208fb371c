//! `reticent mean`, `histogram` and `quantile`: statistics of single columns, with noise. What they
//! have in common is here, and what they say is in a file each.

mod histogram;
mod mean;
mod quantile;

use clap::Args;
use reticent::accountant::Unit;
use reticent::internal::Question;
use reticent::tables::Schema;
use reticent::{Certificate, Error, Guarantee, Job, Statistics, Value};
use serde::Serialize;

pub use histogram::HistogramCommand;
pub use mean::Mean;
pub use quantile::QuantileCommand;

use super::asked::{AskedAnswer, AskedQuestion, AskedTable};
use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::number::{self, show, show_down, show_up};

/// Where the flags of a statistic stand in its help: not among those of the budget before them.
pub const QUESTION: &str = "The statistic";

/// What every statistic is told.
#[derive(Debug, Args)]
pub struct ColumnFlags {
    /// The column; repeat the flag for several columns in one answer
    #[arg(long = "column", help_heading = QUESTION, value_name = "COLUMN", required = true)]
    columns: Vec<String>,

    /// The confidence of the intervals [default: 0.95]
    #[arg(long, help_heading = QUESTION, value_name = "C", value_parser = number::parse,
        allow_negative_numbers = true)]
    confidence: Option<f64>,

    #[command(flatten)]
    table: AskedTable,
}

/// A statistic, as a budget tells it from others.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum AskedStatistic {
    Mean {},
    Histogram(String),
    Quantile { at: Vec<f64>, resolution: Option<f64> },
}

impl AskedStatistic {
    /// Its command.
    fn command(&self) -> &'static str {
        match self {
            AskedStatistic::Mean {} => "mean",
            AskedStatistic::Histogram(_) => "histogram",
            AskedStatistic::Quantile { .. } => "quantile",
        }
    }
}

/// All that tells a question about columns from others in a budget.
#[derive(Serialize)]
struct AskedColumns {
    #[serde(flatten)]
    statistic: AskedStatistic,
    guarantee: Guarantee,
    columns: Vec<String>,
    user_column: Option<String>,
    confidence: Option<f64>,
}

impl ColumnFlags {
    /// The description of the job.
    fn statistics(&self) -> Result<Statistics, Error> {
        let schema = Schema::read(&self.table.schema)?;
        let mut asked = Statistics::new(schema).guarantee(self.table.guarantee);
        if let Some(name) = &self.table.user_column {
            asked = asked.user_column(name);
        }
        Ok(match self.confidence {
            Some(confidence) => asked.confidence(confidence),
            None => asked,
        })
    }

    /// Asks about the columns.
    fn perform<Q: Question>(
        self,
        statistic: AskedStatistic,
        job: &Job<Q>,
        said: impl FnOnce(&Q::Output) -> (AskedAnswer, &Certificate),
    ) -> Result<Answer, CommandFailure> {
        let ColumnFlags { table, columns, confidence } = self;
        let command = statistic.command();
        let label = format!("{command} of {}", columns.join(", "));
        let (guarantee, user_column) = (table.guarantee, table.user_column.clone());
        let asked = AskedColumns { statistic, guarantee, columns, user_column, confidence };
        table.perform(AskedQuestion { command, label, asked }, job, said)
    }
}

/// A statistic has a budget.
fn of_a_statistic(flag: clap::Arg) -> clap::Arg {
    match flag.get_id().as_str() {
        "epsilon" | "delta" => flag.required(true),
        _ => flag,
    }
}

/// What holds for every answer about columns.
fn about(certificate: &Certificate, confidence: f64) -> String {
    let users = match certificate.unit {
        Unit::Record => "",
        Unit::Party => " A party counts once, by the mean of its records.",
        Unit::User if certificate.is_within_parties() => {
            " A user counts once at each party that has records of them, by the mean of those records."
        }
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
