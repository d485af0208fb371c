//! Gaussian noise on a sum over a Poisson sample: each record takes part independently with
//! probability q.
//!
//! Worst neighbours, with μ = 1/z whatever the adjacency (a replaced record moves the sum by +C or
//! by −C, never by 2C against the batch without it):
//! - add-remove: `(1−q)N(0,1) + qN(μ,1)` against `N(0,1)`, and the reverse;
//! - replace-one: `(1−q)N(0,1) + qN(μ,1)` against `(1−q)N(0,1) + qN(−μ,1)`, its own reverse.
//!
//! Proof note: `proofs/poisson-gaussian.md`.

use super::checked::{checked, out_of_range, positive};
use super::{Curve, EventCost, Mechanism};
use crate::pld::PrivacyLoss;
use crate::rdp;
use crate::vocabulary::Adjacency;

checked! {
    /// Gaussian noise on a sum over a Poisson sample.
    pub struct PoissonGaussian = "poisson-gaussian" {
        /// Standard deviation of the noise over the per-record clip, whatever the adjacency.
        noise_multiplier: f64,
        /// Probability with which each record takes part.
        rate: f64,
    }
    check(raw) {
        positive(Self::KIND, "noise_multiplier", raw.noise_multiplier)?;
        if !(raw.rate > 0.0 && raw.rate <= 1.0) {
            return Err(out_of_range(Self::KIND, "rate", raw.rate, "in (0, 1]"));
        }
    }
}

impl std::fmt::Display for PoissonGaussian {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Gaussian noise of {} clips on a Poisson sample of rate {}",
            self.noise_multiplier, self.rate
        )
    }
}

impl EventCost for PoissonGaussian {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn gdp(&self, adjacency: Adjacency) -> Option<f64> {
        (self.rate == 1.0).then(|| super::ratio(self.noise_multiplier, adjacency))
    }

    fn rdp(&self, adjacency: Adjacency) -> Option<Curve> {
        let (rate, mu) = (self.rate, 1.0 / self.noise_multiplier);
        let exchange = adjacency == Adjacency::ReplaceOne;
        Some(Box::new(move |order| rdp::poisson(rate, mu, order, exchange)))
    }

    fn losses(&self, adjacency: Adjacency) -> Option<(PrivacyLoss, PrivacyLoss)> {
        let (rate, mu) = (self.rate, 1.0 / self.noise_multiplier);
        Some(match adjacency {
            Adjacency::AddRemove => {
                (PrivacyLoss::removal(rate, mu), PrivacyLoss::addition(rate, mu))
            }
            Adjacency::ReplaceOne => {
                (PrivacyLoss::exchange(rate, mu), PrivacyLoss::exchange(rate, mu))
            }
        })
    }

    fn scaled(&self, by: f64) -> Option<Mechanism> {
        PoissonGaussian::new(self.noise_multiplier * by, self.rate).ok().map(Into::into)
    }
}
