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

use crate::sums::Slopes;
use reticent_accountant::Event;
use reticent_problem::Shape;

use super::{GradientTerms, Query, check_point, noisy_mean};
use crate::inside::Inside;
use crate::refusal::Refusal;
use crate::terms::Terms;
use reticent_noise::entropy::Entropy;

/// The query: the two points, and how.
#[derive(Debug)]
pub(crate) struct Correction<'a> {
    pub at: &'a [f64],
    pub from: &'a [f64],
    pub params: &'a GradientTerms,
}

impl Query for Correction<'_> {
    fn check(&self, shape: Shape, _: &Terms) -> Result<(), Refusal> {
        self.params.check()?;
        check_point(self.at, shape)?;
        check_point(self.from, shape)
    }

    fn events(&self, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        Ok(vec![self.params.event(terms)?])
    }

    fn answer(&self, inside: &mut Inside, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        noisy_mean(inside, entropy, Slopes::Between(self.at, self.from), self.params)
    }
}
