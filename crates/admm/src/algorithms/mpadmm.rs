//! mpADMM: model perturbation (RDP20, Algorithm 2), with the noise on x alone.
//!
//! ```text
//! minimise (1/n) Σ f(x; dᵢ) + r(z)  subject to  x = z
//!
//! g  = mean of clip(∇f(x; dᵢ), C) over everything
//! x⁺ = ( −g − y + ρ z + x/η ) / (ρ + 1/η)  +  N(0, σ² I)
//! z⁺ = prox_{r/ρ}( x⁺ + y/ρ )
//! y⁺ = y + ρ (x⁺ − z⁺)
//! ```
//!
//! Noise. x⁺ is the gradient times −1/(ρ + 1/η) plus what is public already, so noise of deviation
//! σ on x⁺ is noise of deviation σ(ρ + 1/η) on g, and the sensitivity of x⁺ is that of g over ρ +
//! 1/η: 2C/(n(ρ + 1/η)) = 2Cη/(n(1 + ηρ)) under replace-one. The ratio of the two does not depend
//! on ρ and η. The gate is asked for the gradient with noise of `z` clips on the sum, so σ =
//! zC/(n(ρ + 1/η)), and z⁺ and y⁺ are computed from what was released.
//!
//! The paper's sensitivity lacks the factor η (equations 21, 24–26), which gives too little noise
//! when η > 1, and its noise is put on x, z and y, paying thrice for functions of one mean (erratum
//! E4). As published: x, z and y from the mean without noise, each then with noise of σ = zC/(n(1 +
//! ηρ)), where Theorem 3 and Proposition 1 set z, and x is the solution.
//!
//! With `precondition` the second moment of the rows is asked for first, and the gradient in
//! coordinates in which it is near the identity, as in ssADMM: the noise on x⁺ is then that of
//! equal noise there, and the ratio to its sensitivity is what it was.
//!
//! Released: the noisy mean gradient, once an iteration, as a plain Gaussian event, and before them
//! the second moment, if it is asked for, as another. Requires: a penalty with a prox, convex or
//! not, with `precondition` a convex one; the identity constraint.
//! Reference: RDP20, Algorithm 2; sensitivity as in E4.

use reticent_oracle::queries::{ClippedMean, Gradient, Perturbed};
use reticent_oracle::{Oracle, PaperClaim, Refusal, Refused, Sampling};

use super::{Algorithm, Iterate};
use crate::basis::Basis;
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};
use crate::gradient_run::{GradientRun, GradientSteps};
use crate::linearised::LinearisedModel;
use crate::printed::{PaperBudget, rdp20_noise};

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "mpadmm",
    about: "one noisy model update from all the data in each iteration, a penalty with a prox",
    reference: "RDP20, Algorithm 2",
    takes: &["iterations", "clip", "clip_share", "step", "rho", "average", "precondition", "as_published"],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: AlgorithmKind::Private(build),
};

/// RDP20's penalty parameter.
const RHO: f64 = 0.5;

#[derive(Debug)]
struct MpAdmm {
    model: LinearisedModel,
    population: f64,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    recipe.only(&ENTRY)?;
    recipe.needs_identity(&ENTRY)?;
    recipe.is_preconditioned(&ENTRY)?;
    let run = GradientRun::new(recipe, Sampling::Full)?;
    let model = LinearisedModel::new(recipe, RHO)?;
    Ok(run.with(MpAdmm { model, population: recipe.public.population as f64 }))
}

impl GradientSteps for MpAdmm {
    fn at(&self) -> &dyn Iterate {
        &self.model
    }

    fn enter(&mut self, basis: Basis, run: &GradientRun) {
        self.model.enter(basis, run);
    }

    /// RDP20, Theorem 3: the divergences of x, z and y add up to 2 + ρ² times that of x, and
    /// Proposition 1 converts them.
    fn printed_noise(&self, run: &GradientRun, budget: PaperBudget) -> Result<Option<f64>, Refused> {
        let releases = run.iterations as f64 * (2.0 + self.model.admm.rho().powi(2));
        self.model.as_published.then(|| rdp20_noise(1.0, releases, budget)).transpose()
    }

    fn iterate(
        &mut self,
        k: u64,
        run: &GradientRun,
        oracle: &mut dyn Oracle,
    ) -> Result<(), Refusal> {
        match self.model.as_published {
            true => self.as_in_the_paper(run.eta(k), run.params, oracle)?,
            false => self.model.step(k, run, oracle)?,
        }
        self.model.add();
        Ok(())
    }
}

impl MpAdmm {
    /// The paper's step; half of the sensitivities of equations 24–26 is its `bound` for x and z, ρ
    /// times that for y.
    fn as_in_the_paper(
        &mut self,
        eta: f64,
        params: ClippedMean,
        oracle: &mut dyn Oracle,
    ) -> Result<(), Refusal> {
        let MpAdmm { model: LinearisedModel { admm, .. }, population } = self;
        oracle.claim(PaperClaim::nothing(4));
        let g = oracle
            .ask(&Gradient { at: admm.x(), mean: ClippedMean { noise_multiplier: 0.0, ..params } })?
            .into_inner();
        admm.step(&g, eta);
        let bound = params.clip / (*population * (1.0 + eta * admm.rho()));
        for (vector, share) in admm.vectors() {
            oracle.claim(PaperClaim::gaussian(4, Sampling::Full, params.noise_multiplier / share));
            let noise_multiplier = params.noise_multiplier;
            let query = Perturbed { values: vector, scale: bound, noise_multiplier };
            *vector = oracle.ask(&query)?.into_inner();
        }
        Ok(())
    }
}
