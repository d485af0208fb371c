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
//! Released: g̃, once an iteration, as a Gaussian event under its sampling. Requires: a penalty
//! with a prox, convex or not; behind a constraint other than x = z a convex one, whose prox is
//! then computed by inner steps of ADMM (see [`crate::prox`]). Reference: RDP20, section 5.2,
//! equation 29.

use reticent_oracle::queries::{Gradient, Mean};
use reticent_oracle::{Oracle, Refusal, Refused};

use super::Algorithm;
use crate::average::{Average, Running};
use crate::catalogue::{Built, Entry, Kind, Recipe};
use crate::fixed_point::{Active, FixedPoint, gradient_operator};
use crate::momentum::Momentum;
use crate::prox::Prox;
use crate::step_size::StepSize;

pub(crate) const ENTRY: Entry = Entry {
    name: "dp-sgd",
    about: "proximal gradient descent on noisy (sub)sampled gradients",
    reference: "RDP20, equation 29; FP23, Proposition 1",
    takes: &["iterations", "sampling", "clip", "step", "momentum", "average"],
    kind: Kind::Private(build),
};

#[derive(Debug)]
struct DpSgd {
    params: Mean,
    step: StepSize,
    per_epoch: f64,
    prox: Prox,
    engine: FixedPoint,
    momentum: Momentum,
    average: Running,
}

fn build(recipe: &Recipe<'_>) -> Result<Built, Refused> {
    let Recipe { settings, public, noise_multiplier, .. } = recipe;
    recipe.only(&ENTRY)?;
    let sampling = recipe.sampling();
    let per_epoch = recipe.per_epoch(sampling);
    let iterations = settings.iterations_or(recipe.plain_steps(per_epoch))?;
    let len = public.shape.len();
    let algorithm = DpSgd {
        params: Mean {
            clip: settings.clip_or_bound(public)?,
            noise_multiplier: *noise_multiplier,
            sampling,
        },
        step: settings.step_or_smooth(public)?,
        per_epoch,
        prox: Prox::new(recipe, &ENTRY)?,
        engine: FixedPoint::whole(vec![0.0; len]),
        momentum: Momentum::new(settings.momentum, len)?,
        // The last iterate, because an average of sparse vectors is not sparse.
        average: Running::new(settings.average.unwrap_or(Average::Last), len),
    };
    Ok(Built { algorithm: Box::new(algorithm), iterations })
}

impl Algorithm for DpSgd {
    fn step(&mut self, k: u64, oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        let eta = self.step.at(k, self.per_epoch);
        let mut noisy =
            oracle.ask(&Gradient { at: self.engine.u(), mean: self.params })?.into_inner();
        gradient_operator(self.engine.u(), 2.0 / eta, &mut noisy);
        self.prox.apply(&mut noisy, eta);
        self.engine.step(Active::All, 1.0, &noisy);
        self.average.add(self.engine.u());
        self.momentum.add(k, self.engine.u_mut());
        Ok(())
    }

    fn solution(&self) -> Vec<f64> {
        self.average.mean().to_vec()
    }
}
