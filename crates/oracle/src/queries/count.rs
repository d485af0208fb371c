//! How many units have a value at or below a threshold, with Gaussian noise.
//!
//! A record counts 0 or 1, a user the share of its records that count, so a unit adds a number in
//! [0, 1]. Removing it moves the sum by at most 1, replacing it by at most 1 as well: half of what
//! a clip of 1 would allow, and the noise of `z` clips is therefore `z/2` under replace-one.
//!
//! Event: Gaussian with noise multiplier `z`. Proof: proofs/count.md,
//! proofs/noise-gaussian-grid.md.

use reticent_accountant::{Adjacency, Event};
use reticent_noise::entropy::Entropy;
use reticent_problem::Shape;
use serde::Serialize;

use super::{Query, add_noise, check_noise, wrong};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::sums::{Grid, Private, RecordStatistic, Vectors};
use crate::terms::Terms;

/// The noisy number of units with a value at or below a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Count {
    /// What is compared.
    pub of: RecordStatistic,
    /// Records with a value at or below it count.
    pub at_most: f64,
    /// `z`.
    pub noise_multiplier: f64,
}

impl Query for Count {
    const NAME: &'static str = "count";
    type Answer = f64;

    fn check(&self, shape: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)?;
        check_statistic(self.of, shape)?;
        if self.at_most.is_nan() {
            return Err(wrong("the threshold of a count is not a number"));
        }
        Ok(())
    }

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        Ok(vec![terms.noisy(self.noise_multiplier)?])
    }

    fn made_up(&self, _: Shape, terms: &Terms, _: &mut dyn FnMut() -> f64) -> f64 {
        0.5 * terms.population() as f64
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<f64, Refusal> {
        noisy_count(inside, entropy, self)
    }
}

/// The count, one draw of noise included.
pub(super) fn noisy_count(
    inside: &mut GateState,
    entropy: &mut Entropy,
    &Count { of, at_most, noise_multiplier }: &Count,
) -> Result<f64, Refusal> {
    let counts = |private: &Private, i: usize| f64::from(of.value(private, i) <= at_most);
    noisy_share_sum(inside, entropy, noise_multiplier, counts)
}

/// The sum over the units of what `share` says of a record, a number in [0, 1]; for a user, of the
/// mean over its records. Noise of `z` clips included.
pub(super) fn noisy_share_sum(
    inside: &mut GateState,
    entropy: &mut Entropy,
    noise_multiplier: f64,
    share: impl Fn(&Private, usize) -> f64 + Sync,
) -> Result<f64, Refusal> {
    let GateState { private, terms, pass, .. } = inside;
    let grid = Grid::new(1);
    let vectors = Vectors { units: private.units(), chosen: None, clip: 1.0, grid };
    let mut sum = [0];
    pass.vector_sum(&vectors, &mut sum, |unit, whole, _| {
        let records = private.records_in(unit);
        let total: f64 = records.iter().map(|&i| share(private, i as usize)).sum();
        // Whatever `share` says: a negative number would double what a replacement can do.
        whole[0] = (total / records.len() as f64).clamp(0.0, 1.0);
    });
    let half = match terms.adjacency() {
        Adjacency::ReplaceOne => 0.5,
        Adjacency::AddRemove => 1.0,
    };
    add_noise(entropy, noise_multiplier * half, &mut sum)?;
    Ok(sum[0] as f64 * grid.step(1.0))
}

pub(super) fn check_statistic(of: RecordStatistic, shape: Shape) -> Result<(), Refusal> {
    match of {
        RecordStatistic::Feature(index) if index >= shape.features => {
            Err(Refusal::BadQuery(format!(
                "feature {index} was asked for, but they are numbered 0 to {}",
                shape.features.saturating_sub(1)
            )))
        }
        _ => Ok(()),
    }
}
