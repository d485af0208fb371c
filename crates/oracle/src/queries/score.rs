//! How wrong a model is on average, with Gaussian noise: what a choice between models is made by.
//!
//! ```text
//! s̃ = ( Σᵢ eᵢ + noise ) / n,    eᵢ ∈ [0, 1] the error of the prediction for unit i
//! ```
//!
//! The error is [`reticent_problem::prediction_error`], for a user the mean over its records, so a
//! unit adds a number in [0, 1], and sums of those are noised as counts are.
//!
//! Event: Gaussian with noise multiplier `z`. Proof: proofs/count.md,
//! proofs/noise-gaussian-grid.md.

use reticent_problem::losses::Loss;
use reticent_problem::{Shape, prediction_error};
use serde::Serialize;

use super::check_noise;
use super::count::add_up_shares;
use super::record_sum::{RecordSum, SumScope};
use super::sum_query::{AskedSum, SumQuery};
use crate::holder::TableHolder;
use crate::refusal::Refusal;
use crate::sums::{Private, with_rows};
use crate::terms::Terms;

/// The noisy mean error of the predictions of a model, in [0, 1] but for the noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score<'a> {
    /// The parameter of the model.
    pub at: &'a [f64],
    /// `z`, in units.
    pub noise_multiplier: f64,
}

impl SumQuery for Score<'_> {
    const NAME: &'static str = "score";
    type Answer = f64;

    fn check(&self, _: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)
    }

    fn asked(&self, _: &Terms) -> AskedSum<'_> {
        AskedSum::of_all(RecordSum::Score { at: self.at.into() }, self.noise_multiplier)
    }

    fn read(&self, sum: &[i64], shape: Shape, terms: &Terms) -> f64 {
        sum[0] as f64 * self.asked(terms).what.step(shape) / terms.population() as f64
    }

    fn made_up(&self, _: Shape, _: &Terms, next: &mut dyn FnMut() -> f64) -> f64 {
        0.25 + next()
    }
}

pub(super) fn add_up(
    table: &mut TableHolder,
    loss: &dyn Loss,
    at: &[f64],
    over: &SumScope<'_>,
    out: &mut [i64],
) {
    let (kind, outputs) = (loss.target(), loss.outputs());
    add_up_shares(table, over, out, |private: &Private, i: usize| {
        let mut scores = vec![0.0; outputs];
        with_rows!(private.rows(), rows => private.scores(rows, i, at, &mut scores));
        prediction_error(kind, &scores, private.target(i))
    });
}
