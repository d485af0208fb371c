//! The gate as its users see it.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use reticent_accountant::{Adjacency, Ledger, Taint, Unit, View};
use reticent_data::{Csr, Dense, Rows, Table};
use reticent_oracle::queries::{ClippedMean, Gradient};
use reticent_oracle::{
    Entropy, Gate, Oracle, PrivacyModel, Refusal, Rehearsal, Sampling, TableError,
};
use reticent_problem::losses;

const OPENING: PrivacyModel = PrivacyModel {
    adjacency: Adjacency::ReplaceOne,
    unit: Unit::Record,
    view: View::Central,
    public_n: None,
    intercept: 1.0,
};

fn dense(rows: &[[f64; 2]], targets: &[f64]) -> Table {
    let mut dense = Dense::empty(2);
    rows.iter().for_each(|row| dense.push_sparse(&[0, 1], row));
    Table {
        rows: Rows::Dense(dense),
        targets: targets.to_vec(),
        users: None,
        weights: None,
        names: vec!["a".into(), "b".into()],
    }
}

fn sparse(table: &Table) -> Table {
    let mut csr = Csr::empty(2);
    for i in 0..table.len() {
        csr.push(&[0, 1], &table.rows.dense_row(i));
    }
    Table { rows: Rows::Sparse(csr), ..table.clone() }
}

fn logistic() -> Box<dyn losses::Loss> {
    losses::parse("logistic", None).unwrap()
}

fn gate(table: Table, opening: &PrivacyModel) -> Gate {
    Gate::open(table.into(), logistic(), opening, Entropy::seeded(1)).unwrap()
}

fn noiseless(clip: f64) -> ClippedMean {
    ClippedMean { clip, noise_multiplier: 0.0, sampling: Sampling::Full }
}

/// Half the records carry each label, so the textbook gradient at 0 is easy to write down.
fn example() -> Table {
    dense(&[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [-1.0, 0.25]], &[1.0, -1.0, 1.0, -1.0])
}

#[test]
fn without_noise_the_answer_is_the_mean_gradient() {
    // φ'(0) = −b/2, so the gradient is −(1/2n) Σ bᵢ (aᵢ, 1).
    let expected = [-0.5 * (1.0 + 0.5 + 1.0) / 4.0, -0.5 * (-1.0 + 0.5 - 0.25) / 4.0, 0.0];
    for table in [example(), sparse(&example())] {
        let answer = gate(table, &OPENING)
            .ask(&Gradient { at: &[0.0; 3], mean: noiseless(10.0) })
            .unwrap()
            .into_inner();
        for (value, expected) in answer.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-8, "{answer:?}");
        }
    }
}

#[test]
fn each_record_is_clipped_by_itself() {
    let table = dense(&[[3.0, 4.0]], &[1.0]);
    let opening = PrivacyModel { intercept: 0.0, ..OPENING };
    let answer = gate(table, &opening)
        .ask(&Gradient { at: &[0.0; 2], mean: noiseless(0.1) })
        .unwrap()
        .into_inner();
    let expected = [-0.1 * 0.6, -0.1 * 0.8];
    assert!(answer.iter().zip(expected).all(|(a, e)| (a - e).abs() < 1e-9), "{answer:?}");
}

#[test]
fn no_noise_is_recorded_as_no_privacy() {
    let mut gate = gate(example(), &OPENING);
    gate.ask(&Gradient { at: &[0.0; 3], mean: noiseless(1.0) }).unwrap();
    assert_eq!(reticent_accountant::epsilon(gate.ledger(), 1e-5).unwrap().upper, f64::INFINITY);
}

#[test]
fn seeded_noise_taints_the_ledger() {
    assert_eq!(gate(example(), &OPENING).ledger().taints(), [Taint::SeededNoise]);
}

#[test]
fn a_user_counts_once_however_many_rows_they_have() {
    let mut once = dense(&[[1.0, 0.0], [0.0, 1.0]], &[1.0, -1.0]);
    once.users = Some(vec![0, 1]);
    let mut often =
        dense(&[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]], &[1.0, -1.0, 1.0, 1.0]);
    often.users = Some(vec![0, 1, 0, 0]);
    let opening = PrivacyModel { unit: Unit::User, ..OPENING };
    let answer = |table| {
        gate(table, &opening)
            .ask(&Gradient { at: &[0.3, -0.2, 0.1], mean: noiseless(10.0) })
            .unwrap()
    };
    let (once, often) = (answer(once).into_inner(), answer(often).into_inner());
    assert!(once.iter().zip(&often).all(|(a, b)| (a - b).abs() < 1e-9), "{once:?} {often:?}");
}

#[test]
fn the_user_unit_needs_users() {
    let opening = PrivacyModel { unit: Unit::User, ..OPENING };
    let refused =
        Gate::open(example().into(), logistic(), &opening, Entropy::seeded(1)).unwrap_err();
    assert!(matches!(refused, Refusal::Table(TableError::NoUsers)));
}

#[test]
fn add_remove_needs_a_public_count_and_divides_by_it() {
    let opening = PrivacyModel { adjacency: Adjacency::AddRemove, ..OPENING };
    let refused =
        Gate::open(example().into(), logistic(), &opening, Entropy::seeded(1)).unwrap_err();
    assert!(matches!(refused, Refusal::NoPublicCount));

    let of_four = gate(example(), &OPENING)
        .ask(&Gradient { at: &[0.0; 3], mean: noiseless(10.0) })
        .unwrap()
        .into_inner();
    let opening = PrivacyModel { public_n: Some(8), ..opening };
    let of_eight = gate(example(), &opening)
        .ask(&Gradient { at: &[0.0; 3], mean: noiseless(10.0) })
        .unwrap()
        .into_inner();
    assert!(of_four.iter().zip(&of_eight).all(|(four, eight)| (four - 2.0 * eight).abs() < 1e-12));
}

#[test]
fn an_empty_poisson_batch_is_an_answer_like_any_other() {
    let params =
        ClippedMean { sampling: Sampling::Poisson(1e-12), noise_multiplier: 1.0, clip: 1.0 };
    let answer = gate(example(), &OPENING)
        .ask(&Gradient { at: &[0.0; 3], mean: params })
        .unwrap()
        .into_inner();
    assert!(answer.iter().all(|v| v.is_finite() && *v != 0.0), "{answer:?}");
}

#[test]
fn a_bound_gate_answers_the_plan_and_nothing_else() {
    let params = ClippedMean { sampling: Sampling::Full, noise_multiplier: 2.0, clip: 1.0 };
    let mut gate = gate(example(), &OPENING);
    let mut rehearsal = Rehearsal::new(gate.shape(), *gate.terms());
    rehearsal.ask(&Gradient { at: &[0.0; 3], mean: params }).unwrap();
    rehearsal.ask(&Gradient { at: &[0.0; 3], mean: params }).unwrap();
    let plan = rehearsal.into_plan();
    gate.bind(plan.clone());

    let louder = ClippedMean { noise_multiplier: 1.0, ..params };
    assert!(matches!(
        gate.ask(&Gradient { at: &[0.0; 3], mean: louder }),
        Err(Refusal::Unplanned { .. })
    ));
    gate.ask(&Gradient { at: &[0.0; 3], mean: params }).unwrap();
    gate.ask(&Gradient { at: &[0.0; 3], mean: params }).unwrap();
    assert!(matches!(
        gate.ask(&Gradient { at: &[0.0; 3], mean: params }),
        Err(Refusal::Unplanned { .. })
    ));
    assert_eq!(gate.ledger().entries(), plan.entries());
}

#[test]
fn a_refused_query_leaves_no_entry() {
    let mut gate = gate(example(), &OPENING);
    for (at, params) in [
        (&[0.0; 2][..], noiseless(1.0)),
        (&[f64::NAN, 0.0, 0.0][..], noiseless(1.0)),
        (&[0.0; 3][..], noiseless(0.0)),
        (&[0.0; 3][..], noiseless(f64::INFINITY)),
        (&[0.0; 3][..], ClippedMean { noise_multiplier: f64::NAN, ..noiseless(1.0) }),
    ] {
        assert!(matches!(
            gate.ask(&Gradient { at, mean: params }),
            Err(Refusal::BadQuery(_) | Refusal::Diverged(_))
        ));
    }
    assert_eq!(gate.ledger().entries(), Ledger::new().entries());
}

/// What a loss declares of its slope and curvature, on which amp and output perturbation count, is
/// about the targets that it takes: the code 9 of a ten-class table made a two-class loss 81 times
/// as curved, and another the index of a score that there is not.
#[test]
fn a_target_that_the_loss_does_not_take_is_refused() {
    let open = |loss: &str, target: f64| {
        let table = dense(&[[0.5, 0.0], [0.0, 0.5]], &[1.0, target]);
        let loss = losses::parse(loss, Some(3)).unwrap();
        Gate::open(table.into(), loss, &OPENING, Entropy::seeded(1)).map(|_| ())
    };
    for (loss, taken, other) in [
        ("logistic", vec![-1.0, 1.0], vec![9.0, 0.0, -0.5, f64::NAN, f64::INFINITY]),
        ("multinomial", vec![0.0, 1.0, 2.0], vec![9.0, 3.0, -1.0, 0.5, f64::NAN]),
        ("huber:1", vec![-1.0, 0.25, 1.0], vec![1.5, -2.0, f64::NAN, f64::NEG_INFINITY]),
    ] {
        for target in taken {
            assert!(open(loss, target).is_ok(), "{loss} {target}");
        }
        for target in other {
            let refusal = open(loss, target).unwrap_err();
            assert!(matches!(refusal, Refusal::Table(TableError::WrongTarget)), "{loss} {target}");
        }
    }
}
