//! A use of the data that nothing protects: ε = ∞. Written down so that the ledger stays complete.

use super::Cost;
use super::checked::checked;
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

impl Cost for NonPrivate {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn failure(&self) -> f64 {
        1.0
    }

    fn rdp(&self, _adjacency: Adjacency, _order: f64) -> Option<f64> {
        Some(f64::INFINITY)
    }
}
