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
//! [`pay_each`] has the same rules for a run between parties who pay each from a budget of its own:
//! all of them reserve before anything is asked, or nobody does. [`resume`] and [`resume_sweep`] go on
//! with what a process reserved that is gone, and close it by the same rules.
//!
//! Which people a table counts for: `proofs/groups.md`.
//!
//! The crate is internal: names and signatures may change in every release. What a Rust program may
//! rely on are the rules, by which the command line and Python pay too, and the file, which is a
//! budget of `reticent-budget`. It depends on an exact version, and on the same one of `reticent` and
//! `reticent-budget`.

mod error;
mod parties;
mod resume;
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
pub use parties::{AbsentParty, PartyReceipt, pay_each};
pub use resume::{close_over, give_back_unbegun, resume};
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
    let name = ready.name();
    let bill = Bill { label: name.as_deref().unwrap_or(bill.label), ..*bill };
    let reservation = reserve(store, &bill, &plans, &table)?;
    let job = reservation.job();
    ready.reserved(job, &reservation.hash());
    let payer = Payer { party: 0, store, reservation, plans };
    let books = |done: &R::Done, plans: &[Ledger], _| unplanned(plans, R::ledgers(done));
    let (done, closed) = run(vec![payer], ready, how, books);
    Ok(Receipt { done: done?, job, open: closed.into_iter().find_map(Result::err) })
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

/// A budget in which a job is reserved.
struct Payer<'s> {
    /// The number of the party whose it is; 0 of one who pays for all.
    party: usize,
    store: &'s mut Store,
    reservation: Reservation,
    /// What was reserved, of which everybody in the budget pays for one.
    plans: Vec<Ledger>,
}

/// How a job ended, and how each of its reservations was closed.
type Ended<D> = (Result<D, Error>, Vec<Result<(), BudgetError>>);

/// Runs what was reserved, and closes every reservation; `books` is what was done beyond the plans of
/// a payer.
fn run<R: Payable>(
    mut payers: Vec<Payer<'_>>,
    ready: R,
    how: Run<'_>,
    books: impl Fn(&R::Done, &[Ledger], usize) -> Ledger,
) -> Ended<R::Done> {
    let mut pulse = Pulse { payers: &mut payers, last: Instant::now() };
    let Run { mut on_progress, trace, .. } = how;
    let mut hear = |stage| {
        pulse.hear(stage);
        on_progress.as_mut().map_or(ControlFlow::Continue(()), |watch| watch(stage))
    };
    let ran = ready.run(Run::watched(&mut hear).with_trace(trace));
    let close = |payer: Payer<'_>| {
        let Payer { party, store, reservation, plans } = payer;
        match &ran {
            Ok(done) => {
                let more = books(done, &plans, party);
                store.settle_for(&reservation, &more, R::digest(done))
            }
            Err(why) => close_failed(store, reservation, why),
        }
    };
    let closed = payers.into_iter().map(close).collect();
    (ran, closed)
}

/// Closes what was reserved for a job that ended on its way.
fn close_failed(store: &mut Store, own: Reservation, why: &Error) -> Result<(), BudgetError> {
    match why {
        // Something was asked: the plan stays counted.
        Error::Spent { .. } => store.settle(&own, &Ledger::new()),
        // It stays open, and counted in full, so that what was not begun can go on.
        Error::Unfinished { .. } => Ok(()),
        // Nothing was asked by this process. Where another has asked, the plan stays counted.
        _ if store.release_unbegun(&own, ASKED)? => Ok(()),
        _ => store.settle(&own, &Ledger::new()),
    }
}

/// The part of a job that is begun with its first answer, or the second run of a sweep: part 0 may be begun
/// by who has asked nothing yet.
const ASKED: u32 = 1;

/// Writes down how far a job is.
struct Pulse<'p, 's> {
    payers: &'p mut [Payer<'s>],
    last: Instant,
}

impl Pulse<'_, '_> {
    fn hear(&mut self, stage: Stage) {
        let Stage::Iteration(Progress { done, of }) = stage else { return };
        if self.last.elapsed() >= BEAT {
            for Payer { store, reservation, .. } in self.payers.iter_mut() {
                // A budget that is busy hears of the next one.
                let _ = store.beat(reservation, done, Some(of));
            }
            self.last = Instant::now();
        }
    }
}

/// The example of the README is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
