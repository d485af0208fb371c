//! Which records an answer is computed on. The gate makes the sample and its event from the same
//! value, so they cannot disagree.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::entropy::{Entropy, EntropyError};

/// How the records (or users) of one answer are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Sampling {
    /// All units, without sampling.
    #[default]
    Full,
    /// Each one independently with this probability.
    Poisson(f64),
    /// Exactly this many, uniformly, without replacement.
    WithoutReplacement(u64),
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

/// A sampling that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown sampling '{given}': use full, poisson:RATE with 0 < RATE ≤ 1, or wor:SIZE with SIZE ≥ 1"
)]
pub struct SamplingError {
    given: String,
}

impl FromStr for Sampling {
    type Err = SamplingError;

    fn from_str(text: &str) -> Result<Self, SamplingError> {
        let refuse = || SamplingError { given: text.to_owned() };
        match text.split_once(':') {
            None if text == "full" => Ok(Sampling::Full),
            Some(("poisson", rate)) => match rate.parse() {
                Ok(rate) if rate > 0.0 && rate <= 1.0 => Ok(Sampling::Poisson(rate)),
                _ => Err(refuse()),
            },
            Some(("wor", size)) => match size.parse() {
                Ok(size) if size >= 1 => Ok(Sampling::WithoutReplacement(size)),
                _ => Err(refuse()),
            },
            _ => Err(refuse()),
        }
    }
}

impl TryFrom<String> for Sampling {
    type Error = SamplingError;

    fn try_from(text: String) -> Result<Self, SamplingError> {
        text.parse()
    }
}

impl From<Sampling> for String {
    fn from(sampling: Sampling) -> String {
        sampling.to_string()
    }
}

impl fmt::Display for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sampling::Full => write!(f, "full"),
            Sampling::Poisson(rate) => write!(f, "poisson:{rate}"),
            Sampling::WithoutReplacement(size) => write!(f, "wor:{size}"),
        }
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
