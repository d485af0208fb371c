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
//! accountant. As published: x is the solution, and the noise is that with which Lemma 2 and
//! Proposition 1 come to the ε that is asked for, which is more than is needed (E18); batches are
//! of fixed size, as Lemma 2 has them.

use reticent_oracle::queries::ClippedMean;
use reticent_oracle::{PaperClaim, Oracle, Refusal, Refused, Sampling};

use super::{Algorithm, Iterate, Tell, told};
use crate::average::Running;
use crate::basis::gradient;
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};
use crate::linearised::LinearisedIterates;
use crate::precondition::{Precondition, leave};
use crate::printed::rdp20_noise;
use crate::settings::positive;
use crate::step_size::StepSize;

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "ssadmm",
    about: "noisy (sub)sampled gradients, a penalty with a prox",
    reference: "RDP20, Algorithm 1",
    takes: &[
        "iterations",
        "sampling",
        "clip",
        "clip_share",
        "step",
        "rho",
        "average",
        "precondition",
        "as_published",
    ],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: AlgorithmKind::Private(build),
};

/// RDP20's penalty parameter.
const RHO: f64 = 0.25;

/// The iterates and the settings of a run.
#[derive(Debug)]
struct SsAdmm {
    iterations: u64,
    params: ClippedMean,
    step: StepSize,
    per_epoch: f64,
    /// Whether ρ was given.
    rho: bool,
    admm: LinearisedIterates,
    average: Running,
    precondition: Option<Precondition>,
    as_published: bool,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    let Recipe { settings, public, regulariser, noise_multiplier } = recipe;
    recipe.only(&ENTRY)?;
    recipe.needs_identity(&ENTRY)?;
    recipe.is_preconditioned(&ENTRY)?;
    let sampling = recipe.sampling();
    if recipe.as_published() && matches!(sampling, Sampling::Poisson(_)) {
        let allowed = "Lemma 2 of RDP20 is about samples of fixed size: use wor:SIZE or full";
        return Err(Refused::new("sampling", sampling, allowed));
    }
    let per_epoch = recipe.per_epoch(sampling);
    let iterations = settings.iterations_or(recipe.steps(per_epoch))?;
    let algorithm = SsAdmm {
        iterations,
        params: ClippedMean {
            clip: settings.clip_or_bound(public)?,
            noise_multiplier: *noise_multiplier,
            sampling,
        },
        step: settings.step_or_times(public, recipe.step_length(iterations as f64, per_epoch))?,
        per_epoch,
        rho: settings.rho.is_some(),
        admm: LinearisedIterates::new(positive("rho", settings.rho.unwrap_or(RHO))?, regulariser),
        average: Running::new(recipe.average(), public.shape.len()),
        precondition: Precondition::new(recipe, (iterations, per_epoch)),
        as_published: recipe.as_published(),
    };
    Ok(Box::new(algorithm))
}

impl Iterate for SsAdmm {
    fn running(&self) -> Vec<f64> {
        self.solution().to_vec()
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

    fn printed_noise(&self, epsilon: f64, delta: f64) -> Result<Option<f64>, Refused> {
        let steps = self.iterations as f64;
        let noise = || rdp20_noise(1.0 / self.per_epoch, steps, (epsilon, delta));
        self.as_published.then(noise).transpose()
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        self.change_basis(oracle)?;
        let ended = self.iterate(oracle, tell);
        leave(oracle, self.precondition.as_ref(), ended)?;
        Ok(self.published())
    }
}

impl SsAdmm {
    /// The paper has x for the solution.
    fn solution(&self) -> &[f64] {
        if self.as_published { self.admm.x() } else { self.admm.solution() }
    }

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
            if self.as_published {
                let ClippedMean { sampling, noise_multiplier, .. } = self.params;
                oracle.claim(PaperClaim::gaussian(18, sampling, noise_multiplier));
            }
            let g = gradient(oracle, self.admm.basis(), self.admm.x(), self.params)?;
            self.admm.step(&g, self.step.at(k, self.per_epoch));
            let solution = self.solution().to_vec();
            self.average.add(&solution);
            told(tell, k, self.iterations, self)?;
        }
        Ok(())
    }
}
