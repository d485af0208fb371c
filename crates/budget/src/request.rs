//! What is asked of a budget: a reservation before a job, or a note of a release made elsewhere.

use reticent_accountant::Ledger;
use reticent_noise::Digest;

use crate::error::BudgetError;
use crate::line::hex;

/// How a table goes together with those that the budget knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relation {
    /// It is the one that is known, or the first.
    #[default]
    Same,
    /// A new edition of the same people: what is asked of it adds to what was asked before.
    NewEdition,
    /// Nobody is in both. Taken as given, and recorded.
    DisjointPeople,
}

/// The table that a job is about.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// A digest of the file under [`Store::key`](crate::Store::key).
    pub fingerprint: [u8; 32],
    /// How it goes together with those before.
    pub relation: Relation,
}

/// What a job asks for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The job, for people.
    pub label: &'a str,
    /// ε and δ of the job by itself.
    pub asked: (f64, f64),
    /// All that it will do; it is held to that by whoever asks.
    pub plan: &'a Ledger,
    /// The table.
    pub table: Table,
    /// Where users are protected: the column that says whose row it is. The first is bound to the
    /// budget, and another is refused.
    pub user: Option<&'a str>,
}

/// A release that was made elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Import<'a> {
    /// What it is, for people.
    pub label: &'a str,
    /// ε and δ that it was given.
    pub asked: (f64, f64),
    /// What was done.
    pub ledger: &'a Ledger,
    /// Whether to record it though it is more than is left. The budget then promises nothing any
    /// more; but that is so whether it is written down or not.
    pub beyond: bool,
}

/// What was reserved, to be settled or given back.
#[must_use = "a reservation that is not settled stays open, and is counted in full"]
#[derive(Debug, PartialEq, Eq)]
pub struct Reservation {
    pub(crate) number: u64,
    /// The hash of the line that reserved: a number alone is a job in every budget.
    pub(crate) hash: Digest,
}

impl Reservation {
    /// The number of the job.
    #[must_use]
    pub fn job(&self) -> u64 {
        self.number
    }

    /// What tells it from a job of the same number in another budget; with the number it finds the
    /// reservation again ([`Store::reservation`](crate::Store::reservation)).
    #[must_use]
    pub fn hash(&self) -> String {
        hex(&self.hash)
    }
}

/// ε and δ of a job are for people, but no nonsense is written down.
pub(crate) fn check_asked((epsilon, delta): (f64, f64)) -> Result<(), BudgetError> {
    let refuse = |name, given: f64, allowed: &str| {
        Err(BudgetError::Value { name, given: given.to_string(), allowed: allowed.to_owned() })
    };
    if !(epsilon >= 0.0 && epsilon.is_finite()) {
        return refuse("epsilon", epsilon, "it must be a number, 0 or greater");
    }
    if !(0.0..1.0).contains(&delta) {
        return refuse("delta", delta, "it must be at least 0 and less than 1");
    }
    Ok(())
}

/// What has no event costs nothing, and was perhaps emptied.
pub(crate) fn check_events(ledger: &Ledger) -> Result<(), BudgetError> {
    if !ledger.entries().is_empty() {
        return Ok(());
    }
    let allowed = "it has no event, and what uses no data needs no budget".to_owned();
    Err(BudgetError::Value { name: "ledger", given: "an empty list".to_owned(), allowed })
}
