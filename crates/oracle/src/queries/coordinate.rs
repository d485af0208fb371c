//! One coordinate of the mean gradient, clipped by itself, with Gaussian noise (coordinate
//! descent).
//!
//! ```text
//! g̃_j = ( Σ_{i ∈ B} clip(∂_j f(x; dᵢ), C) + N(0, (zC)²) ) / m
//! ```
//!
//! A coordinate is a vector of one entry, so the note on clipped sums covers it; a user counts with
//! the mean over its records. `C` may be smaller than what a whole gradient needs: that is the
//! point of asking for one.
//!
//! Event: Gaussian with noise multiplier `z`, under the sampling that was drawn.
//! Proof: proofs/sensitivity-clipped-sum.md, proofs/noise-gaussian-grid.md, proofs/sampling.md.

use reticent_accountant::Event;
use reticent_noise::entropy::Entropy;
use reticent_problem::Shape;
use serde::Serialize;

use super::{ClippedMean, Query, add_noise, check_point};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::sums::{Grid, Vectors};
use crate::terms::Terms;

/// One coordinate of the noisy mean gradient, clipped by itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Coordinate<'a> {
    /// The point at which the gradients are taken.
    pub at: &'a [f64],
    /// The number of the coordinate, from 0.
    pub index: usize,
    /// How the mean is taken.
    pub mean: ClippedMean,
}

impl Query for Coordinate<'_> {
    const NAME: &'static str = "coordinate";
    type Answer = f64;

    fn check(&self, shape: Shape, _: &Terms) -> Result<(), Refusal> {
        self.mean.check()?;
        check_point(self.at, shape)?;
        if self.index < shape.len() {
            return Ok(());
        }
        Err(Refusal::BadQuery(format!(
            "coordinate {} was asked for, but they are numbered 0 to {}",
            self.index,
            shape.len().saturating_sub(1)
        )))
    }

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        Ok(vec![self.mean.event(terms)?])
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<f64, Refusal> {
        let GateState { private, loss, terms, pass, .. } = inside;
        let ClippedMean { clip, noise_multiplier, sampling } = self.mean;
        let mut chosen = Vec::new();
        let sampled = sampling.draw(private.units(), entropy, &mut chosen)?;
        let grid = Grid::new(1);
        let vectors =
            Vectors { units: private.units(), chosen: sampled.then_some(&*chosen), clip, grid };
        let mut sum = [0];
        pass.vector_sum(&vectors, &mut sum, |unit, whole, _| {
            let mut buffer = vec![0.0; 2 * loss.outputs()];
            let records = private.records_in(unit);
            for &i in &*records {
                whole[0] += private.partial(&**loss, i as usize, self.at, self.index, &mut buffer);
            }
            whole[0] /= records.len() as f64;
        });
        add_noise(entropy, noise_multiplier, &mut sum)?;
        let normaliser = sampling.normaliser(terms.population() as f64);
        Ok(sum[0] as f64 * grid.step(clip) / normaliser)
    }
}
