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

use reticent_accountant::Event;
use reticent_noise::entropy::Entropy;
use reticent_problem::Shape;
use serde::Serialize;

use super::{ClippedMean, Query, check_point, noisy_mean};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::sums::Slopes;
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

impl Query for Correction<'_> {
    const NAME: &'static str = "correction";
    type Answer = Vec<f64>;

    fn check(&self, shape: Shape, _: &Terms) -> Result<(), Refusal> {
        self.mean.check()?;
        check_point(self.at, shape)?;
        check_point(self.from, shape)
    }

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        Ok(vec![self.mean.event(terms)?])
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        noisy_mean(inside, entropy, Slopes::Between(self.at, self.from), &self.mean)
    }
}
