//! Gaussian noise on a sum whose records are clipped to norm C: the release is
//! `Σ g_i + N(0, (z C)² I)`.
//!
//! The pair of worst neighbours is N(0, 1) against N(μ, 1) with μ = 1/z (add-remove) or 2/z
//! (replace-one), in both directions alike. Proof note: `proofs/gaussian.md`.

use super::checked::{checked, positive};
use super::{Curve, EventCost, Mechanism, ratio};
use crate::vocabulary::Adjacency;

checked! {
    /// Gaussian noise on a sum over all records.
    pub struct Gaussian = "gaussian" {
        /// Standard deviation of the noise over the per-record clip, whatever the adjacency.
        noise_multiplier: f64,
    }
    check(raw) { positive(Self::KIND, "noise_multiplier", raw.noise_multiplier)?; }
}

impl std::fmt::Display for Gaussian {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gaussian noise of {} clips", self.noise_multiplier)
    }
}

impl EventCost for Gaussian {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn gdp(&self, adjacency: Adjacency) -> Option<f64> {
        Some(ratio(self.noise_multiplier, adjacency))
    }

    fn rdp(&self, adjacency: Adjacency) -> Option<Curve> {
        let mu = ratio(self.noise_multiplier, adjacency);
        Some(Box::new(move |order| order * mu * mu / 2.0))
    }

    fn group(&self, size: u64) -> Option<Mechanism> {
        Gaussian::new(self.noise_multiplier / size as f64).ok().map(Into::into)
    }

    fn scaled(&self, by: f64) -> Option<Mechanism> {
        Gaussian::new(self.noise_multiplier * by).ok().map(Into::into)
    }
}
