//! Random counts, exactly: how often something is to be repeated.
//!
//! Poisson of mean 1. Let G be geometric, P(G = k) = 2^−(k+1), and accept k with probability
//! 2^(k−1)/k!, which is 1/2 at k = 0, 1 at k = 1 and 2, and a product of the fractions 2/j, j = 3 …
//! k, beyond. What is accepted has P(k) ∝ 2^−(k+1)·2^(k−1)/k! = 1/(4·k!): the Poisson law, made of
//! fair coins and whole numbers alone. A sum of m such counts has mean m, which is why the mean is
//! a whole number.
//!
//! Geometric: the tosses of a coin of a given rate up to the first success.

use crate::entropy::{Coin, Entropy, EntropyError};

impl Entropy {
    /// A Poisson count with a whole mean.
    pub fn poisson(&mut self, mean: u64) -> Result<u64, EntropyError> {
        self.ready()?;
        Ok((0..mean).map(|_| self.poisson_of_one()).sum())
    }

    /// A count of at least 1: tosses up to the first success of a coin with this rate, which must
    /// not be 0.
    pub fn geometric(&mut self, rate: f64) -> Result<u64, EntropyError> {
        let coin = Coin::new(rate)?;
        if rate == 0.0 {
            return Err(EntropyError::Rate(rate));
        }
        self.ready()?;
        let mut tosses = 1;
        while !coin.toss(|| self.word()) {
            tosses += 1;
        }
        Ok(tosses)
    }

    fn poisson_of_one(&mut self) -> u64 {
        loop {
            let mut k = 0;
            while self.word_below(2) == 0 {
                k += 1;
            }
            let accepted = match k {
                0 => self.word_below(2) == 0,
                _ => (3..=k).all(|j| self.word_below(j) < 2),
            };
            if accepted {
                return k;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 200_000;

    /// Each frequency within 5 standard deviations of its probability: with seven cells a false
    /// alarm in about 250,000 seeds, and the seed is fixed.
    fn check(mut draw: impl FnMut(&mut Entropy) -> u64, probability: impl Fn(u64) -> f64) {
        let mut entropy = Entropy::seeded(7);
        let mut seen = [0_u64; 7];
        for _ in 0..DRAWS {
            let k = draw(&mut entropy) as usize;
            seen[k.min(6)] += 1;
        }
        let n = DRAWS as f64;
        let tail = 1.0 - (0..6).map(&probability).sum::<f64>();
        for (k, &count) in seen.iter().enumerate() {
            let p = if k < 6 { probability(k as u64) } else { tail };
            let deviations = (count as f64 - n * p).abs() / (n * p * (1.0 - p)).sqrt().max(1.0);
            assert!(deviations < 5.0, "{k}: {count} of {DRAWS}, expected {}", n * p);
        }
    }

    fn poisson(mean: f64, k: u64) -> f64 {
        (1..=k).fold((-mean).exp(), |p, j| p * mean / j as f64)
    }

    #[test]
    fn counts_have_their_laws() {
        check(|entropy| entropy.poisson(1).unwrap(), |k| poisson(1.0, k));
        check(|entropy| entropy.poisson(3).unwrap(), |k| poisson(3.0, k));
        check(
            |entropy| entropy.geometric(0.3).unwrap(),
            |k| {
                if k == 0 { 0.0 } else { 0.3 * 0.7_f64.powi(k as i32 - 1) }
            },
        );
    }

    #[test]
    fn the_edges() {
        let mut entropy = Entropy::seeded(1);
        assert_eq!(entropy.poisson(0).unwrap(), 0);
        assert_eq!(entropy.geometric(1.0).unwrap(), 1);
        assert!(entropy.geometric(0.0).is_err() && entropy.geometric(1.5).is_err());
    }
}
