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
use reticent_oracle::{Oracle, PaperClaim, Refusal, Refused, Sampling};

use super::{Algorithm, Iterate};
use crate::basis::Basis;
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};
use crate::gradient_run::{GradientRun, GradientSteps};
use crate::linearised::LinearisedModel;
use crate::printed::{PaperBudget, rdp20_noise};

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "ssadmm",
    about: "noisy (sub)sampled gradients, a penalty with a prox",
    reference: "RDP20, Algorithm 1",
    takes: takes![iterations sampling clip clip_share step rho average precondition as_published],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: AlgorithmKind::Private(build),
};

/// RDP20's penalty parameter.
const RHO: f64 = 0.25;

#[derive(Debug)]
struct SsAdmm(LinearisedModel);

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    recipe.only(&ENTRY)?;
    recipe.needs_identity(&ENTRY)?;
    recipe.is_preconditioned(&ENTRY)?;
    let sampling = recipe.sampling();
    if recipe.as_published() && matches!(sampling, Sampling::Poisson(_)) {
        let allowed = "Lemma 2 of RDP20 is about samples of fixed size: use wor:SIZE or full";
        return Err(Refused::new("sampling", sampling, allowed));
    }
    let run = GradientRun::new(recipe, sampling)?;
    Ok(run.with(SsAdmm(LinearisedModel::new(recipe, RHO)?)))
}

impl GradientSteps for SsAdmm {
    fn at(&self) -> &dyn Iterate {
        &self.0
    }

    fn enter(&mut self, basis: Basis, run: &GradientRun) {
        self.0.enter(basis, run);
    }

    fn printed_noise(&self, run: &GradientRun, budget: PaperBudget) -> Result<Option<f64>, Refused> {
        let noise = || rdp20_noise(1.0 / run.per_epoch, run.iterations as f64, budget);
        self.0.as_published.then(noise).transpose()
    }

    fn iterate(
        &mut self,
        k: u64,
        run: &GradientRun,
        oracle: &mut dyn Oracle,
    ) -> Result<(), Refusal> {
        if self.0.as_published {
            let ClippedMean { sampling, noise_multiplier, .. } = run.params;
            oracle.claim(PaperClaim::gaussian(18, sampling, noise_multiplier));
        }
        self.0.step(k, run, oracle)?;
        self.0.add();
        Ok(())
    }
}
