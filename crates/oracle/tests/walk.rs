//! A step of a stateless walk, as proofs/walk.md needs it: non-expansive, bounded, counted for
//! another peer, and refused where it is none of that.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use proptest::prelude::*;
use reticent_accountant::{Adjacency, Mechanism, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_oracle::queries::{Residual, ResidualTerms};
use reticent_oracle::{Entropy, Gate, PrivacyModel, WalkTerms};
use reticent_problem::losses;

const USERS: u64 = 20;

fn gate(loss: &str, unit: Unit, view: View, numbers: &[f64]) -> Gate {
    let records = numbers.len() / 2;
    let mut rows = Dense::empty(2);
    for row in numbers.chunks_exact(2) {
        // No longer than 1.
        let length = row[0].hypot(row[1]).max(1.0);
        rows.push_sparse(&[0, 1], &[row[0] / length, row[1] / length]);
    }
    let table = Table {
        rows: Rows::Dense(rows),
        targets: (0..records).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect(),
        users: Some(vec![0; records]),
        weights: None,
        names: Vec::new(),
    };
    let opening = PrivacyModel {
        adjacency: Adjacency::ReplaceOne,
        unit,
        view,
        public_n: None,
        intercept: 0.0,
    };
    Gate::open(table.into(), losses::parse(loss, None).unwrap(), &opening, Entropy::seeded(1))
        .unwrap()
}

fn terms(step: f64, inner: u32, noise_multiplier: f64) -> ResidualTerms {
    ResidualTerms {
        clip: step * (1.0 + 1e-9),
        record_clip: 1.0,
        row_norm: 1.0,
        step,
        inner,
        noise_multiplier,
        walk: Some(WalkTerms { users: USERS, relaxation: 0.5 }),
    }
}

proptest! {
    /// However few steps the solver takes: two tokens do not move apart, and no residual is longer
    /// than γC.
    #[test]
    fn a_step_is_not_expansive_and_no_longer_than_its_bound(
        numbers in prop::collection::vec(-2.0..2.0_f64, 2..12),
        tokens in prop::array::uniform4(-5.0..5.0_f64),
        (step, inner) in (0.01..50.0_f64, 1_u32..30),
        share in 0.01..1.0_f64,
    ) {
        let mut gate = gate("logistic", Unit::User, View::Network, &numbers);
        let mut moved = |z: &[f64]| -> Vec<f64> {
            let residual = gate.ask(&Residual { v: z, z, params: terms(step, inner, 0.0) }).unwrap().into_inner();
            assert!(residual[0].hypot(residual[1]) <= step * (1.0 + 1e-6));
            z.iter().zip(&residual).map(|(z, r)| z + share * r).collect()
        };
        let (a, b) = (moved(&tokens[..2]), moved(&tokens[2..]));
        let before = (tokens[0] - tokens[2]).hypot(tokens[1] - tokens[3]);
        let after = (a[0] - b[0]).hypot(a[1] - b[1]);
        prop_assert!(after <= before + 1e-8 * step, "{before} {after}");
    }
}

#[test]
fn a_peer_is_counted_for_with_rounding_in_it() {
    let mut gate = gate("logistic", Unit::User, View::Network, &[0.5, 0.5, -0.1, 0.9]);
    gate.ask(&Residual { v: &[0.1, 0.2], z: &[0.1, 0.2], params: terms(2.0, 5, 4.0) }).unwrap();
    let event = gate.ledger().entries()[0].event();
    let Mechanism::Iteration(iteration) = event.mechanism() else { panic!("{event}") };
    assert_eq!(iteration.users(), USERS);
    assert!(iteration.mu() > 0.5 && iteration.mu() < 0.5 * (1.0 + 1e-4), "{}", iteration.mu());
}

#[test]
fn what_is_no_such_step_is_refused() {
    let rows = [0.5, 0.5, -0.1, 0.9];
    let z = [0.1, 0.2];
    let refused = |loss: &str, unit, view, v: &[f64], z: &[f64], params: &ResidualTerms| {
        gate(loss, unit, view, &rows)
            .ask(&Residual { v, z, params: *params })
            .unwrap_err()
            .to_string()
    };
    let params = terms(2.0, 5, 4.0);
    let (user, network) = (Unit::User, View::Network);
    for refusal in [
        refused("logistic", user, View::Local, &z, &z, &params),
        refused("logistic", Unit::Record, network, &z, &z, &params),
        refused("logistic", user, network, &[0.3, 0.2], &z, &params),
        refused("logistic", user, network, &z, &z, &ResidualTerms { clip: 1.0, ..params }),
        refused("logistic", user, network, &z, &z, &ResidualTerms { record_clip: 0.5, ..params }),
        // A residual of up to γ times 1.5, clipped to γ.
        refused("logistic", user, network, &z, &z, &ResidualTerms { record_clip: 1.5, ..params }),
        refused("logistic", user, network, &[1e9, 0.0], &[1e9, 0.0], &params),
        refused("hinge", user, network, &z, &z, &params),
        refused("squared", user, network, &z, &z, &params),
    ] {
        assert!(refusal.contains("count it for the local view"), "{refusal}");
    }
}
