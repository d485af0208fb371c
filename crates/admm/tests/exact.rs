//! The exact solver against an interior-point method and against scikit-learn: objectives within
//! 1e-6 relative.

#![allow(clippy::unwrap_used)]

use crate::common::gate;
use reticent_admm::exact::{ExactSettings, ExactSolution, SolverStatus, solve};
use reticent_oracle::Gate;
use reticent_oracle::without_privacy::ExactOracle;
use reticent_problem::{Constraint, Edge, Graph, Regulariser, penalties};
use reticent_testkit::generators::{self, Simulated};
use reticent_testkit::reference::{Affine, Fit, Loss, Penalty};

/// The promise of the solver, for every problem below.
const GAP: f64 = 1e-6;

fn fit(mut gate: Gate, penalty: &str, constraint: Option<Constraint>) -> ExactSolution {
    let shape = ExactOracle::shape(&gate);
    let penalty = penalties::parse(penalty).unwrap();
    let constraint = constraint.unwrap_or_else(|| Constraint::identity(shape.features));
    let regulariser = Regulariser::new(penalty, constraint, shape).unwrap();
    solve(&mut gate, &regulariser, &ExactSettings::default()).unwrap()
}

fn check(what: &str, found: &ExactSolution, optimum: f64) {
    let gap = (found.objective - optimum) / optimum;
    println!("{what}: {} iterations, relative gap {gap:.1e}", found.iterations);
    assert_eq!(found.status, SolverStatus::Converged, "{what}: gap {gap}");
    // A value below the optimum would be a wrong objective.
    assert!(gap.abs() <= GAP, "{what}: {} against {optimum}, gap {gap}", found.objective);
}

/// Solves the same problem both ways, with and without an intercept.
fn compare(
    data: &Simulated,
    (loss, loss_there): (&str, Loss),
    (penalty, penalty_there): (&str, Penalty),
    constraint: Option<Constraint>,
) {
    for intercept in [0.0, 1.0] {
        let map = constraint.as_ref().map(rows_of);
        let there = Fit { data, intercept, loss: loss_there, penalty: penalty_there, map };
        let found = fit(gate(data, loss, intercept), penalty, constraint.clone());
        check(&format!("{loss} {penalty} intercept {intercept}"), &found, there.optimum());
    }
}

fn rows_of(constraint: &Constraint) -> Vec<Affine> {
    let mut rows = vec![Vec::new(); constraint.a().rows()];
    constraint.a().triplets().for_each(|(row, column, value)| rows[row].push((column, value)));
    rows
}

fn classes() -> Simulated {
    generators::logistic(200, generators::sparse(12, 5, 6.0, 1), 1)
}

fn numbers() -> Simulated {
    generators::linear(200, generators::piecewise_constant(16, 4, 2.0, 2), 0.2, 2).scaled()
}

#[test]
fn logistic_with_l1_l2_and_elastic_net() {
    let logistic = ("logistic", Loss::Logistic);
    compare(&classes(), logistic, ("l1:0.01", Penalty::ElasticNet(0.01, 0.0)), None);
    compare(&classes(), logistic, ("l1:0.0001", Penalty::ElasticNet(1e-4, 0.0)), None);
    compare(&classes(), logistic, ("l2:0.01", Penalty::ElasticNet(0.0, 0.01)), None);
    compare(
        &classes(),
        logistic,
        ("elastic-net:0.005,0.02", Penalty::ElasticNet(0.005, 0.02)),
        None,
    );
}

#[test]
fn huberised_support_vector_machine() {
    let loss = ("huberised-hinge:0.5", Loss::HuberisedHinge(0.5));
    compare(&classes(), loss, ("l1:0.01", Penalty::ElasticNet(0.01, 0.0)), None);
    compare(&classes(), loss, ("l2:0.01", Penalty::ElasticNet(0.0, 0.01)), None);
}

#[test]
fn lasso() {
    let squared = ("squared", Loss::Squared);
    compare(&numbers(), squared, ("l1:0.01", Penalty::ElasticNet(0.01, 0.0)), None);
    compare(&numbers(), squared, ("l1:0.0001", Penalty::ElasticNet(1e-4, 0.0)), None);
}

#[test]
fn fused_lasso_on_a_chain() {
    let chain = || Some(Constraint::chain(16).unwrap());
    let penalty = ("l1:0.01", Penalty::ElasticNet(0.01, 0.0));
    compare(&numbers(), ("squared", Loss::Squared), penalty, chain());
    let data = generators::logistic(200, generators::piecewise_constant(16, 3, 6.0, 3), 3);
    compare(&data, ("logistic", Loss::Logistic), penalty, chain());
}

#[test]
fn graph_guided_fused_lasso() {
    // A ring with a few chords, some of them asking for opposite signs.
    let mut edges: Vec<Edge> =
        (0..16).map(|from| Edge { from, to: (from + 1) % 16, weight: 1.0 }).collect();
    edges.extend((0..4).map(|j| Edge { from: j, to: j + 8, weight: -0.5 }));
    let constraint = Constraint::graph(&Graph::new(16, edges).unwrap());
    let penalty = ("l1:0.003", Penalty::ElasticNet(0.003, 0.0));
    compare(&numbers(), ("squared", Loss::Squared), penalty, Some(constraint.clone()));
    let data = generators::logistic(200, generators::piecewise_constant(16, 3, 6.0, 3), 3);
    compare(&data, ("logistic", Loss::Logistic), penalty, Some(constraint));
}

#[test]
fn group_lasso() {
    compare(
        &classes(),
        ("logistic", Loss::Logistic),
        ("group-lasso:0.01,3", Penalty::Groups(0.01, 3)),
        None,
    );
    compare(
        &numbers(),
        ("squared", Loss::Squared),
        ("group-lasso:0.02,4", Penalty::Groups(0.02, 4)),
        None,
    );
}

#[test]
fn losses_with_kinks() {
    for (penalty, there) in
        [("l1:0.01", Penalty::ElasticNet(0.01, 0.0)), ("l2:0.01", Penalty::ElasticNet(0.0, 0.01))]
    {
        compare(&classes(), ("hinge", Loss::Hinge), (penalty, there), None);
        compare(&numbers(), ("absolute", Loss::Absolute), (penalty, there), None);
    }
    let chain = Constraint::chain(16).unwrap();
    let penalty = ("l1:0.01", Penalty::ElasticNet(0.01, 0.0));
    compare(&numbers(), ("absolute", Loss::Absolute), penalty, Some(chain));
}

/// scikit-learn and a certified proximal gradient run; see golden/make_exact.py.
#[test]
fn goldens() {
    for text in [
        include_str!("../../../golden/exact/logistic.json"),
        include_str!("../../../golden/exact/lasso.json"),
        include_str!("../../../golden/exact/nuclear.json"),
    ] {
        let golden: serde_json::Value = serde_json::from_str(text).unwrap();
        let numbers = |value: &serde_json::Value| -> Vec<f64> {
            value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
        };
        let rows: Vec<Vec<f64>> = golden["rows"].as_array().unwrap().iter().map(numbers).collect();
        let data = Simulated {
            rows: rows.len(),
            columns: rows[0].len(),
            features: rows.concat(),
            targets: numbers(&golden["targets"]),
            coefficients: Vec::new(),
        };
        for case in golden["fits"].as_array().unwrap() {
            let [loss, penalty] = ["loss", "penalty"].map(|key| case[key].as_str().unwrap());
            let constant = if case["intercept"].as_bool().unwrap() { 1.0 } else { 0.0 };
            let found = fit(gate(&data, loss, constant), penalty, None);
            check(
                &format!("{loss} {penalty} {constant}"),
                &found,
                case["optimum"].as_f64().unwrap(),
            );
        }
    }
}

/// Separable classes without a penalty have no best parameter: the solver must stop and say so.
#[test]
fn a_problem_without_a_minimiser_ends_at_the_limit() {
    let mut data = classes();
    for i in 0..data.rows {
        data.targets[i] = data.row(i)[0].signum();
    }
    let found = fit(gate(&data, "logistic", 1.0), "none", None);
    assert_eq!(found.status, SolverStatus::IterationLimit);
    assert!(found.objective < 0.1 && found.x.iter().all(|v| v.is_finite()), "{found:?}");
}

/// More entries than are ever factored, and more than records: conjugate gradients instead.
#[test]
fn wide_data() {
    let data = generators::linear(40, generators::sparse(2_100, 5, 30.0, 4), 0.05, 4).scaled();
    let found = fit(gate(&data, "squared", 1.0), "l1:0.01", None);
    let there = Fit {
        data: &data,
        intercept: 1.0,
        loss: Loss::Squared,
        penalty: Penalty::ElasticNet(0.01, 0.0),
        map: None,
    };
    check("wide lasso", &found, there.optimum());
    assert!(found.x.iter().filter(|v| **v != 0.0).count() < 100, "the lasso's answer is sparse");
}
