//! A use of the data that nothing protects: ε = ∞. Written down so that the ledger stays complete.

use super::checked::checked;
use super::{Curve, EventCost, Mechanism};
use crate::pld::PrivacyLoss;
use crate::vocabulary::Adjacency;

checked! {
    /// No protection.
    pub struct NonPrivate = "non-private" {}
    check(_raw) {}
}

impl std::fmt::Display for NonPrivate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a release without protection")
    }
}

impl EventCost for NonPrivate {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn failure(&self) -> f64 {
        1.0
    }

    fn rdp(&self, _adjacency: Adjacency) -> Option<Curve> {
        Some(Box::new(|_| f64::INFINITY))
    }

    fn losses(&self, _adjacency: Adjacency) -> Option<(PrivacyLoss, PrivacyLoss)> {
        Some((PrivacyLoss::response(0.0, 1.0), PrivacyLoss::response(0.0, 1.0)))
    }

    fn group(&self, _size: u64) -> Option<Mechanism> {
        Some((*self).into())
    }
}
