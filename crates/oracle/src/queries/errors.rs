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

use reticent_accountant::Adjacency;
use reticent_problem::Shape;
use serde::Serialize;

use super::check_noise;
use super::record_sum::{RecordSum, SumScope};
use super::sum_query::{AskedSum, SumQuery};
use crate::holder::TableHolder;
use crate::refusal::Refusal;
use crate::sums::with_rows;
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
        let asked = self.asked(terms);
        let noise = asked.noise(terms) * asked.what.clip();
        weights(counted(terms)).iter().map(|weight| noise / weight).collect()
    }
}

/// What the entries of a vector are multiplied with, that of the count first where there is one.
pub(super) fn weights(counted: bool) -> &'static [f64] {
    match counted {
        false => &[0.5, 0.5, 2.0, 1.0],
        true => &[0.5, 0.5, 0.5, 2.0, 1.0],
    }
}

/// No vector is longer: 5/4, or √29/4 with the count.
pub(super) fn clip(counted: bool) -> f64 {
    match counted {
        false => 1.25,
        true => 29.0_f64.sqrt() / 4.0,
    }
}

/// What the noise of `z` clips is multiplied with where a vector takes the place of another:
/// (√6/2)/(5/4), rounded up.
pub(super) fn replaced() -> f64 {
    0.4 * 6.0_f64.sqrt() * (1.0 + 4.0 * f64::EPSILON)
}

/// Whether units are counted: where their number is private.
fn counted(terms: &Terms) -> bool {
    terms.adjacency() == Adjacency::AddRemove
}

impl SumQuery for Errors<'_> {
    const NAME: &'static str = "errors";
    type Answer = Vec<f64>;

    fn check(&self, _: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)
    }

    fn asked(&self, terms: &Terms) -> AskedSum<'_> {
        let what = RecordSum::Errors { at: self.at.into(), counted: counted(terms) };
        AskedSum::of_all(what, self.noise_multiplier)
    }

    fn read(&self, sum: &[i64], shape: Shape, terms: &Terms) -> Vec<f64> {
        let step = self.asked(terms).what.step(shape);
        let weights = weights(counted(terms));
        sum.iter().zip(weights).map(|(&steps, weight)| steps as f64 * step / weight).collect()
    }

    fn made_up(&self, _: Shape, terms: &Terms, _: &mut dyn FnMut() -> f64) -> Vec<f64> {
        vec![0.1 * terms.population() as f64; weights(counted(terms)).len()]
    }
}

pub(super) fn add_up(
    TableHolder { private, pass }: &mut TableHolder,
    (at, counted): (&[f64], bool),
    over: &SumScope<'_>,
    out: &mut [i64],
) {
    let (weights, len) = (weights(counted), out.len());
    pass.vector_sum(&over.of(private.units()), out, |unit, whole, _| {
        let records = private.records_in(unit);
        let share = 1.0 / records.len() as f64;
        for &i in records.iter() {
            let mut score = [0.0];
            let i = i as usize;
            with_rows!(private.rows(), rows => private.scores(rows, i, at, &mut score));
            let of = errors(score[0], private.target(i));
            let of = &of[of.len() - len..];
            for ((sum, of), weight) in whole.iter_mut().zip(of).zip(weights) {
                *sum += share * weight * of;
            }
        }
    });
}

/// What a record adds, but for the weights.
fn errors(score: f64, target: f64) -> [f64; 5] {
    // A score that is no number is taken for the middle of the range.
    let predicted = if score.is_nan() { 0.0 } else { score.clamp(-1.0, 1.0) };
    let d = 0.5 * (predicted - target);
    [1.0, target, target * target - 0.5, d * d - 0.5, d.abs() - 0.5]
}
