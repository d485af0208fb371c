//! What the tests of the store share.

#![allow(clippy::unwrap_used, dead_code)] // every test file uses a part of it

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use reticent_accountant::{Adjacency, Event, Gaussian, Ledger, Mechanism, Unit, View, calibrate};
use reticent_budget::{BudgetError, PaidTable, Promise, Relation, Request, Reservation, Store};

pub static SAME: LazyLock<PaidTable> = LazyLock::new(|| PaidTable::file([1; 32], Relation::Same));

pub fn event(mechanism: impl Into<Mechanism>) -> Event {
    Event::new(mechanism, Adjacency::ReplaceOne, Unit::Record, View::Central).unwrap()
}

pub fn ledger(mechanism: impl Into<Mechanism>) -> Ledger {
    let mut ledger = Ledger::new();
    ledger.append(event(mechanism));
    ledger
}

/// What a fit with Gaussian noise plans.
pub fn fit(epsilon: f64, delta: f64) -> Ledger {
    let plan = |z: f64| Gaussian::new(z).map(ledger);
    plan(calibrate(epsilon, delta, plan).unwrap().noise_multiplier).unwrap()
}

pub fn request<'a>(plan: &'a Ledger, epsilon: f64, table: &'a PaidTable) -> Request<'a> {
    Request { label: "a fit", asked: (epsilon, 1e-6), plan, table, user: None }
}

pub fn reserve(store: &mut Store, epsilon: f64) -> Result<Reservation, BudgetError> {
    store.reserve(&request(&fit(epsilon, 1e-6), epsilon, &SAME))
}

pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("clinic.budget")
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn store(&self, epsilon: f64) -> Store {
        Store::create(&self.path(), Promise::new("clinic", epsilon, 1e-6).unwrap()).unwrap()
    }
}
