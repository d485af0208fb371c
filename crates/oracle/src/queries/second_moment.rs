//! The second-moment matrix of the features, with symmetric Gaussian noise (E6).
//!
//! ```text
//! M̃ = ( Σᵢ a'ᵢa'ᵢᵀ + N ) / n,   a' = a scaled down to norm R
//! ```
//!
//! Written as `v = (M_jj, √2·M_jk for j < k)` the Euclidean norm is the Frobenius norm, so every
//! unit adds a vector of norm at most `R²`, and equal noise on the entries of `v` is Gaussian noise
//! on `M`, symmetric by itself. Two such matrices are positive semidefinite, so their inner product
//! is not negative and a replacement moves the sum by at most `√2·R²`: the noise of `z` clips is
//! made `√2` smaller there.
//!
//! Event: Gaussian with noise multiplier `z`. Proof: proofs/second-moment.md,
//! proofs/noise-gaussian-grid.md.

use std::f64::consts::FRAC_1_SQRT_2;
use std::ops::RangeInclusive;

use reticent_accountant::{Adjacency, Event};
use reticent_noise::entropy::Entropy;
use reticent_problem::Shape;
use serde::Serialize;

use super::{Query, add_noise, check_noise, check_range};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::sums::{Grid, Vectors, symmetric};
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

    /// How many coordinates a row has.
    fn width(&self, shape: Shape) -> usize {
        shape.features + usize::from(self.whole && shape.intercept)
    }

    /// The standard deviation of the noise on a diagonal entry of the answer, which is public; off
    /// the diagonal it is `√2` smaller.
    pub fn deviation(&self, terms: &Terms) -> f64 {
        self.noise_multiplier * factor(terms) * self.row_norm * self.row_norm
            / terms.population() as f64
    }
}

/// What the noise of `z` clips is multiplied with.
pub(super) fn factor(terms: &Terms) -> f64 {
    match terms.adjacency() {
        // Rounding may turn two matrices a little more than at right angles: see the note.
        Adjacency::ReplaceOne => FRAC_1_SQRT_2 * (1.0 + 1e-6),
        Adjacency::AddRemove => 1.0,
    }
}

impl Query for SecondMoment {
    const NAME: &'static str = "second-moment";
    type Answer = Vec<f64>;

    fn check(&self, shape: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)?;
        let (least, most) = (Self::ROW_NORMS.start(), Self::ROW_NORMS.end());
        check_range("row norm", self.row_norm, *least, *most)?;
        let (width, most) = (self.width(shape), Self::MOST_COLUMNS);
        if width > most {
            return Err(Refusal::BadQuery(format!(
                "the second-moment matrix of {width} features is too large: at most {most}"
            )));
        }
        Ok(())
    }

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        Ok(vec![terms.noisy(self.noise_multiplier)?])
    }

    fn made_up(&self, shape: Shape, _: &Terms, next: &mut dyn FnMut() -> f64) -> Vec<f64> {
        (0..self.width(shape).pow(2)).map(|_| next()).collect()
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        let SecondMoment { row_norm, whole, noise_multiplier } = *self;
        let features = self.width(inside.shape());
        let GateState { private, terms, pass, .. } = inside;
        let clip = row_norm * row_norm;
        let mut sum = vec![0; features * (features + 1) / 2];
        // A grid for twice the coordinates: see the note.
        let grid = Grid::new(2 * sum.len());
        let vectors = Vectors { units: private.units(), chosen: None, clip, grid };
        if private.users().is_none() {
            pass.entry_sum(&vectors, &mut sum, |record, entries| {
                private.push_square(record, (row_norm, whole), entries);
            });
        } else {
            pass.vector_sum(&vectors, &mut sum, |unit, sum, _| {
                let share = 1.0 / private.records_in(unit).len() as f64;
                for &i in private.records_in(unit).iter() {
                    private.add_square(i as usize, (row_norm, whole), share, sum);
                }
            });
        }
        add_noise(entropy, noise_multiplier * factor(terms), &mut sum)?;
        let step = grid.step(clip) / terms.population() as f64;
        Ok(symmetric(features, &sum, step))
    }
}
