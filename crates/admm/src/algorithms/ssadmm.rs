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
//! With `precondition` the second moment of the rows is asked for first, and g̃ in coordinates in
//! which it is near the identity; the step of x is then measured by M in place of the identity, and
//! clip, step and ρ follow from it (see [`crate::precondition`], [`crate::linearised`]).
//!
//! Released: g̃, once an iteration, as a Gaussian event under its sampling, and before them the
//! second moment, if it is asked for, as another; all else is arithmetic on them. Requires: a
//! penalty with a prox, convex or not, with `precondition` a convex one; the identity constraint.
//! Reference: RDP20, Algorithm 1, equations 16–18; privacy by Theorem 1, counted here by the
//! accountant.

use reticent_oracle::queries::Mean;
use reticent_oracle::{Oracle, Refusal, Refused};

use super::{Algorithm, Iterate, Tell, told};
use crate::average::Running;
use crate::basis::gradient;
use crate::catalogue::{Entry, Kind, Recipe};
use crate::linearised::Linearised;
use crate::precondition::{Precondition, leave};
use crate::settings::positive;
use crate::step_size::StepSize;

pub(crate) const ENTRY: Entry = Entry {
    name: "ssadmm",
    about: "noisy (sub)sampled gradients, a penalty with a prox",
    reference: "RDP20, Algorithm 1",
    takes: &["iterations", "sampling", "clip", "clip_share", "step", "rho", "average", "precondition"],
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
    /// Whether ρ was given.
    rho: bool,
    admm: Linearised,
    average: Running,
    precondition: Option<Precondition>,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    let Recipe { settings, public, regulariser, noise_multiplier } = recipe;
    recipe.only(&ENTRY)?;
    recipe.needs_identity(&ENTRY)?;
    recipe.is_preconditioned(&ENTRY)?;
    let sampling = recipe.sampling();
    let per_epoch = recipe.per_epoch(sampling);
    let iterations = settings.iterations_or(recipe.steps(per_epoch))?;
    let algorithm = SsAdmm {
        iterations,
        params: Mean {
            clip: settings.clip_or_bound(public)?,
            noise_multiplier: *noise_multiplier,
            sampling,
        },
        step: settings.step_or_times(public, recipe.step_length(iterations as f64, per_epoch))?,
        per_epoch,
        rho: settings.rho.is_some(),
        admm: Linearised::new(positive("rho", settings.rho.unwrap_or(RHO))?, regulariser),
        average: Running::new(recipe.average(), public.shape.len()),
        precondition: Precondition::new(recipe, (iterations, per_epoch)),
    };
    Ok(Box::new(algorithm))
}

impl Iterate for SsAdmm {
    fn running(&self) -> Vec<f64> {
        self.admm.solution().to_vec()
    }

    fn published(&self) -> Vec<f64> {
        self.average.mean().to_vec()
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
        self.change_basis(oracle)?;
        let ended = self.iterate(oracle, tell);
        leave(oracle, self.precondition.as_ref(), ended)?;
        Ok(self.published())
    }
}

impl SsAdmm {
    /// Goes over to coordinates of its own, where it is to.
    fn change_basis(&mut self, oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        let Some(precondition) = &self.precondition else { return Ok(()) };
        if let Some(basis) = precondition.change(oracle, &mut self.params, &mut self.step)? {
            self.admm.enter(basis, self.step.at(1, self.per_epoch), self.rho);
        }
        Ok(())
    }

    /// The loop.
    fn iterate(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<(), Refusal> {
        for k in 1..=self.iterations {
            let g = gradient(oracle, self.admm.basis(), self.admm.x(), self.params)?;
            self.admm.step(&g, self.step.at(k, self.per_epoch));
            self.average.add(self.admm.solution());
            told(tell, k, self.iterations, self)?;
        }
        Ok(())
    }
}
