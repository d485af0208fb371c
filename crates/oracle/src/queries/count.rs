//! How many units have a value at or below a threshold, with Gaussian noise.
//!
//! A record counts 0 or 1, a user the share of its records that count, so a unit adds a number in
//! [0, 1]. Removing it moves the sum by at most 1, replacing it by at most 1 as well: half of what
//! a clip of 1 would allow, and the noise of `z` clips is therefore `z/2` under replace-one.
//!
//! Event: Gaussian with noise multiplier `z`. Proof: proofs/count.md,
//! proofs/noise-gaussian-grid.md.

use reticent_problem::Shape;
use serde::Serialize;

use super::record_sum::{RecordSum, SumScope};
use super::sum_query::{AskedSum, SumQuery};
use super::{check_noise, wrong};
use crate::holder::TableHolder;
use crate::refusal::Refusal;
use crate::sums::{Private, RecordStatistic};
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

impl SumQuery for Count {
    const NAME: &'static str = "count";
    type Answer = f64;

    fn check(&self, _: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)
    }

    fn asked(&self, _: &Terms) -> AskedSum<'_> {
        let Count { of, at_most, noise_multiplier } = *self;
        AskedSum::of_all(RecordSum::Count { of, at_most }, noise_multiplier)
    }

    fn read(&self, sum: &[i64], shape: Shape, terms: &Terms) -> f64 {
        sum[0] as f64 * self.asked(terms).what.step(shape)
    }

    fn made_up(&self, _: Shape, terms: &Terms, _: &mut dyn FnMut() -> f64) -> f64 {
        0.5 * terms.population() as f64
    }
}

/// What the noise of `z` clips is multiplied with where a unit takes another's place.
pub(super) const REPLACED: f64 = 0.5;

pub(super) fn check(of: RecordStatistic, at_most: f64, shape: Shape) -> Result<(), Refusal> {
    check_statistic(of, shape)?;
    if at_most.is_nan() {
        return Err(wrong("the threshold of a count is not a number"));
    }
    Ok(())
}

pub(super) fn add_up(
    table: &mut TableHolder,
    (of, at_most): (RecordStatistic, f64),
    over: &SumScope<'_>,
    out: &mut [i64],
) {
    let counts = |private: &Private, i: usize| f64::from(of.value(private, i) <= at_most);
    add_up_shares(table, over, out, counts);
}

/// The sum over the units of what `share` says of a record, a number in [0, 1]; for a user, of the
/// mean over its records.
pub(super) fn add_up_shares(
    TableHolder { private, pass }: &mut TableHolder,
    over: &SumScope<'_>,
    out: &mut [i64],
    share: impl Fn(&Private, usize) -> f64 + Sync,
) {
    pass.vector_sum(&over.of(private.units()), out, |unit, whole, _| {
        let records = private.records_in(unit);
        let total: f64 = records.iter().map(|&i| share(private, i as usize)).sum();
        // Whatever `share` says: a negative number would double what a replacement can do.
        whole[0] = (total / records.len() as f64).clamp(0.0, 1.0);
    });
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
