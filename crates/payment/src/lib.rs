//! A job that is paid for from the budget of its data set: reserve, run, settle.
//!
//! [`pay`] is the one place that has these rules, whoever asks: what a job plans is reserved before
//! anything is asked, and settled after; whatever happens between leaves it counted in full.
//!
//! 1. The history of the budget is followed from end to end.
//! 2. The table is read, once, and known again by its content; one that changes meanwhile is refused.
//! 3. What is no guarantee, and a table that has the same records twice, is refused.
//! 4. The plans are reserved, and only then the job runs.
//! 5. A job that ran is settled with what it did beyond its plans; one that ended on its way and
//!    asked something is settled as planned; one that may go on stays open; only what asked nothing
//!    is given back.
//!
//! Which people a table counts for: `proofs/groups.md`.

mod error;
mod sweep;
mod table;

use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::{Duration, Instant};

use reticent::accountant::{Ledger, Unit};
use reticent::internal::{FileContents, Payable, unplanned};
use reticent::{Error, Progress, Run, Stage};
use reticent_budget::{BudgetError, PaidTable, Relation, Request, Reservation, Store};

pub use error::PaymentError;
pub use sweep::{PaidSweep, resume_sweep};
pub use table::{AtRest, Paid};

/// How often a job says in its budget how far it is.
const BEAT: Duration = Duration::from_secs(2);

/// What a job asks of its budget.
#[derive(Clone, Copy, Debug)]
pub struct Bill<'a> {
    /// The job, for people.
    pub label: &'a str,
    /// ε and δ, as they were asked for.
    pub asked: (f64, f64),
    /// What says whose row it is, by the name that the budget keeps: a column, or what a caller
    /// calls the unit.
    pub user: Option<&'a str>,
    /// How its files go together with those that the budget knows.
    pub relation: Relation,
}

/// What came of a job that was paid for.
#[derive(Debug)]
pub struct Receipt<D> {
    /// What came of it.
    pub done: D,
    /// Its number in the budget.
    pub job: u64,
    /// Why it stays open in the budget, and counted in full, though it is over.
    pub open: Option<BudgetError>,
}

/// Does the job that `open` opens on `table`, as `how` says, and pays for it from `store`.
///
/// # Errors
/// What [`PaymentError`] lists. With [`PaymentError::Job`] the job itself says what it cost.
pub fn pay<R: Payable>(
    store: &mut Store,
    bill: &Bill<'_>,
    table: Paid<'_>,
    open: impl FnOnce(&mut Run<'_>) -> Result<R, Error>,
    mut how: Run<'_>,
) -> Result<Receipt<R::Done>, PaymentError> {
    // Follows the history from end to end, which a reservation does not.
    store.promise()?;
    let rest = match table.at_rest() {
        Ok(rest) => rest,
        Err(error) if error.is_no_file() => return Err(error),
        Err(error) => {
            // What is wrong with a file is said better by who reads it.
            open(&mut how)?;
            return Err(error);
        }
    };
    let contents = FileContents::under(store.key()?);
    how.hashing(Rc::clone(&contents));
    let mut ready = open(&mut how)?;
    let table = table.known(store, bill.relation, &contents)?;
    rest.check()?;
    let plans = planned(&ready)?;
    check(&plans, &table)?;
    let reservation = reserve(store, bill, &plans, &table)?;
    let job = reservation.job();
    ready.reserved(job, &reservation.hash());
    let (done, closed) = run(store, ready, reservation, &plans, how);
    Ok(Receipt { done: done?, job, open: closed.err() })
}

/// Refuses a job that its budget cannot count, however much is left in it; nothing is asked or paid.
///
/// # Errors
/// As [`pay`], but for a job that does not fit.
pub fn countable<R: Payable>(
    store: &Store,
    user: Option<&str>,
    ready: &R,
) -> Result<(), PaymentError> {
    planned(ready)?.iter().try_for_each(|plan| Ok(store.can_count(plan, user)?))
}

/// What a job plans, of which everybody in the table pays for one.
fn planned<R: Payable>(ready: &R) -> Result<Vec<Ledger>, PaymentError> {
    ready.plans().map_err(|why| PaymentError::NoGuarantee(why.to_string()))
}

/// Refuses what no budget holds.
fn check(plans: &[Ledger], table: &PaidTable) -> Result<(), PaymentError> {
    if plans.is_empty() {
        return Err(PaymentError::NoGuarantee("it has no noise".to_owned()));
    }
    if let Some(taint) = plans.iter().find_map(|plan| plan.taints().first()) {
        return Err(PaymentError::NoGuarantee(taint.to_string()));
    }
    let of_records =
        |plan: &Ledger| plan.entries().iter().any(|entry| entry.event().unit() == Unit::Record);
    // A person's record that is there twice is two records, and a budget counts one.
    if table.repeats() && plans.iter().any(of_records) {
        return Err(PaymentError::Twice);
    }
    Ok(())
}

fn reserve(
    store: &mut Store,
    bill: &Bill<'_>,
    plans: &[Ledger],
    table: &PaidTable,
) -> Result<Reservation, PaymentError> {
    let Some((plan, others)) = plans.split_first() else {
        return Err(PaymentError::NoGuarantee("it has no noise".to_owned()));
    };
    let label: String = bill.label.chars().filter(|c| !c.is_control()).take(200).collect();
    let request = Request { label: &label, asked: bill.asked, plan, table, user: bill.user };
    Ok(store.reserve_between(&request, others)?)
}

/// Runs what was reserved, and closes the reservation.
fn run<R: Payable>(
    store: &mut Store,
    ready: R,
    reservation: Reservation,
    plans: &[Ledger],
    how: Run<'_>,
) -> (Result<R::Done, Error>, Result<(), BudgetError>) {
    let mut pulse = Pulse { store, reservation: &reservation, last: Instant::now() };
    let Run { mut on_progress, trace, .. } = how;
    let mut hear = |stage| {
        pulse.hear(stage);
        on_progress.as_mut().map_or(ControlFlow::Continue(()), |watch| watch(stage))
    };
    let ran = ready.run(Run::watched(&mut hear).with_trace(trace));
    match ran {
        Ok(done) => {
            let more = unplanned(plans, R::ledgers(&done));
            let closed = store.settle_for(&reservation, &more, R::digest(&done));
            (Ok(done), closed)
        }
        // Something was asked: the plan stays counted.
        Err(error @ Error::Spent { .. }) => {
            (Err(error), store.settle(&reservation, &Ledger::new()))
        }
        // It stays open, and counted in full, so that what was not begun can go on.
        Err(error @ Error::Unfinished { .. }) => (Err(error), Ok(())),
        Err(error) => (Err(error), store.release(reservation)),
    }
}

/// Writes down how far a job is.
struct Pulse<'a> {
    store: &'a mut Store,
    reservation: &'a Reservation,
    last: Instant,
}

impl Pulse<'_> {
    fn hear(&mut self, stage: Stage) {
        let Stage::Iteration(Progress { done, of }) = stage else { return };
        if self.last.elapsed() >= BEAT {
            // A budget that is busy hears of the next one.
            let _ = self.store.beat(self.reservation, done, Some(of));
            self.last = Instant::now();
        }
    }
}

/// The example of the README is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
