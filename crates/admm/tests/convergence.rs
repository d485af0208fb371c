//! Without noise every algorithm arrives at the optimum of the exact solver: a relative gap of 1e-4 in the number
//! of iterations that stands beside it.

mod common;

use std::sync::Arc;

use common::gate;
use reticent_admm::catalogue::{Built, Kind, Recipe, find};
use reticent_admm::exact::{ExactSettings, Status, solve};
use reticent_admm::{Public, Settings, run};
use reticent_oracle::{ExactOracle, Gate, Oracle};
use reticent_problem::{Constraint, Edge, Graph, Regulariser, losses, penalties};
use reticent_testkit::generators::{self, Simulated};

const GAP: f64 = 1e-4;

struct Problem {
    loss: &'static str,
    penalty: &'static str,
    constraint: Option<Constraint>,
    data: Simulated,
    constant: f64,
}

impl Problem {
    fn logistic() -> Self {
        let data = generators::logistic(200, generators::sparse(12, 5, 6.0, 1), 1);
        Problem { loss: "logistic", penalty: "l1:0.01", constraint: None, data, constant: 1.0 }
    }

    fn support_vector_machine() -> Self {
        Problem { loss: "huberised-hinge:0.5", ..Self::logistic() }
    }

    fn lasso() -> Self {
        let data = generators::linear(200, generators::piecewise_constant(16, 4, 2.0, 2), 0.2, 2);
        Problem { loss: "squared", penalty: "l1:0.01", constraint: None, data, constant: 1.0 }
    }

    fn graph() -> Self {
        let mut edges: Vec<Edge> = (0..15).map(|from| Edge { from, to: from + 1, weight: 1.0 }).collect();
        edges.extend((0..4).map(|j| Edge { from: j, to: j + 8, weight: -0.5 }));
        let data = generators::logistic(200, generators::piecewise_constant(16, 3, 6.0, 3), 3);
        let constraint = Some(Constraint::graph(&Graph::new(16, edges).unwrap()));
        Problem { loss: "logistic", penalty: "l1:0.003", constraint, data, constant: 0.0 }
    }

    fn gate(&self) -> Gate {
        gate(&self.data, self.loss, self.constant)
    }

    fn regulariser(&self) -> Regulariser {
        let shape = Oracle::shape(&self.gate());
        let penalty = penalties::parse(self.penalty).unwrap();
        let constraint = self.constraint.clone().unwrap_or_else(|| Constraint::identity(shape.features));
        Regulariser::new(penalty, constraint, shape).unwrap()
    }

    fn public(&self) -> Public {
        let loss = losses::parse(self.loss, None).unwrap();
        let square = |i: usize| self.data.row(i).iter().map(|a| a * a).sum::<f64>();
        let longest = (0..self.data.rows).map(square).fold(0.0, f64::max);
        Public {
            shape: Oracle::shape(&self.gate()),
            population: self.data.rows as u64,
            row_norm: (longest + self.constant.powi(2)).sqrt(),
            lipschitz: loss.lipschitz(),
            smoothness: loss.smoothness(),
        }
    }

    /// The relative gap of `algorithm` without noise, under `settings` in JSON.
    fn gap(&self, algorithm: &str, settings: &str) -> f64 {
        let regulariser = Arc::new(self.regulariser());
        let exact = solve(&mut self.gate(), &regulariser, &ExactSettings::default()).unwrap();
        assert_eq!(exact.status, Status::Converged);
        let optimum = exact.objective;
        let settings: Settings = serde_json::from_str(settings).unwrap();
        let public = self.public();
        let recipe =
            Recipe { settings: &settings, public: &public, regulariser: &regulariser, noise_multiplier: 0.0 };
        let Kind::Private(build) = find(algorithm).unwrap().kind else { panic!("{algorithm} is exact") };
        let Built { algorithm: mut state, iterations } = build(&recipe).unwrap();
        let mut gate = self.gate();
        let x = run(&mut *state, iterations, &mut gate, |_| {}).unwrap();
        let found = gate.loss(&x).unwrap() + regulariser.value_at(&x);
        let gap = (found - optimum) / optimum;
        println!("{algorithm} on {} {}: {iterations} iterations, gap {gap:.1e}", self.loss, self.penalty);
        gap
    }

    #[track_caller]
    fn check(&self, algorithm: &str, settings: &str) {
        let gap = self.gap(algorithm, settings);
        assert!(gap.abs() <= GAP, "{algorithm} on {} {}: gap {gap}", self.loss, self.penalty);
    }
}

/// A clip that cuts no gradient of the squared loss, which has no bound.
const WIDE: &str = r#""clip": 1000"#;

fn settings(parts: &[&str]) -> String {
    format!("{{{}}}", parts.join(", "))
}

fn iterations(count: u64) -> String {
    settings(&[&format!("\"iterations\": {count}")])
}

fn wide(count: u64) -> String {
    settings(&[WIDE, &format!("\"iterations\": {count}")])
}

#[test]
fn ssadmm() {
    Problem::logistic().check("ssadmm", &iterations(600));
    Problem::support_vector_machine().check("ssadmm", &iterations(1200));
    Problem::lasso().check("ssadmm", &wide(300));
}

#[test]
fn mpadmm() {
    Problem::logistic().check("mpadmm", &iterations(600));
    Problem::support_vector_machine().check("mpadmm", &iterations(1200));
    Problem::lasso().check("mpadmm", &wide(600));
}

#[test]
fn dp_sgd() {
    Problem::logistic().check("dp-sgd", &iterations(300));
    Problem::support_vector_machine().check("dp-sgd", &iterations(1200));
    Problem::lasso().check("dp-sgd", &wide(300));
}

#[test]
fn consensus() {
    Problem::logistic().check("consensus", &iterations(300));
    Problem::support_vector_machine().check("consensus", &iterations(1200));
    Problem::lasso().check("consensus", &wide(300));
}

/// The squared loss has no bounded derivative, which the release of a minimiser needs.
#[test]
fn general() {
    Problem::logistic().check("general", &iterations(80));
    Problem::support_vector_machine().check("general", &iterations(300));
    Problem::graph().check("general", &iterations(150));
}

/// With a constant step of 1/L and the last iterate; the decaying step and the average of the default are for
/// noise, and converge like 1/√T without it. Smoothing is a preconditioner: slower, and to the same optimum.
#[test]
fn sadmm() {
    let constant = |problem: &Problem, count: u64, more: &[&str]| {
        let step = 1.0 / problem.public().gradient_lipschitz();
        let (step, count) = (format!("\"step\": \"{step}\""), format!("\"iterations\": {count}"));
        problem.check("sadmm", &settings(&[&[r#""average": "last""#, &step, &count], more].concat()));
    };
    let plain = r#""nu": 0"#;
    constant(&Problem::logistic(), 600, &[plain]);
    constant(&Problem::support_vector_machine(), 2500, &[plain]);
    constant(&Problem::lasso(), 600, &[plain, WIDE]);
    constant(&Problem::graph(), 1200, &[plain]);
    constant(&Problem::logistic(), 2500, &[]);
    constant(&Problem::support_vector_machine(), 5000, &[]);
    constant(&Problem::lasso(), 2500, &[WIDE]);
    constant(&Problem::graph(), 2500, &[]);
}

/// Outer loops of 20 inner steps on a tenth of the records: variance reduction converges also from samples.
#[test]
fn vradmm() {
    let last = r#""average": "last""#;
    Problem::logistic().check("vradmm", &settings(&[last, r#""outer": 120"#]));
    Problem::support_vector_machine().check("vradmm", &settings(&[last, r#""outer": 300"#]));
    Problem::lasso().check("vradmm", &settings(&[last, r#""outer": 150"#, WIDE]));
    Problem::graph().check("vradmm", &settings(&[last, r#""outer": 120"#]));
    // All the records and no smoothing, in outer loops of 10.
    let full = r#""average": "last", "nu": 0, "sampling": "full""#;
    Problem::logistic().check("vradmm", &settings(&[full, r#""outer": 60"#]));
    Problem::support_vector_machine().check("vradmm", &settings(&[full, r#""outer": 250"#]));
    Problem::lasso().check("vradmm", &settings(&[full, r#""outer": 60"#, WIDE]));
    Problem::graph().check("vradmm", &settings(&[full, r#""outer": 120"#]));
}

/// An elastic net lends the loss its strong convexity: the settings of the theorems, as they are.
#[test]
fn strongly_convex() {
    let problem = Problem { penalty: "elastic-net:0.005,0.02", ..Problem::logistic() };
    problem.check("sadmm", &iterations(1200));
    problem.check("vradmm", &settings(&[r#""outer": 60"#]));
}

#[test]
fn dp_fw() {
    Problem::logistic().check("dp-fw", &settings(&[r#""iterations": 600"#, r#""radius": 12"#]));
}

#[test]
fn output_perturbation() {
    let problem = Problem { penalty: "l2:0.02", constant: 0.0, ..Problem::logistic() };
    problem.check("output-perturbation", "{}");
}
