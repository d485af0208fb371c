//! Answers in other coordinates.

use super::{COLUMNS, COUNT, OPENING, SQUARED, close, example, gate, loss, noiseless, point};
use reticent_accountant::Repetitions;
use reticent_accountant::Unit;
use reticent_data::{Dense, Rows, Table};
use reticent_noise::NoiseKey;
use reticent_oracle::queries::{ClippedMean, Gradient, Score, SecondMoment};
use reticent_oracle::{
    Entropy, Gate, Oracle, PrivacyModel, PrivateSelection, Refusal, Rehearsal, Released, Sampling,
};

const WIDTH: usize = COLUMNS + 1;

/// Neither symmetric nor orthogonal.
fn images() -> Vec<f64> {
    (0..WIDTH * WIDTH).map(|at| ((at * 29 + 7) % 17) as f64 / 8.0 - 1.0).collect()
}

/// The images of the rows of a table, as a table.
fn image(table: &Table) -> Table {
    let mut rows = Dense::empty(WIDTH);
    for i in 0..COUNT {
        let mut row = table.rows.dense_row(i);
        row.push(OPENING.intercept);
        let value = |j: usize| (0..WIDTH).map(|k| row[k] * images()[k * WIDTH + j]).sum::<f64>();
        rows.push_sparse(&[0, 1, 2, 3], &[value(0), value(1), value(2), value(3)]);
    }
    Table { rows: Rows::Dense(rows), names: vec!["x".to_owned(); WIDTH], ..table.clone() }
}

#[test]
fn answers_in_a_basis_are_those_about_the_images() {
    for unit in [Unit::Record, Unit::User] {
        for name in ["logistic", "multinomial:3"] {
            let opening = PrivacyModel { unit, ..OPENING };
            let mut moved = gate(name, &opening);
            moved.set_basis(Some(&images())).unwrap();
            let plain = PrivacyModel { intercept: 0.0, ..opening };
            let table = image(&example(name != "logistic"));
            let mut other =
                Gate::open(table.into(), loss(name), &plain, Entropy::seeded(1)).unwrap();
            assert_eq!(moved.shape(), other.shape());
            let at = point(other.shape().len(), 3);
            for clip in [0.3, 100.0] {
                let query = Gradient { at: &at, mean: noiseless(clip) };
                let (a, b) = (moved.ask(&query).unwrap(), other.ask(&query).unwrap());
                close(a.get(), b.get(), 1e-6);
            }
            let moments = SecondMoment { row_norm: 2.0, whole: true, noise_multiplier: 0.0 };
            let (a, b) = (moved.ask(&moments).unwrap(), other.ask(&moments).unwrap());
            close(a.get(), b.get(), 1e-6);
        }
    }
}

#[test]
fn the_whole_second_moment_has_the_intercept() {
    let table = example(false);
    let mut expected = vec![0.0; WIDTH * WIDTH];
    for i in 0..COUNT {
        let mut row = table.rows.dense_row(i);
        row.push(OPENING.intercept);
        let scale = 0.9 / row.iter().map(|v| v * v).sum::<f64>().sqrt().max(0.9);
        for at in 0..WIDTH * WIDTH {
            expected[at] += row[at / WIDTH] * row[at % WIDTH] * scale * scale / COUNT as f64;
        }
    }
    let query = SecondMoment { row_norm: 0.9, whole: true, noise_multiplier: 0.0 };
    close(gate("logistic", &OPENING).ask(&query).unwrap().get(), &expected, SQUARED);
}

/// Matrices of several records are rounded entry by entry, and rows of single ones before they are
/// squared: where each user has one record it is the same sum, to the bit.
#[test]
fn a_user_of_one_record_counts_as_the_record() {
    let query = SecondMoment { row_norm: 0.9, whole: true, noise_multiplier: 0.0 };
    let sum = |unit| {
        let mut table = example(false);
        table.users = Some((0..COUNT as u32).collect());
        let opening = PrivacyModel { unit, ..OPENING };
        let mut gate =
            Gate::open(table.into(), loss("logistic"), &opening, Entropy::seeded(1)).unwrap();
        gate.ask(&query).unwrap().into_inner()
    };
    assert_eq!(sum(Unit::Record), sum(Unit::User));
}

#[test]
fn what_was_there_comes_back_to_the_bit() {
    let at = point(WIDTH, 1);
    let query = Gradient { at: &at, mean: noiseless(0.4) };
    let before = gate("logistic", &OPENING).ask(&query).unwrap().into_inner();
    let mut moved = gate("logistic", &OPENING);
    moved.set_basis(Some(&images())).unwrap();
    assert_ne!(moved.ask(&query).unwrap().into_inner(), before);
    moved.set_basis(Some(&[0.25; WIDTH * WIDTH])).unwrap();
    moved.set_basis(None).unwrap();
    assert_eq!(moved.shape(), gate("logistic", &OPENING).shape());
    assert_eq!(moved.ask(&query).unwrap().into_inner(), before);
}

/// Images that overflow, and such that do not: one record moves the sum by no more than a clip.
#[test]
fn images_without_measure_are_clipped_like_any_other() {
    for size in [1e-300, 1.0, 1e200, f64::MAX] {
        let images: Vec<f64> = images().iter().map(|v| v * size).collect();
        let sum = |last: f64| {
            let mut table = example(false);
            if let Rows::Dense(rows) = &mut table.rows {
                rows.values[0] = last;
            }
            let mut gate =
                Gate::open(table.into(), loss("logistic"), &OPENING, Entropy::seeded(1)).unwrap();
            gate.set_basis(Some(&images)).unwrap();
            let query = Gradient { at: &[0.1; WIDTH], mean: noiseless(0.5) };
            gate.ask(&query).unwrap().into_inner()
        };
        let (one, other) = (sum(1.0), sum(-1.0));
        let moved: f64 = one.iter().zip(&other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        assert!(moved * COUNT as f64 <= 2.0 * 0.5, "{size}: {moved}");
        assert!(one.iter().all(|v| v.is_finite()));
    }
}

#[test]
fn images_that_do_not_fit_are_refused() {
    let mut gate = gate("logistic", &OPENING);
    assert!(matches!(gate.set_basis(Some(&[1.0; 9])), Err(Refusal::BadQuery(_))));
    assert!(matches!(gate.set_basis(Some(&[f64::NAN; 16])), Err(Refusal::Diverged(_))));
    let mut rehearsal = Rehearsal::new(gate.shape(), *gate.terms());
    assert!(rehearsal.set_basis(Some(&[1.0; 9])).is_err());
}

#[test]
fn a_rehearsal_has_the_events_of_the_run() {
    let mean = ClippedMean { clip: 1.0, noise_multiplier: 2.0, sampling: Sampling::Full };
    let ask = |oracle: &mut dyn Oracle| {
        let moments = SecondMoment { row_norm: 1.5, whole: true, noise_multiplier: 4.0 };
        assert_eq!(oracle.ask(&moments).unwrap().get().len(), WIDTH * WIDTH);
        oracle.set_basis(Some(&images())).unwrap();
        assert_eq!(oracle.ask(&Gradient { at: &[0.0; WIDTH], mean }).unwrap().get().len(), WIDTH);
        let shape = oracle.shape();
        oracle.set_basis(None).unwrap();
        shape
    };
    let mut gate = gate("logistic", &OPENING);
    let mut rehearsal = Rehearsal::new(gate.shape(), *gate.terms());
    assert_eq!(ask(&mut gate), ask(&mut rehearsal));
    assert_eq!(gate.ledger().total_events(), 2);
    assert_eq!(gate.close().unwrap().entries(), rehearsal.into_plan().entries());
}

/// The same query in the same step, before and after: were the noise the same, the difference of
/// the two answers would have none.
#[test]
fn noise_from_a_key_is_another_in_another_basis() {
    let mut gate = keyed();
    let query = Gradient { at: &[0.0; WIDTH], mean: TINY };
    let mut answers = Vec::new();
    for images in [None, Some(images()), Some(vec![0.5; 16])] {
        gate.set_basis(images.as_deref()).unwrap();
        answers.push(gate.ask(&query).unwrap().into_inner());
    }
    assert!(differ(&answers), "{answers:?}");
    // Back to the rows as they came the question is the first one, and so is its answer.
    gate.set_basis(None).unwrap();
    assert_eq!(gate.ask(&query).unwrap().into_inner(), answers[0]);
    assert_eq!(gate.ledger().total_events(), 3);
}

/// Whether any two answers are further apart than sums of such clips can be without noise.
fn differ(answers: &[Vec<f64>]) -> bool {
    let apart = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) > 2e-9 / COUNT as f64
    };
    (0..answers.len()).all(|i| answers[..i].iter().all(|other| apart(&answers[i], other)))
}

fn keyed() -> Gate<reticent_oracle::Keyed> {
    let (table, key) = (example(false).into(), NoiseKey::seeded(1));
    Gate::open_keyed(table, loss("logistic"), &OPENING, key, &[1; 32]).unwrap()
}

const TINY: ClippedMean =
    ClippedMean { clip: 1e-9, noise_multiplier: 8.0, sampling: Sampling::Full };

/// A consensus that is opened at the same start in two bases is two states.
#[test]
fn a_consensus_in_another_basis_has_other_noise() {
    let mut gate = keyed();
    let mut answers = Vec::new();
    for images in [None, Some(images())] {
        gate.set_basis(images.as_deref()).unwrap();
        gate.open_consensus(&[0.0; WIDTH]).unwrap();
        answers.push(gate.ask(&Gradient { at: &[0.0; WIDTH], mean: TINY }).unwrap().into_inner());
    }
    assert!(differ(&answers));
    assert_eq!(gate.ledger().total_events(), 2);
}

/// Else the rows would be others, and the noise the same.
#[test]
fn a_basis_that_is_refused_changes_nothing() {
    let mut gate = keyed();
    gate.set_basis(Some(&images())).unwrap();
    let (shape, query) = (gate.shape(), Gradient { at: &[0.0; WIDTH], mean: TINY });
    let before = gate.ask(&query).unwrap().into_inner();
    assert!(gate.set_basis(Some(&[f64::NAN; 16])).is_err());
    assert!(gate.set_basis(Some(&[1.0; 25])).is_err());
    assert_eq!((gate.shape(), gate.ask(&query).unwrap().into_inner()), (shape, before));
}

/// A run that ran away leaves its coordinates to nobody: the next is about the rows as they came.
#[test]
fn a_losing_run_does_not_hand_on_its_basis() {
    let terms = *gate("logistic", &OPENING).terms();
    let plan = {
        let mut rehearsal = Rehearsal::new(gate("logistic", &OPENING).shape(), terms);
        rehearsal.ask(&Score { at: &[0.0; WIDTH], noise_multiplier: 1.0 }).unwrap();
        rehearsal.into_plan()
    };
    let law = Repetitions::PositivePoisson { rate: 40.0 };
    let selection = PrivateSelection { plans: vec![plan], law };
    let mut shapes = Vec::new();
    let run = |oracle: &mut dyn Oracle, _: usize| -> Result<Option<((), Released<f64>)>, Refusal> {
        shapes.push(oracle.shape());
        oracle.set_basis(Some(&images()))?;
        Ok(None)
    };
    gate("logistic", &OPENING).select(&selection, run).unwrap();
    assert!(shapes.len() > 1 && shapes.iter().all(|shape| shape.intercept), "{shapes:?}");
}
