//! Objective perturbation: the exact minimiser of a strongly convex objective to which a Gaussian
//! linear term was added.
//!
//! With μ₁ the norm of one record's gradient over the noise, and s the logarithm by which one
//! record changes the determinant of the Hessian, the profile is bounded for ε ≥ ε₀ by that of a
//! Gaussian, pushed outward:
//!
//! δ(ε) ≤ δ_G(ε − 2s; 2μ₁),  ε₀ = 2s + μ₁²,  for μ₁ ≤ 3/2,
//!
//! in both directions, and between −ε₀ and ε₀ by the chord, because profiles are convex in e^ε. It
//! holds for losses of one score whose slope never changes sign, and for both adjacencies: of more
//! records than a public number allows a random subset is taken, so that who is added may push
//! another out. Proof note: `proofs/objective.md`.

use super::checked::{checked, not_negative, positive};
use super::{EventCost, Mechanism};
use crate::pld::PrivacyLoss;
use crate::vocabulary::Adjacency;

checked! {
    /// The exact minimiser of an objective with a Gaussian linear term.
    pub struct ObjectivePerturbation = "objective-perturbation" {
        /// Standard deviation of the linear term over the largest gradient of a record.
        noise_multiplier: f64,
        /// A bound of the logarithm of the factor by which adding one record changes the Hessian's
        /// determinant.
        log_determinant: f64,
    }
    check(raw) {
        positive(Self::KIND, "noise_multiplier", raw.noise_multiplier)?;
        not_negative(Self::KIND, "log_determinant", raw.log_determinant)?;
    }
}

/// The largest μ₁ that the bound is proven for.
const MOST: f64 = 1.5;

impl std::fmt::Display for ObjectivePerturbation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "a Gaussian linear term of {} clips in an objective, log-determinant {}",
            self.noise_multiplier, self.log_determinant
        )
    }
}

impl EventCost for ObjectivePerturbation {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn losses(&self, _: Adjacency) -> Option<(PrivacyLoss, PrivacyLoss)> {
        let (one, push) = (1.0 / self.noise_multiplier, self.log_determinant);
        if one > MOST {
            return None;
        }
        let loss = PrivacyLoss::pushed(2.0 * one, 2.0 * push, 2.0 * push + one * one);
        Some((loss.clone(), loss))
    }

    fn scaled(&self, by: f64) -> Option<Mechanism> {
        ObjectivePerturbation::new(self.noise_multiplier * by, self.log_determinant)
            .ok()
            .map(Into::into)
    }
}
