//! What a noisy sum over drawn parties costs, where one of them or one record is protected.
//!
//! Parties are drawn. Where a party is protected it is hidden by the draw as well: noise of `z`
//! bounds `B` and the sampled events. Where a record is, its party's block of length up to `B` may
//! show in the sum whether the party was drawn, so the draw hides nothing; but the block moves by
//! `D` alone, and only where it was drawn: noise of `z` times `D/2`, and an event whose sample is
//! seen. Both hold for a record, whatever the numbers. Over many rounds the first costs about
//! `(2qB/σ)²` a round and the second `q(D/σ)²`; the cheaper is taken, by public numbers. Proof:
//! proofs/trust.md.

use reticent_accountant::{Event, Mechanism, ShownSample};
use reticent_noise::Sampling;

use crate::queries::ClippedMean;
use crate::refusal::Refusal;
use crate::sums::grid::BITS;
use crate::sums::{BlockTerms, Grid};
use crate::terms::Terms;

/// How a sum is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DrawnSum {
    /// What the noise multiplier is in units of, as a part of the bound of a block.
    pub share: f64,
    /// The chance that a party is drawn, if who is drawn counts as seen.
    seen: Option<f64>,
}

impl DrawnSum {
    pub fn new(block: &BlockTerms, params: &ClippedMean, parties: u64, len: usize) -> Self {
        let steps = (1_u64 << BITS) as f64;
        let apart = block.moves_in_steps(Grid::new(len).step(params.clip), len);
        let share = block.one_record.map_or(1.0, |_| (0.5 * apart / steps).min(1.0));
        let rate = match params.sampling {
            Sampling::Full => 1.0,
            Sampling::Poisson(rate) => rate,
            Sampling::WithoutReplacement(size) => {
                (size as f64 / parties.max(1) as f64).next_up().min(1.0)
            }
        };
        if share * share < rate {
            DrawnSum { share, seen: Some(rate) }
        } else {
            DrawnSum { share: 1.0, seen: None }
        }
    }

    /// The same noise, with a sample that is believed to be secret.
    #[cfg(feature = "seeded-bugs")]
    pub fn believed_secret(self) -> Self {
        DrawnSum { seen: None, ..self }
    }

    pub fn event(&self, params: &ClippedMean, terms: &Terms) -> Result<Event, Refusal> {
        match self.seen {
            Some(rate) if rate < 1.0 && params.noise_multiplier > 0.0 => {
                let seen: Mechanism = ShownSample::new(params.noise_multiplier, rate)?.into();
                Ok(terms.event(seen)?)
            }
            Some(_) => Ok(terms.noisy(params.noise_multiplier)?),
            None => params.event(terms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::OneRecord;

    const LEN: usize = 4;

    fn drawn(one_record: Option<OneRecord>, sampling: Sampling) -> (DrawnSum, f64) {
        let block = BlockTerms {
            clip: 1.0,
            row_norm: 1.0,
            step: 4.0,
            inner: 30,
            relaxation: 0.5,
            one_record,
        };
        let params = ClippedMean { clip: block.bound(), noise_multiplier: 1.0, sampling };
        let part = block.moves() / (2.0 * block.bound());
        (DrawnSum::new(&block, &params, 8, LEN), part)
    }

    /// Noise in units of less than the bound is for what one record moves, and its draw is seen.
    #[test]
    fn the_noise_of_a_sum_is_for_the_bound_unless_a_record_moves_less() {
        let one = Some(OneRecord { fewest: 1000, smoothness: 0.25, rounds: 40 });
        for sampling in [Sampling::Full, Sampling::Poisson(0.25), Sampling::WithoutReplacement(2)] {
            let (party, _) = drawn(None, sampling);
            assert_eq!(party, DrawnSum { share: 1.0, seen: None }, "{sampling:?}");
            let (record, part) = drawn(one, sampling);
            assert!(part < 0.1 && record.share >= part && record.share < 1.01 * part, "{record:?}");
            let rate = record.seen.expect("who is drawn is seen");
            let exact = if sampling == Sampling::Full { 1.0 } else { 0.25 };
            assert!(rate >= exact && rate <= exact * (1.0 + 1e-15), "{rate}");
        }
        // So seldom drawn that the draw hides more than the record's being one of many.
        assert_eq!(drawn(one, Sampling::Poisson(1e-6)).0, DrawnSum { share: 1.0, seen: None });
    }

    #[test]
    fn a_sample_without_replacement_is_drawn_no_less_often_than_it_is() {
        let one = Some(OneRecord { fewest: 1000, smoothness: 0.25, rounds: 40 });
        let (third, _) = drawn(one, Sampling::WithoutReplacement(3));
        assert!(third.seen.expect("seen") > 3.0 / 8.0, "rounded up");
        assert_eq!(drawn(one, Sampling::WithoutReplacement(9)).0.seen, Some(1.0));
    }
}
