//! The clipped mean gradient, with Gaussian noise.
//!
//! ```text
//! g̃ = ( Σ_{i ∈ B} clip(∇f(x; dᵢ), C) + N(0, (zC)² I) ) / m
//! ```
//!
//! with `B` a sample of the units and `m` a public number: the population, `q` times it under
//! Poisson sampling, the size of the sample without replacement.
//!
//! Event: Gaussian with noise multiplier `z`, under the sampling that was drawn.
//! Proof: proofs/sensitivity-clipped-sum.md, proofs/noise-gaussian-grid.md, proofs/sampling.md.

use reticent_accountant::Event;
use reticent_noise::Sampling;
use reticent_noise::entropy::Entropy;
use reticent_problem::Shape;
use serde::Serialize;

use super::{Query, check_clip, check_noise, check_point, noisy_mean};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::sums::Slopes;
use crate::terms::Terms;

/// How a mean over the units is asked for: all that its event depends on, and the clip.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClippedMean {
    /// The largest norm that the contribution of one unit may have.
    pub clip: f64,
    /// The standard deviation of the noise on the sum, in clips.
    pub noise_multiplier: f64,
    /// The units the sum is taken over.
    pub sampling: Sampling,
}

impl ClippedMean {
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        check_clip(self.clip)?;
        check_noise(self.noise_multiplier)
    }

    pub(crate) fn event(&self, terms: &Terms) -> Result<Event, Refusal> {
        Ok(terms.event(terms.mechanism(self.sampling, self.noise_multiplier)?)?)
    }
}

/// The noisy mean of the clipped gradients.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gradient<'a> {
    /// The point at which the gradients are taken.
    pub at: &'a [f64],
    /// How their mean is taken.
    pub mean: ClippedMean,
}

impl Query for Gradient<'_> {
    const NAME: &'static str = "gradient";
    const SHARES_PASS: bool = true;
    type Answer = Vec<f64>;

    fn check(&self, shape: Shape, _: &Terms) -> Result<(), Refusal> {
        self.mean.check()?;
        check_point(self.at, shape)
    }

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        Ok(vec![self.mean.event(terms)?])
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        noisy_mean(inside, entropy, Slopes::At(self.at), &self.mean)
    }
}
