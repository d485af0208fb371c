//! What is promised about speed: with 10,000 lines `show` takes less than a second and a
//! reservation less than 50 ms, half of the jobs being sampled and all of them different; also when
//! somebody reads, so that the lines stay in the log, and when the log was just emptied.
//!
//! `cargo bench -p reticent-budget --bench entries`

#![allow(clippy::unwrap_used, missing_docs)]

use std::time::{Duration, Instant};

use reticent_accountant::{Adjacency, Event, Gaussian, Ledger, PoissonGaussian, Unit, View};
use reticent_budget::{PaidTable, Promise, Relation, Request, Store};

fn plan(number: u32) -> Ledger {
    let noise = 1e4 + f64::from(number);
    let mut ledger = Ledger::new();
    let terms = (Adjacency::ReplaceOne, Unit::Record, View::Central);
    let event = if number.is_multiple_of(2) {
        Event::new(Gaussian::new(noise).unwrap(), terms.0, terms.1, terms.2)
    } else {
        Event::new(PoissonGaussian::new(noise, 0.01).unwrap(), terms.0, terms.1, terms.2)
    };
    ledger.append_many(event.unwrap(), 100);
    ledger
}

fn request<'a>(plan: &'a Ledger, table: &'a PaidTable) -> Request<'a> {
    Request { label: "a fit", asked: (0.01, 1e-6), plan, table, user: None }
}

/// The slowest of some reservations.
fn reserve(store: &mut Store, table: &PaidTable) -> Duration {
    let one = |number| {
        let plan = plan(number);
        let began = Instant::now();
        let job = store.reserve(&request(&plan, table)).unwrap();
        let took = began.elapsed();
        store.settle(&job, &plan).unwrap();
        took
    };
    (0..20).map(one).max().unwrap()
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.budget");
    let mut store = Store::create(&path, Promise::new("many", 8.0, 1e-6).unwrap()).unwrap();
    let table = PaidTable::file([1; 32], Relation::Same);
    let mut last = Vec::new();
    for number in 0..5_000 {
        let plan = plan(number);
        let began = Instant::now();
        let reservation = store.reserve(&request(&plan, &table)).unwrap();
        if number >= 4_980 {
            last.push(began.elapsed());
        }
        store.settle(&reservation, &plan).unwrap();
    }
    last.sort();
    let began = Instant::now();
    let summary = Store::open_to_read(&path).unwrap().summary().unwrap();
    let shown = began.elapsed();
    let began = Instant::now();
    store.check().unwrap();
    let checked = began.elapsed();
    let began = Instant::now();
    store.spending_history(200).unwrap();
    let drawn = began.elapsed();
    // Who reads keeps what is written in the log.
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM history").unwrap();
    let logged = reserve(&mut store, &table);
    drop(reader);
    store.summary().unwrap();
    let emptied = reserve(&mut store, &table);
    let began = Instant::now();
    let job = store.reserve(&request(&plan(1), &table)).unwrap();
    store.beat(&job, 1, None).unwrap();
    let beat = began.elapsed();
    println!("lines        {}", summary.lines);
    println!("reserve      {:?} (median of 20), {:?} (slowest)", last[10], last[19]);
    println!("show         {shown:?}");
    println!("  in the log {logged:?} (slowest of 20)");
    println!("  log empty  {emptied:?} (slowest of 20)");
    println!("  and a beat {beat:?}");
    println!("check        {checked:?}");
    println!("course       {drawn:?}");
}
