//! Gaussian noise on a sum over a sample of fixed size m, drawn from n records without replacement.
//!
//! Only replace-one is defined: n must be the same for both neighbours. A batch that holds the
//! changed record and the one that does not differ by a replacement, so the ratio is 2/z, and q =
//! m/n. Proof note: `proofs/without-replacement-gaussian.md`.

use super::checked::{checked, out_of_range, positive};
use super::{Curve, EventCost, EventError, Mechanism, ratio};
use crate::outward::Upper;
use crate::pld::PrivacyLoss;
use crate::rdp;
use crate::vocabulary::Adjacency;

checked! {
    /// Gaussian noise on a sum over a sample of fixed size.
    pub struct WithoutReplacementGaussian = "without-replacement-gaussian" {
        /// Standard deviation of the noise over the per-record clip.
        noise_multiplier: f64,
        /// Records in the sample.
        size: u64,
        /// Records in the data.
        population: u64,
    }
    check(raw) {
        positive(Self::KIND, "noise_multiplier", raw.noise_multiplier)?;
        if raw.size == 0 || raw.size > raw.population {
            return Err(out_of_range(Self::KIND, "size", raw.size, "between 1 and the population"));
        }
    }
}

impl WithoutReplacementGaussian {
    /// Probability that one record is in the sample.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.size as f64 / self.population as f64
    }
}

impl std::fmt::Display for WithoutReplacementGaussian {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { noise_multiplier, size, population } = self;
        write!(f, "Gaussian noise of {noise_multiplier} clips on {size} of {population} records")
    }
}

impl EventCost for WithoutReplacementGaussian {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn check(&self, adjacency: Adjacency) -> Result<(), EventError> {
        match adjacency {
            Adjacency::ReplaceOne => Ok(()),
            Adjacency::AddRemove => Err(EventError::Undefined {
                event: Self::KIND,
                adjacency,
                reason: "a sample of fixed size needs a public number of records; \
                         use replace-one, or a Poisson sample",
            }),
        }
    }

    fn gdp(&self, adjacency: Adjacency) -> Option<f64> {
        (self.size == self.population).then(|| ratio(self.noise_multiplier, adjacency))
    }

    fn rdp(&self, adjacency: Adjacency) -> Option<Curve> {
        let (rate, mu) = (self.rate(), ratio(self.noise_multiplier, adjacency));
        let even = rdp::without_replacement::even_moments(mu);
        Some(Box::new(move |order| {
            // Two mixtures that share (1−q) of the batches: sound for every order, and better for
            // large ones.
            let crude = rdp::mixture_joint_convexity(rate, mu, order);
            let fine = rdp::without_replacement::divergence(rate, mu, order, &even);
            fine.map_or(Upper::INFINITE, Upper::new).least(Upper::new(crude)).value()
        }))
    }

    fn losses(&self, adjacency: Adjacency) -> Option<(PrivacyLoss, PrivacyLoss)> {
        let loss = PrivacyLoss::symmetric(self.rate(), ratio(self.noise_multiplier, adjacency));
        Some((loss.clone(), loss))
    }

    fn scaled(&self, by: f64) -> Option<Mechanism> {
        WithoutReplacementGaussian::new(self.noise_multiplier * by, self.size, self.population)
            .ok()
            .map(Into::into)
    }
}
