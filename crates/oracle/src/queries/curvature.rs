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

use reticent_accountant::Event;
use reticent_noise::entropy::Entropy;
use reticent_problem::Shape;
use serde::Serialize;

use super::second_moment::{SecondMoment, factor};
use super::{Query, add_noise, check_noise, check_point, check_range, wrong};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::sums::{Grid, Vectors, symmetric, with_rows};
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
        self.noise_multiplier * factor(terms) * self.clip() / terms.population() as f64
    }

    /// The longest that the matrix of a unit can be.
    fn clip(&self) -> f64 {
        self.most * self.row_norm * self.row_norm
    }
}

impl Query for Curvature<'_> {
    const NAME: &'static str = "curvature";
    type Answer = Vec<f64>;

    fn check(&self, shape: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)?;
        check_point(self.at, shape)?;
        check_range("row norm", self.row_norm, 1e-30, 1e30)?;
        check_range("curvature", self.most, 1e-30, 1e30)?;
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

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        Ok(vec![terms.noisy(self.noise_multiplier)?])
    }

    fn made_up(&self, shape: Shape, _: &Terms, next: &mut dyn FnMut() -> f64) -> Vec<f64> {
        (0..shape.len().pow(2)).map(|_| next()).collect()
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        #[cfg(feature = "seeded-bugs")]
        let noise = crate::bug::spoiled_noise(inside, self.noise_multiplier);
        #[cfg(not(feature = "seeded-bugs"))]
        let noise = self.noise_multiplier;
        let len = inside.shape().len();
        let GateState { private, terms, pass, loss, .. } = inside;
        let mut sum = vec![0; len * (len + 1) / 2];
        // A grid for twice the coordinates: see the note.
        let grid = Grid::new(2 * sum.len());
        let vectors = Vectors { units: private.units(), chosen: None, clip: self.clip(), grid };
        pass.vector_sum(&vectors, &mut sum, |unit, sum, _| {
            let records = private.records_in(unit);
            let share = 1.0 / records.len() as f64;
            for i in records.iter().map(|&i| i as usize) {
                let (mut score, mut bend) = ([0.0], [0.0]);
                with_rows!(private.rows(), rows => private.scores(rows, i, self.at, &mut score));
                loss.curvature(&score, private.target(i), &mut bend);
                // A score that overflowed bends nothing.
                let bend = if bend[0].is_nan() { 0.0 } else { bend[0].clamp(0.0, self.most) };
                private.add_square(i, (self.row_norm, true), share * bend, sum);
            }
        });
        add_noise(entropy, noise * factor(terms), &mut sum)?;
        let step = grid.step(self.clip()) / terms.population() as f64;
        Ok(symmetric(len, &sum, step))
    }
}
