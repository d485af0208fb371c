//! A job of a budget that has several parts, each begun once, and may go on after a crash: the
//! budget says whether it is open, and keeps which parts were begun.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use reticent::Error;
use reticent::accountant::Ledger;
use reticent::sweep::Reserved;
use reticent_budget::{BudgetError, Reservation, Store};

/// A job that is open in its budget.
#[derive(Debug)]
pub struct OpenJob {
    store: Mutex<Store>,
    file: PathBuf,
    reservation: Reservation,
}

impl OpenJob {
    /// The job that was reserved, if it is open.
    pub fn find(file: &Path, reserved: &Reserved) -> Result<Self, BudgetError> {
        let store = Store::open(file)?;
        let reservation = store.reservation(reserved.job, &reserved.hash)?;
        Ok(Self { store: Mutex::new(store), file: file.to_owned(), reservation })
    }

    /// Whether this part may begin; if so, it never may again.
    pub fn begin(&self, part: usize) -> Result<bool, Error> {
        let part = u32::try_from(part).map_err(|_| Error::value("runs", part, "too many runs"))?;
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        store.begin_part(&self.reservation, part).map_err(|error| unwritten(&self.file, &error))
    }

    /// All of it is over.
    pub fn settle(self) -> Result<(), BudgetError> {
        let mut store = self.store.into_inner().unwrap_or_else(PoisonError::into_inner);
        store.settle(&self.reservation, &Ledger::new())
    }
}

/// A budget that does not take what must be in it before anything is asked.
pub fn unwritten(file: &Path, error: &BudgetError) -> Error {
    Error::Write { file: file.to_owned(), reason: error.to_string() }
}
