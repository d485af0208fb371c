//! `R(u) = u − (2/β)∇f(u)` (FP23, Proposition 1).
//!
//! R is non-expansive for a β-smooth f. The gradient is the gate's noisy mean over a sample: e_k and
//! η of the proposition are the sample's and the query's, and its η' = (β/2)η is the noise of that
//! mean. Released: one mean gradient an iteration, as a Gaussian event under its sampling.

use reticent_oracle::queries::{ClippedMean, Gradient};
use reticent_oracle::{Oracle, Refusal, Refused};

use super::{IterationStep, Operator};
use crate::settings::positive;

/// A step along the noisy mean gradient.
#[derive(Clone, Copy, Debug)]
pub struct GradientStep {
    mean: ClippedMean,
    smoothness: f64,
}

impl GradientStep {
    /// For a loss whose gradient is β-Lipschitz, `smoothness`; λ = ηβ/2 is then a step of η.
    ///
    /// # Errors
    /// A β that is not above 0.
    pub fn new(mean: ClippedMean, smoothness: f64) -> Result<Self, Refused> {
        Ok(GradientStep { mean, smoothness: positive("smoothness", smoothness)? })
    }
}

impl Operator for GradientStep {
    fn advance(
        &mut self,
        step: IterationStep,
        u: &mut [f64],
        oracle: &mut dyn Oracle,
    ) -> Result<(), Refusal> {
        let mut d = oracle.ask(&Gradient { at: u, mean: self.mean })?.into_inner();
        d.iter_mut().for_each(|d| *d *= -2.0 / self.smoothness);
        step.average(u, &d);
        Ok(())
    }
}
