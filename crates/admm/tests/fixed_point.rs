//! The engine of FP23's Algorithm 1: its instances are the algorithms of the catalogue, to the bit.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::common::gate;
use reticent_accountant::Ledger;
use reticent_admm::catalogue::{AlgorithmKind, Recipe, find};
use reticent_admm::fixed_point::{
    ConsensusStep, CoordinateStep, FixedPointIteration, GradientStep, Operator, Reflections,
    Relaxations,
};
use reticent_admm::{Algorithm, ProblemFacts, Settings, unwatched};
use reticent_oracle::Sampling;
use reticent_oracle::queries::{ClippedMean, ConsensusTerms};
use reticent_problem::{Regulariser, Shape, losses, penalties};
use reticent_testkit::generators;

const SHAPE: Shape = Shape { features: 6, outputs: 1, intercept: false };
const NOISE: f64 = 4.0;

/// Curvatures of at most ¼ on rows of norm 1: β is a power of 2, and so is 2/β.
const BETA: f64 = 0.25;

fn regulariser(penalty: &str) -> Arc<Regulariser> {
    Arc::new(Regulariser::plain(penalties::parse(penalty).unwrap(), SHAPE))
}

/// What a run gives, and what it has in its books.
fn run(algorithm: &mut dyn Algorithm) -> (Vec<f64>, Ledger) {
    let data = generators::logistic(100, generators::dense(6, 0.4, 5), 5);
    let mut gate = gate(&data, "logistic", 0.0);
    let model = algorithm.run(&mut gate, &mut unwatched).unwrap();
    (model, gate.ledger().clone())
}

/// The algorithm of the catalogue, as it is run by name.
fn named(name: &str, penalty: &str, settings: &str) -> (Vec<f64>, Ledger) {
    let AlgorithmKind::Private(build) = find(name).unwrap().kind else { panic!("{name}") };
    let loss = losses::parse("logistic", None).unwrap();
    let public = ProblemFacts {
        shape: SHAPE,
        population: 100,
        row_norm: 1.0,
        constant: 0.0,
        numeric: false,
        logistic: true,
        lipschitz: loss.lipschitz(),
        smoothness: loss.smoothness(),
        whole_budget: 1.0,
    };
    let mut algorithm = build(&Recipe {
        settings: &serde_json::from_str::<Settings>(settings).unwrap(),
        public: &public,
        regulariser: &regulariser(penalty),
        noise_multiplier: NOISE,
    })
    .unwrap();
    run(&mut *algorithm)
}

fn engine(operator: impl Operator + 'static, relaxations: Relaxations) -> FixedPointIteration {
    FixedPointIteration::new(operator, relaxations, vec![0.0; 6])
}

#[track_caller]
fn same((one, books): (Vec<f64>, Ledger), (other, others): (Vec<f64>, Ledger)) {
    assert!(one.iter().any(|v| *v != 0.0), "nothing moved");
    assert_eq!(one, other, "to the bit");
    assert_eq!(books.entries(), others.entries());
}

fn mean(sampling: &str) -> ClippedMean {
    ClippedMean { clip: 0.8, noise_multiplier: NOISE, sampling: sampling.parse().unwrap() }
}

/// Proposition 1, with λ = ηβ/2 and with a sample, whose error is e_k.
#[test]
fn dp_sgd_without_a_penalty_is_an_instance() {
    for sampling in ["full", "poisson:0.3", "wor:20"] {
        let settings = format!(
            r#"{{"iterations": 9, "step": "0.3", "clip": 0.8, "sampling": "{sampling}", "average": "last"}}"#
        );
        let operator = GradientStep::new(mean(sampling), BETA).unwrap();
        let relaxations = Relaxations::constant(9, 0.3 * BETA / 2.0).unwrap();
        same(run(&mut engine(operator, relaxations)), named("dp-sgd", "none", &settings));
    }
}

/// λ_k as a schedule: η/√k.
#[test]
fn relaxations_that_shrink_are_steps_that_do() {
    let settings = r#"{"iterations": 9, "step": "sqrt:0.5", "clip": 0.8, "average": "last"}"#;
    let operator = GradientStep::new(mean("full"), BETA).unwrap();
    let at = |k: u64| 0.5 / (k as f64).sqrt() * BETA / 2.0;
    let relaxations = Relaxations::new(9, at).unwrap();
    same(run(&mut engine(operator, relaxations)), named("dp-sgd", "none", settings));
}

/// Proposition 2: one block a step.
#[test]
fn dp_cd_without_a_penalty_is_an_instance() {
    let settings = r#"{"iterations": 20, "step": "0.3", "clip": 0.8}"#;
    let operator = CoordinateStep::new(mean("full"), BETA).unwrap();
    let relaxations = Relaxations::constant(20, 0.3 * BETA / 2.0).unwrap();
    same(run(&mut engine(operator, relaxations)), named("dp-cd", "none", settings));
}

#[test]
fn general_is_an_instance() {
    let settings = r#"{"iterations": 5, "gamma": 0.7, "relaxation": 0.45}"#;
    let operator = Reflections::new(&regulariser("l1:0.01"), 1.0, 0.7, NOISE).unwrap();
    let relaxations = Relaxations::constant(5, 0.45).unwrap();
    same(run(&mut engine(operator, relaxations)), named("general", "l1:0.01", settings));
}

#[test]
fn consensus_is_an_instance() {
    let settings = r#"{"iterations": 7, "gamma": 0.7, "relaxation": 0.45, "clip": 0.8}"#;
    let terms = ConsensusTerms {
        clip: 0.8,
        step: 0.7,
        relaxation: 0.5,
        noise_multiplier: NOISE,
        sampling: Sampling::Full,
        block_noise: 0.0,
    };
    let operator = ConsensusStep::new(terms, regulariser("l1:0.01"));
    let relaxations = Relaxations::constant(7, 0.45).unwrap();
    same(run(&mut engine(operator, relaxations)), named("consensus", "l1:0.01", settings));
}

/// Errors are seen where they are made, before the block moves, and count λ_k times.
#[test]
fn errors_are_averaged_in() {
    let silent = ClippedMean { noise_multiplier: 0.0, ..mean("full") };
    let new = || {
        let operator = GradientStep::new(silent, BETA).unwrap();
        engine(operator, Relaxations::constant(1, 0.25).unwrap())
    };
    let seen = Rc::new(RefCell::new(Vec::new()));
    let told = Rc::clone(&seen);
    let mut with = new().with_errors(move |k, u| {
        told.borrow_mut().push((k, u.to_vec()));
        vec![0.5; u.len()]
    });
    let (with, without) = (run(&mut with).0, run(&mut new()).0);
    assert_eq!(*seen.borrow(), [(1, vec![0.0; 6])]);
    assert!(with.iter().zip(&without).all(|(a, b)| (a - b - 0.125).abs() < 1e-15));
}
