//! Every query against a second computation of the same thing, without noise; its event; its
//! refusals.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

mod basis;
mod columns;
mod consensus;
mod evaluation;
mod means;
mod minimisers;
mod steepest;

use reticent_accountant::{Adjacency, Taint, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_oracle::queries::{ClippedMean, Gradient, Perturbed};
use reticent_oracle::{Entropy, Gate, Oracle, PaperClaim, PrivacyModel, Refusal, Sampling};
use reticent_problem::losses::{self, Loss};

const OPENING: PrivacyModel = PrivacyModel {
    adjacency: Adjacency::ReplaceOne,
    unit: Unit::Record,
    view: View::Central,
    public_n: None,
    intercept: 0.5,
};

const COLUMNS: usize = 3;
const COUNT: usize = 12;

/// Rows without pattern in [−1, 1], targets of alternating sign, three users.
fn example(classes: bool) -> Table {
    let mut rows = Dense::empty(COLUMNS);
    let value = |i: usize, j: usize| ((7 * i + 3 * j * j + 5 * i * j) % 13) as f64 / 6.0 - 1.0;
    for i in 0..COUNT {
        rows.push_sparse(&[0, 1, 2], &[value(i, 0), value(i, 1), value(i, 2)]);
    }
    let target =
        |i: usize| if classes { (i % 3) as f64 } else { 1.0 - 2.0 * ((i * i / 3) % 2) as f64 };
    Table {
        rows: Rows::Dense(rows),
        targets: (0..COUNT).map(target).collect(),
        users: Some((0..COUNT as u32).map(|i| (i * i) % 3).collect()),
        weights: None,
        names: vec!["x".to_owned(); COLUMNS],
    }
}

fn loss(name: &str) -> Box<dyn Loss> {
    losses::parse(name, None).unwrap()
}

fn gate(name: &str, opening: &PrivacyModel) -> Gate {
    Gate::open(example(name.starts_with("multi")).into(), loss(name), opening, Entropy::seeded(1))
        .unwrap()
}

fn noiseless(clip: f64) -> ClippedMean {
    ClippedMean { clip, noise_multiplier: 0.0, sampling: Sampling::Full }
}

/// How far an entry of a mean of squares of rows below 1 may be from the exact one: rows are rounded to
/// steps of about 2⁻¹⁶ of their bound.
const SQUARED: f64 = 1.6e-5;

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance), "{a:?}\n{b:?}");
}

fn point(len: usize, seed: usize) -> Vec<f64> {
    (0..len).map(|i| ((i * 37 + seed * 11) % 19) as f64 / 9.5 - 1.0).collect()
}

#[test]
fn a_claim_is_for_one_answer_and_taints_for_good() {
    let mut gate = gate("logistic", &OPENING);
    assert!(matches!(
        gate.ask(&Perturbed { values: &[1.0], scale: 1.0, noise_multiplier: 1.0 }),
        Err(Refusal::BadQuery(_))
    ));
    gate.keep_transcript();
    let params = ClippedMean { clip: 1.0, noise_multiplier: 0.0, sampling: Sampling::Full };
    gate.claim(PaperClaim::nothing(5));
    gate.ask(&Gradient { at: &[0.0; 4], mean: params }).unwrap();
    gate.claim(PaperClaim::gaussian(4, Sampling::Full, 3.0));
    let perturbed = gate
        .ask(&Perturbed { values: &[1e6, -2.0], scale: 1.0, noise_multiplier: 3.0 })
        .unwrap()
        .into_inner();
    // 60 standard deviations.
    close(&perturbed, &[1e6, -2.0], 180.0);
    assert_eq!(gate.take_transcript(), [perturbed]);
    gate.ask(&Gradient { at: &[0.0; 4], mean: params }).unwrap();
    let ledger = gate.close().unwrap();
    let kinds: Vec<_> =
        ledger.entries().iter().map(|e| e.event().mechanism().to_string()).collect();
    assert_eq!(ledger.total_events(), 2, "{kinds:?}");
    assert!(kinds[1].contains("without protection"), "{kinds:?}");
    assert!([4, 5].iter().all(|&n| ledger.taints().contains(&Taint::AsPublished(n))));
}
