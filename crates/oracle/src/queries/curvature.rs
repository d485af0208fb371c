//! The mean second derivative of a loss of one score, with symmetric Gaussian noise: how much the
//! data say about a parameter.
//!
//! ```text
//! H̃ = ( Σᵢ φ''(wᵢ)·a'ᵢa'ᵢᵀ + N ) / n,   w = xᵀa,   a' = a scaled down to norm R,   0 ≤ φ'' ≤ S
//! ```
//!
//! The constant behind the intercept is a coordinate of `a`. A unit adds a positive semidefinite
//! matrix of Frobenius norm at most `S·R²`, so that it is noised as a
//! [`SecondMoment`](super::SecondMoment) is.
//!
//! Event: Gaussian with noise multiplier `z`. Proof: proofs/curvature.md, proofs/second-moment.md,
//! proofs/noise-gaussian-grid.md.

use reticent_problem::Shape;
use reticent_problem::losses::Loss;
use serde::Serialize;

use super::record_sum::{RecordSum, SumScope};
use super::second_moment::SecondMoment;
use super::sum_query::{AskedSum, SumQuery};
use super::{check_noise, check_range, wrong};
use crate::holder::TableHolder;
use crate::refusal::Refusal;
use crate::sums::{Squares, symmetric, with_rows};
use crate::terms::Terms;

/// The noisy mean of `φ''·aaᵀ` at a parameter, row-major, symmetric but perhaps not positive
/// semidefinite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Curvature<'a> {
    /// The parameter.
    pub at: &'a [f64],
    /// `R`: longer rows are scaled down to it.
    pub row_norm: f64,
    /// `S`: what is above it counts as it.
    pub most: f64,
    /// `z`.
    pub noise_multiplier: f64,
}

impl Curvature<'_> {
    /// The standard deviation of the noise on a diagonal entry of the answer, which is public; off
    /// the diagonal it is `√2` smaller.
    pub fn deviation(&self, terms: &Terms) -> f64 {
        let asked = self.asked(terms);
        asked.noise(terms) * asked.what.clip() / terms.population() as f64
    }
}

impl SumQuery for Curvature<'_> {
    const NAME: &'static str = "curvature";
    type Answer = Vec<f64>;

    fn check(&self, _: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)
    }

    fn asked(&self, _: &Terms) -> AskedSum<'_> {
        let Curvature { at, row_norm, most, noise_multiplier } = *self;
        AskedSum::of_all(RecordSum::Curvature { at: at.into(), row_norm, most }, noise_multiplier)
    }

    fn read(&self, sum: &[i64], shape: Shape, terms: &Terms) -> Vec<f64> {
        let step = self.asked(terms).what.step(shape) / terms.population() as f64;
        symmetric(shape.len(), sum, step)
    }

    fn made_up(&self, shape: Shape, _: &Terms, next: &mut dyn FnMut() -> f64) -> Vec<f64> {
        (0..shape.len().pow(2)).map(|_| next()).collect()
    }
}

pub(super) fn check(row_norm: f64, most: f64, shape: Shape) -> Result<(), Refusal> {
    check_range("row norm", row_norm, 1e-30, 1e30)?;
    check_range("curvature", most, 1e-30, 1e30)?;
    if shape.outputs != 1 {
        return Err(wrong("the curvature is that of a loss of one score"));
    }
    let most = SecondMoment::MOST_COLUMNS;
    if shape.len() > most {
        return Err(Refusal::BadQuery(format!(
            "the curvature of {} coordinates is too large: at most {most}",
            shape.len()
        )));
    }
    Ok(())
}

pub(super) fn add_up(
    TableHolder { private, pass }: &mut TableHolder,
    loss: &dyn Loss,
    (at, row_norm, most): (&[f64], f64, f64),
    over: &SumScope<'_>,
    out: &mut [i64],
) {
    let squares = Squares { row_norm, whole: true };
    pass.square_sum(private, squares, &over.of(private.units()), out, |i| {
        let (mut score, mut bend) = ([0.0], [0.0]);
        with_rows!(private.rows(), rows => private.scores(rows, i, at, &mut score));
        loss.curvature(&score, private.target(i), &mut bend);
        let bend = private.times_weight(i, bend[0]);
        // A score that overflowed bends nothing.
        if bend.is_nan() { 0.0 } else { bend.clamp(0.0, most) / most }
    });
}
