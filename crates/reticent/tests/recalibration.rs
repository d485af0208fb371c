//! A share of the budget for probabilities that are in line with what happens.
#![allow(clippy::unwrap_used)] // helpers of tests

use reticent::tables::{Dataset, Schema, Target};
use reticent::{Budget, Fit, Model, Settings, Solver, losses, penalties::L2};

const ROWS: usize = 4_000;

/// Two columns without pattern, and classes drawn with log-odds of 0.8·x₁ − 4.
fn rows() -> (Vec<f64>, Vec<u32>) {
    let mut state = 5_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        ((state ^ (state >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64
            / (1_u64 << 53) as f64
    };
    let x: Vec<f64> = (0..2 * ROWS).map(|_| 10.0 * uniform()).collect();
    let happens = |row: &[f64]| 1.0 / (1.0 + (4.0 - 0.8 * row[0]).exp());
    let y = x.chunks(2).map(|row| u32::from(uniform() < happens(row))).collect();
    (x, y)
}

fn schema() -> Schema {
    Schema::bounded(&[(0.0, 10.0); 2], Target::classes(["no", "yes"]).unwrap()).unwrap()
}

fn model(fit: impl Fn(Fit) -> Fit) -> Model {
    let (x, y) = rows();
    let plain = Fit::new(schema()).budget(Budget::new(4.0, 1e-6).unwrap()).seed(3);
    let table = Dataset::dense(&x, ROWS, 2).unwrap().with_targets(&y).unwrap();
    fit(plain).check().unwrap().fit(&table).unwrap().model
}

/// The mean log loss of a model on the table that it was fitted to.
fn log_loss(model: &Model) -> f64 {
    let (x, y) = rows();
    let scores = model.score_dataset(&Dataset::dense(&x, ROWS, 2).unwrap()).unwrap();
    let one = |(s, y): (&f64, &u32)| (1.0 + if *y == 1 { -s } else { *s }.exp()).ln();
    scores.iter().zip(&y).map(one).sum::<f64>() / ROWS as f64
}

/// A penalty that is too strong makes every probability too timid.
#[test]
fn a_timid_model_is_brought_in_line() {
    let timid = |fit: Fit| fit.penalty(L2::new(0.5).unwrap());
    let before = model(timid);
    let after = model(|fit| timid(fit).recalibrate(0.2));
    let line = after.recalibration().unwrap();
    assert!(line.slope > 1.5 && line.share == 0.2, "{line:?}");
    let (before, after) = (log_loss(&before), log_loss(&after));
    assert!(after < before - 0.02, "{before} {after}");
}

#[test]
fn without_an_intercept_there_is_a_slope_alone() {
    let model = model(|fit| fit.intercept(false).recalibrate(0.2));
    assert_eq!(model.recalibration().unwrap().shift, 0.0);
    assert!(model.intercept().is_empty());
}

#[test]
fn it_is_paid_for_within_the_budget_and_read_back() {
    let settings = Settings { iterations: Some(20), ..Settings::default() };
    let solver = || Solver::dp_sgd().with(settings.clone()).unwrap();
    let plain = model(|fit| fit.solver(solver()));
    let model = model(|fit| fit.solver(solver()).recalibrate(0.1));
    assert!(plain.recalibration().is_none());
    let (before, after) = (plain.certificate(), model.certificate());
    assert_eq!(after.ledger.total_events(), before.ledger.total_events() + 2);
    let spent = reticent_accountant::epsilon(&after.ledger, 1e-6).unwrap().upper;
    assert!(spent <= 4.0 && spent > 3.9, "{spent}");
    let read = Model::from_json(&model.to_json().unwrap()).unwrap();
    assert_eq!(read, model);
    // Numbers that are changed are noticed.
    let changed = model.to_json().unwrap().replace("\"share\": 0.1", "\"share\": 0.2");
    assert!(Model::from_json(&changed).is_err());
}

#[test]
fn what_cannot_be_recalibrated_is_refused_before_a_table_is_read() {
    let fit = || Fit::new(schema()).budget(Budget::new(1.0, 1e-6).unwrap());
    let said = |fit: Fit| fit.check().unwrap_err().to_string();
    for (wrong, words) in [
        (fit().recalibrate(0.0), "a share of the budget"),
        (fit().recalibrate(1.0), "a share of the budget"),
        (fit().recalibrate(f64::NAN), "a share of the budget"),
        (fit().loss(losses::SquaredHinge).recalibrate(0.1), "none for the loss"),
        (fit().standard_errors(0.1).recalibrate(0.1), "standard errors"),
        (fit().solver(Solver::ssadmm()).recalibrate(0.1), "not offered"),
        (fit().solver(Solver::exact()).recalibrate(0.1), "no privacy that could be measured"),
    ] {
        let found = said(wrong);
        assert!(found.contains(words), "{found}");
    }
}
