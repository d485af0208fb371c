//! How far a model of a number is off, summed with Gaussian noise, and how the targets are spread.
//!
//! ```text
//! a record adds  ( b/2, (b² − ½)/2, 2(d² − ½), |d| − ½ ),   d = (ŵ − b)/2,  ŵ the score in [−1, 1]
//! ```
//!
//! and in front of it ½ where the number of units is private; a user adds the mean over its
//! records. The halves are taken away for the vector to be as short as it can be, and squares of
//! errors, which are small where a model is any good, are given the most of the noise's attention.
//! A replacement moves the vector by at most √6, less than twice its length.
//!
//! Event: Gaussian with noise multiplier `z`. Proof: proofs/evaluation.md,
//! proofs/noise-gaussian-grid.md.

use reticent_accountant::{Adjacency, Event};
use reticent_noise::entropy::Entropy;
use reticent_problem::{LossTarget, Shape};
use serde::Serialize;

use super::{Query, add_noise, check_noise, check_point, wrong};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::sums::{Grid, Vectors, with_rows};
use crate::terms::Terms;

/// The noisy sums of a model of a number: the units where their number is private, then `Σ b`,
/// `Σ b² − ½`, `Σ d² − ½` and `Σ |d| − ½`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Errors<'a> {
    /// The parameter of the model.
    pub at: &'a [f64],
    /// `z`.
    pub noise_multiplier: f64,
}

impl Errors<'_> {
    /// The standard deviations of the noise on the sums, which are public.
    pub fn deviations(&self, terms: &Terms) -> Vec<f64> {
        let noise = self.noise_multiplier * factor(terms) * clip(terms);
        weights(terms).iter().map(|weight| noise / weight).collect()
    }
}

/// What the entries of a vector are multiplied with, that of the count first where there is one.
fn weights(terms: &Terms) -> &'static [f64] {
    match terms.adjacency() {
        Adjacency::ReplaceOne => &[0.5, 0.5, 2.0, 1.0],
        Adjacency::AddRemove => &[0.5, 0.5, 0.5, 2.0, 1.0],
    }
}

/// No vector is longer: 5/4, or √29/4 with the count.
fn clip(terms: &Terms) -> f64 {
    match terms.adjacency() {
        Adjacency::ReplaceOne => 1.25,
        Adjacency::AddRemove => 29.0_f64.sqrt() / 4.0,
    }
}

/// What the noise of `z` clips is multiplied with: (√6/2)/(5/4), rounded up, where a vector takes
/// the place of another.
fn factor(terms: &Terms) -> f64 {
    match terms.adjacency() {
        Adjacency::ReplaceOne => 0.4 * 6.0_f64.sqrt() * (1.0 + 4.0 * f64::EPSILON),
        Adjacency::AddRemove => 1.0,
    }
}

impl Query for Errors<'_> {
    const NAME: &'static str = "errors";
    type Answer = Vec<f64>;

    fn check(&self, shape: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)?;
        check_point(self.at, shape)
    }

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        Ok(vec![terms.noisy(self.noise_multiplier)?])
    }

    fn fits(&self, inside: &GateState) -> Result<(), Refusal> {
        match inside.loss.target() {
            LossTarget::Real => Ok(()),
            LossTarget::Binary | LossTarget::Classes(_) => {
                Err(wrong("a model of classes is not off by a number"))
            }
        }
    }

    fn made_up(&self, _: Shape, terms: &Terms, _: &mut dyn FnMut() -> f64) -> Vec<f64> {
        vec![0.1 * terms.population() as f64; weights(terms).len()]
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        #[cfg(feature = "seeded-bugs")]
        let noise = crate::bug::spoiled_noise(inside, self.noise_multiplier);
        #[cfg(not(feature = "seeded-bugs"))]
        let noise = self.noise_multiplier;
        let GateState { private, terms, pass, .. } = inside;
        let (weights, clip) = (weights(terms), clip(terms));
        let len = weights.len();
        let mut sum = vec![0; len];
        // A grid for twice the coordinates: see the note.
        let grid = Grid::new(2 * len);
        let vectors = Vectors { units: private.units(), chosen: None, clip, grid };
        pass.vector_sum(&vectors, &mut sum, |unit, whole, _| {
            let records = private.records_in(unit);
            let share = 1.0 / records.len() as f64;
            for &i in records.iter() {
                let mut score = [0.0];
                let i = i as usize;
                with_rows!(private.rows(), rows => private.scores(rows, i, self.at, &mut score));
                let of = errors(score[0], private.target(i));
                let of = &of[of.len() - len..];
                for ((sum, of), weight) in whole.iter_mut().zip(of).zip(weights) {
                    *sum += share * weight * of;
                }
            }
        });
        add_noise(entropy, noise * factor(terms), &mut sum)?;
        let step = grid.step(clip);
        Ok(sum.iter().zip(weights).map(|(&steps, weight)| steps as f64 * step / weight).collect())
    }
}

/// What a record adds, but for the weights.
fn errors(score: f64, target: f64) -> [f64; 5] {
    // A score that is no number is taken for the middle of the range.
    let predicted = if score.is_nan() { 0.0 } else { score.clamp(-1.0, 1.0) };
    let d = 0.5 * (predicted - target);
    [1.0, target, target * target - 0.5, d * d - 0.5, d.abs() - 0.5]
}
