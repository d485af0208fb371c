//! A budget that somebody else wrote is refused, or its history follows: never a panic, and never
//! one that checks and admits more than it promises.
#![cfg_attr(feature = "run", no_main)]

use libfuzzer_sys::fuzz_target;
use reticent_accountant::{Adjacency, Event, Gdp, Ledger, Unit, View};
use reticent_budget::{PaidTable, Relation, Request, Store};

fuzz_target!(|bytes: &[u8]| {
    let Ok(folder) = tempfile::tempdir() else { return };
    let path = folder.path().join("a.budget");
    if std::fs::write(&path, bytes).is_err() {
        return;
    }
    if let Ok(store) = Store::open_to_read(&path) {
        let _ = store.summary();
    }
    let Ok(mut store) = Store::open(&path) else { return };
    let checked = store.check().is_ok();
    let mut plan = Ledger::new();
    let gdp = Gdp::new(0.1)
        .map(|gdp| Event::new(gdp, Adjacency::ReplaceOne, Unit::Record, View::Central));
    if let Ok(Ok(event)) = gdp {
        plan.append(event);
    }
    let table = PaidTable::file([1; 32], Relation::NewEdition);
    let request =
        Request { label: "a fit", asked: (0.5, 1e-6), plan: &plan, table: &table, user: None };
    if store.reserve(&request).is_ok() && checked {
        let after = store.check().expect("what checked still does");
        assert!(after.kept && after.groups.iter().all(|g| g.counted <= after.promise.epsilon));
    }
});

#[cfg(not(feature = "run"))]
fn main() {}
