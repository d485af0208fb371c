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
//! [`crate::precondition`]). With `shrinkage` the scores of the solution are then drawn towards their
//! mean, by what was released (see [`crate::shrinkage`]); that is so of every point that would be
//! published, and of none that the run goes on from.
//!
//! Released: g̃, once an iteration, as a Gaussian event under its sampling, and before them the
//! second moment, if it is asked for, as another. Requires: a penalty
//! with a prox, convex or not; behind a constraint other than x = z a convex one, whose prox is
//! then computed by inner steps of ADMM (see [`crate::prox`]). Reference: RDP20, section 5.2,
//! equation 29.

use reticent_oracle::queries::{ClippedMean, Gradient};
use reticent_oracle::{Oracle, Refusal, Refused};

use super::{Algorithm, Iterate};
use crate::average::Running;
use crate::basis::Basis;
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};
use crate::gradient_run::{GradientRun, GradientSteps};
use crate::momentum::Momentum;
use crate::prox::ProxStep;
use crate::shrinkage::{Shrinkage, ShrinkageTerms};

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "dp-sgd",
    about: "proximal gradient descent on noisy (sub)sampled gradients",
    reference: "RDP20, equation 29; FP23, Proposition 1",
    takes: &["iterations", "sampling", "clip", "clip_share", "step", "momentum", "average", "precondition", "shrinkage"],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: AlgorithmKind::Private(build),
};

#[derive(Debug)]
struct DpSgd {
    prox: ProxStep,
    momentum: Momentum,
    u: Vec<f64>,
    average: Running,
    shrinks: Option<ShrinkageTerms>,
    shrinkage: Option<Shrinkage>,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    recipe.only(&ENTRY)?;
    let shrinks = recipe.shrinkage(recipe.is_preconditioned(&ENTRY)?)?;
    let run = GradientRun::new(recipe, recipe.sampling())?;
    let len = recipe.public.shape.len();
    Ok(run.with(DpSgd {
        prox: ProxStep::new(recipe, &ENTRY)?,
        u: vec![0.0; len],
        momentum: Momentum::new(recipe.settings.momentum, len)?,
        average: Running::new(recipe.average(), len),
        shrinks,
        shrinkage: None,
    }))
}

impl GradientSteps for DpSgd {
    fn at(&self) -> &dyn Iterate {
        self
    }

    fn enter(&mut self, basis: Basis, run: &GradientRun) {
        let ClippedMean { clip, noise_multiplier, .. } = run.params;
        self.shrinkage = self.shrinks.map(|terms| {
            let noise = noise_multiplier * clip / terms.population();
            Shrinkage::new(terms, (basis.spectrum.clone(), basis.effective()), clip, noise)
        });
        self.prox = ProxStep::Within(Box::new(basis));
    }

    fn iterate(
        &mut self,
        k: u64,
        run: &GradientRun,
        oracle: &mut dyn Oracle,
    ) -> Result<(), Refusal> {
        let DpSgd { prox, u, average, shrinkage, .. } = self;
        let eta = run.eta(k);
        let g = oracle.ask(&Gradient { at: u, mean: run.params })?.into_inner();
        if let Some(shrinkage) = shrinkage {
            shrinkage.add(u, &g, oracle.answered_by().noise);
        }
        u.iter_mut().zip(&g).for_each(|(u, g)| *u -= eta * g);
        prox.apply(u, eta);
        average.add(prox.native(u));
        Ok(())
    }

    fn prepare(&mut self, k: u64) {
        self.momentum.add(k, &mut self.u);
    }
}

impl Iterate for DpSgd {
    fn running(&self) -> Vec<f64> {
        self.prox.native(&self.u).to_vec()
    }

    fn published(&self) -> Vec<f64> {
        match &self.shrinkage {
            Some(shrinkage) => shrinkage.applied(self.average.mean()),
            None => self.average.mean().to_vec(),
        }
    }
}
