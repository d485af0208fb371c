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
//! coordinates in which it is near the identity (see [`crate::basis`]). Unless they are given, with
//! s the signal, d̃ the directions that stand out of the noise, L and S the loss's bounds:
//!
//! ```text
//! C = c·L·√d̃,  c = 0.07·√(s/d̃), from 0.35 to 2     a clip in mean norms of a row
//! η = a/S,     a = ν s/(c d̃ T), at most 1           ν = ¼·√(s/2p), at most ¼: the noise of a score,
//!                                                   in its scale, by the end of steps of this length
//! T = 96, β = 0, the late average
//! ```
//!
//! Released: g̃, once an iteration, as a Gaussian event under its sampling, and before them the
//! second moment, if it is asked for, as another. Requires: a penalty
//! with a prox, convex or not; behind a constraint other than x = z a convex one, whose prox is
//! then computed by inner steps of ADMM (see [`crate::prox`]). Reference: RDP20, section 5.2,
//! equation 29.

use std::sync::Arc;

use reticent_oracle::queries::{Gradient, Mean};
use reticent_oracle::{Oracle, Refusal, Refused};
use reticent_problem::Regulariser;

use super::{Algorithm, Iterate, Tell, told};
use crate::average::{Average, Running};
use crate::basis::Basis;
use crate::catalogue::{Entry, Kind, Recipe};
use crate::momentum::Momentum;
use crate::prox::Prox;
use crate::settings::Public;
use crate::step_size::StepSize;

pub(crate) const ENTRY: Entry = Entry {
    name: "dp-sgd",
    about: "proximal gradient descent on noisy (sub)sampled gradients",
    reference: "RDP20, equation 29; FP23, Proposition 1",
    takes: &["iterations", "sampling", "clip", "step", "momentum", "average", "precondition"],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: Kind::Private(build),
};

#[derive(Debug)]
struct DpSgd {
    iterations: u64,
    params: Mean,
    step: StepSize,
    per_epoch: f64,
    prox: Prox,
    momentum: Momentum,
    u: Vec<f64>,
    average: Running,
    precondition: Option<Precondition>,
}

/// What coordinates are chosen by, and what is chosen with them.
#[derive(Debug)]
struct Precondition {
    /// The noise of the second moment, in clips.
    noise_multiplier: f64,
    public: Public,
    regulariser: Arc<Regulariser>,
    clip: bool,
    step: bool,
}

/// The clip over √(s/d̃), and its limits, in mean norms of a row.
const CLIP: (f64, f64, f64) = (0.07, 0.35, 2.0);

/// The noise of a score, in scales of the loss, that steps of full length may come to.
const NOISE: f64 = 0.25;

/// Iterations in coordinates of its own, where there is no long way to go.
const ITERATIONS: f64 = 96.0;

/// The same for a sample that needs so many to see everybody.
pub(super) fn whitened_steps(per_epoch: f64) -> u64 {
    (ITERATIONS * per_epoch.max(1.0).sqrt()).round() as u64
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    let Recipe { settings, public, noise_multiplier, .. } = recipe;
    recipe.only(&ENTRY)?;
    let sampling = recipe.sampling();
    let per_epoch = recipe.per_epoch(sampling);
    let share = precondition(recipe)?;
    let steps = match share {
        None => recipe.plain_steps(per_epoch),
        Some(_) => whitened_steps(per_epoch),
    };
    let iterations = settings.iterations_or(steps)?;
    let len = public.shape.len();
    // A sample of a fraction q costs about q² of what everything costs.
    let noise = |share: f64| {
        noise_multiplier * per_epoch * ((1.0 - share) / (share * iterations as f64)).sqrt()
    };
    let whitened = share.map(|share| Precondition {
        noise_multiplier: noise(share),
        public: **public,
        regulariser: Arc::clone(recipe.regulariser),
        clip: settings.clip.is_none(),
        step: settings.step.is_none(),
    });
    let algorithm = DpSgd {
        iterations,
        params: Mean {
            clip: settings.clip_or_bound(public)?,
            noise_multiplier: *noise_multiplier,
            sampling,
        },
        step: settings.step_or_smooth(public)?,
        per_epoch,
        prox: Prox::new(recipe, &ENTRY)?,
        u: vec![0.0; len],
        momentum: Momentum::new(settings.momentum, len)?,
        // The last iterate, because an average of sparse vectors is not sparse.
        average: Running::new(
            settings.average.unwrap_or(if share.is_some() { Average::Late } else { Average::Last }),
            len,
        ),
        precondition: whitened,
    };
    Ok(Box::new(algorithm))
}

/// The part of the budget for the coordinates; `None` for none.
fn precondition(recipe: &Recipe<'_>) -> Result<Option<f64>, Refused> {
    let Some(share) = recipe.settings.precondition.filter(|share| *share != 0.0) else {
        return Ok(None);
    };
    if !(share > 0.0 && share < 1.0) {
        return Err(Refused::new("precondition", share, "a number from 0 to below 1 is needed"));
    }
    recipe.needs_convex(&ENTRY)?;
    if !recipe.regulariser.constraint().is_identity() {
        return Err(Refused::new(
            "precondition",
            share,
            "it handles no constraint but 'identity'; leave it out, or take the constraint away",
        ));
    }
    Ok(Some(share))
}

impl DpSgd {
    /// Asks for the second moment, and goes over to its coordinates.
    fn change_basis(&mut self, oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        let Some(chosen) = &self.precondition else { return Ok(()) };
        let Public { row_norm, lipschitz, smoothness, .. } = chosen.public;
        let terms = (row_norm, chosen.noise_multiplier);
        let Some(basis) = Basis::ask(oracle, terms, &chosen.regulariser)? else { return Ok(()) };
        let (signal, directions) = (chosen.public.signal(), basis.effective());
        let part = (CLIP.0 * (signal / directions).sqrt()).clamp(CLIP.1, CLIP.2);
        let bound = |bound: f64| if bound.is_finite() && bound > 0.0 { bound } else { 1.0 };
        if chosen.clip {
            // It follows from an answer, so that no loss may make it one that is refused.
            let clip = part * bound(lipschitz) * directions.sqrt();
            self.params.clip = clip.clamp(1e-100, 1e100);
        }
        if chosen.step {
            let noise = NOISE * (signal / (2.0 * self.u.len() as f64)).sqrt().min(1.0);
            let time = noise * signal / (part * directions);
            let length = (time / self.iterations as f64).min(1.0);
            self.step = StepSize::Constant(length / bound(smoothness));
        }
        self.prox = Prox::Within(Box::new(basis));
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
        // Whatever came of it: whoever asks next asks about the rows as they came.
        if self.precondition.is_some() {
            oracle.set_basis(None)?;
        }
        ended?;
        Ok(self.published())
    }
}
