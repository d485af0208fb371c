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

use reticent_problem::Shape;
use reticent_problem::losses::Loss;
use serde::Serialize;

use super::ClippedMean;
use super::record_sum::{RecordSum, SumScope};
use super::sum_query::{AskedSum, SumQuery};
use crate::holder::TableHolder;
use crate::refusal::Refusal;
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

impl SumQuery for Coordinate<'_> {
    const NAME: &'static str = "coordinate";
    type Answer = f64;

    fn check(&self, _: Shape, _: &Terms) -> Result<(), Refusal> {
        self.mean.check()
    }

    fn asked(&self, _: &Terms) -> AskedSum<'_> {
        let Coordinate { at, index, mean } = *self;
        mean.of(RecordSum::Coordinate { at: at.into(), index, clip: mean.clip })
    }

    fn read(&self, sum: &[i64], shape: Shape, terms: &Terms) -> f64 {
        let normaliser = self.mean.sampling.normaliser(terms.population() as f64);
        sum[0] as f64 * self.asked(terms).what.step(shape) / normaliser
    }
}

pub(super) fn check_index(index: usize, shape: Shape) -> Result<(), Refusal> {
    if index < shape.len() {
        return Ok(());
    }
    Err(Refusal::BadQuery(format!(
        "coordinate {index} was asked for, but they are numbered 0 to {}",
        shape.len().saturating_sub(1)
    )))
}

pub(super) fn add_up(
    TableHolder { private, pass }: &mut TableHolder,
    loss: &dyn Loss,
    (at, index): (&[f64], usize),
    over: &SumScope<'_>,
    out: &mut [i64],
) {
    pass.vector_sum(&over.of(private.units()), out, |unit, whole, _| {
        let mut buffer = vec![0.0; 2 * loss.outputs()];
        let records = private.records_in(unit);
        for &i in &*records {
            whole[0] += private.partial(loss, i as usize, at, index, &mut buffer);
        }
        whole[0] /= records.len() as f64;
    });
}
