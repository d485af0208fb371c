//! A choice among candidates by the exponential mechanism: P(c) ∝ exp(q_c/(zC)), each q_c a sum over
//! records of which one adds a number in [−C, C].
//!
//! With r = 1/z (add-remove) or 2/z (replace-one) no log-weight moves by more than r either way, so
//! that the privacy losses of all outcomes lie in an interval of length 2r: it has a bounded range
//! of η = 2r (Durfee–Rogers 2019), costs D_α ≤ αη²/8 = αr²/2 and is (η, 0)-private. Proof note:
//! `proofs/exponential-mechanism.md`.

use super::checked::{checked, positive};
use super::pure::response_curve;
use super::{Curve, EventCost, Mechanism, ratio};
use crate::outward::Upper;
use crate::vocabulary::Adjacency;

checked! {
    /// A choice by the exponential mechanism, among candidates whose scores are sums over all
    /// records.
    pub struct ExponentialMechanism = "exponential-mechanism" {
        /// What a score is divided by, over the most that one record adds to it, whatever the
        /// adjacency.
        noise_multiplier: f64,
    }
    check(raw) { positive(Self::KIND, "noise_multiplier", raw.noise_multiplier)?; }
}

impl ExponentialMechanism {
    /// η: the length of the interval that the privacy losses of all outcomes lie in.
    fn range(&self, adjacency: Adjacency) -> f64 {
        2.0 * ratio(self.noise_multiplier, adjacency)
    }
}

impl std::fmt::Display for ExponentialMechanism {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a choice by the exponential mechanism, of {} clips", self.noise_multiplier)
    }
}

impl EventCost for ExponentialMechanism {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn pure(&self, adjacency: Adjacency) -> Option<f64> {
        Some(self.range(adjacency))
    }

    fn rdp(&self, adjacency: Adjacency) -> Option<Curve> {
        let range = self.range(adjacency);
        let response = response_curve(range);
        Some(Box::new(move |order| {
            // Both hold; the second is the lower one where the range is long.
            Upper::new(order * range * range / 8.0).least(Upper::new(response(order))).value()
        }))
    }

    fn group(&self, size: u64) -> Option<Mechanism> {
        ExponentialMechanism::new(self.noise_multiplier / size as f64).ok().map(Into::into)
    }

    fn scaled(&self, by: f64) -> Option<Mechanism> {
        ExponentialMechanism::new(self.noise_multiplier * by).ok().map(Into::into)
    }
}
