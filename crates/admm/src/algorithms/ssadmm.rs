//! ssADMM: gradient perturbation with subsampling (RDP20, Algorithm 1).
//!
//! ```text
//! minimise (1/n) Σ f(x; dᵢ) + r(z)  subject to  x = z
//!
//! g̃  = noisy mean of clip(∇f(x; dᵢ), C) over a sample
//! x⁺ = ( −g̃ − y + ρ z + x/η_k ) / (ρ + 1/η_k)
//! z⁺ = prox_{r/ρ}( x⁺ + y/ρ )
//! y⁺ = y + ρ (x⁺ − z⁺)
//! ```
//!
//! Released: g̃, once an iteration, as a Gaussian event under its sampling; all else is arithmetic
//! on it. Requires: a penalty with a prox, convex or not; the identity constraint. Reference:
//! RDP20, Algorithm 1, equations 16–18; privacy by Theorem 1, counted here by the accountant.

use reticent_oracle::queries::{Gradient, Mean};
use reticent_oracle::{Oracle, Refusal, Refused};

use super::{Algorithm, Iterate, Tell, told};
use crate::catalogue::{Entry, Kind, Recipe};
use crate::linearised::Linearised;
use crate::settings::positive;
use crate::step_size::StepSize;

pub(crate) const ENTRY: Entry = Entry {
    name: "ssadmm",
    about: "noisy (sub)sampled gradients, a penalty with a prox",
    reference: "RDP20, Algorithm 1",
    takes: &["iterations", "sampling", "clip", "step", "rho"],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: Kind::Private(build),
};

/// RDP20's penalty parameter.
const RHO: f64 = 0.25;

/// The iterates and the settings of a run.
#[derive(Debug)]
struct SsAdmm {
    iterations: u64,
    params: Mean,
    step: StepSize,
    per_epoch: f64,
    admm: Linearised,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    let Recipe { settings, public, regulariser, noise_multiplier } = recipe;
    recipe.only(&ENTRY)?;
    recipe.needs_identity(&ENTRY)?;
    let sampling = recipe.sampling();
    let per_epoch = recipe.per_epoch(sampling);
    let iterations = settings.iterations_or(recipe.plain_steps(per_epoch))?;
    let algorithm = SsAdmm {
        iterations,
        params: Mean {
            clip: settings.clip_or_bound(public)?,
            noise_multiplier: *noise_multiplier,
            sampling,
        },
        step: settings.step_or_smooth(public)?,
        per_epoch,
        admm: Linearised::new(positive("rho", settings.rho.unwrap_or(RHO))?, regulariser),
    };
    Ok(Box::new(algorithm))
}

impl Iterate for SsAdmm {
    fn running(&self) -> Vec<f64> {
        self.admm.solution()
    }

    fn published(&self) -> Vec<f64> {
        self.admm.solution()
    }

    fn residual(&self) -> Option<f64> {
        Some(self.admm.residual())
    }
}

impl Algorithm for SsAdmm {
    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        for k in 1..=self.iterations {
            let g = oracle.ask(&Gradient { at: self.admm.x(), mean: self.params })?.into_inner();
            self.admm.step(&g, self.step.at(k, self.per_epoch));
            told(tell, k, self.iterations, self)?;
        }
        Ok(self.published())
    }
}
