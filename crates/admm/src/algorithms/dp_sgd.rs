//! Proximal DP-SGD: noisy (sub)sampled gradient steps, then the prox (RDP20, equation 29).
//!
//! ```text
//! minimise (1/n) Σ f(u; dᵢ) + r(u)
//!
//! g̃  = noisy mean of clip(∇f(u; dᵢ), C) over a sample
//! v⁺ = prox_{η_k r}( u − η_k g̃ )
//! u⁺ = v⁺ + β_k (v⁺ − v),  β_k = min( (k − 1)/(k + 2), β )
//! ```
//!
//! β is 0 unless it is given, and then u = v. With β = 1 it is the accelerated method (Beck and
//! Teboulle 2009), whose momentum is arithmetic on what was released and costs nothing.
//!
//! It is the fixed-point iteration with `R(u) = prox_{ηr}(u − η∇f(u))` and λ = 1; without a penalty
//! it is `R(u) = u − (2/β)∇f(u)` with λ = ηβ/2 (FP23, Proposition 1).
//!
//! With `precondition` the second moment of the rows is asked for first, and the steps are taken in
//! coordinates in which it is near the identity, with a clip and a step that follow from it (see
//! [`crate::precondition`]).
//!
//! Released: g̃, once an iteration, as a Gaussian event under its sampling, and before them the
//! second moment, if it is asked for, as another. Requires: a penalty
//! with a prox, convex or not; behind a constraint other than x = z a convex one, whose prox is
//! then computed by inner steps of ADMM (see [`crate::prox`]). Reference: RDP20, section 5.2,
//! equation 29.

use reticent_oracle::queries::{Gradient, ClippedMean};
use reticent_oracle::{Oracle, Refusal, Refused};

use super::{Algorithm, Iterate, Tell, told};
use crate::average::Running;
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};
use crate::momentum::Momentum;
use crate::precondition::{Precondition, leave};
use crate::prox::ProxStep;
use crate::step_size::StepSize;

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "dp-sgd",
    about: "proximal gradient descent on noisy (sub)sampled gradients",
    reference: "RDP20, equation 29; FP23, Proposition 1",
    takes: &["iterations", "sampling", "clip", "clip_share", "step", "momentum", "average", "precondition"],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: AlgorithmKind::Private(build),
};

#[derive(Debug)]
struct DpSgd {
    iterations: u64,
    params: ClippedMean,
    step: StepSize,
    per_epoch: f64,
    prox: ProxStep,
    momentum: Momentum,
    u: Vec<f64>,
    average: Running,
    precondition: Option<Precondition>,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    let Recipe { settings, public, noise_multiplier, .. } = recipe;
    recipe.only(&ENTRY)?;
    recipe.is_preconditioned(&ENTRY)?;
    let sampling = recipe.sampling();
    let per_epoch = recipe.per_epoch(sampling);
    let iterations = settings.iterations_or(recipe.steps(per_epoch))?;
    let len = public.shape.len();
    let algorithm = DpSgd {
        iterations,
        params: ClippedMean {
            clip: settings.clip_or_bound(public)?,
            noise_multiplier: *noise_multiplier,
            sampling,
        },
        step: settings.step_or_times(public, recipe.step_length(iterations as f64, per_epoch))?,
        per_epoch,
        prox: ProxStep::new(recipe, &ENTRY)?,
        u: vec![0.0; len],
        momentum: Momentum::new(settings.momentum, len)?,
        average: Running::new(recipe.average(), len),
        precondition: Precondition::new(recipe, (iterations, per_epoch)),
    };
    Ok(Box::new(algorithm))
}

impl DpSgd {
    /// Goes over to coordinates of its own, where it is to.
    fn change_basis(&mut self, oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        let Some(precondition) = &self.precondition else { return Ok(()) };
        if let Some(basis) = precondition.change(oracle, &mut self.params, &mut self.step)? {
            self.prox = ProxStep::Within(Box::new(basis));
        }
        Ok(())
    }

    /// The loop, in whichever coordinates.
    fn descend(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<(), Refusal> {
        for k in 1..=self.iterations {
            let DpSgd { params, prox, u, average, .. } = self;
            let eta = self.step.at(k, self.per_epoch);
            let g = oracle.ask(&Gradient { at: u, mean: *params })?.into_inner();
            u.iter_mut().zip(&g).for_each(|(u, g)| *u -= eta * g);
            prox.apply(u, eta);
            average.add(prox.native(u));
            // Before the momentum: where the next gradient is taken is no iterate.
            told(tell, k, self.iterations, self)?;
            self.momentum.add(k, &mut self.u);
        }
        Ok(())
    }
}

impl Iterate for DpSgd {
    fn running(&self) -> Vec<f64> {
        self.prox.native(&self.u).to_vec()
    }

    fn published(&self) -> Vec<f64> {
        self.average.mean().to_vec()
    }
}

impl Algorithm for DpSgd {
    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        self.change_basis(oracle)?;
        let ended = self.descend(oracle, tell);
        leave(oracle, self.precondition.as_ref(), ended)?;
        Ok(self.published())
    }
}
