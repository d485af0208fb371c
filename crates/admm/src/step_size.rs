//! Step sizes η_k that depend on the iteration alone.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A rule for η_k, written `constant:η`, `sqrt:η` or `epoch:η`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StepSize {
    initial: f64,
    decay: Decay,
}

/// How a step size falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decay {
    Constant,
    Sqrt,
    Epoch,
}

impl StepSize {
    /// `η_k = η`.
    pub fn constant(eta: f64) -> Result<Self, StepSizeError> {
        Self::new(eta, Decay::Constant)
    }

    /// `η_k = η/√k`.
    pub fn sqrt(eta: f64) -> Result<Self, StepSizeError> {
        Self::new(eta, Decay::Sqrt)
    }

    /// `η_k = η/(epoch of k)`, the first epoch being 1 (RDP20, section 5).
    pub fn epoch(eta: f64) -> Result<Self, StepSizeError> {
        Self::new(eta, Decay::Epoch)
    }

    /// A default that is known to be positive.
    pub(crate) fn checked(initial: f64, decay: Decay) -> Self {
        debug_assert!(initial.is_finite() && initial > 0.0);
        StepSize { initial, decay }
    }

    fn new(initial: f64, decay: Decay) -> Result<Self, StepSizeError> {
        if initial.is_finite() && initial > 0.0 {
            return Ok(StepSize { initial, decay });
        }
        Err(StepSizeError { given: initial.to_string() })
    }

    /// η of iteration `k` (from 1), when an epoch has `per_epoch` iterations.
    pub fn at(&self, k: u64, per_epoch: f64) -> f64 {
        match self.decay {
            Decay::Constant => self.initial,
            Decay::Sqrt => self.initial / (k as f64).sqrt(),
            Decay::Epoch => self.initial / ((k - 1) as f64 / per_epoch.max(1.0) + 1.0).floor(),
        }
    }
}

/// A step size that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "step size '{given}': use constant:η, sqrt:η (η/√k) or epoch:η (η over the epoch), with η > 0"
)]
pub struct StepSizeError {
    given: String,
}

impl FromStr for StepSize {
    type Err = StepSizeError;

    fn from_str(text: &str) -> Result<Self, StepSizeError> {
        let refuse = || StepSizeError { given: text.to_owned() };
        let (decay, eta) = text.split_once(':').unwrap_or(("constant", text));
        let decay = match decay {
            "constant" => Decay::Constant,
            "sqrt" => Decay::Sqrt,
            "epoch" => Decay::Epoch,
            _ => return Err(refuse()),
        };
        Self::new(eta.parse().map_err(|_| refuse())?, decay).map_err(|_| refuse())
    }
}

impl TryFrom<String> for StepSize {
    type Error = StepSizeError;

    fn try_from(text: String) -> Result<Self, StepSizeError> {
        text.parse()
    }
}

impl From<StepSize> for String {
    fn from(step: StepSize) -> String {
        step.to_string()
    }
}

impl fmt::Display for StepSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.decay {
            Decay::Constant => "constant",
            Decay::Sqrt => "sqrt",
            Decay::Epoch => "epoch",
        };
        write!(f, "{name}:{}", self.initial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_round_trip_and_a_bare_number_is_constant() {
        for text in ["constant:0.5", "sqrt:2", "epoch:0.1"] {
            assert_eq!(text.parse::<StepSize>().unwrap().to_string(), text);
        }
        assert_eq!("0.5".parse::<StepSize>(), StepSize::constant(0.5));
    }

    #[test]
    fn what_is_not_a_positive_step_is_refused() {
        for text in ["", "0", "-1", "NaN", "inf", "linear:1", "sqrt:"] {
            assert!(text.parse::<StepSize>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_rules_decay_as_they_say() {
        let at = |text: &str, k| text.parse::<StepSize>().unwrap().at(k, 10.0);
        assert_eq!([at("constant:1", 1), at("constant:1", 25)], [1.0, 1.0]);
        assert_eq!([at("sqrt:1", 1), at("sqrt:1", 25)], [1.0, 0.2]);
        assert_eq!(
            [at("epoch:1", 10), at("epoch:1", 11), at("epoch:1", 30)],
            [1.0, 0.5, 1.0 / 3.0]
        );
    }
}
