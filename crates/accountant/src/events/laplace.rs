//! Laplace noise on a sum whose records are clipped to ℓ1-norm C: scale b·C per coordinate.
//!
//! The ratio of sensitivity to scale is r = 1/b (add-remove) or 2/b (replace-one); the loss of
//! Lap(0) against Lap(r) lies in [−r, r]. Rényi curve: Mironov 2017, Table II. Proof note:
//! `proofs/laplace.md`.

use super::checked::{checked, positive};
use super::{Curve, EventCost, Mechanism, ratio};
use crate::outward::at_least;
use crate::pld::PrivacyLoss;
use crate::special::log_add;
use crate::vocabulary::Adjacency;

checked! {
    /// Laplace noise on a sum over all records.
    pub struct Laplace = "laplace" {
        /// Scale of the noise over the per-record ℓ1 clip, whatever the adjacency.
        noise_multiplier: f64,
    }
    check(raw) { positive(Self::KIND, "noise_multiplier", raw.noise_multiplier)?; }
}

impl std::fmt::Display for Laplace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Laplace noise of scale {} clips", self.noise_multiplier)
    }
}

impl EventCost for Laplace {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn pure(&self, adjacency: Adjacency) -> Option<f64> {
        Some(ratio(self.noise_multiplier, adjacency))
    }

    fn rdp(&self, adjacency: Adjacency) -> Option<Curve> {
        let r = ratio(self.noise_multiplier, adjacency);
        Some(Box::new(move |order| {
            let (near, far) =
                ((order / (2.0 * order - 1.0)).ln(), ((order - 1.0) / (2.0 * order - 1.0)).ln());
            (at_least(log_add(near + (order - 1.0) * r, far - order * r), 0.0) + 1e-15)
                / (order - 1.0)
        }))
    }

    fn losses(&self, adjacency: Adjacency) -> Option<(PrivacyLoss, PrivacyLoss)> {
        let loss = PrivacyLoss::laplace(ratio(self.noise_multiplier, adjacency));
        Some((loss.clone(), loss))
    }

    fn group(&self, size: u64) -> Option<Mechanism> {
        Laplace::new(self.noise_multiplier / size as f64).ok().map(Into::into)
    }

    fn scaled(&self, by: f64) -> Option<Mechanism> {
        Laplace::new(self.noise_multiplier * by).ok().map(Into::into)
    }
}
