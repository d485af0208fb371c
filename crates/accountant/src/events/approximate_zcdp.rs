//! Anything that is ρ-zero-concentrated but for a probability δ, with which nothing is said of it
//! (Bun–Steinke 2016, section 8). Proof note: `proofs/noise-distributed.md`.

use super::checked::{checked, not_negative, out_of_range};
use super::{Curve, EventCost};
use crate::vocabulary::Adjacency;

checked! {
    /// Anything that is ρ-zCDP under the event's adjacency, but for a probability δ.
    pub struct ApproximateZcdp = "approximate-zcdp" {
        /// ρ under the event's adjacency.
        rho: f64,
        /// The probability that it is not.
        delta: f64,
    }
    check(raw) {
        not_negative(Self::KIND, "rho", raw.rho)?;
        if !(0.0..=1.0).contains(&raw.delta) {
            return Err(out_of_range(Self::KIND, "delta", raw.delta, "between 0 and 1"));
        }
    }
}

impl std::fmt::Display for ApproximateZcdp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "a mechanism with rho {} (zCDP), but for a probability of {:e}",
            self.rho, self.delta
        )
    }
}

impl EventCost for ApproximateZcdp {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn failure(&self) -> f64 {
        self.delta
    }

    fn rdp(&self, _adjacency: Adjacency) -> Option<Curve> {
        let rho = self.rho;
        Some(Box::new(move |order| rho * order))
    }
}
