//! A sweep that is paid for: one job of its budget, whose runs are its parts. The budget keeps which of
//! them were begun, so that none begins twice, whatever is killed or copied (`proofs/sweep.md`).

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use reticent::accountant::Ledger;
use reticent::internal::Payable;
use reticent::sweep::{Journal, ReadySweep, Reserved};
use reticent::{Error, Progress, Run, Stage};
use reticent_budget::{BudgetError, Reservation, Store};

use crate::error::PaymentError;

/// A sweep on private data that was opened, where its journal will be and what pays for it.
#[derive(Debug)]
pub struct PaidSweep<'s> {
    ready: ReadySweep<'s>,
    journal: &'s Path,
    budget: &'s Path,
    reserved: Option<Reserved>,
}

impl<'s> PaidSweep<'s> {
    /// A sweep that begins its journal at `journal`, and is paid for from the file `budget`.
    pub fn new(ready: ReadySweep<'s>, journal: &'s Path, budget: &'s Path) -> Self {
        PaidSweep { ready, journal, budget, reserved: None }
    }
}

impl Payable for PaidSweep<'_> {
    type Done = (Journal, Ledger);

    fn plans(&self) -> Result<Vec<Ledger>, Error> {
        Ok(vec![self.ready.plan()])
    }

    fn reserved(&mut self, number: u64, hash: &str) {
        self.reserved = Some(Reserved { job: number, hash: hash.to_owned() });
    }

    fn run(self, run: Run<'_>) -> Result<Self::Done, Error> {
        let Some(reserved) = &self.reserved else {
            return Err(Error::Missing { what: "a reservation", todo: "reserve it in a budget" });
        };
        let job = OpenJob::find(self.budget, reserved);
        let job = job.map_err(|error| unwritten(self.budget, &error))?;
        let mut journal = self.ready.begin(self.journal, Some(reserved))?;
        job.all(&self.ready, &mut journal, run)?;
        Ok((journal, self.ready.plan()))
    }

    /// The plan, whatever was used of it.
    fn ledgers((_, plan): &Self::Done) -> Vec<&Ledger> {
        vec![plan]
    }
}

/// Goes on with a sweep that was paid for when it began, as long as its job is open in the file
/// `budget`, and closes the job when the last run is over. Nothing is charged.
///
/// # Errors
/// [`PaymentError::Unreserved`] if the journal names no job, [`BudgetError::NotOpen`] if the job is
/// closed and runs are left, and what a run meets.
pub fn resume_sweep(
    ready: &ReadySweep<'_>,
    journal: &mut Journal,
    budget: &Path,
    run: Run<'_>,
) -> Result<(), PaymentError> {
    let reserved = journal.reserved().cloned().ok_or(PaymentError::Unreserved)?;
    match OpenJob::find(budget, &reserved) {
        Ok(job) => {
            job.all(ready, journal, run)?;
            Ok(job.settle()?)
        }
        // Nothing is begun any more: its results are written again.
        Err(_) if journal.left().is_empty() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A job that is open in its budget.
struct OpenJob {
    store: Mutex<Store>,
    file: PathBuf,
    reservation: Reservation,
}

impl OpenJob {
    /// The job that was reserved, if it is open.
    fn find(file: &Path, reserved: &Reserved) -> Result<Self, BudgetError> {
        let store = Store::open(file)?;
        let reservation = store.reservation(reserved.job, &reserved.hash)?;
        Ok(Self { store: Mutex::new(store), file: file.to_owned(), reservation })
    }

    /// Whether this part may begin; if so, it never may again.
    fn begin(&self, part: usize) -> Result<bool, Error> {
        let part = u32::try_from(part).map_err(|_| Error::value("runs", part, "too many runs"))?;
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        store.begin_part(&self.reservation, part).map_err(|error| unwritten(&self.file, &error))
    }

    /// Does all that is left of a sweep.
    fn all(
        &self,
        ready: &ReadySweep<'_>,
        journal: &mut Journal,
        mut run: Run<'_>,
    ) -> Result<(), Error> {
        ready.run(journal, &|part| self.begin(part), &mut |done, of| {
            let progress = Progress { done: done as u64, of: of as u64 };
            // A run that was begun is spent, and ends by itself.
            let _ = run.tell(Stage::Iteration(progress));
        })
    }

    /// All of it is over.
    fn settle(self) -> Result<(), BudgetError> {
        let mut store = self.store.into_inner().unwrap_or_else(PoisonError::into_inner);
        store.settle(&self.reservation, &Ledger::new())
    }
}

/// A budget that does not take what must be in it before anything is asked.
fn unwritten(file: &Path, error: &BudgetError) -> Error {
    Error::Write { file: file.to_owned(), reason: error.to_string() }
}
