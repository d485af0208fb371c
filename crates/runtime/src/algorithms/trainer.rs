//! The trainer of distributed ADMM (DPA19), whatever way its providers have to move.
//!
//! ```text
//! w⁺ = mean(w̃_i⁺) − mean(γ_i)/ρ,   γ_i⁺ = γ_i − ρ(w̃_i⁺ − w⁺)
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What the trainer keeps between rounds. All of it is public in the local view.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Trainer {
    /// w.
    pub consensus: Vec<f64>,
    /// w̃_i.
    pub own: Vec<Vec<f64>>,
    /// γ_i.
    pub dual: Vec<Vec<f64>>,
}

impl Trainer {
    pub fn new(len: usize, providers: usize) -> Self {
        let all = vec![vec![0.0; len]; providers];
        Trainer { consensus: vec![0.0; len], own: all.clone(), dual: all }
    }

    /// Takes the answers of a round in. Who was not heard has not moved, and keeps its multiplier.
    pub fn close(&mut self, rho: f64, answers: BTreeMap<u32, Vec<f64>>) {
        let Trainer { consensus, own, dual } = self;
        let heard: Vec<usize> = answers.keys().map(|&party| party as usize).collect();
        for (party, answer) in answers {
            own[party as usize] = answer;
        }
        let n = own.len() as f64;
        for (j, w) in consensus.iter_mut().enumerate() {
            let sum: f64 = own.iter().map(|own| own[j]).sum();
            let duals: f64 = dual.iter().map(|dual| dual[j]).sum();
            *w = sum / n - duals / (n * rho);
        }
        for i in heard {
            for (j, w) in consensus.iter().enumerate() {
                dual[i][j] -= rho * (own[i][j] - w);
            }
        }
    }
}
