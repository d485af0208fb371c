//! One column that is asked about, between its bounds and the scale of the gate.

use reticent_accountant::statistics::normal_quantile;
use reticent_oracle::tables::{Numeric, Role, day_text};
use serde::Serialize;

use super::Columns;
use crate::error::Error;

/// A number in the units of its column; of a column of days, a day.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A day, as `YYYY-MM-DD`.
    Day(String),
}

/// A column of numbers, or of days.
#[derive(Debug)]
pub(super) struct NumberColumn {
    pub name: String,
    /// The feature that it is.
    pub feature: usize,
    pub numeric: Numeric,
    pub days: bool,
}

/// How a number of days is made a whole one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Toward {
    Nearest,
    Lower,
    Upper,
}

impl Columns {
    /// The columns of these names, which must be numbers or days.
    pub(super) fn numbers(&self, names: &[String]) -> Result<Vec<NumberColumn>, Error> {
        names.iter().map(|name| self.number(name).ok_or_else(|| not_a_number(name))).collect()
    }

    /// The column of this name, if it has numbers or days.
    pub(super) fn number(&self, name: &str) -> Option<NumberColumn> {
        let (place, column) = self.schema.place_of(name)?;
        let (numeric, days) = match column.role() {
            Role::Numeric(numeric) => (numeric.clone(), false),
            Role::Date(numeric) => (numeric.clone(), true),
            _ => return None,
        };
        Some(NumberColumn { name: name.to_owned(), feature: place.start, numeric, days })
    }

    /// How many standard deviations the intervals reach, where `ways` things may go wrong.
    pub(super) fn reach(&self, ways: f64) -> f64 {
        normal_quantile(1.0 - (1.0 - self.confidence) / (2.0 * ways))
    }
}

fn not_a_number(name: &str) -> Error {
    let why = "it has categories and no numbers; ask for its histogram";
    Error::value("column", name, why)
}

impl NumberColumn {
    /// A number of the gate, where the bounds are −1 and 1, in the units of the table.
    pub fn decoded(&self, encoded: f64) -> f64 {
        let (lower, upper) = self.numeric.bounds();
        // Exact at both bounds.
        lower * ((1.0 - encoded) / 2.0) + upper * ((1.0 + encoded) / 2.0)
    }

    /// A number of the table for people and programs.
    pub fn value(&self, number: f64, toward: Toward) -> Value {
        let whole = match toward {
            _ if !self.days => return Value::Number(number),
            Toward::Nearest => number.round(),
            Toward::Lower => number.floor(),
            Toward::Upper => number.ceil(),
        };
        Value::Day(day_text(whole as i64))
    }

    /// An interval of the table, days rounded outward.
    pub fn interval(&self, [from, to]: [f64; 2]) -> [Value; 2] {
        [self.value(from, Toward::Lower), self.value(to, Toward::Upper)]
    }

    pub fn bounds(&self) -> [Value; 2] {
        let (lower, upper) = self.numeric.bounds();
        self.interval([lower, upper])
    }

    /// The value that a missing one counts as.
    pub fn missing(&self) -> Value {
        self.value(self.numeric.stands_for_missing(), Toward::Nearest)
    }

    /// Numbers from bound to bound in so many equal steps.
    pub fn equal_steps(&self, steps: usize) -> Vec<f64> {
        let (lower, upper) = self.numeric.bounds();
        let at = |i: usize| {
            let share = i as f64 / steps as f64;
            // One rounding where a bound is 0.
            if lower == 0.0 {
                upper * i as f64 / steps as f64
            } else {
                lower * (1.0 - share) + upper * share
            }
        };
        (0..=steps).map(at).collect()
    }
}
