//! The clipped mean difference of the gradients at two points, with Gaussian noise (variance
//! reduction, E5).
//!
//! ```text
//! g̃ = ( Σ_{i ∈ B} clip(∇f(x; dᵢ) − ∇f(x̃; dᵢ), C) + N(0, (zC)² I) ) / m
//! ```
//!
//! The difference is `aᵢ ⊗ (φ'(w) − φ'(w̃))` with the two scores of the record, so its norm is a
//! product as for a gradient. `C` is any public number; `min(2·clip, smoothness·‖x − x̃‖)` cuts
//! nothing and shrinks as the iterates settle.
//!
//! Event: Gaussian with noise multiplier `z`, under the sampling that was drawn.
//! Proof: proofs/sensitivity-clipped-sum.md, proofs/noise-gaussian-grid.md, proofs/sampling.md.

use reticent_problem::Shape;
use serde::Serialize;

use super::ClippedMean;
use super::record_sum::RecordSum;
use super::sum_query::{AskedSum, SumQuery};
use crate::refusal::Refusal;
use crate::terms::Terms;

/// The noisy mean of the clipped differences between the gradients at two points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Correction<'a> {
    /// The point whose gradients count.
    pub at: &'a [f64],
    /// The point whose gradients are taken off.
    pub from: &'a [f64],
    /// How the mean is taken.
    pub mean: ClippedMean,
}

impl SumQuery for Correction<'_> {
    const NAME: &'static str = "correction";
    type Answer = Vec<f64>;

    fn check(&self, _: Shape, _: &Terms) -> Result<(), Refusal> {
        self.mean.check()
    }

    fn asked(&self, _: &Terms) -> AskedSum<'_> {
        let Correction { at, from, mean } = self;
        let (at, from) = ((*at).into(), (*from).into());
        mean.of(RecordSum::Correction { at, from, clip: mean.clip })
    }

    fn read(&self, sum: &[i64], shape: Shape, terms: &Terms) -> Vec<f64> {
        self.mean.read(sum, self.asked(terms).what.step(shape), terms)
    }
}
