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
//! Released: g̃, once an iteration, as a Gaussian event under its sampling; all else is arithmetic on it.
//! Requires: a penalty with a prox; the identity constraint.
//! Reference: RDP20, Algorithm 1, equations 16–18; privacy by Theorem 1, counted here by the accountant.

use std::sync::Arc;

use reticent_oracle::{GradientTerms, Oracle, Refusal, Sampling};
use reticent_problem::Regulariser;

use crate::algorithm::Algorithm;
use crate::catalogue::{Built, Recipe};
use crate::settings::{SettingsError, positive};
use crate::step_size::StepSize;

/// The iterates and the settings of a run.
#[derive(Debug)]
pub(crate) struct SsAdmm {
    how: GradientTerms,
    step: StepSize,
    rho: f64,
    per_epoch: f64,
    regulariser: Arc<Regulariser>,
    x: Vec<f64>,
    z: Vec<f64>,
    y: Vec<f64>,
}

/// RDP20's penalty parameter.
const RHO: f64 = 0.25;

pub(crate) fn build(recipe: &Recipe<'_>) -> Result<Built, SettingsError> {
    let Recipe { settings, public, regulariser, noise_multiplier } = recipe;
    recipe.needs_identity("ssadmm")?;
    let sampling = settings.sampling.unwrap_or_default();
    let per_epoch = match sampling {
        Sampling::Full => 1.0,
        Sampling::Poisson(rate) => 1.0 / rate,
        Sampling::WithoutReplacement(size) => public.population as f64 / size as f64,
    };
    // 1/L, the step of gradient descent on a loss whose gradient is L-Lipschitz; a loss with kinks has no L and
    // needs a step that decays.
    let step = match settings.step {
        Some(step) => step,
        None if public.smoothness.is_finite() => {
            StepSize::constant(1.0 / (public.smoothness * public.row_norm.powi(2)))
                .map_err(recipe.bad_step())?
        }
        None => StepSize::sqrt(1.0 / public.row_norm).map_err(recipe.bad_step())?,
    };
    let iterations = settings.iterations_or((100.0 * per_epoch.sqrt()) as u64)?;
    let len = public.shape.len();
    let algorithm = SsAdmm {
        how: GradientTerms {
            clip: settings.clip_or_bound(public)?,
            noise_multiplier: *noise_multiplier,
            sampling,
        },
        step,
        rho: positive("rho", settings.rho.unwrap_or(RHO))?,
        per_epoch,
        regulariser: Arc::clone(regulariser),
        x: vec![0.0; len],
        z: vec![0.0; len],
        y: vec![0.0; len],
    };
    Ok(Built { algorithm: Box::new(algorithm), iterations })
}

impl Algorithm for SsAdmm {
    fn step(&mut self, k: u64, oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        let SsAdmm { how, step, rho, per_epoch, regulariser, x, z, y } = self;
        let (rho, eta) = (*rho, step.at(k, *per_epoch));
        let g = oracle.gradient(x, how)?.into_inner();
        for i in 0..x.len() {
            x[i] = (-g[i] - y[i] + rho * z[i] + x[i] / eta) / (rho + 1.0 / eta);
            z[i] = x[i] + y[i] / rho;
        }
        regulariser.prox_y(z, 1.0 / rho);
        for i in 0..x.len() {
            y[i] += rho * (x[i] - z[i]);
        }
        Ok(())
    }

    /// z, not the paper's x: the two agree in the limit, and z is the one that is sparse.
    fn solution(&self) -> Vec<f64> {
        self.z.clone()
    }
}
