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

use reticent_oracle::queries::{Gradient, ClippedMean, Perturbed};
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
    iterations: u64,
    params: ClippedMean,
    step: StepSize,
    /// Whether ρ was given.
    rho: bool,
    admm: LinearisedIterates,
    average: Running,
    precondition: Option<Precondition>,
    as_published: bool,
    population: f64,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    let Recipe { settings, public, regulariser, noise_multiplier } = recipe;
    recipe.only(&ENTRY)?;
    recipe.needs_identity(&ENTRY)?;
    recipe.is_preconditioned(&ENTRY)?;
    let iterations = settings.iterations_or(recipe.steps(1.0))?;
    let algorithm = MpAdmm {
        iterations,
        params: ClippedMean {
            clip: settings.clip_or_bound(public)?,
            noise_multiplier: *noise_multiplier,
            sampling: Sampling::Full,
        },
        step: settings.step_or_times(public, recipe.step_length(iterations as f64, 1.0))?,
        rho: settings.rho.is_some(),
        admm: LinearisedIterates::new(positive("rho", settings.rho.unwrap_or(RHO))?, regulariser),
        average: Running::new(recipe.average(), public.shape.len()),
        precondition: Precondition::new(recipe, (iterations, 1.0)),
        as_published: recipe.as_published(),
        population: public.population as f64,
    };
    Ok(Box::new(algorithm))
}

impl Iterate for MpAdmm {
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

impl Algorithm for MpAdmm {
    fn iterations(&self) -> u64 {
        self.iterations
    }

    /// RDP20, Theorem 3: the divergences of x, z and y add up to 2 + ρ² times that of x, and
    /// Proposition 1 converts them.
    fn printed_noise(&self, epsilon: f64, delta: f64) -> Result<Option<f64>, Refused> {
        let releases = self.iterations as f64 * (2.0 + self.admm.rho().powi(2));
        self.as_published.then(|| rdp20_noise(1.0, releases, (epsilon, delta))).transpose()
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        self.change_basis(oracle)?;
        let ended = self.iterate(oracle, tell);
        leave(oracle, self.precondition.as_ref(), ended)?;
        Ok(self.published())
    }
}

impl MpAdmm {
    /// The paper has x for the solution.
    fn solution(&self) -> &[f64] {
        if self.as_published { self.admm.x() } else { self.admm.solution() }
    }

    /// Goes over to coordinates of its own, where it is to.
    fn change_basis(&mut self, oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        let Some(precondition) = &self.precondition else { return Ok(()) };
        if let Some(basis) = precondition.change(oracle, &mut self.params, &mut self.step)? {
            self.admm.enter(basis, self.step.at(1, 1.0), self.rho);
        }
        Ok(())
    }

    /// The loop.
    fn iterate(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<(), Refusal> {
        for k in 1..=self.iterations {
            let eta = self.step.at(k, 1.0);
            if self.as_published {
                self.as_in_the_paper(eta, oracle)?;
            } else {
                let g = gradient(oracle, self.admm.basis(), self.admm.x(), self.params)?;
                self.admm.step(&g, eta);
            }
            let solution = self.solution().to_vec();
            self.average.add(&solution);
            told(tell, k, self.iterations, self)?;
        }
        Ok(())
    }

    /// The paper's step; half of the sensitivities of equations 24–26 is its `bound` for x and z, ρ
    /// times that for y.
    fn as_in_the_paper(&mut self, eta: f64, oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        let MpAdmm { params, admm, population, .. } = self;
        oracle.claim(PaperClaim::nothing(4));
        let g = oracle
            .ask(&Gradient { at: admm.x(), mean: ClippedMean { noise_multiplier: 0.0, ..*params } })?
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
