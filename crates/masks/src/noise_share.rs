//! Each member's share of the noise of the sum.
//!
//! The sum must carry noise of parameter σ although c of the m members may be corrupt
//! ([`crate::Corrupt`]): each adds a discrete Gaussian of parameter s = σ/√(m − c). When members
//! leave, their shares leave with them. The threshold T says how many stay at least, of whom c may
//! be corrupt, so the noise of
//!
//! > n = T − c honest members
//!
//! is in every sum that is ever opened, and this n, not the hoped-for m − c, is what is counted.
//! More only adds independent noise. The chance that more than c are corrupt, or that masks hide
//! nothing, is part of the event. Proof note: `proofs/noise-distributed.md`.

use reticent_accountant::views::{self, DistributedNoiseError};
use reticent_accountant::{
    Adjacency, ApproximateZcdp, Event, EventError, Mechanism, Unit, View, Zcdp,
};
use reticent_noise::grid::{DiscreteGaussian, GridNoise, NoiseError};
use reticent_noise::{Entropy, EntropyError};

use crate::AggregationTerms;

/// Shares that give no guarantee.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoiseShareError {
    /// So many may be corrupt, and so few must stay, that the sum may hold no honest noise.
    #[error(
        "of {members} members {corrupt} may be corrupt and {threshold} must stay: no honest noise is certain; raise \
         the threshold above {corrupt}"
    )]
    NobodyHonestStays {
        /// The number of members.
        members: u32,
        /// How many may be corrupt.
        corrupt: u64,
        /// How many must stay.
        threshold: u32,
    },
    /// The share has no exact sampler.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// The share has no theorem.
    #[error(transparent)]
    Theorem(#[from] DistributedNoiseError),
    /// The books refuse the event.
    #[error(transparent)]
    Event(#[from] EventError),
}

/// What a member adds, and what it is counted as.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct NoiseShare {
    law: DiscreteGaussian,
    share: f64,
    certain: u64,
    members: u32,
    dimension: u32,
    failure: f64,
}

impl NoiseShare {
    /// Shares of a noise of parameter `sigma`, in steps of the grid, for members of whom `corrupt`
    /// at the most are corrupt.
    ///
    /// # Errors
    /// When no honest noise is certain, or a share is below half a step.
    ///
    /// # Examples
    ///
    /// ```
    /// use reticent_accountant::{Adjacency, Unit};
    /// use reticent_masks::{NoiseShare, AggregationTerms};
    ///
    /// // Of ten members eight must stay and two may be corrupt: the noise of six is counted.
    /// let terms = AggregationTerms::complete([7; 32], 0, 10, 8, 100)?;
    /// let share = NoiseShare::new(&terms, 2, 1_000.0)?;
    /// assert_eq!(share.certain(), 6);
    /// // What an opened sum costs where neighbours differ by 100 steps.
    /// let event = share.event(100.0, Adjacency::ReplaceOne, Unit::User)?;
    /// assert_eq!(event.unit(), Unit::User);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        terms: &AggregationTerms,
        corrupt: u32,
        sigma: f64,
    ) -> Result<Self, NoiseShareError> {
        let (members, threshold) = (terms.members(), terms.threshold());
        let certain = u64::from(threshold.saturating_sub(corrupt));
        if certain == 0 {
            return Err(NoiseShareError::NobodyHonestStays {
                members,
                corrupt: corrupt.into(),
                threshold,
            });
        }
        let share = sigma / f64::from(members - corrupt).sqrt();
        // The theorem's condition on the share, at the door and not at the first event.
        views::distributed_gaussian(share, certain, 0.0, 1)?;
        let law = DiscreteGaussian::new(share, 0)?;
        Ok(Self { law, share, certain, members, dimension: terms.dimension(), failure: 0.0 })
    }

    /// The same where with a chance of `failure` at the most a sum has more corrupt members, or its
    /// masks hide nothing.
    #[must_use]
    pub fn failing(self, failure: f64) -> Self {
        Self { failure: failure.clamp(0.0, 1.0), ..self }
    }

    /// The parameter of one member's noise, in steps.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.share
    }

    /// How many honest shares every opened sum holds.
    #[must_use]
    pub fn certain(&self) -> u64 {
        self.certain
    }

    /// The parameter of the noise of a sum over all members, in steps: what a [`crate::FixedPoint`]
    /// must have room for.
    #[must_use]
    pub fn whole(&self) -> f64 {
        self.share * f64::from(self.members).sqrt()
    }

    /// Adds the share to a member's integers, modulo 2⁶⁴.
    ///
    /// # Errors
    /// When the operating system gives no random bytes.
    pub fn perturb(&self, entropy: &mut Entropy, steps: &[i64]) -> Result<Vec<u64>, EntropyError> {
        let mut values: Vec<u64> = steps.iter().map(|&step| step as u64).collect();
        self.law.perturb_modular(entropy, &mut values)?;
        Ok(values)
    }

    /// What an opened sum costs when neighbouring sums differ by at most `sensitivity` steps in the
    /// ℓ₂ norm.
    ///
    /// # Errors
    /// When the sensitivity is no length.
    pub fn cost(&self, sensitivity: f64) -> Result<Zcdp, NoiseShareError> {
        Ok(views::distributed_gaussian(
            self.share,
            self.certain,
            sensitivity,
            u64::from(self.dimension),
        )?)
    }

    /// The ledger entry of an opened sum, against whoever sees the sums and has the corrupt
    /// members' noise.
    ///
    /// # Errors
    /// When the sensitivity is no length.
    pub fn event(
        &self,
        sensitivity: f64,
        adjacency: Adjacency,
        unit: Unit,
    ) -> Result<Event, NoiseShareError> {
        let cost = self.cost(sensitivity)?;
        let mechanism: Mechanism = match self.failure {
            0.0 => cost.into(),
            failure => ApproximateZcdp::new(cost.rho(), failure)?.into(),
        };
        Ok(Event::new(mechanism, adjacency, unit, View::SecureAggregation)?)
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::FixedPoint;
    use crate::tests::{Play, STAYS};

    fn terms(members: u32, threshold: u32) -> AggregationTerms {
        AggregationTerms::complete([0; 32], 0, members, threshold, 10).unwrap()
    }

    #[test]
    fn the_worst_survivors_are_counted() {
        let all = NoiseShare::new(&terms(10, 10), 0, 1000.0).unwrap();
        assert_eq!(all.certain(), 10);
        let half = 0.5 * (50.0_f64 / 1000.0).powi(2);
        assert!((all.cost(50.0).unwrap().rho() / half - 1.0).abs() < 1e-9);
        // Eight honest, of whom two may leave: 6/8 of the variance.
        let worst = NoiseShare::new(&terms(10, 8), 2, 1000.0).unwrap();
        assert_eq!(worst.certain(), 6);
        assert!((worst.cost(50.0).unwrap().rho() / (half * 8.0 / 6.0) - 1.0).abs() < 1e-9);
        let counted = reticent_accountant::views::surviving_noise(1000.0, 10, 0.8, 6).unwrap();
        assert!((counted - worst.share() * 6_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn shares_without_a_guarantee_are_refused_by_name() {
        assert!(matches!(
            NoiseShare::new(&terms(10, 6), 6, 10.0),
            Err(NoiseShareError::NobodyHonestStays { corrupt: 6, .. })
        ));
        assert!(matches!(NoiseShare::new(&terms(10, 8), 0, 1.0), Err(NoiseShareError::Theorem(_))));
        assert!(matches!(NoiseShare::new(&terms(10, 8), 0, 1e300), Err(NoiseShareError::Noise(_))));
    }

    #[test]
    fn the_event_is_for_those_who_see_sums() {
        let event = NoiseShare::new(&terms(4, 4), 0, 100.0)
            .unwrap()
            .event(1.0, Adjacency::ReplaceOne, Unit::User)
            .unwrap();
        assert_eq!(event.view(), View::SecureAggregation);
    }

    /// From reals to the sum with its noise: the noise has the standard deviation that was asked
    /// for. 400 coordinates; the bound of six standard deviations of the estimate is passed with
    /// probability below 1e-8.
    #[test]
    fn a_noisy_sum_from_end_to_end() {
        let terms = AggregationTerms::complete([0; 32], 0, 8, 6, 400).unwrap();
        let share = NoiseShare::new(&terms, 0, 4096.0).unwrap();
        let fixed = FixedPoint::new(1.0, 16, 8, share.whole()).unwrap();
        let inputs: Vec<Vec<u64>> = (0..8)
            .map(|id| share.perturb(&mut Entropy::seeded(id), &fixed.encode(&[0.25; 400])).unwrap())
            .collect();
        let sum = Play::with_inputs(&terms, |member| inputs[member as usize].clone())
            .run(|_| STAYS)
            .unwrap();
        let errors: Vec<f64> = fixed.decode(&sum.values).iter().map(|value| value - 2.0).collect();
        let variance = errors.iter().map(|error| error * error).sum::<f64>() / 400.0;
        let truth = (4096.0_f64 / 65536.0).powi(2);
        assert!(
            (variance / truth - 1.0).abs() < 6.0 * (2.0_f64 / 400.0).sqrt(),
            "{variance} {truth}"
        );
    }
}
