//! The plan of a job: what it costs beside all that is counted, and whether more was done than it.

use reticent_accountant::{Charge, Ledger};

use crate::books::Books;
use crate::error::BudgetError;
use crate::promise::Promise;
use crate::summary::largest_left;

/// The charge of a plan, if it fits beside what is counted for everybody it concerns.
pub(crate) fn fitting(
    books: &Books,
    plan: &Ledger,
    people: Option<u64>,
    at: f64,
) -> Result<Charge, BudgetError> {
    let Promise { epsilon: ceiling, delta, .. } = books.promise;
    let charge = books.charge(plan)?;
    // People who come with this job have nothing counted for them but what counts for everybody.
    for people in books.affected(people) {
        let spent = books.spent(people);
        if !books.covers(&spent) {
            return Err(BudgetError::Broken { epsilon: ceiling, delta });
        }
        let together = spent.and(&charge);
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
