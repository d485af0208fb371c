//! The terms that all members of a masked sum agree on, and the mean of an opened sum.

use reticent_masks::{AggregationTerms as MaskTerms, FixedPoint, NoiseShare};

use crate::algorithms::shorten;

/// The terms that all members of a sum agree on.
#[derive(Clone, Debug)]
pub(super) struct SumTerms {
    pub terms: MaskTerms,
    pub code: FixedPoint,
    pub share: NoiseShare,
}

/// The exponent 64 of the probability e⁻⁶⁴ with which honest noise exceeds its allowance.
const TAIL: f64 = 64.0;

impl SumTerms {
    /// The mean of the members that stayed, clipped to the range of honest vectors of this length
    /// and their noise (proofs/noisy-sums.md, 7): a member that exaggerates moves it no further.
    pub fn mean(&self, sum: &[u64], stayed: u32, bound: f64) -> Vec<f64> {
        let (stayed, root) = (f64::from(stayed), (sum.len() as f64).sqrt());
        let mut mean: Vec<f64> =
            self.code.decode(sum).into_iter().map(|value| value / stayed).collect();
        let noise = self.share.whole() / stayed * (root + (2.0 * TAIL).sqrt());
        shorten(&mut mean, bound + self.code.step() * (root + noise));
        mean
    }
}

#[cfg(test)]
mod tests {
    use reticent_masks::SumMembers;

    use super::*;

    /// A member that adds a vector of its own choice moves the mean to the edge of the honest
    /// range; an honest mean is unchanged.
    #[test]
    fn a_member_that_exaggerates_moves_the_mean_no_further_than_honest_ones_could() {
        let (members, bound, bits) = (5, 0.5, 32);
        let law = SumMembers::choose(members, members, 0.8).unwrap();
        let terms = law.terms(&[1; 32], 1, 2).unwrap();
        let share = law.share(&terms, 1e6).unwrap();
        let code = FixedPoint::new(bound, bits, members, share.whole()).unwrap();
        let own = SumTerms { terms, code, share };
        let sum = |values: [f64; 2]| values.map(|value| (value * 2f64.powi(32)) as i64 as u64);
        let honest = own.mean(&sum([2.0, -1.0]), members, bound);
        assert_eq!(honest, [0.4, -0.2]);
        let far = own.mean(&sum([4e3, -3e3]), members, bound);
        let length = far.iter().map(|value| value * value).sum::<f64>().sqrt();
        assert!(length > bound && length < bound + 0.01, "{length}");
        assert!((far[0] / far[1] + 4.0 / 3.0).abs() < 1e-9, "{far:?}");
    }
}
