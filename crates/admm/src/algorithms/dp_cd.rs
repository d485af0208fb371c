//! DP-CD: proximal coordinate descent on noisy partial derivatives (Mangold et al. 2022; FP23,
//! Proposition 2).
//!
//! ```text
//! minimise (1/n) Σ f(u; dᵢ) + Σ_j r_j(u_j)
//!
//! j   = k mod d
//! g̃_j = noisy mean of clip(∂_j f(u; dᵢ), C) over a sample
//! u_j ← prox_{η_k r_j}( u_j − η_k g̃_j )
//! ```
//!
//! It is the fixed-point iteration with a block for each coordinate and one block a step: without a
//! penalty `R_b(u) = u_b − (2/β)∇_b f(u)` with λ = ηβ/2. The coordinates go round in their order,
//! which tells nothing; a random order would tell as little.
//!
//! Released: g̃_j, once an iteration, as a Gaussian event under its sampling. Requires: a penalty
//! that is a sum over entries; the identity constraint. Reference: Mangold et al. 2022, Algorithm
//! 1; FP23, Proposition 2. There C and η have an entry for each coordinate, from bounds of each
//! feature; here one bound of the row stands for all, so a round of steps costs as much as d full
//! gradients, and dp-cd is kept for comparison.
//!
//! Step. A coordinate is stable at 1/(S·mean x_j²), and the squares of a row's d entries sum to R²
//! at most: one column may have it all, at 1/L, or each its even part, at d/L. Between the two lies
//! √d/2L, stable while no column has more than 4/√d of the squares; at most 10/L, because the
//! constant behind the intercept has 0.3² of R². A table with a heavier column needs a shorter
//! `--step`.

use std::sync::Arc;

use reticent_oracle::queries::{Coordinate, ClippedMean};
use reticent_oracle::{Oracle, Refusal, Refused};
use reticent_problem::Regulariser;

use super::{Algorithm, Tell, told};
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};
use crate::defaults::{CLIP, CoordinateSweeps};
use crate::step_size::StepSize;

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "dp-cd",
    about: "coordinate descent on noisy partial derivatives; a baseline",
    reference: "Mangold et al. 2022, Algorithm 1; FP23, Proposition 2",
    takes: &["iterations", "sampling", "clip", "clip_share", "step"],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: AlgorithmKind::Private(build),
};

/// The most rounds through the coordinates: each takes as long as d steps of gradient descent.
const ROUNDS: f64 = 20.0;

/// The longest step, in 1/L.
const STEP: f64 = 10.0;

#[derive(Debug)]
struct DpCd {
    iterations: u64,
    params: ClippedMean,
    step: StepSize,
    /// Steps in which each record is seen once for each coordinate.
    per_epoch: f64,
    regulariser: Arc<Regulariser>,
    u: Vec<f64>,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    let Recipe { settings, public, regulariser, noise_multiplier } = recipe;
    recipe.only(&ENTRY)?;
    recipe.needs_identity(&ENTRY)?;
    let penalty = regulariser.penalty();
    if !penalty.is_separable() {
        return Err(Refused::new(
            "penalty",
            penalty.spec(),
            "dp-cd needs a penalty that is a sum over entries, for example none, l1 or l2",
        ));
    }
    let sampling = recipe.sampling();
    let len = public.shape.len();
    let step = (0.5 * (len as f64).sqrt()).clamp(1.0, STEP);
    let CoordinateSweeps { count: rounds, shorter } = recipe.sweeps(step, ROUNDS);
    let iterations = settings.iterations_or(rounds * len as u64)?;
    let per_epoch = recipe.per_epoch(sampling);
    let drawn = recipe.sweep_length(rounds as f64, step, iterations as f64, per_epoch);
    let shorter = if per_epoch > 1.0 { shorter.min(drawn) } else { shorter };
    let algorithm = DpCd {
        iterations,
        params: ClippedMean {
            clip: settings.clip_or_part(public, CLIP)?,
            noise_multiplier: *noise_multiplier,
            sampling,
        },
        step: settings.step_or_times(public, shorter * step)?,
        per_epoch: per_epoch * len as f64,
        regulariser: Arc::clone(regulariser),
        u: vec![0.0; len],
    };
    Ok(Box::new(algorithm))
}

impl Algorithm for DpCd {
    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        for k in 1..=self.iterations {
            let DpCd { params, step, per_epoch, regulariser, u, .. } = self;
            let j = ((k - 1) % u.len() as u64) as usize;
            let eta = step.at(k, *per_epoch);
            let g = oracle.ask(&Coordinate { at: u, index: j, mean: *params })?.into_inner();
            // The penalty is a sum over entries: the prox of them all has the one that moves.
            let mut moved = u.clone();
            moved[j] -= eta * g;
            regulariser.prox_y(&mut moved, eta);
            u[j] = moved[j];
            told(tell, k, self.iterations, &self.u)?;
        }
        Ok(self.u.clone())
    }
}
