//! Records that have weights: what they add, what is refused, and whose noise it is.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use reticent_accountant::{Adjacency, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_noise::NoiseKey;
use reticent_oracle::queries::{
    ClippedMean, Coordinate, Correction, Curvature, Gradient, Minimiser, PerturbedObjective,
    Quantile, Residual, ResidualTerms,
};
use reticent_oracle::without_privacy::ExactOracle;
use reticent_oracle::{
    Entropy, Gate, Law, Oracle, PrivacyModel, Quadratic, RecordStatistic, Refusal, Rehearsal,
    Sampling, TableError,
};
use reticent_problem::losses;

const OPENING: PrivacyModel = PrivacyModel {
    adjacency: Adjacency::ReplaceOne,
    unit: Unit::Record,
    view: View::Central,
    public_n: None,
    intercept: 1.0,
};

const ROWS: [[f64; 2]; 4] = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [-1.0, 0.25]];
const TARGETS: [f64; 4] = [1.0, -1.0, 1.0, -1.0];
const WEIGHTS: [f64; 4] = [1.0, 0.25, 0.0, 0.5];

fn table(weights: Option<&[f64]>) -> Table {
    let mut dense = Dense::empty(2);
    ROWS.iter().for_each(|row| dense.push_sparse(&[0, 1], row));
    Table {
        rows: Rows::Dense(dense),
        targets: TARGETS.to_vec(),
        users: Some(vec![0, 0, 1, 2]),
        weights: weights.map(<[f64]>::to_vec),
        names: vec!["a".into(), "b".into()],
    }
}

fn open(weights: Option<&[f64]>, unit: Unit) -> Result<Gate, Refusal> {
    let loss = losses::parse("logistic", None).unwrap();
    let opening = PrivacyModel { unit, ..OPENING };
    Gate::open(table(weights).into(), loss, &opening, Entropy::seeded(1))
}

fn noiseless(clip: f64) -> ClippedMean {
    ClippedMean { clip, noise_multiplier: 0.0, sampling: Sampling::Full }
}

fn close(found: &[f64], expected: &[f64]) {
    for (value, expected) in found.iter().zip(expected) {
        assert!((value - expected).abs() < 1e-8, "{found:?}");
    }
}

/// At 0 the slope of record i is −bᵢ/2 and its curvature ¼.
#[test]
fn a_record_adds_its_weight_times_what_it_would_add() {
    let own = |i: usize, j: usize| -0.5 * TARGETS[i] * ROWS[i].get(j).copied().unwrap_or(1.0);
    let by_record = |j: usize| (0..4).map(|i| WEIGHTS[i] * own(i, j)).sum::<f64>() / 4.0;
    let by_user = |j: usize| {
        let both = (WEIGHTS[0] * own(0, j) + WEIGHTS[1] * own(1, j)) / 2.0;
        (both + WEIGHTS[2] * own(2, j) + WEIGHTS[3] * own(3, j)) / 3.0
    };
    let at = [0.0; 3];
    for (unit, expected) in
        [(Unit::Record, [0, 1, 2].map(by_record)), (Unit::User, [0, 1, 2].map(by_user))]
    {
        let mut gate = open(Some(&WEIGHTS), unit).unwrap();
        let mean = noiseless(10.0);
        close(gate.ask(&Gradient { at: &at, mean }).unwrap().get(), &expected);
        for (index, expected) in expected.iter().enumerate() {
            let one = gate.ask(&Coordinate { at: &at, index, mean }).unwrap();
            close(&[*one.get()], &[*expected]);
        }
        let none = gate.ask(&Correction { at: &at, from: &at, mean }).unwrap();
        close(none.get(), &[0.0; 3]);
    }
    let bent = Curvature { at: &at, row_norm: 2.0, most: 0.25, noise_multiplier: 0.0 };
    let entry = |i: usize| ROWS[i][0].powi(2) * WEIGHTS[i] / 4.0;
    for (unit, expected) in [
        (Unit::Record, (0..4).map(entry).sum::<f64>() / 4.0),
        (Unit::User, ((entry(0) + entry(1)) / 2.0 + entry(2) + entry(3)) / 3.0),
    ] {
        let answer = open(Some(&WEIGHTS), unit).unwrap().ask(&bent).unwrap();
        // Rows are rounded to steps of about 2⁻¹⁶ of their bound.
        assert!((answer.get()[0] - expected).abs() < 1e-5, "{unit}: {answer:?}");
    }
}

/// The clip comes after the weight: a record of weight ½ whose gradient is far above the clip adds as
/// much as the clip, and not half of it.
#[test]
fn a_record_is_clipped_after_its_weight() {
    let mut gate = open(Some(&[0.0, 0.0, 0.0, 0.5]), Unit::Record).unwrap();
    let answer = gate.ask(&Gradient { at: &[0.0; 3], mean: noiseless(1e-3) }).unwrap();
    let length = answer.get().iter().map(|v| v * v).sum::<f64>().sqrt();
    assert!((4.0 * length / 1e-3 - 1.0).abs() < 1e-6, "{length}");
}

#[test]
fn weights_of_one_are_no_weights_to_the_bit() {
    let noisy = ClippedMean { noise_multiplier: 1.5, ..noiseless(0.3) };
    for unit in [Unit::Record, Unit::User] {
        let said = |weights: Option<&[f64]>| {
            let mut gate = open(weights, unit).unwrap();
            gate.ask(&Gradient { at: &[0.3, -0.2, 0.1], mean: noisy }).unwrap().into_inner()
        };
        assert_eq!(said(None), said(Some(&[1.0; 4])));
        assert_ne!(said(None), said(Some(&WEIGHTS)));
    }
}

#[test]
fn weights_that_are_none_are_refused() {
    for wrong in [
        &[1.0, 1.0, 1.0, f64::NAN][..],
        &[1.0, 1.0, 1.0, -0.1],
        &[1.0, 1.0, 1.0, 1.0 + f64::EPSILON],
        &[1.0, 1.0, 1.0, f64::INFINITY],
        &[1.0; 3],
    ] {
        let refused = open(Some(wrong), Unit::Record).unwrap_err();
        assert!(matches!(refused, Refusal::Table(TableError::WrongWeight)), "{refused}");
    }
}

/// What is proven for records that count alike is refused of others before anything is entered, by a
/// rehearsal as by a gate.
#[test]
fn what_is_no_sum_is_refused_of_weighted_records_and_costs_nothing() {
    let zeros = [0.0; 3];
    let public = Quadratic { ridge: 0.5, linear: &zeros, penalty: None };
    let minimiser =
        Minimiser { row_norm: 2.0, public, start: &zeros, image: false, noise_multiplier: 1.0 };
    let objective = PerturbedObjective {
        row_norm: 2.0,
        smoothness: 0.25,
        public,
        start: &zeros,
        law: Law::SphericalLaplace,
        noise_multiplier: 1.0,
    };
    let quantile = Quantile {
        of: RecordStatistic::Target,
        fraction: 0.5,
        candidates: &[-1.0, 1.0],
        noise_multiplier: 1.0,
    };
    let params = ResidualTerms {
        clip: 1.0,
        record_clip: 1.0,
        row_norm: 1.0,
        step: 2.0,
        inner: 5,
        noise_multiplier: 2.0,
        walk: None,
    };
    let residual = Residual { v: &zeros, z: &zeros, params };
    let refused = |oracle: &mut dyn Oracle| {
        let all = [
            oracle.ask(&minimiser).map(drop),
            oracle.ask(&objective).map(drop),
            oracle.ask(&quantile).map(drop),
            oracle.ask(&residual).map(drop),
            oracle.open_consensus(&zeros),
        ];
        for said in all {
            assert!(matches!(said, Err(Refusal::Weighted)), "{said:?}");
        }
    };
    let mut gate = open(Some(&WEIGHTS), Unit::Record).unwrap();
    refused(&mut gate);
    assert_eq!(gate.ledger().total_events(), 0);
    let mut rehearsal = Rehearsal::new(Oracle::shape(&gate), *gate.terms()).with_weights(true);
    refused(&mut rehearsal);
    assert_eq!(rehearsal.into_plan().total_events(), 0);
    assert!(matches!(ExactOracle::loss(&mut gate, &zeros), Err(Refusal::Weighted)));
}

/// Who asks the same of a table whose weights were changed must not be answered with the same noise.
#[test]
fn other_weights_have_other_noise() {
    let fingerprint = |weights: Option<&[f64]>| {
        let loss = losses::parse("logistic", None).unwrap();
        let key = NoiseKey::seeded(1);
        let gate = Gate::open_keyed(table(weights).into(), loss, &OPENING, key, &[1; 32]);
        gate.unwrap().fingerprint().unwrap()
    };
    let all = [None, Some(&[1.0; 4][..]), Some(&WEIGHTS)].map(fingerprint);
    assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
}
