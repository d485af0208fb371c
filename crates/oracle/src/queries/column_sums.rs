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

use reticent_accountant::Event;
use reticent_noise::entropy::Entropy;
use reticent_problem::Shape;
use serde::Serialize;

use super::count::check_statistic;
use super::{Query, add_noise, check_noise, wrong};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::sums::{Grid, RecordStatistic, Vectors};
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
        let noise = self.noise_multiplier * self.clip();
        (noise, noise / self.weight())
    }

    /// `w`: what a unit adds to the coordinate that counts.
    fn weight(&self) -> f64 {
        (self.features.len() as f64).sqrt().sqrt()
    }

    /// `C`.
    fn clip(&self) -> f64 {
        let counted = if self.counted { self.weight().powi(2) } else { 0.0 };
        (self.features.len() as f64 + counted).sqrt()
    }

    fn len(&self) -> usize {
        self.features.len() + usize::from(self.counted)
    }
}

impl Query for ColumnSums<'_> {
    const NAME: &'static str = "column sums";
    type Answer = Vec<f64>;

    fn check(&self, shape: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)?;
        if !(1..=MOST_COLUMNS).contains(&self.features.len()) {
            return Err(wrong("sums are of 1 to 1024 columns"));
        }
        let mut sorted = self.features.to_vec();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(wrong("a column is named twice in one question about sums"));
        }
        sorted.iter().try_for_each(|&index| check_statistic(RecordStatistic::Feature(index), shape))
    }

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        Ok(vec![terms.noisy(self.noise_multiplier)?])
    }

    fn made_up(&self, _: Shape, terms: &Terms, _: &mut dyn FnMut() -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.len()];
        sums[self.features.len()..].fill(terms.population() as f64);
        sums
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        #[cfg(reticent_seeded_bugs)]
        let noise = crate::bug::spoiled_noise(inside, self.noise_multiplier);
        #[cfg(not(reticent_seeded_bugs))]
        let noise = self.noise_multiplier;
        let (columns, weight) = (self.features.len(), self.weight());
        let mut places = vec![None; inside.shape().features];
        self.features.iter().enumerate().for_each(|(at, &index)| places[index] = Some(at));
        let GateState { private, pass, .. } = inside;
        let mut sum = vec![0; self.len()];
        let grid = Grid::new(sum.len());
        let vectors = Vectors { units: private.units(), chosen: None, clip: self.clip(), grid };
        pass.vector_sum(&vectors, &mut sum, |unit, whole, _| {
            let records = private.records_in(unit);
            let share = 1.0 / records.len() as f64;
            let (sums, count) = whole.split_at_mut(columns);
            for &i in records.iter() {
                private.each_entry(i as usize, |feature, value| {
                    if let Some(at) = places[feature] {
                        sums[at] += value.clamp(-1.0, 1.0) * share;
                    }
                });
            }
            count.fill(weight);
        });
        add_noise(entropy, noise, &mut sum)?;
        let step = grid.step(self.clip());
        let mut answer: Vec<f64> = sum.iter().map(|&steps| steps as f64 * step).collect();
        answer[columns..].iter_mut().for_each(|count| *count /= weight);
        Ok(answer)
    }
}
