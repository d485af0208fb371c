//! Anything that is (ε, δ)-private: with probability δ it gives everything away, otherwise it is
//! randomised response (Kairouz–Oh–Viswanath 2015). Proof note: `proofs/approximate-dp.md`.

use super::checked::{checked, not_negative, out_of_range};
use super::pure::response_curve;
use super::{Curve, EventCost};
use crate::pld::PrivacyLoss;
use crate::vocabulary::Adjacency;

checked! {
    /// Anything that is (ε, δ)-private under the event's adjacency.
    pub struct ApproximateDp = "approximate-dp" {
        /// ε under the event's adjacency.
        epsilon: f64,
        /// δ under the event's adjacency.
        delta: f64,
    }
    check(raw) {
        not_negative(Self::KIND, "epsilon", raw.epsilon)?;
        if !(0.0..=1.0).contains(&raw.delta) {
            return Err(out_of_range(Self::KIND, "delta", raw.delta, "between 0 and 1"));
        }
    }
}

impl std::fmt::Display for ApproximateDp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a mechanism with epsilon {} and delta {}", self.epsilon, self.delta)
    }
}

impl EventCost for ApproximateDp {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn pure(&self, _adjacency: Adjacency) -> Option<f64> {
        Some(self.epsilon)
    }

    fn failure(&self) -> f64 {
        self.delta
    }

    fn rdp(&self, _adjacency: Adjacency) -> Option<Curve> {
        Some(response_curve(self.epsilon))
    }

    fn losses(&self, _adjacency: Adjacency) -> Option<(PrivacyLoss, PrivacyLoss)> {
        let loss = PrivacyLoss::response(self.epsilon, self.delta);
        Some((loss.clone(), loss))
    }
}
