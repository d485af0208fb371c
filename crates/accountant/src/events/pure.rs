//! Anything that is (ε, 0)-private: randomised response is its worst pair (Kairouz–Oh–Viswanath
//! 2015). Proof note: `proofs/pure-dp.md`.

use super::checked::{checked, not_negative};
use super::{Curve, EventCost, Mechanism};
use crate::outward::{Upper, at_least};
use crate::pld::PrivacyLoss;
use crate::special::log_add;
use crate::vocabulary::Adjacency;

checked! {
    /// Anything that is (ε, 0)-private under the event's adjacency.
    pub struct PureDp = "pure-dp" {
        /// ε under the event's adjacency.
        epsilon: f64,
    }
    check(raw) { not_negative(Self::KIND, "epsilon", raw.epsilon)?; }
}

/// Rényi divergence of randomised response, the largest that (ε, 0) allows.
pub(super) fn response_curve(epsilon: f64) -> Curve {
    Box::new(move |order| {
        let log_total = log_add(epsilon, 0.0);
        let value = log_add(order * epsilon - log_total, (1.0 - order) * epsilon - log_total);
        // Never above ε itself; rounding alone can bring it there.
        Upper::new((at_least(value, 0.0) + 1e-15) / (order - 1.0))
            .least(Upper::new(epsilon))
            .value()
    })
}

impl std::fmt::Display for PureDp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a mechanism with epsilon {}", self.epsilon)
    }
}

impl EventCost for PureDp {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn pure(&self, _adjacency: Adjacency) -> Option<f64> {
        Some(self.epsilon)
    }

    fn rdp(&self, _adjacency: Adjacency) -> Option<Curve> {
        Some(response_curve(self.epsilon))
    }

    fn losses(&self, _adjacency: Adjacency) -> Option<(PrivacyLoss, PrivacyLoss)> {
        Some((PrivacyLoss::response(self.epsilon, 0.0), PrivacyLoss::response(self.epsilon, 0.0)))
    }

    fn group(&self, size: u64) -> Option<Mechanism> {
        PureDp::new(self.epsilon * size as f64).ok().map(Into::into)
    }
}
