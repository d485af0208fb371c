//! How far from zero what honest parties say can be, by public numbers: what is said beyond it is cut, so
//! that one exaggerated answer moves a sum no further than honest records could.
//!
//! A unit's vector is no longer than 2³² steps, and the noise N of p parties in d coordinates has
//! P(‖N‖ > σ√p(√d + √(2t))) ≤ e^−t: it is sub-Gaussian (Canonne, Kamath, Steinke 2020), and so is its norm
//! (Hsu, Kakade, Zhang 2012, Theorem 1). So what honest parties of n units say is within
//!
//! > n·2³² + σ√p(√d + √(2t))
//!
//! with t = 64. Public numbers alone, after the noise. Proof: proofs/noisy-sums.md, 7.

use super::law::SumLaw;
use crate::queries::AskedSum;
use crate::sums::grid::BITS;
use crate::terms::Terms;

/// An honest answer is cut with a chance below e⁻⁶⁴.
const TAIL: f64 = 64.0;

/// Where the numbers of units are private, so many times the public number of all are allowed for.
const SLACK: u64 = 2;

/// How far what is said in a round can be from zero.
#[derive(Clone, Copy, Debug)]
pub struct SumReach<'a> {
    /// The noise of one party, in steps.
    noise: f64,
    parties: u32,
    population: u64,
    sizes: Option<&'a [u64]>,
}

impl<'a> SumReach<'a> {
    pub(super) fn new(
        law: &SumLaw,
        asked: &AskedSum<'_>,
        terms: &Terms,
        sizes: Option<&'a [u64]>,
    ) -> Self {
        let noise = law.own(asked.clone()).noise(terms) * (1_u64 << BITS) as f64;
        let (parties, population) = (law.parties(), terms.population());
        SumReach { noise, parties, population, sizes }
    }

    fn units(&self, parties: impl Iterator<Item = u32>) -> u64 {
        match self.sizes {
            Some(sizes) => {
                let own = |party: u32| sizes.get(party as usize).copied().unwrap_or(0);
                parties.map(own).fold(0, u64::saturating_add)
            }
            None => self.population.saturating_mul(SLACK),
        }
    }

    /// Cuts what one party has said.
    pub fn cut_answer(&self, party: u32, values: &mut [i64]) -> bool {
        cut(values, self.radius(self.units(std::iter::once(party)), 1, values.len()))
    }

    /// Cuts a sum over all parties but these.
    pub fn cut_sum(&self, absent: &[u32], values: &mut [i64]) -> bool {
        let stayed = || (0..self.parties).filter(|party| !absent.contains(party));
        let parties = stayed().count() as u32;
        cut(values, self.radius(self.units(stayed()), parties, values.len()))
    }

    fn radius(&self, units: u64, parties: u32, len: usize) -> f64 {
        let noise = self.noise * f64::from(parties).sqrt();
        let tail = (len as f64).sqrt() + (2.0 * TAIL).sqrt();
        // A part in 10⁹ is more than all roundings.
        (units as f64 * (1_u64 << BITS) as f64 + noise * tail) * (1.0 + 1e-9)
    }
}

/// The nearest vector within the radius, rounded towards zero; whether it was beyond.
fn cut(values: &mut [i64], radius: f64) -> bool {
    let norm = values.iter().map(|&value| (value as f64).powi(2)).sum::<f64>().sqrt();
    // What is no number is beyond nothing, and reaches nothing.
    if norm <= radius {
        return false;
    }
    let factor = radius / norm;
    values.iter_mut().for_each(|value| *value = (*value as f64 * factor) as i64);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(sizes: Option<&[u64]>) -> SumReach<'_> {
        SumReach { noise: 1e9, parties: 3, population: 60, sizes }
    }

    const CLIP: i64 = 1 << 32;

    #[test]
    fn what_honest_parties_can_say_stays_as_it_is() {
        let sizes = [10, 20, 30];
        let mut all = vec![60 * CLIP, 0];
        assert!(!reach(Some(&sizes)).cut_sum(&[], &mut all) && all == [60 * CLIP, 0]);
        let mut own = vec![-20 * CLIP, 0];
        assert!(!reach(Some(&sizes)).cut_answer(1, &mut own) && own == [-20 * CLIP, 0]);
    }

    /// However much one says, a sum is as long as honest ones can be, in the direction that it had.
    #[test]
    fn what_is_exaggerated_is_cut_to_what_honest_records_reach() {
        let sizes = [10, 20, 30];
        let noise = 1e9 * (2_f64.sqrt() + 128_f64.sqrt());
        for said in [[i64::MAX, 0], [i64::MIN, 0], [1 << 62, 1 << 62]] {
            let mut own = said.to_vec();
            assert!(reach(Some(&sizes)).cut_answer(1, &mut own));
            let norm = own.iter().map(|&value| (value as f64).powi(2)).sum::<f64>().sqrt();
            let most = 20.0 * CLIP as f64 + noise;
            assert!(norm <= most * (1.0 + 1e-8) && norm > most * 0.999, "{norm} {most}");
            assert_eq!(own[0].signum(), said[0].signum());
        }
        // Of those who stayed.
        let mut left = vec![50 * CLIP, 0];
        assert!(reach(Some(&sizes)).cut_sum(&[2], &mut left) && left[0] < 40 * CLIP);
        // Private numbers: twice the public one.
        let mut private = vec![119 * CLIP, 0];
        assert!(!reach(None).cut_sum(&[], &mut private));
        assert!(reach(None).cut_sum(&[], &mut [140 * CLIP, 0]));
    }
}
