//! Sums of numeric columns over all units, with Gaussian noise: what means of columns are made of.
//!
//! ```text
//! a record adds  ( a_{j₁}, …, a_{j_k} [, w] ),   each a in [−1, 1],  w = k^{1/4} where units are counted
//! ```
//!
//! A user adds the mean over its records. The vector has norm at most `C = √(k + w²)`, and columns
//! are centred between their bounds, so that a replacement moves it by up to `2C`: one clip and two
//! are what the event counts. The weight `w` makes the worst error of a sum over a count smallest.
//!
//! Event: Gaussian with noise multiplier `z`. Proof: proofs/mean.md,
//! proofs/sensitivity-clipped-sum.md, proofs/noise-gaussian-grid.md.

use reticent_problem::Shape;
use serde::Serialize;

use super::count::check_statistic;
use super::record_sum::{RecordSum, SumScope};
use super::sum_query::{AskedSum, SumQuery};
use super::{check_noise, wrong};
use crate::holder::TableHolder;
use crate::refusal::Refusal;
use crate::sums::RecordStatistic;
use crate::terms::Terms;

/// The most columns of one question.
const MOST_COLUMNS: usize = 1024;

/// The noisy sums of some features, in the order in which they are named; the number of units
/// behind them where it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ColumnSums<'a> {
    /// The features, each once. What is outside [−1, 1] counts as the nearer end.
    pub features: &'a [usize],
    /// Whether units are counted as well, for who does not know their number.
    pub counted: bool,
    /// `z`.
    pub noise_multiplier: f64,
}

impl ColumnSums<'_> {
    /// The standard deviations of the noise on a sum and on the count, which are public.
    pub fn deviations(&self) -> (f64, f64) {
        let noise = self.noise_multiplier * clip(self.features, self.counted);
        (noise, noise / weight(self.features))
    }
}

/// `w`: what a unit adds to the coordinate that counts.
fn weight(features: &[usize]) -> f64 {
    (features.len() as f64).sqrt().sqrt()
}

/// `C`.
pub(super) fn clip(features: &[usize], counted: bool) -> f64 {
    let counted = if counted { weight(features).powi(2) } else { 0.0 };
    (features.len() as f64 + counted).sqrt()
}

impl SumQuery for ColumnSums<'_> {
    const NAME: &'static str = "column sums";
    type Answer = Vec<f64>;

    fn check(&self, _: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)
    }

    fn asked(&self, _: &Terms) -> AskedSum<'_> {
        let ColumnSums { features, counted, noise_multiplier } = *self;
        let what = RecordSum::ColumnSums { features: features.into(), counted };
        AskedSum::of_all(what, noise_multiplier)
    }

    fn read(&self, sum: &[i64], shape: Shape, terms: &Terms) -> Vec<f64> {
        let step = self.asked(terms).what.step(shape);
        let mut answer: Vec<f64> = sum.iter().map(|&steps| steps as f64 * step).collect();
        let (_, count) = answer.split_at_mut(self.features.len());
        count.iter_mut().for_each(|count| *count /= weight(self.features));
        answer
    }

    fn made_up(&self, shape: Shape, terms: &Terms, _: &mut dyn FnMut() -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.asked(terms).what.len(shape)];
        sums[self.features.len()..].fill(terms.population() as f64);
        sums
    }
}

pub(super) fn check(features: &[usize], shape: Shape) -> Result<(), Refusal> {
    if !(1..=MOST_COLUMNS).contains(&features.len()) {
        return Err(wrong("sums are of 1 to 1024 columns"));
    }
    let mut sorted = features.to_vec();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(wrong("a column is named twice in one question about sums"));
    }
    sorted.iter().try_for_each(|&index| check_statistic(RecordStatistic::Feature(index), shape))
}

pub(super) fn add_up(
    TableHolder { private, pass }: &mut TableHolder,
    (features, counted): (&[usize], bool),
    over: &SumScope<'_>,
    out: &mut [i64],
) {
    let weight = if counted { weight(features) } else { 0.0 };
    let mut places = vec![None; private.features()];
    features.iter().enumerate().for_each(|(at, &index)| places[index] = Some(at));
    pass.vector_sum(&over.of(private.units()), out, |unit, whole, _| {
        let records = private.records_in(unit);
        let share = 1.0 / records.len() as f64;
        let (sums, count) = whole.split_at_mut(features.len());
        for &i in records.iter() {
            private.each_entry(i as usize, |feature, value| {
                if let Some(at) = places[feature] {
                    sums[at] += value.clamp(-1.0, 1.0) * share;
                }
            });
        }
        count.fill(weight);
    });
}
