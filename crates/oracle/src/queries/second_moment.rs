//! The second-moment matrix of the features, with symmetric Gaussian noise (E6).
//!
//! ```text
//! M̃ = ( Σᵢ a'ᵢa'ᵢᵀ + N ) / n,   a' = a scaled down to norm R
//! ```
//!
//! The Euclidean norm of all entries is the Frobenius norm, so every unit adds a vector of norm at
//! most `R²`. Each entry has noise of its own, and the two of a pair are averaged: Gaussian noise on
//! `M`, symmetric. Two such matrices are positive semidefinite, so their inner product is not
//! negative and a replacement moves the sum by at most `√2·R²`: the noise of `z` clips is made `√2`
//! smaller there.
//!
//! Event: Gaussian with noise multiplier `z`. Proof: proofs/second-moment.md,
//! proofs/noise-gaussian-grid.md.

use std::f64::consts::FRAC_1_SQRT_2;
use std::ops::RangeInclusive;

use reticent_problem::Shape;
use serde::Serialize;

use super::record_sum::{RecordSum, SumScope};
use super::sum_query::{AskedSum, SumQuery};
use super::{check_noise, check_range};
use crate::holder::TableHolder;
use crate::refusal::Refusal;
use crate::sums::{Squares, symmetric};
use crate::terms::Terms;

/// The noisy mean of `aaᵀ`, row-major, symmetric but perhaps not positive semidefinite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SecondMoment {
    /// `R`: longer rows are scaled down to it.
    pub row_norm: f64,
    /// Whether the constant behind the intercept is a last coordinate of the rows, and of their
    /// norms.
    pub whole: bool,
    /// `z`.
    pub noise_multiplier: f64,
}

impl SecondMoment {
    /// A matrix of more columns than this would not fit beside the data.
    pub const MOST_COLUMNS: usize = 4096;

    /// Row norms whose squares neither underflow nor overflow.
    pub const ROW_NORMS: RangeInclusive<f64> = 1e-50..=1e50;

    /// The standard deviation of the noise on a diagonal entry of the answer, which is public; off
    /// the diagonal it is `√2` smaller.
    pub fn deviation(&self, terms: &Terms) -> f64 {
        let asked = self.asked(terms);
        asked.noise(terms) * self.row_norm * self.row_norm / terms.population() as f64
    }
}

/// What the noise of `z` clips is multiplied with where a unit takes another's place. Rounding may
/// turn two matrices a little more than at right angles: see the note.
pub(super) const REPLACED: f64 = FRAC_1_SQRT_2 * (1.0 + 1e-6);

impl SumQuery for SecondMoment {
    const NAME: &'static str = "second-moment";
    type Answer = Vec<f64>;

    fn check(&self, _: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)
    }

    fn asked(&self, _: &Terms) -> AskedSum<'_> {
        let SecondMoment { row_norm, whole, noise_multiplier } = *self;
        AskedSum::of_all(RecordSum::SecondMoment { row_norm, whole }, noise_multiplier)
    }

    fn read(&self, sum: &[i64], shape: Shape, terms: &Terms) -> Vec<f64> {
        let step = self.asked(terms).what.step(shape) / terms.population() as f64;
        symmetric(width(self.whole, shape), sum, step)
    }

    fn made_up(&self, shape: Shape, _: &Terms, next: &mut dyn FnMut() -> f64) -> Vec<f64> {
        (0..width(self.whole, shape).pow(2)).map(|_| next()).collect()
    }
}

/// How many coordinates a row has.
pub(super) fn width(whole: bool, shape: Shape) -> usize {
    shape.features + usize::from(whole && shape.intercept)
}

pub(super) fn check(row_norm: f64, whole: bool, shape: Shape) -> Result<(), Refusal> {
    let norms = SecondMoment::ROW_NORMS;
    check_range("row norm", row_norm, *norms.start(), *norms.end())?;
    let (width, most) = (width(whole, shape), SecondMoment::MOST_COLUMNS);
    if width > most {
        return Err(Refusal::BadQuery(format!(
            "the second-moment matrix of {width} features is too large: at most {most}"
        )));
    }
    Ok(())
}

pub(super) fn add_up(
    TableHolder { private, pass }: &mut TableHolder,
    squares: Squares,
    over: &SumScope<'_>,
    out: &mut [i64],
) {
    pass.square_sum(private, squares, &over.of(private.units()), out, |_| 1.0);
}
