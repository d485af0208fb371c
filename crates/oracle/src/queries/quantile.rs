//! A quantile among public candidates, by bisection on noisy counts.
//!
//! ```text
//! repeat k = ⌈log₂(candidates)⌉ times:  is (count of values ≤ middle) + noise ≥ p·n ?
//! ```
//!
//! Each of the `k` counts is a Gaussian mechanism with noise multiplier `z√k`; which is asked next
//! depends on the answers before. Composed, adaptively, they are exactly one Gaussian with
//! multiplier `z`. The exponential mechanism would need exact exponentials; counts need nothing
//! that the gate does not have.
//!
//! Event: Gaussian with noise multiplier `z`. Proof: proofs/quantile.md, proofs/count.md.

use reticent_accountant::Event;
use reticent_noise::entropy::Entropy;
use reticent_problem::Shape;
use serde::Serialize;

use super::count::{Count, check_statistic};
use super::sum_query::{AskSum, SumQuery};
use super::{Query, check_noise, check_range, wrong};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::sums::RecordStatistic;
use crate::terms::Terms;

/// Vectors are clipped a little further in than the clip, so counts come out short by 2·10⁻¹² of
/// themselves.
const SLACK: f64 = 1e-3;

/// A noisy quantile among public candidates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantile<'a> {
    /// What it is a quantile of.
    pub of: RecordStatistic,
    /// Which one: 0.5 is the median.
    pub fraction: f64,
    /// The possible answers, increasing. The last one stands for everything above the others.
    pub candidates: &'a [f64],
    /// `z`, for the whole search.
    pub noise_multiplier: f64,
}

impl Quantile<'_> {
    /// How many counts it asks for, which is public.
    pub fn rounds(&self) -> u32 {
        usize::BITS - (self.candidates.len() - 1).leading_zeros()
    }

    /// The standard deviation of the noise on each of its counts, which is public.
    pub fn deviation(&self, terms: &Terms) -> f64 {
        let count = Count { of: self.of, at_most: 0.0, noise_multiplier: self.each() };
        count.asked(terms).noise(terms)
    }

    /// The noise multiplier of one count, rounded up so that the sum of the costs is not above that
    /// of `z`.
    fn each(&self) -> f64 {
        self.noise_multiplier * f64::from(self.rounds()).sqrt() * (1.0 + 4.0 * f64::EPSILON)
    }
}

impl Query for Quantile<'_> {
    const NAME: &'static str = "quantile";
    type Answer = f64;

    fn check(&self, shape: Shape, _: &Terms) -> Result<(), Refusal> {
        let Quantile { of, fraction, candidates, noise_multiplier } = *self;
        check_statistic(of, shape)?;
        check_noise(noise_multiplier)?;
        check_range("fraction", fraction, 0.0, 1.0)?;
        let increasing = candidates.windows(2).all(|pair| pair[0] < pair[1]);
        if candidates.is_empty() || !increasing || candidates.iter().any(|c| !c.is_finite()) {
            return Err(wrong("the candidates must be finite, increasing and at least one"));
        }
        check_noise(noise_multiplier * f64::from(self.rounds()).sqrt())
    }

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        Ok(vec![terms.noisy(self.noise_multiplier)?])
    }

    fn fits_held(&self, _: &Terms) -> Result<(), Refusal> {
        Ok(())
    }

    fn made_up(&self, _: Shape, _: &Terms, _: &mut dyn FnMut() -> f64) -> f64 {
        self.candidates[self.candidates.len() / 2]
    }

    fn answer_from_sums(
        &self,
        shape: Shape,
        terms: &Terms,
        ask: &mut AskSum<'_>,
    ) -> Result<f64, Refusal> {
        self.search(terms, |count| Query::answer_from_sums(count, shape, terms, ask))
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<f64, Refusal> {
        let terms = inside.terms;
        self.search(&terms, |count| Query::answer(count, inside, entropy))
    }
}

impl Quantile<'_> {
    /// The bisection, on counts that have their noise.
    fn search(
        &self,
        terms: &Terms,
        mut ask: impl FnMut(&Count) -> Result<f64, Refusal>,
    ) -> Result<f64, Refusal> {
        let Quantile { of, fraction, candidates, .. } = *self;
        let wanted = fraction * terms.population() as f64;
        let (rounds, each) = (self.rounds(), self.each());
        let (mut low, mut high) = (0, candidates.len() - 1);
        for _ in 0..rounds {
            let middle = low + (high - low) / 2;
            let count = Count { of, at_most: candidates[middle], noise_multiplier: each };
            if ask(&count)? + SLACK >= wanted {
                high = middle;
            } else {
                low = (middle + 1).min(high);
            }
        }
        Ok(candidates[low])
    }
}
