//! How far a model of a number is off, summed with Gaussian noise, and how the targets are spread.
//!
//! ```text
//! a record adds  ( b, b² − ½, d² − ½, |d| − ½ ),   d = (ŵ − b)/2,  ŵ the score brought into [−1, 1]
//! ```
//!
//! and in front of it a 1 where the number of units is private; a user adds the mean over its
//! records. The halves are taken away for the vector to be as short as it can be. A replacement
//! moves it by at most √6, less than twice its length.
//!
//! Event: Gaussian with noise multiplier `z`. Proof: proofs/evaluation.md,
//! proofs/noise-gaussian-grid.md.

use reticent_accountant::{Adjacency, Event};
use reticent_noise::entropy::Entropy;
use reticent_problem::{Shape, Target};
use serde::Serialize;

use super::{Query, add_noise, check_noise, check_point, wrong};
use crate::inside::Inside;
use crate::refusal::Refusal;
use crate::sums::{Grid, Vectors, with_rows};
use crate::terms::Terms;

/// The noisy sums of a model of a number, halves included again: the units where their number is
/// private, then `Σ b`, `Σ b² − ½`, `Σ d² − ½` and `Σ |d| − ½`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Errors<'a> {
    /// The parameter of the model.
    pub at: &'a [f64],
    /// `z`.
    pub noise_multiplier: f64,
}

impl Errors<'_> {
    /// The standard deviation of the noise on every sum, which is public.
    pub fn deviation(&self, terms: &Terms) -> f64 {
        self.noise_multiplier * factor(terms) * clip(terms)
    }
}

/// The sums of what a record adds to, with or without the count of it.
fn sums(terms: &Terms) -> usize {
    match terms.adjacency() {
        Adjacency::ReplaceOne => 4,
        Adjacency::AddRemove => 5,
    }
}

/// No vector is longer: √7/2, or √11/2 with the count.
fn clip(terms: &Terms) -> f64 {
    match terms.adjacency() {
        Adjacency::ReplaceOne => 1.75_f64.sqrt(),
        Adjacency::AddRemove => 2.75_f64.sqrt(),
    }
}

/// What the noise of `z` clips is multiplied with: (√6/2)/(√7/2), rounded up, where a vector takes
/// the place of another.
fn factor(terms: &Terms) -> f64 {
    match terms.adjacency() {
        Adjacency::ReplaceOne => (6.0_f64 / 7.0).sqrt() * (1.0 + 4.0 * f64::EPSILON),
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

    fn fits(&self, inside: &Inside) -> Result<(), Refusal> {
        match inside.loss.target() {
            Target::Real => Ok(()),
            Target::Binary | Target::Classes(_) => {
                Err(wrong("a model of classes is not off by a number"))
            }
        }
    }

    fn made_up(&self, _: Shape, terms: &Terms, _: &mut dyn FnMut() -> f64) -> Vec<f64> {
        vec![0.1 * terms.population() as f64; sums(terms)]
    }

    fn answer(&self, inside: &mut Inside, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        #[cfg(feature = "seeded-bugs")]
        let noise = crate::bug::spoiled_noise(inside, self.noise_multiplier);
        #[cfg(not(feature = "seeded-bugs"))]
        let noise = self.noise_multiplier;
        let Inside { private, terms, pass, .. } = inside;
        let (len, clip) = (sums(terms), clip(terms));
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
                let (own, count) = whole.split_at_mut(4);
                count.iter_mut().for_each(|count| *count += share);
                let of = errors(score[0], private.target(i));
                own.iter_mut().zip(of).for_each(|(sum, of)| *sum += share * of);
            }
        });
        add_noise(entropy, noise * factor(terms), &mut sum)?;
        // The count comes first in the answer, where there is one.
        sum.rotate_right(len - 4);
        Ok(sum.iter().map(|&steps| steps as f64 * grid.step(clip)).collect())
    }
}

/// What a record adds, but for the count.
fn errors(score: f64, target: f64) -> [f64; 4] {
    // A score that is no number is taken for the middle of the range.
    let predicted = if score.is_nan() { 0.0 } else { score.clamp(-1.0, 1.0) };
    let d = 0.5 * (predicted - target);
    [target, target * target - 0.5, d * d - 0.5, d.abs() - 0.5]
}
