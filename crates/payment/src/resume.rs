//! Jobs that were reserved by a process that is gone: they go on, are closed, or are given back. Nothing is
//! charged.

use std::path::Path;

use reticent::Error;
use reticent::accountant::Ledger;
use reticent::internal::Payable;
use reticent_budget::{BudgetError, JobStatus, Store};

use crate::error::PaymentError;
use crate::{Receipt, close_failed};

/// Goes on, by `run`, with a job that was paid for when it began: number `job` of the file `budget`, which
/// `hash` tells from one of the same number elsewhere. It is closed by the rules of [`pay`](crate::pay).
///
/// # Errors
/// [`PaymentError::Job`] if the job ended on its way, and [`PaymentError::Budget`] if it did and cannot be
/// closed: it stays open then, and counted in full.
pub fn resume<R: Payable>(
    budget: &Path,
    job: u64,
    hash: &str,
    run: impl FnOnce() -> Result<R::Done, Error>,
) -> Result<Receipt<R::Done>, PaymentError> {
    match run() {
        Ok(done) => {
            let closed = Store::open(budget).and_then(|mut store| {
                close_over(&mut store, job, hash, &Ledger::new(), R::digest(&done))
            });
            Ok(Receipt { done, job, open: closed.err() })
        }
        Err(unfinished @ Error::Unfinished { .. }) => Err(unfinished.into()),
        Err(why) => {
            let mut store = Store::open(budget)?;
            let own = store.reservation(job, hash)?;
            close_failed(&mut store, own, &why)?;
            Err(why.into())
        }
    }
}

/// Closes a job that came to its end, if it is open still. `more` is what was done beyond the plan, and
/// `certificate` the digest of the certificate of what came of it.
///
/// # Errors
/// A job of another budget, or a file that cannot be written; the job then stays open, and counted.
pub fn close_over(
    store: &mut Store,
    job: u64,
    hash: &str,
    more: &Ledger,
    certificate: Option<&str>,
) -> Result<(), BudgetError> {
    match store.reservation(job, hash) {
        Ok(own) => store.settle_for(&own, more, certificate),
        Err(BudgetError::NotOpen(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Gives back what was reserved under `name`, or a longer name that begins so, by processes that ended
/// before the job was begun. The number of one that was begun, if there is one: it is not done again.
///
/// # Errors
/// A file that cannot be read or written.
pub fn give_back_unbegun(budget: &Path, name: &str) -> Result<Option<u64>, BudgetError> {
    let mut store = Store::open(budget)?;
    let jobs = store.summary()?.jobs;
    for job in jobs.iter().filter(|job| job.label.starts_with(name)) {
        match (job.status, store.not_begun(job.number)?) {
            (JobStatus::Released, _) => {}
            // Another process may have begun it meanwhile.
            (_, Some(reserved)) if store.release_unbegun(&reserved, 0)? => {}
            _ => return Ok(Some(job.number)),
        }
    }
    Ok(None)
}
