//! Anything that is ρ-zero-concentrated: D_α ≤ ρα for every α > 1 (Bun–Steinke 2016). Proof note:
//! `proofs/zcdp.md`.

use super::checked::{checked, not_negative};
use super::{Curve, EventCost, Mechanism};
use crate::vocabulary::Adjacency;

checked! {
    /// Anything that is ρ-zCDP under the event's adjacency.
    pub struct Zcdp = "zcdp" {
        /// ρ under the event's adjacency.
        rho: f64,
    }
    check(raw) { not_negative(Self::KIND, "rho", raw.rho)?; }
}

impl std::fmt::Display for Zcdp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a mechanism with rho {} (zCDP)", self.rho)
    }
}

impl EventCost for Zcdp {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn rdp(&self, _adjacency: Adjacency) -> Option<Curve> {
        let rho = self.rho;
        Some(Box::new(move |order| rho * order))
    }

    fn group(&self, size: u64) -> Option<Mechanism> {
        Zcdp::new(self.rho * (size as f64).powi(2)).ok().map(Into::into)
    }
}
