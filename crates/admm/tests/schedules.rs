//! Consensus ADMM for the lasso under every schedule of blocks, against the textbook: each block
//! written out in full, its prox by the formula of Sherman and Morrison.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::sync::Arc;

use crate::common::gate;
use reticent_admm::catalogue::{AlgorithmKind, Recipe, find};
use reticent_admm::{BlockSchedule, ProblemFacts, Settings, unwatched};
use reticent_oracle::Oracle;
use reticent_problem::{Constraint, Regulariser, penalties};
use reticent_testkit::generators::{self, Simulated};

const PENALTY: f64 = 0.01;
const GAMMA: f64 = 0.7;

fn data() -> Simulated {
    generators::linear(60, generators::sparse(8, 3, 2.0, 7), 0.1, 7).scaled()
}

/// `argmin_x ½(aᵀx − b)² + ‖x − v‖²/2γ = (aaᵀ + I/γ)⁻¹(b·a + v/γ)`, and
/// `(aaᵀ + I/γ)⁻¹ = γ(I − γaaᵀ/(1 + γ‖a‖²))`.
fn sherman_morrison(a: &[f64], b: f64, v: &[f64]) -> Vec<f64> {
    let right: Vec<f64> = a.iter().zip(v).map(|(a, v)| b * a + v / GAMMA).collect();
    let dot: f64 = a.iter().zip(&right).map(|(a, r)| a * r).sum();
    let square: f64 = a.iter().map(|a| a * a).sum();
    let along = GAMMA * dot / (1.0 + GAMMA * square);
    right.iter().zip(a).map(|(r, a)| GAMMA * (r - along * a)).collect()
}

fn textbook(schedule: BlockSchedule, lambda: f64, iterations: u64) -> Vec<f64> {
    let data = data();
    let mut order = schedule.order(data.rows as u64);
    let mut blocks = vec![vec![0.0; data.columns]; data.rows];
    let soft = |v: f64| v.signum() * (v.abs() - GAMMA * PENALTY).max(0.0);
    let consensus = |blocks: &[Vec<f64>]| -> Vec<f64> {
        let mean = |j: usize| blocks.iter().map(|u| u[j]).sum::<f64>() / blocks.len() as f64;
        (0..data.columns).map(|j| soft(mean(j))).collect()
    };
    for _ in 0..iterations {
        let z = consensus(&blocks);
        let all: Vec<u32> = (0..data.rows as u32).collect();
        for &i in order.next_blocks().unwrap().unwrap_or(&all) {
            let (i, u) = (i as usize, &mut blocks[i as usize]);
            let v: Vec<f64> = z.iter().zip(&*u).map(|(z, u)| 2.0 * z - u).collect();
            let x = sherman_morrison(data.row(i), data.targets[i], &v);
            for j in 0..u.len() {
                u[j] += 2.0 * lambda * (x[j] - z[j]);
            }
        }
    }
    consensus(&blocks)
}

#[test]
fn every_schedule_is_its_textbook_loop() {
    for (schedule, iterations) in
        [("all", 50), ("permutation", 300), ("single", 300), ("blocks:7", 100)]
    {
        for lambda in [0.3, 0.5, 0.8] {
            let schedule: BlockSchedule = schedule.parse().unwrap();
            let settings = Settings {
                iterations: Some(iterations),
                schedule: Some(schedule),
                gamma: Some(GAMMA),
                relaxation: Some(lambda),
                clip: Some(1e4),
                ..Settings::default()
            };
            let mut gate = gate(&data(), "squared", 0.0);
            let shape = Oracle::shape(&gate);
            let public = ProblemFacts {
                shape,
                population: 60,
                row_norm: 1.0,
                constant: 0.0,
                numeric: false,
                logistic: true,
                lipschitz: f64::INFINITY,
                smoothness: 1.0,
                whole_budget: 1.0,
            };
            let penalty = penalties::parse(&format!("l1:{PENALTY}")).unwrap();
            let regulariser = Arc::new(
                Regulariser::new(penalty, Constraint::identity(shape.features), shape).unwrap(),
            );
            let recipe = Recipe {
                settings: &settings,
                public: &public,
                regulariser: &regulariser,
                noise_multiplier: 0.0,
            };
            let AlgorithmKind::Private(build) = find("consensus").unwrap().kind else {
                panic!("not private")
            };
            let mut algorithm = build(&recipe).unwrap();
            let found = algorithm.run(&mut gate, &mut unwatched).unwrap();
            let expected = textbook(schedule, lambda, iterations);
            // The grid of the gate has steps of 1e4·2⁻³².
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-5, "{schedule} {lambda}: {found} {expected}");
            }
        }
    }
}
