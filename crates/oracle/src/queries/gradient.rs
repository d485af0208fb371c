//! The clipped mean gradient, with Gaussian noise.
//!
//! ```text
//! g̃ = ( Σ_{i ∈ B} clip(∇f(x; dᵢ), C) + N(0, (zC)² I) ) / m
//! ```
//!
//! with `B` a sample of the units and `m` a public number: the population, `q` times it under Poisson
//! sampling, the size of the sample without replacement.
//!
//! Event: Gaussian with noise multiplier `z`, under the sampling that was drawn.
//! Proof: proofs/sensitivity-clipped-sum.md, proofs/noise-gaussian-grid.md, proofs/sampling.md.

use reticent_accountant::Event;
use reticent_problem::Shape;

use super::{Query, check_clip, check_noise, check_point};
use crate::entropy::Entropy;
use crate::gate::Inside;
use crate::grid::{self, Grid};
use crate::noise::{GaussianGrid, GridNoise};
use crate::pass::Ask;
use crate::refusal::Refusal;
use crate::sample::Sampling;
use crate::terms::Terms;

/// How a gradient is asked for: all that its event depends on, and the clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradientTerms {
    /// The largest norm that the gradient of one unit may have.
    pub clip: f64,
    /// The standard deviation of the noise on the sum, in clips.
    pub noise_multiplier: f64,
    /// The units the sum is taken over.
    pub sampling: Sampling,
}

/// The query: where, and how.
pub(crate) struct Gradient<'a> {
    pub at: &'a [f64],
    pub how: &'a GradientTerms,
}

impl Query for Gradient<'_> {
    type Answer = Vec<f64>;

    fn check(&self, shape: Shape) -> Result<(), Refusal> {
        check_clip(self.how.clip)?;
        check_noise(self.how.noise_multiplier)?;
        check_point(self.at, shape)
    }

    fn event(&self, terms: &Terms) -> Result<Event, Refusal> {
        let mechanism = self.how.sampling.mechanism(self.how.noise_multiplier, terms.population())?;
        Ok(terms.event(mechanism)?)
    }

    fn answer(&self, inside: &mut Inside, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        let Inside { private, loss, terms, pass } = inside;
        let GradientTerms { clip, noise_multiplier, sampling } = *self.how;
        let mut chosen = Vec::new();
        let sampled = sampling.draw(private.units(), entropy, &mut chosen)?;
        let ask = Ask { private, loss: &**loss, at: self.at, clip, chosen: sampled.then_some(&*chosen) };
        let mut sum = vec![0; self.at.len()];
        pass.clipped_sum(&ask, &mut sum);
        if noise_multiplier > 0.0 {
            GaussianGrid::new(noise_multiplier, grid::BITS)?.perturb(entropy, &mut sum)?;
        }
        // Exact integers until here; what follows is arithmetic on the released value.
        let step = Grid::new(sum.len()).step(clip) / sampling.normaliser(terms.population() as f64);
        Ok(sum.iter().map(|&steps| steps as f64 * step).collect())
    }
}
