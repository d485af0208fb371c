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
use reticent_problem::Shape;
use reticent_problem::losses::Loss;
use serde::Serialize;

use super::record_sum::RecordSum;
use super::sum_query::{AskedSum, SumQuery};
use super::{check_clip, check_noise};
use crate::holder::TableHolder;
use crate::refusal::Refusal;
use crate::sums::{Ask, Slopes};
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

    pub(super) fn of<'a>(&self, what: RecordSum<'a>) -> AskedSum<'a> {
        AskedSum { what, sampling: self.sampling, noise_multiplier: self.noise_multiplier }
    }

    /// The mean that a sum in steps of this size is: exact integers until the noise is in, and after
    /// it arithmetic on the released value.
    pub(super) fn read(&self, sum: &[i64], step: f64, terms: &Terms) -> Vec<f64> {
        let step = step / self.sampling.normaliser(terms.population() as f64);
        sum.iter().map(|&steps| steps as f64 * step).collect()
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

impl SumQuery for Gradient<'_> {
    const NAME: &'static str = "gradient";
    type Answer = Vec<f64>;

    fn check(&self, _: Shape, _: &Terms) -> Result<(), Refusal> {
        self.mean.check()
    }

    fn asked(&self, _: &Terms) -> AskedSum<'_> {
        self.mean.of(RecordSum::Gradient { at: self.at.into(), clip: self.mean.clip })
    }

    fn read(&self, sum: &[i64], shape: Shape, terms: &Terms) -> Vec<f64> {
        self.mean.read(sum, self.asked(terms).what.step(shape), terms)
    }
}

/// Adds up `aᵢ ⊗ t` with these slopes, clipped.
pub(super) fn add_up(
    TableHolder { private, pass }: &mut TableHolder,
    loss: &dyn Loss,
    (slopes, clip): (Slopes<'_>, f64),
    chosen: Option<&[u32]>,
    out: &mut [i64],
) {
    pass.clipped_sum(&Ask { private, loss, slopes, clip, chosen }, out);
}
