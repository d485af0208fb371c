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

use reticent_accountant::Event;
use reticent_noise::entropy::Entropy;
use reticent_problem::{Shape, prediction_error};
use serde::Serialize;

use super::count::noisy_share_sum;
use super::{Query, check_noise, check_point};
use crate::inside::GateState;
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

impl Query for Score<'_> {
    const NAME: &'static str = "score";
    type Answer = f64;

    fn check(&self, shape: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)?;
        check_point(self.at, shape)
    }

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        Ok(vec![terms.noisy(self.noise_multiplier)?])
    }

    fn made_up(&self, _: Shape, _: &Terms, next: &mut dyn FnMut() -> f64) -> f64 {
        0.25 + next()
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<f64, Refusal> {
        let population = inside.terms.population() as f64;
        let (kind, outputs) = (inside.loss.target(), inside.loss.outputs());
        let error = |private: &Private, i: usize| {
            let mut scores = vec![0.0; outputs];
            with_rows!(private.rows(), rows => private.scores(rows, i, self.at, &mut scores));
            prediction_error(kind, &scores, private.target(i))
        };
        Ok(noisy_share_sum(inside, entropy, self.noise_multiplier, error)? / population)
    }
}
