//! Step sizes η_k that depend on the iteration alone.

use crate::settings::positive;
use reticent_oracle::Refused;

reticent_oracle::words! {
    /// A rule for η_k; a number alone is a constant.
    pub enum StepSize = "step", bare "constant" {
        /// `η_k = η`.
        Constant(eta: f64 where is_step(eta)) = "constant" ":η",
        /// `η_k = η/√k`.
        Sqrt(eta: f64 where is_step(eta)) = "sqrt" ":η (η/√k)",
        /// `η_k = η/(epoch of k)`, the first epoch being 1 (RDP20, section 5).
        Epoch(eta: f64 where is_step(eta)) = "epoch" ":η (η over the epoch), with η > 0",
    }
}

fn is_step(eta: f64) -> bool {
    eta.is_finite() && eta > 0.0
}

impl StepSize {
    /// The same, if its η is a positive number.
    pub(crate) fn checked(self) -> Result<Self, Refused> {
        let (StepSize::Constant(eta) | StepSize::Sqrt(eta) | StepSize::Epoch(eta)) = self;
        positive("step", eta).map(|_| self)
    }

    /// η of iteration `k` (from 1), when an epoch has `per_epoch` iterations.
    pub fn at(&self, k: u64, per_epoch: f64) -> f64 {
        match self {
            StepSize::Constant(eta) => *eta,
            StepSize::Sqrt(eta) => eta / (k as f64).sqrt(),
            StepSize::Epoch(eta) => eta / ((k - 1) as f64 / per_epoch.max(1.0) + 1.0).floor(),
        }
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
        assert_eq!("0.5".parse(), Ok(StepSize::Constant(0.5)));
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
