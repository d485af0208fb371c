//! Estimates with standard errors: they hold what made the table, in its units, and say when they
//! cannot.
#![allow(clippy::unwrap_used)] // helpers of tests

use reticent::tables::{Dataset, Schema, Target};
use reticent::{Budget, Fit, Model, Settings, Solver, StandardErrors, losses, penalties::L2};
use reticent_accountant::Adjacency;

const ROWS: usize = 4_000;

/// What made the tables, per unit: at zero, of the first column, of the second.
const TRUTH: [f64; 3] = [-2.0, 0.4, -0.2];

/// Numbers in [0, 1) that do not repeat.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let mixed = (*state ^ (*state >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

fn rows(seed: u64) -> (Vec<f64>, Vec<f64>, u64) {
    let mut state = seed.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(77);
    let x: Vec<f64> = (0..2 * ROWS).map(|_| 10.0 * uniform(&mut state)).collect();
    let score = |row: &[f64]| TRUTH[0] + TRUTH[1] * row[0] + TRUTH[2] * row[1];
    let scores = x.chunks(2).map(score).collect();
    (x, scores, state)
}

fn classes(seed: u64, fit: impl Fn(Fit) -> Fit) -> Model {
    let (x, scores, mut state) = rows(seed);
    let draw = |score: &f64| u32::from(uniform(&mut state) < 1.0 / (1.0 + (-score).exp()));
    let y: Vec<u32> = scores.iter().map(draw).collect();
    let schema = Schema::bounded(&[(0.0, 10.0); 2], Target::classes(["no", "yes"]).unwrap());
    let plain = Fit::new(schema.unwrap()).budget(Budget::new(4.0, 1e-6).unwrap()).seed(seed);
    let table = Dataset::dense(&x, ROWS, 2).unwrap().with_targets(&y).unwrap();
    fit(plain).check().unwrap().fit(&table).unwrap().model
}

fn numbers(seed: u64, fit: impl Fn(Fit) -> Fit) -> Model {
    let (x, scores, mut state) = rows(seed);
    // The sum of twelve: normal enough, and within six deviations.
    let mut normal = || (0..12).map(|_| uniform(&mut state)).sum::<f64>() - 6.0;
    let y: Vec<f64> = scores.iter().map(|score| score + normal()).collect();
    let schema = Schema::bounded(&[(0.0, 10.0); 2], Target::range(-12.0, 12.0).unwrap());
    let plain = Fit::new(schema.unwrap()).budget(Budget::new(4.0, 1e-6).unwrap()).seed(seed);
    let table = Dataset::dense(&x, ROWS, 2).unwrap().with_targets(&y).unwrap();
    fit(plain).check().unwrap().fit(&table).unwrap().model
}

/// So many of 40 tables have intervals, and so many of these hold.
fn covered(of: impl Fn(u64) -> Model) -> (usize, usize) {
    let (mut told, mut held) = (0, 0);
    for seed in 1..=40 {
        let model = of(seed);
        let found = model.standard_errors().unwrap();
        assert_eq!(found.hidden.is_some(), found.estimates.is_empty(), "{found:?}");
        for (estimate, truth) in found.estimates.iter().zip(TRUTH) {
            let (from, to) = estimate.interval();
            told += 1;
            held += usize::from(from <= truth && truth <= to);
        }
    }
    (told, held)
}

/// Of 120 intervals that hold with 0.95 each, three of a table hanging together at most, fewer than
/// 102 hold once in 10⁴ such tests; were the coverage 0.75, that is what would be seen in most.
#[test]
fn intervals_hold_what_made_the_table() {
    let ridge = || L2::new(0.01).unwrap();
    for (name, (told, held)) in [
        ("two classes", covered(|seed| classes(seed, |fit| fit.standard_errors(0.3)))),
        (
            "a penalty",
            covered(|seed| classes(seed, |fit| fit.penalty(ridge()).standard_errors(0.3))),
        ),
        ("a number", covered(|seed| numbers(seed, |fit| fit.standard_errors(0.3)))),
        (
            "a private number of records",
            covered(|seed| {
                let fit = |fit: Fit| fit.adjacency(Adjacency::AddRemove).public_n(3_500);
                numbers(seed, |plain| fit(plain).standard_errors(0.3))
            }),
        ),
    ] {
        println!("{name}: {held} of {told}");
        assert_eq!(told, 120, "{name}");
        assert!(held >= 102, "{name}: {held} of {told}");
    }
}

#[test]
fn it_is_paid_for_within_the_budget_and_read_back() {
    let settings = Settings { iterations: Some(20), ..Settings::default() };
    let solver = || Solver::dp_sgd().with(settings.clone()).unwrap();
    let plain = classes(1, |fit| fit.solver(solver()));
    let model = classes(1, |fit| fit.solver(solver()).standard_errors(0.3));
    assert!(plain.standard_errors().is_none());
    let (before, after) = (plain.certificate(), model.certificate());
    // Two early steps and the last, a curvature and a gradient in each.
    assert_eq!(after.ledger.total_events(), before.ledger.total_events() + 6);
    let spent = reticent_accountant::epsilon(&after.ledger, 1e-6).unwrap().upper;
    assert!(spent <= 4.0 && spent > 3.9, "{spent}");
    let read = Model::from_json(&model.to_json().unwrap()).unwrap();
    assert_eq!(read, model);
    let found: &StandardErrors = read.standard_errors().unwrap();
    assert_eq!(found.of, "log-odds of target = yes");
    let names: Vec<&str> = found.estimates.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names[0], "(intercept)");
    assert_eq!(names.len(), 3);
    // Numbers that are changed are noticed.
    let changed = model.to_json().unwrap().replace("\"share\": 0.3", "\"share\": 0.4");
    assert!(Model::from_json(&changed).is_err());
}

/// In coordinates of its own, asked for by hand: the rows are given back before the curvature is
/// asked for, so that the estimates are about the columns of the table.
#[test]
fn coordinates_of_its_own_have_them_too() {
    let model = classes(5, |fit| {
        let settings = Settings { precondition: Some(0.2), ..Settings::default() };
        fit.solver(Solver::auto().with(settings).unwrap()).standard_errors(0.3)
    });
    let told = model.standard_errors().unwrap();
    assert_eq!((told.hidden.as_ref(), told.estimates.len()), (None, 3));
    for (estimate, truth) in told.estimates.iter().zip(TRUTH) {
        let off = (estimate.estimate - truth).abs() / estimate.standard_error;
        assert!(off < 4.0, "{estimate:?}: {truth}");
    }
}

#[test]
fn what_the_noise_hides_is_not_told() {
    let poor = |fit: Fit| fit.budget(Budget::new(0.05, 1e-6).unwrap()).standard_errors(0.1);
    let model = classes(1, poor);
    let found = model.standard_errors().unwrap();
    assert!(found.estimates.is_empty());
    assert!(found.hidden.as_deref().unwrap().contains("noise of the curvature"), "{found:?}");
}

#[test]
fn what_has_none_is_refused_before_a_table_is_read() {
    let schema =
        || Schema::bounded(&[(0.0, 10.0); 2], Target::classes(["no", "yes"]).unwrap()).unwrap();
    let fit = || Fit::new(schema()).budget(Budget::new(1.0, 1e-6).unwrap());
    let said = |fit: Fit| fit.check().unwrap_err().to_string();
    let hinge = said(fit().loss(losses::SquaredHinge).standard_errors(0.2));
    assert!(hinge.contains("standard_errors = 0.2: there are none for the loss"), "{hinge}");
    for share in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(said(fit().standard_errors(share)).contains("a share of the budget"), "{share}");
    }
    let other = said(fit().solver(reticent::Solver::ssadmm()).standard_errors(0.2));
    assert!(other.contains("not offered"), "{other}");
    let exact = said(fit().solver(reticent::Solver::exact()).standard_errors(0.2));
    assert!(exact.contains("no privacy"), "{exact}");
}

/// They reach as far as `auto` and curves do, by the same number.
#[test]
fn they_are_there_for_as_many_columns_as_auto_takes() {
    let check = |columns: usize| {
        let schema =
            Schema::bounded(&vec![(0.0, 1.0); columns], Target::classes(["no", "yes"]).unwrap());
        let fit = Fit::new(schema.unwrap()).budget(Budget::new(4.0, 1e-6).unwrap());
        fit.standard_errors(0.3).check().map(|_| ())
    };
    assert!(check(reticent_admm::MOST_COLUMNS).is_ok());
    let refused = check(reticent_admm::MOST_COLUMNS + 1).unwrap_err().to_string();
    assert!(refused.contains("2001 encoded columns; at most 2000"), "{refused}");
}
