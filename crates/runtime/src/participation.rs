//! The parties that a round asks, and the number of times that one party may be asked in a run.

use reticent_noise::{Entropy, EntropyError};
use reticent_oracle::Sampling;

/// The parties of one round, out of `parties`.
pub fn choose(
    sampling: Sampling,
    parties: u32,
    entropy: &mut Entropy,
) -> Result<Vec<u32>, EntropyError> {
    let mut chosen = Vec::new();
    match sampling {
        Sampling::Full => chosen.extend(0..parties),
        Sampling::Poisson(rate) => entropy.poisson_subset(parties as usize, rate, &mut chosen)?,
        Sampling::WithoutReplacement(size) => {
            entropy.subset(parties as usize, size as usize, &mut chosen)?
        }
    }
    Ok(chosen)
}

/// The standard deviations above its mean that the number of a party's rounds may reach before it
/// declines.
const SPREAD: f64 = 3.0;

/// The most contributions of one party in `rounds` rounds. If the adversary sees who contributes,
/// sampling amplifies nothing, each contribution counts in full, and noise is calibrated to this
/// number: it is near the expected one and not the number of rounds, at the price that one party in
/// a thousand stops early.
pub fn cap(sampling: Sampling, parties: u32, rounds: u32) -> u32 {
    let rate = match sampling {
        Sampling::Full => return rounds,
        Sampling::Poisson(rate) => rate,
        Sampling::WithoutReplacement(size) => size as f64 / f64::from(parties.max(1)),
    };
    let mean = rate * f64::from(rounds);
    let most = (mean + SPREAD * (mean * (1.0 - rate)).max(0.0).sqrt()).ceil();
    (most as u32).clamp(1, rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_between_the_mean_and_the_rounds() {
        assert_eq!(cap(Sampling::Full, 10, 7), 7);
        assert_eq!(cap(Sampling::Poisson(0.1), 1000, 100), 19);
        assert_eq!(cap(Sampling::WithoutReplacement(100), 1000, 100), 19);
        assert_eq!(cap(Sampling::Poisson(1.0), 1000, 100), 100);
        assert_eq!(cap(Sampling::Poisson(1e-9), 1000, 100), 1);
    }

    #[test]
    fn everybody_is_in_a_full_round() {
        let mut entropy = Entropy::seeded(1);
        assert_eq!(choose(Sampling::Full, 3, &mut entropy).unwrap(), [0, 1, 2]);
        assert_eq!(choose(Sampling::WithoutReplacement(2), 3, &mut entropy).unwrap().len(), 2);
    }
}
