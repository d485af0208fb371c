//! The plan of a job: what it costs beside all that is counted, and whether more was done than it.

use reticent_accountant::{
    Adjacency, Charge, Event, EventError, Gaussian, Ledger, Unit, View, calibrate,
};

use crate::books::HistoryBooks;
use crate::error::BudgetError;
use crate::people::CountedPeople;
use crate::promise::Promise;
use crate::summary::largest_left;

/// The balance that a planned job would leave, for the group of people with the least room.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Planned {
    /// Whether it fits.
    pub fits: bool,
    /// The counted cost now: see [`Group::counted`](crate::GroupSummary::counted).
    pub counted: f64,
    /// The counted cost with the job; ∞ if it is not bounded.
    pub together: f64,
    /// The largest ε, at the budget's δ, of a job with Gaussian noise that fits now.
    pub left: f64,
    /// As [`Planned::left`], after the job; 0 if it does not fit.
    pub left_after: f64,
}

impl Promise {
    /// The plan of a job with Gaussian noise on all records, of exactly this ε and δ and under the
    /// terms of the promise: the cost of an ordinary fit.
    ///
    /// # Errors
    /// An ε or a δ that no noise has.
    pub fn gaussian(&self, epsilon: f64, delta: f64) -> Result<Ledger, BudgetError> {
        gaussian_job((epsilon, delta), self.adjacency, self.unit, self.view)
    }
}

/// The plan of a job with Gaussian noise on all records, of just this ε and δ.
///
/// # Errors
/// An ε or a δ that no noise has.
pub fn gaussian_job(
    (epsilon, delta): (f64, f64),
    adjacency: Adjacency,
    unit: Unit,
    view: View,
) -> Result<Ledger, BudgetError> {
    let plan = |noise: f64| -> Result<Ledger, EventError> {
        let mut ledger = Ledger::new();
        ledger.append(Event::new(Gaussian::new(noise)?, adjacency, unit, view)?);
        Ok(ledger)
    };
    let noise = calibrate(epsilon, delta, plan)?.noise_multiplier;
    plan(noise).map_err(|error| BudgetError::Scope(error.to_string()))
}

/// What a plan would leave on the table that is known.
pub(crate) fn planned(books: &HistoryBooks, plan: &Ledger) -> Result<Planned, BudgetError> {
    let charge = books.charge(plan)?;
    let mut worst: Option<Planned> = None;
    for people in books.affected(&books.known_people()) {
        let spent = books.spent(people);
        let together = spent.compose(&charge);
        let fits = books.covers(&spent) && books.filter.covers(&together)?;
        let left = |spent: &Charge| largest_left(books, spent, books.promise.delta);
        let here = Planned {
            fits,
            counted: books.filter.reading(&spent),
            together: books.filter.reading(&together),
            left: left(&spent),
            left_after: if fits { left(&together) } else { 0.0 },
        };
        worst = worst.filter(|other| other.together >= here.together).or(Some(here));
    }
    worst.ok_or_else(|| BudgetError::Damaged { line: 1, what: "it is about nobody".to_owned() })
}

/// The charge of plans of which everybody pays for one, if it fits beside what is counted for everybody it concerns.
pub(crate) fn fitting(
    books: &HistoryBooks,
    plans: &[&Ledger],
    people: &CountedPeople,
    at: f64,
) -> Result<Charge, BudgetError> {
    let Promise { epsilon: ceiling, delta, .. } = books.promise;
    let charge = books.charge_of_one(plans)?;
    // Without a δ Gaussian noise has no ε that could be named.
    let at = if at > 0.0 { at } else { delta };
    // People who come with this job have nothing counted for them but what counts for everybody.
    for people in books.affected(people) {
        let spent = books.spent(people);
        if !books.covers(&spent) {
            return Err(BudgetError::Broken { epsilon: ceiling, delta });
        }
        let together = spent.compose(&charge);
        if !books.filter.covers(&together)? {
            return Err(BudgetError::DoesNotFit {
                counted: books.filter.reading(&spent),
                together: books.filter.reading(&together),
                ceiling,
                delta,
                left: largest_left(books, &spent, at),
                at,
            });
        }
    }
    Ok(charge)
}

/// Whether what was done is a part of the plan, and a guarantee.
pub(crate) fn within(done: &Ledger, plan: &Ledger) -> bool {
    let mut left: Vec<_> =
        plan.entries().iter().map(|entry| (entry.event(), entry.count())).collect();
    let covered = done.entries().iter().all(|entry| {
        let mut wanted = entry.count();
        for (_, count) in left.iter_mut().filter(|(event, _)| *event == entry.event()) {
            let taken = wanted.min(*count);
            (wanted, *count) = (wanted - taken, *count - taken);
        }
        wanted == 0
    });
    covered && done.taints().is_empty()
}
