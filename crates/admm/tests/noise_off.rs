//! Every private algorithm of the catalogue, with its noise off, comes to the exact solver's optimum: a relative
//! gap of at most 1e-4 in the stated number of iterations. A new algorithm is held to it by being in the catalogue.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

mod common;

use std::sync::Arc;

use common::gate;
use reticent_admm::catalogue::{CATALOGUE, Kind, Recipe};
use reticent_admm::exact::{ExactSettings, Status, solve};
use reticent_admm::{Public, Settings, run};
use reticent_oracle::{ExactOracle, Oracle};
use reticent_problem::{Constraint, Edge, Graph, Regulariser, losses, penalties};
use reticent_testkit::generators::{self, Simulated};

/// The relative gap that is asked for.
const GAP: f64 = 1e-4;

/// Full-batch iterations that an algorithm may take; a new one gets what ssADMM needs.
fn iterations(_algorithm: &str) -> u64 {
    500
}

struct Case {
    name: &'static str,
    data: Simulated,
    loss: &'static str,
    penalty: &'static str,
    graph: bool,
}

fn cases() -> Vec<Case> {
    let classes = || generators::logistic(200, generators::sparse(12, 5, 6.0, 1), 1);
    let numbers = || generators::linear(200, generators::piecewise_constant(12, 4, 2.0, 2), 0.2, 2);
    let case = |name, data, loss, penalty, graph| Case { name, data, loss, penalty, graph };
    vec![
        case("L1 logistic", classes(), "logistic", "l1:0.01", false),
        case("huberised SVM", classes(), "huberised-hinge:0.5", "l2:0.01", false),
        case("lasso", numbers(), "squared", "l1:0.01", false),
        case("graph-guided fused lasso", classes(), "logistic", "l1:0.003", true),
    ]
}

#[test]
fn every_private_algorithm_finds_the_optimum_without_noise() {
    for Case { name, data, loss, penalty, graph } in cases() {
        let mut gate = gate(&data, loss, 1.0);
        let shape = Oracle::shape(&gate);
        let ring = (0..12).map(|from| Edge { from, to: (from + 1) % 12, weight: 1.0 }).collect();
        let constraint = match graph {
            true => Constraint::graph(&Graph::new(12, ring).unwrap()),
            false => Constraint::identity(12),
        };
        let penalty = penalties::parse(penalty).unwrap();
        let regulariser = Arc::new(Regulariser::new(penalty, constraint, shape).unwrap());
        let exact = solve(&mut gate, &regulariser, &ExactSettings::default()).unwrap();
        assert_eq!(exact.status, Status::Converged, "{name}");

        let loss = losses::parse(loss, None).unwrap();
        let public = Public {
            shape,
            population: data.rows as u64,
            row_norm: 2f64.sqrt(),
            lipschitz: loss.lipschitz(),
            smoothness: loss.smoothness(),
        };
        for entry in CATALOGUE {
            let Kind::Private(build) = entry.kind else { continue };
            // A clip that does not bite: the Lipschitz bound where there is one, far above it where there is none.
            let bound = if loss.lipschitz().is_finite() { loss.lipschitz() } else { 100.0 };
            let settings = Settings {
                iterations: Some(iterations(entry.name)),
                clip: Some(bound * public.row_norm),
                ..Settings::default()
            };
            let recipe = Recipe {
                settings: &settings,
                public: &public,
                regulariser: &regulariser,
                noise_multiplier: 0.0,
            };
            let mut built = match build(&recipe) {
                Ok(built) => built,
                Err(error) if graph && error.name == "constraint" => continue,
                Err(error) => panic!("{} on {name}: {error}", entry.name),
            };
            let x = run(&mut *built.algorithm, built.iterations, &mut gate, |_| {}).unwrap();
            let objective = gate.loss(&x).unwrap() + regulariser.value_at(&x);
            let gap = (objective - exact.objective) / exact.objective;
            println!("{} on {name}: relative gap {gap:.1e} after {}", entry.name, built.iterations);
            assert!((-1e-6..=GAP).contains(&gap), "{} on {name}: relative gap {gap}", entry.name);
        }
    }
}
