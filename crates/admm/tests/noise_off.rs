//! Every private algorithm of the catalogue, with its noise off, comes to the exact solver's
//! optimum: a relative gap of at most 1e-4 in the stated number of iterations. An algorithm that is
//! in the catalogue and not in [`RUNS`] fails a test.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::sync::Arc;

use crate::common::gate;
use reticent_admm::catalogue::{AlgorithmEntry, AlgorithmKind, CATALOGUE, Recipe, find};
use reticent_admm::exact::{ExactSettings, SolverStatus, solve};
use reticent_admm::{ProblemFacts, Settings, unwatched};
use reticent_oracle::without_privacy::ExactOracle;
use reticent_oracle::{Gate, Oracle};
use reticent_problem::{Constraint, Edge, Graph, Penalty, Regulariser, losses, penalties};
use reticent_testkit::generators::{self, Simulated};

const GAP: f64 = 1e-4;

/// The algorithm, the problem, and the settings in the words of a job file.
type Run = (&'static str, fn() -> Problem, &'static [(&'static str, &'static str)]);

/// A clip that cuts nothing: the squared loss has no bound, and some algorithms cut below it.
const WIDE: (&str, &str) = ("clip", "1000");
/// The last iterate: the averages of the defaults are for noise, and slow without it.
const LAST: (&str, &str) = ("average", r#""last""#);
/// LS22's smoothing. It is a preconditioner: slower, and to the same optimum.
const SMOOTH: (&str, &str) = ("smoothing", "2");
/// Coordinates of its own, and the step there for a curvature of ¼.
const OWN: (&str, &str) = ("precondition", "0.1");
const SMOOTHEST: (&str, &str) = ("step", r#""4""#);
const FULL: (&str, &str) = ("sampling", r#""full""#);
const STRONG: (&str, &str) = ("strong_convexity", "0.05");
/// Inner steps: the default is shorter where there is noise.
const TEN: (&str, &str) = ("inner", "10");
const TWENTY: (&str, &str) = ("inner", "20");

const RUNS: &[Run] = &[
    ("ssadmm", logistic, &[("iterations", "600")]),
    ("ssadmm", machine, &[("iterations", "1200")]),
    ("ssadmm", lasso, &[("iterations", "300"), WIDE]),
    ("mpadmm", logistic, &[("iterations", "600")]),
    ("mpadmm", machine, &[("iterations", "1200")]),
    ("mpadmm", lasso, &[("iterations", "600"), WIDE]),
    ("dp-sgd", logistic, &[("iterations", "300")]),
    ("dp-sgd", machine, &[("iterations", "1200")]),
    ("dp-sgd", lasso, &[("iterations", "300"), WIDE]),
    // Momentum: the machine in a fifth of the steps.
    ("dp-sgd", logistic, &[("iterations", "100"), ("momentum", "1")]),
    ("dp-sgd", machine, &[("iterations", "250"), ("momentum", "1")]),
    ("dp-sgd", graph, &[("iterations", "300"), ("momentum", "1")]),
    ("consensus", logistic, &[("iterations", "300")]),
    ("consensus", machine, &[("iterations", "1200")]),
    ("consensus", lasso, &[("iterations", "300"), WIDE]),
    ("consensus", logistic, &[("iterations", "3000"), ("schedule", r#""blocks:20""#)]),
    ("consensus", lasso, &[("iterations", "3000"), ("schedule", r#""blocks:20""#), WIDE]),
    // 200 blocks: 200 and 300 rounds.
    ("consensus", logistic, &[("iterations", "40000"), ("schedule", r#""permutation""#)]),
    ("consensus", lasso, &[("iterations", "40000"), ("schedule", r#""permutation""#), WIDE]),
    ("consensus", logistic, &[("iterations", "60000"), ("schedule", r#""single""#)]),
    ("consensus", lasso, &[("iterations", "60000"), ("schedule", r#""single""#), WIDE]),
    // The squared loss has no bounded derivative, which the release of a minimiser needs.
    ("general", logistic, &[("iterations", "80")]),
    ("general", machine, &[("iterations", "300")]),
    ("general", graph, &[("iterations", "150")]),
    // A constant step of 1/L.
    ("sadmm", logistic, &[("iterations", "600"), ("step", r#""2""#), LAST]),
    ("sadmm", logistic, &[("iterations", "2500"), ("step", r#""2""#), LAST, SMOOTH]),
    ("sadmm", machine, &[("iterations", "2500"), ("step", r#""0.5""#), LAST]),
    ("sadmm", machine, &[("iterations", "5000"), ("step", r#""0.5""#), LAST, SMOOTH]),
    ("sadmm", lasso, &[("iterations", "600"), ("step", r#""0.5""#), LAST, WIDE]),
    ("sadmm", lasso, &[("iterations", "2500"), ("step", r#""0.5""#), LAST, SMOOTH, WIDE]),
    ("sadmm", graph, &[("iterations", "1200"), ("step", r#""4""#), LAST]),
    ("sadmm", graph, &[("iterations", "2500"), ("step", r#""4""#), LAST, SMOOTH]),
    // In coordinates of their own, where all directions are equally curved.
    ("ssadmm", logistic, &[("iterations", "300"), OWN, SMOOTHEST, LAST, WIDE]),
    ("ssadmm", lasso, &[("iterations", "300"), OWN, ("step", r#""1""#), LAST, WIDE]),
    ("mpadmm", logistic, &[("iterations", "300"), OWN, SMOOTHEST, LAST, WIDE]),
    ("sadmm", logistic, &[("iterations", "300"), OWN, SMOOTHEST, LAST, WIDE]),
    ("sadmm", elastic_net, &[("iterations", "300"), OWN, SMOOTHEST, LAST, WIDE]),
    ("sadmm", graph, &[("iterations", "300"), OWN, SMOOTHEST, LAST, WIDE]),
    ("dp-sgd", logistic, &[("iterations", "100"), OWN, SMOOTHEST, LAST, WIDE]),
    ("dp-sgd", graph, &[("iterations", "100"), OWN, SMOOTHEST, LAST, WIDE]),
    // Outer loops of 20 inner steps on a tenth of the records: variance reduction converges from
    // samples too.
    ("vradmm", logistic, &[("outer", "120"), TWENTY, LAST, SMOOTH]),
    ("vradmm", machine, &[("outer", "300"), TWENTY, LAST, SMOOTH]),
    ("vradmm", lasso, &[("outer", "150"), TWENTY, LAST, SMOOTH, WIDE]),
    ("vradmm", graph, &[("outer", "120"), TWENTY, LAST, SMOOTH]),
    // Outer loops of 10 on all of them.
    ("vradmm", logistic, &[("outer", "60"), TEN, LAST, FULL]),
    ("vradmm", machine, &[("outer", "250"), TEN, LAST, FULL]),
    ("vradmm", lasso, &[("outer", "60"), TEN, LAST, FULL, WIDE]),
    ("vradmm", graph, &[("outer", "120"), TEN, LAST, FULL]),
    // An elastic net lends the loss its strong convexity: the settings of the theorems, as they
    // are.
    ("sadmm", elastic_net, &[("iterations", "1200")]),
    ("vradmm", elastic_net, &[("outer", "60"), TWENTY]),
    // LS22's own: a graph, and a ridge on the coefficients, which is lent. Behind [φ; I] λ₀ is made by
    // a left inverse.
    ("sadmm", strong_graph, &[("iterations", "2500"), STRONG]),
    ("vradmm", strong_graph, &[("outer", "150"), TWENTY, STRONG]),
    ("vradmm", strong_graph, &[("outer", "150"), TEN, STRONG, FULL]),
    // 300 rounds of a step for each coordinate.
    ("dp-cd", logistic, &[("iterations", "3900"), WIDE]),
    ("dp-cd", machine, &[("iterations", "15600"), WIDE]),
    ("dp-cd", lasso, &[("iterations", "5100"), WIDE]),
    ("dp-fw", logistic, &[("iterations", "600"), ("radius", "12"), ("momentum", "0"), LAST, WIDE]),
    ("dp-fw", logistic, &[("iterations", "2000"), ("radius", "12"), WIDE]),
    // Steps that get shorter, as there is no mean to even them out.
    ("stagewise", ridge, &[("iterations", "8000"), ("step", r#""sqrt:0.1""#), WIDE]),
    ("stagewise", ridge_with_intercept, &[("iterations", "8000"), ("step", r#""sqrt:0.1""#), WIDE]),
    ("output-perturbation", ridge, &[]),
    ("amp", ridge, &[]),
    ("amp", ridge_machine, &[]),
    ("objp", logistic, &[("iterations", "80")]),
    ("objp", machine, &[("iterations", "300")]),
    ("objp", elastic_net, &[("iterations", "80")]),
];

#[test]
fn every_private_algorithm_finds_the_optimum_without_noise() {
    for (algorithm, problem, settings) in RUNS {
        problem().check(algorithm, settings);
    }
}

#[test]
fn every_private_algorithm_is_run_above() {
    // auto is one of the others, with settings that are for noise.
    let private = |entry: &&AlgorithmEntry| {
        matches!(entry.kind, AlgorithmKind::Private(_)) && entry.name != "auto"
    };
    for entry in CATALOGUE.iter().filter(private) {
        assert!(RUNS.iter().any(|run| run.0 == entry.name), "{} has no run", entry.name);
    }
}

struct Problem {
    loss: &'static str,
    penalty: &'static str,
    constraint: Option<Constraint>,
    data: Simulated,
    constant: f64,
}

fn logistic() -> Problem {
    let data = generators::logistic(200, generators::sparse(12, 5, 6.0, 1), 1);
    Problem { loss: "logistic", penalty: "l1:0.01", constraint: None, data, constant: 1.0 }
}

/// The huberised support vector machine.
fn machine() -> Problem {
    Problem { loss: "huberised-hinge:0.5", ..logistic() }
}

fn elastic_net() -> Problem {
    Problem { penalty: "elastic-net:0.005,0.02", ..logistic() }
}

fn ridge() -> Problem {
    Problem { penalty: "l2:0.02", constant: 0.0, ..logistic() }
}

/// With an intercept, which no ridge pulls on.
fn ridge_with_intercept() -> Problem {
    Problem { penalty: "l2:0.02", ..logistic() }
}

fn ridge_machine() -> Problem {
    Problem { loss: "huberised-hinge:0.5", ..ridge() }
}

fn lasso() -> Problem {
    let data =
        generators::linear(200, generators::piecewise_constant(16, 4, 2.0, 2), 0.2, 2).scaled();
    Problem { loss: "squared", penalty: "l1:0.01", constraint: None, data, constant: 1.0 }
}

/// The graph-guided fused lasso: a chain with a few chords that ask for opposite signs.
fn graph() -> Problem {
    let mut edges: Vec<Edge> =
        (0..15).map(|from| Edge { from, to: from + 1, weight: 1.0 }).collect();
    edges.extend((0..4).map(|j| Edge { from: j, to: j + 8, weight: -0.5 }));
    let data = generators::logistic(200, generators::piecewise_constant(16, 3, 6.0, 3), 3);
    let constraint = Some(Constraint::graph(&Graph::new(16, edges).unwrap()));
    Problem { loss: "logistic", penalty: "l1:0.003", constraint, data, constant: 0.0 }
}

fn strong_graph() -> Problem {
    Problem { penalty: GRAPH_RIDGE, ..graph() }
}

/// λ₁ on every row of [φ; I] and a ridge on those of I, which come last.
const GRAPH_RIDGE: &str = "graph-ridge";

#[derive(Debug)]
struct GraphRidge;

impl GraphRidge {
    const LASSO: f64 = 0.003;
    const RIDGE: f64 = 0.05;
    const FEATURES: usize = 16;
}

impl Penalty for GraphRidge {
    fn name(&self) -> &'static str {
        GRAPH_RIDGE
    }

    fn spec(&self) -> String {
        GRAPH_RIDGE.to_owned()
    }

    fn value(&self, y: &[f64], _: usize) -> f64 {
        let ridge: f64 = y[y.len() - Self::FEATURES..].iter().map(|v| v * v).sum();
        Self::LASSO * y.iter().map(|v| v.abs()).sum::<f64>() + 0.5 * Self::RIDGE * ridge
    }

    fn prox(&self, y: &mut [f64], _: usize, step: f64) {
        y.iter_mut().for_each(|v| *v = v.signum() * (v.abs() - step * Self::LASSO).max(0.0));
        let first = y.len() - Self::FEATURES;
        y[first..].iter_mut().for_each(|v| *v /= 1.0 + step * Self::RIDGE);
    }

    fn subgradient(&self, _: &[f64], _: usize, _: &mut [f64]) {
        panic!("nobody asks for it")
    }

    fn lipschitz(&self, _: usize, _: usize) -> f64 {
        f64::INFINITY
    }

    fn coefficient_ridge(&self) -> f64 {
        Self::RIDGE
    }
}

impl Problem {
    fn gate(&self) -> Gate {
        gate(&self.data, self.loss, self.constant)
    }

    fn regulariser(&self) -> Regulariser {
        let shape = Oracle::shape(&self.gate());
        let penalty: Box<dyn Penalty> = match self.penalty {
            GRAPH_RIDGE => Box::new(GraphRidge),
            named => penalties::parse(named).unwrap(),
        };
        let constraint =
            self.constraint.clone().unwrap_or_else(|| Constraint::identity(shape.features));
        Regulariser::new(penalty, constraint, shape).unwrap()
    }

    /// Rows of the simulated tables have norm 1 at most.
    fn public(&self) -> ProblemFacts {
        let loss = losses::parse(self.loss, None).unwrap();
        ProblemFacts {
            shape: Oracle::shape(&self.gate()),
            population: self.data.rows as u64,
            row_norm: (1.0 + self.constant.powi(2)).sqrt(),
            constant: self.constant,
            numeric: loss.target() == reticent_problem::LossTarget::Real,
            logistic: loss.name() == "logistic",
            lipschitz: loss.lipschitz(),
            smoothness: loss.smoothness(),
            whole_budget: 0.0,
        }
    }

    fn check(&self, algorithm: &str, settings: &[(&str, &str)]) {
        let regulariser = Arc::new(self.regulariser());
        let exact = solve(&mut self.gate(), &regulariser, &ExactSettings::default()).unwrap();
        assert_eq!(exact.status, SolverStatus::Converged);
        let words: Vec<String> =
            settings.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
        let chosen: Settings = serde_json::from_str(&format!("{{{}}}", words.join(", "))).unwrap();
        let public = self.public();
        let recipe = Recipe {
            settings: &chosen,
            public: &public,
            regulariser: &regulariser,
            noise_multiplier: 0.0,
        };
        let AlgorithmKind::Private(build) = find(algorithm).unwrap().kind else {
            panic!("{algorithm} is exact")
        };
        let mut state = build(&recipe).unwrap();
        let mut gate = self.gate();
        let x = state.run(&mut gate, &mut unwatched).unwrap();
        let found = gate.loss(&x).unwrap() + regulariser.value_at(&x);
        let gap = (found - exact.objective) / exact.objective;
        let what = format!("{algorithm} on {} {} with {words:?}", self.loss, self.penalty);
        println!("{what}: {} iterations, relative gap {gap:.1e}", state.iterations());
        assert!((-1e-6..=GAP).contains(&gap), "{what}: relative gap {gap}");
    }
}
