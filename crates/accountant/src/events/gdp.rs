//! Anything that is μ-Gaussian-private: at most as revealing as N(0,1) against N(μ,1) (Dong–Roth–Su
//! 2022). Proof note: `proofs/gdp.md`.

use super::checked::{checked, positive};
use super::{Curve, EventCost, Mechanism};
use crate::vocabulary::Adjacency;

checked! {
    /// Anything that is μ-GDP under the event's adjacency.
    pub struct Gdp = "gdp" {
        /// μ under the event's adjacency.
        mu: f64,
    }
    check(raw) { positive(Self::KIND, "mu", raw.mu)?; }
}

impl std::fmt::Display for Gdp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a mechanism with mu {} (Gaussian privacy)", self.mu)
    }
}

impl EventCost for Gdp {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn gdp(&self, _adjacency: Adjacency) -> Option<f64> {
        Some(self.mu)
    }

    fn rdp(&self, _adjacency: Adjacency) -> Option<Curve> {
        let mu = self.mu;
        Some(Box::new(move |order| order * mu * mu / 2.0))
    }

    fn group(&self, size: u64) -> Option<Mechanism> {
        Gdp::new(self.mu * size as f64).ok().map(Into::into)
    }
}
