//! Which records an answer is computed on. The gate makes the sample and its event from the same
//! value, so they cannot disagree.

use crate::entropy::{Entropy, EntropyError};

reticent_core::words! {
    /// How the records (or users) of one answer are chosen.
    #[derive(Default)]
    pub enum Sampling = "sampling" {
        /// All units, without sampling.
        #[default]
        Full = "full",
        /// Each one independently with this probability.
        Poisson(rate: f64 where rate > 0.0 && rate <= 1.0) = "poisson" ":RATE with 0 < RATE ≤ 1",
        /// Exactly this many, uniformly, without replacement.
        WithoutReplacement(size: u64 where size >= 1) = "wor" ":SIZE with SIZE ≥ 1",
    }
}

impl Sampling {
    /// What a sum over the sample is divided by to estimate the mean: public, and never the size
    /// that the sample happened to have.
    pub fn normaliser(self, population: f64) -> f64 {
        match self {
            Sampling::Full => population,
            Sampling::Poisson(rate) => rate * population,
            Sampling::WithoutReplacement(size) => size as f64,
        }
    }

    /// Draws the sample into `out`; `false` means that everything was chosen and `out` is not used.
    pub fn draw(
        self,
        count: usize,
        entropy: &mut Entropy,
        out: &mut Vec<u32>,
    ) -> Result<bool, EntropyError> {
        match self {
            Sampling::Full => return Ok(false),
            Sampling::Poisson(rate) => entropy.poisson_subset(count, rate, out)?,
            Sampling::WithoutReplacement(size) => entropy.subset(count, size as usize, out)?,
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_round_trip() {
        for text in ["full", "poisson:0.01", "wor:326"] {
            assert_eq!(text.parse::<Sampling>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        for text in
            ["", "poisson", "poisson:0", "poisson:1.5", "poisson:NaN", "wor:0", "wor:-1", "half"]
        {
            assert!(text.parse::<Sampling>().is_err(), "{text}");
        }
    }
}
