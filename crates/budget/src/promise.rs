//! What a budget promises: by how much, to whom, against whom.

use reticent_accountant::{Adjacency, Filter, Unit, View};
use serde::{Deserialize, Serialize};

use crate::error::BudgetError;

/// The longest name of a data set or of a job.
pub(crate) const LONGEST_NAME: usize = 200;

/// More rows than a person has in any table.
const MOST_ROWS: u64 = 1_000_000_000;

/// The guarantee of the data set, for any later jobs. Its fields are all there are: whoever shows a promise shows
/// all of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// The data set that it is about.
    pub dataset: String,
    /// ε of all jobs together.
    pub epsilon: f64,
    /// δ of all jobs together.
    pub delta: f64,
    /// Which tables are neighbours.
    pub adjacency: Adjacency,
    /// Whether a record or a user is protected.
    pub unit: Unit,
    /// Against whom.
    pub view: View,
    /// Where users are protected: a public bound on the rows of one, by which a job that protects
    /// records is counted. Taken as given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rows_per_user: Option<u64>,
}

impl Promise {
    /// ε and δ for one data set, with the usual neighbours: a record is replaced, and the world sees
    /// the models.
    ///
    /// # Errors
    /// As [`Promise::check`].
    pub fn new(dataset: &str, epsilon: f64, delta: f64) -> Result<Self, BudgetError> {
        let promise = Self {
            dataset: dataset.to_owned(),
            epsilon,
            delta,
            adjacency: Adjacency::default(),
            unit: Unit::default(),
            view: View::default(),
            rows_per_user: None,
        };
        promise.check()?;
        Ok(promise)
    }

    /// Refuses a promise that means nothing.
    ///
    /// # Errors
    /// Says what is wrong with which part.
    pub fn check(&self) -> Result<(), BudgetError> {
        check_name("dataset", &self.dataset)?;
        let refuse = |name, given: String, allowed| {
            Err(BudgetError::Value { name, given, allowed: String::from(allowed) })
        };
        if !(self.epsilon > 0.0 && self.epsilon.is_finite()) {
            let allowed = "it must be a number above 0, for example 3";
            return refuse("epsilon", self.epsilon.to_string(), allowed);
        }
        if !(self.delta > 0.0 && self.delta < 1.0) {
            let allowed = "it must be above 0 and less than 1, for example 1e-6: what is chosen by looking cannot be \
                           counted without one";
            return refuse("delta", self.delta.to_string(), allowed);
        }
        match (self.rows_per_user, self.unit) {
            (Some(rows), Unit::User) if (1..=MOST_ROWS).contains(&rows) => Ok(()),
            (Some(rows), Unit::User) => {
                let allowed = "it is the most rows of one user, from 1 to a thousand million";
                refuse("rows_per_user", rows.to_string(), allowed)
            }
            (Some(rows), Unit::Record | Unit::Party) => {
                let allowed = "it is for budgets that protect users: give `unit = user`";
                refuse("rows_per_user", rows.to_string(), allowed)
            }
            (None, _) => Ok(()),
        }
    }

    /// The filter that keeps it.
    pub(crate) fn filter(&self) -> Result<Filter, BudgetError> {
        Ok(Filter::new(self.epsilon, self.delta)?)
    }
}

/// Names are shown to people: short, on one line, and nothing that moves a cursor.
pub(crate) fn check_name(name: &'static str, given: &str) -> Result<(), BudgetError> {
    let plain = given.chars().all(|c| !c.is_control());
    if plain && !given.trim().is_empty() && given.chars().count() <= LONGEST_NAME {
        return Ok(());
    }
    let shown: String = given.chars().filter(|c| !c.is_control()).take(40).collect();
    let allowed = format!("it must be one line of 1 to {LONGEST_NAME} characters");
    Err(BudgetError::Value { name, given: shown, allowed })
}
