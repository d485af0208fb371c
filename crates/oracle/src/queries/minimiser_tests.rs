use crate::holder::TableHolder;
use crate::sums::Private;
use proptest::prelude::*;
use reticent_accountant::{Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_problem::constraints::Constraint;
use reticent_problem::{SparseMatrix, losses};

use super::*;
use crate::sums::least_singular;

const COLUMNS: usize = 3;

fn inside(rows: &[(Vec<f64>, bool)]) -> GateState {
    let mut dense = Dense::empty(COLUMNS);
    rows.iter().for_each(|(row, _)| dense.push_sparse(&[0, 1, 2], row));
    let table = Table {
        rows: Rows::Dense(dense),
        targets: rows.iter().map(|(_, positive)| if *positive { 1.0 } else { -1.0 }).collect(),
        users: None,
        weights: None,
        names: vec!["x".to_owned(); COLUMNS],
    };
    let loss = losses::parse("logistic", None).unwrap();
    let terms = Terms::replace_one(Unit::Record, View::Central, rows.len() as u64);
    let holder = TableHolder::new(Private::by_record(table, 0.0).unwrap());
    GateState::new(Box::new(holder), loss.into(), terms)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

fn solution(params: &Minimiser<'_>, rows: &[(Vec<f64>, bool)], longer: u64) -> (Vec<f64>, Proven) {
    let mut inside = inside(rows);
    let proven = params.prove(&inside).unwrap();
    let more = Proven { descent: proven.descent.longer(longer), ..proven };
    (params.solve(&more, &mut inside).unwrap(), proven)
}

fn row() -> impl Strategy<Value = (Vec<f64>, bool)> {
    let entry = prop_oneof![-2.0..2.0f64, -1e9..1e9f64, Just(0.0), Just(1e-200)];
    (prop::collection::vec(entry, COLUMNS), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_radius_and_the_sensitivity_hold(
        rows in prop::collection::vec(row(), 1..8),
        stranger in row(),
        linear in prop::collection::vec(-1.0..1.0f64, COLUMNS),
        start in prop::collection::vec(-5.0..5.0f64, COLUMNS),
        ridge in prop_oneof![Just(0.003), Just(0.1), Just(3.0)],
    ) {
        let public = Quadratic { ridge, linear: &linear, penalty: None };
        let params = Minimiser { row_norm: 1.5, public, start: &start, image: false, noise_multiplier: 1.0 };
        let (x, proven) = solution(&params, &rows, 1);
        let (better, _) = solution(&params, &rows, 8);
        let exact = proven.bounds.clip / (rows.len() as f64 * ridge);
        let radius = proven.half_sensitivity - exact;
        prop_assert!(radius <= 0.02 * exact, "{radius} {exact}");
        prop_assert!(distance(&x, &better) <= radius);

        let mut other = rows.clone();
        other[0] = stranger;
        let (moved, _) = solution(&params, &other, 1);
        prop_assert!(distance(&x, &moved) <= 2.0 * proven.half_sensitivity);
    }
}

/// Flipping the label of the only record moves the minimiser by nearly half of what is allowed: the
/// logistic slopes of the two labels are one apart, and two apart is what the Lipschitz constant
/// permits.
#[test]
fn the_sensitivity_is_of_the_right_size() {
    let zeros = [0.0; COLUMNS];
    let public = Quadratic { ridge: 50.0, linear: &zeros, penalty: None };
    let params =
        Minimiser { row_norm: 1.0, public, start: &zeros, image: false, noise_multiplier: 1.0 };
    let (x, proven) = solution(&params, &[(vec![1.0, 0.0, 0.0], true)], 1);
    let (y, _) = solution(&params, &[(vec![1.0, 0.0, 0.0], false)], 1);
    let ratio = distance(&x, &y) / (2.0 * proven.half_sensitivity);
    assert!((0.45..=0.5).contains(&ratio), "{ratio}");
}

/// Images under a matrix that shrinks (E13's counter-example, A = cI with c < 1): the bound in the
/// norm of A holds, and the published one, with ω in place of ω², would not.
#[test]
fn images_under_a_shrinking_matrix() {
    let c: f64 = 0.1;
    let matrix = SparseMatrix::from_triplets(3, 3, &[(0, 0, c), (1, 1, c), (2, 2, c)]);
    let a = Constraint::from_matrix(matrix);
    assert!((least_singular(a.a()) - c).abs() < 1e-9);
    let zeros = [0.0; COLUMNS];
    let gamma = 0.001;
    let public = Quadratic { ridge: 0.0, linear: &zeros, penalty: Some((&a, gamma, &zeros)) };
    let params =
        Minimiser { row_norm: 1.0, public, start: &zeros, image: true, noise_multiplier: 1.0 };
    let (x, proven) = solution(&params, &[(vec![1.0, 0.0, 0.0], true)], 1);
    let (y, _) = solution(&params, &[(vec![1.0, 0.0, 0.0], false)], 1);
    let moved = c * distance(&x, &y);
    assert!(moved <= 2.0 * proven.half_sensitivity);
    // ω_A/γ-strong convexity would say 2C/(n·ω_A/γ) for x, and ‖A‖ times that for Ax.
    assert!(moved > c * 2.0 * gamma / c);
}

/// A column of `A` is added up over its rows, of which there may be far more than parameters;
/// rounding was bounded by the number of parameters. Of the same `AᵀA` in more rows the bound is
/// larger, by what the rows can add.
#[test]
fn rounding_is_bounded_by_the_rows_of_a() {
    let rounding = |copies: usize| {
        let share = 1.0 / (copies as f64).sqrt();
        let entries: Vec<_> =
            (0..COLUMNS * copies).map(|row| (row, row % COLUMNS, share)).collect();
        let a = Constraint::from_matrix(SparseMatrix::from_triplets(
            COLUMNS * copies,
            COLUMNS,
            &entries,
        ));
        let (linear, v) = (vec![0.0; COLUMNS], vec![0.0; COLUMNS * copies]);
        let public = Quadratic { ridge: 1.0, linear: &linear, penalty: Some((&a, 1.0, &v)) };
        let params = Minimiser {
            row_norm: 1.0,
            public,
            start: &linear,
            image: false,
            noise_multiplier: 1.0,
        };
        let inside = inside(&[(vec![1.0; COLUMNS], true)]);
        params.prove(&inside).unwrap().bounds.rounding(1.0)
    };
    let (few, many) = (rounding(1), rounding(1000));
    assert!(many - few >= 4.0 * f64::EPSILON * 2990.0, "{few:e} {many:e}");
}
