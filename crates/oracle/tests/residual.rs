//! The residual of a party's prox: the right point, never further apart than what is counted, the
//! right noise.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use proptest::prelude::*;
use reticent_accountant::{Adjacency, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_noise::NoiseKey;
use reticent_oracle::queries::{Residual, ResidualTerms};
use reticent_oracle::{Gate, Keyed, PrivacyModel, Refusal};
use reticent_problem::losses;

fn gate(rows: &[(f64, f64, f64)], loss: &str, unit: Unit, seed: u64) -> Gate<Keyed> {
    let opening = PrivacyModel {
        adjacency: Adjacency::ReplaceOne,
        unit,
        view: View::Local,
        public_n: None,
        intercept: 0.0,
    };
    let table = Table {
        rows: Rows::Dense(Dense {
            rows: rows.len(),
            columns: 2,
            values: rows.iter().flat_map(|r| [r.0, r.1]).collect(),
        }),
        targets: rows.iter().map(|r| r.2).collect(),
        users: Some(vec![0; rows.len()]),
        weights: None,
        names: Vec::new(),
    };
    let loss = losses::parse(loss, None).unwrap();
    Gate::open_keyed(table.into(), loss, &opening, NoiseKey::seeded(seed), &[1; 32]).unwrap()
}

const HOW: ResidualTerms = ResidualTerms {
    clip: 1.0,
    record_clip: 1.0,
    row_norm: 1.0,
    step: 2.0,
    inner: 60,
    noise_multiplier: 0.0,
    walk: None,
};

#[test]
fn the_solver_comes_to_the_closed_form() {
    // f = (x₀ − b)²/2 · … with one record a = (1, 0): prox of γ(x₀ − b)²/2 at v is (v₀ + γb)/(1 +
    // γ).
    let mut gate = gate(&[(1.0, 0.0, 0.25)], "squared", Unit::User, 1);
    let params = ResidualTerms { clip: 100.0, record_clip: 100.0, ..HOW };
    let answer =
        gate.ask(&Residual { v: &[0.4, -0.3], z: &[0.1, 0.1], params }).unwrap().into_inner();
    assert!((answer[0] - ((0.4 + 2.0 * 0.25) / 3.0 - 0.1)).abs() < 1e-6, "{answer:?}");
    assert!((answer[1] - (-0.3 - 0.1)).abs() < 1e-6);
}

fn record() -> impl Strategy<Value = (f64, f64, f64)> {
    // On the unit circle: the rows that move the most.
    (0.0..std::f64::consts::TAU, any::<bool>()).prop_map(|(angle, label)| {
        (0.999_999 * angle.cos(), 0.999_999 * angle.sin(), if label { 1.0 } else { -1.0 })
    })
}

proptest! {
    /// One record of m: at most 2γC/m and a rounding; the whole table: at most 2C′.
    #[test]
    fn neighbours_are_never_further_apart_than_is_counted(
        rows in prop::collection::vec(record(), 2..8),
        other in record(),
        v in prop::array::uniform2(-3.0..3.0_f64),
        z in prop::array::uniform2(-3.0..3.0_f64),
        gamma in 0.1..20.0_f64,
        clip in 0.05..2.0_f64,
        inner in 1_u32..30,
        loss in prop::sample::select(vec!["logistic", "squared", "huberised-hinge:0.5"]),
    ) {
        let params = ResidualTerms { clip: 1e6, record_clip: clip, step: gamma, inner, ..HOW };
        let mut changed = rows.clone();
        changed[0] = other;
        let of = |rows: &[(f64, f64, f64)], params: &ResidualTerms, unit| {
            gate(rows, loss, unit, 1).ask(&Residual { v: &v, z: &z, params: *params }).unwrap().into_inner()
        };
        let apart = |params: &ResidualTerms, unit| {
            let (a, b) = (of(&rows, params, unit), of(&changed, params, unit));
            a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        let bound = 2.0 * gamma * clip / rows.len() as f64;
        // The grid of a clip of a million has steps of 2.3e-4.
        prop_assert!(apart(&params, Unit::Record) <= bound + 1e-3, "{} {bound}", apart(&params, Unit::Record));
        let short = ResidualTerms { clip: 0.1, ..params };
        prop_assert!(apart(&short, Unit::User) <= 0.2 + 1e-9);
    }
}

/// The standard deviation over 4,000 draws is within 6% of what is counted, but for a chance below
/// 10⁻⁶ (the relative deviation of a standard deviation of 8,000 normal draws is 0.8%).
#[test]
fn the_noise_has_the_size_that_is_counted() {
    let rows = [(0.6, 0.8, 1.0), (0.8, -0.6, -1.0), (0.0, 1.0, 1.0), (1.0, 0.0, 1.0)];
    for (unit, expected) in [(Unit::User, 3.0), (Unit::Record, 3.0 * 2.0 * 0.1 / 4.0)] {
        let params = ResidualTerms { record_clip: 0.1, noise_multiplier: 3.0, ..HOW };
        let exact = gate(&rows, "logistic", unit, 1)
            .ask(&Residual {
                v: &[0.1, 0.2],
                z: &[0.0; 2],
                params: ResidualTerms { noise_multiplier: 0.0, ..params },
            })
            .unwrap()
            .into_inner();
        let mut gate = gate(&rows, "logistic", unit, 1);
        let mut squares = 0.0;
        for i in 0..4_000_u32 {
            let mut label = [0; 32];
            label[..4].copy_from_slice(&i.to_le_bytes());
            gate.begin(&label);
            let said =
                gate.ask(&Residual { v: &[0.1, 0.2], z: &[0.0; 2], params }).unwrap().into_inner();
            squares += said.iter().zip(&exact).map(|(s, e)| (s - e).powi(2)).sum::<f64>();
        }
        let deviation = (squares / 8_000.0).sqrt();
        assert!((deviation / expected - 1.0).abs() < 0.06, "{unit}: {deviation} {expected}");
    }
}

/// Whoever is there is known to be there, and a user who is protected is the whole table.
#[test]
fn a_residual_is_refused_where_the_party_is_not_public() {
    let open = |adjacency, unit, users: Vec<u32>| {
        let public_n = Some(2);
        let opening = PrivacyModel { adjacency, unit, view: View::Local, public_n, intercept: 0.0 };
        let rows = Dense { rows: 2, columns: 2, values: vec![0.5, 0.1, -0.3, 0.2] };
        let table = Table {
            rows: Rows::Dense(rows),
            targets: vec![1.0, -1.0],
            users: Some(users),
            weights: None,
            names: Vec::new(),
        };
        let loss = losses::parse("logistic", None).unwrap();
        Gate::open_keyed(table.into(), loss, &opening, NoiseKey::seeded(1), &[1; 32]).unwrap()
    };
    let params = ResidualTerms { noise_multiplier: 1.0, ..HOW };
    let query = Residual { v: &[0.4, -0.3], z: &[0.1, 0.1], params };
    for (adjacency, unit, users) in [
        (Adjacency::AddRemove, Unit::Record, vec![0, 0]),
        (Adjacency::AddRemove, Unit::User, vec![0, 0]),
        (Adjacency::ReplaceOne, Unit::User, vec![0, 1]),
    ] {
        let mut gate = open(adjacency, unit, users);
        let given = gate.ask(&query);
        assert!(matches!(given, Err(Refusal::BadQuery(_))), "{adjacency} {unit}: {given:?}");
        assert_eq!(gate.ledger().total_events(), 0);
    }
    for (unit, users) in [(Unit::Record, vec![0, 1]), (Unit::User, vec![0, 0])] {
        assert!(open(Adjacency::ReplaceOne, unit, users).ask(&query).is_ok());
    }
}
