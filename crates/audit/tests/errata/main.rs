//! Where a paper's claim is not what its algorithm guarantees (docs/errata.md): for each erratum a
//! test that shows the published version breaking its claim, and ours holding on the same tables.
//!
//! Audits are bounds at 95%: of a claim that holds, one in 20 would be called broken, and in fact
//! far fewer, as the bound would have to be wrong by the whole distance. Seeds are fixed. What is
//! not an audit is arithmetic, and what it compares is computed here and not written down. E12
//! belongs to the network runtime.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

mod dpa19_ra18;
mod every_paper;
mod fp23;
mod ls22;
mod rdp20;

use reticent::accountant::{Adjacency, Event, Ledger, Mechanism, Unit, View, epsilon};
use reticent::internal::{Repeat, Seen};
use reticent::{Guarantee, Spec};
use reticent_audit::{AuditReport, AuditSpec, run};
use reticent_data::{Dense, Rows, Table};

const DELTA: f64 = 1e-3;

/// The audit of a claim of ε = 1.
fn spec(algorithm: &str) -> AuditSpec {
    AuditSpec {
        algorithm: algorithm.to_owned(),
        epsilon: 1.0,
        delta: DELTA,
        runs: 40_000,
        seed: Some(3),
        as_published: true,
        ..AuditSpec::default()
    }
}

/// The published version under audit breaks its claim; ours, on the same tables, does not.
fn broken_and_mended(erratum: &str, spec: &AuditSpec) -> [AuditReport; 2] {
    let [published, ours] =
        [true, false].map(|as_published| run(&AuditSpec { as_published, ..spec.clone() }).unwrap());
    println!(
        "{erratum}: claimed {:.4}, as published at least {:.4}; ours certifies {:.4}, measured at least {:.4}",
        published.epsilon_certified,
        published.epsilon_lower,
        ours.epsilon_certified,
        ours.epsilon_lower
    );
    assert!(published.exceeded && published.as_published, "{published:?}");
    assert!(!ours.exceeded, "{ours:?}");
    [published, ours]
}

/// A table of one feature.
fn column(records: &[(f64, f64)]) -> Table {
    Table {
        rows: Rows::Dense(Dense {
            values: records.iter().map(|record| record.0).collect(),
            rows: records.len(),
            columns: 1,
        }),
        targets: records.iter().map(|record| record.1).collect(),
        users: None,
        weights: None,
        names: vec!["1".to_owned()],
    }
}

/// An algorithm on tables of `records` records, at a claimed or certified ε of 1.
fn job(algorithm: &str, records: usize, as_published: bool) -> Repeat {
    let mut spec = Spec::default().with(|it| {
        it.guarantee = Guarantee::default().with(|it| {
            it.epsilon = Some(1.0);
            it.delta = Some(DELTA);
            it.adjacency = Some(Adjacency::ReplaceOne);
            it.seed = Some(4);
        });
        it.features = Some(1);
        it.row_norm = Some(1.0);
        it.target_range = Some([-1.0, 1.0]);
        it.algorithm = Some(algorithm.to_owned());
        it.loss = Some("huber:0.01".to_owned());
        it.intercept = Some(false);
    });
    spec.settings.iterations = Some(1);
    // 1/L: noise is in proportion to it, and by itself each version would have its own.
    spec.settings.gamma = Some(0.01);
    spec.settings.as_published = as_published.then_some(true);
    spec.check().unwrap().repeat(column(&vec![(0.0, 1.0); records]).into()).unwrap()
}

/// Mean and standard deviation of the first release over many runs.
fn first_release(job: &Repeat, table: &Table, runs: u64) -> (f64, f64) {
    let value = |seen: Seen| seen.transcript[0][0];
    let values: Vec<f64> =
        (0..runs).map(|i| value(job.run(table.clone().into(), i).unwrap())).collect();
    let mean = values.iter().sum::<f64>() / runs as f64;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (runs - 1) as f64;
    (mean, variance.sqrt())
}

/// `count` times the same mechanism under replace-one.
fn ledger(mechanism: impl Into<Mechanism>, count: u64) -> Ledger {
    let mut ledger = Ledger::new();
    let event = Event::new(mechanism, Adjacency::ReplaceOne, Unit::Record, View::Central).unwrap();
    ledger.append_many(event, count);
    ledger
}

/// A proven interval of ε.
fn exact(ledger: &Ledger, delta: f64) -> [f64; 2] {
    let bound = epsilon(ledger, delta).unwrap();
    [bound.lower, bound.upper]
}
