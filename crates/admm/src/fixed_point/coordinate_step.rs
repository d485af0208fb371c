//! `R_b(u) = u_b − (2/β)∇_b f(u)`, a coordinate a block, one a step (FP23, Proposition 2).
//!
//! ρ_{k,b} is 1 for b = k mod d. Released: one partial derivative an iteration, as a Gaussian event
//! under its sampling.

use reticent_oracle::queries::{ClippedMean, Coordinate};
use reticent_oracle::{Oracle, Refusal, Refused};

use super::{IterationStep, Operator};
use crate::settings::positive;

/// A step along one noisy partial derivative.
#[derive(Clone, Copy, Debug)]
pub struct CoordinateStep {
    mean: ClippedMean,
    smoothness: f64,
}

impl CoordinateStep {
    /// For a loss whose gradient is β-Lipschitz, `smoothness`; λ = ηβ/2 is then a step of η.
    ///
    /// # Errors
    /// A β that is not above 0.
    pub fn new(mean: ClippedMean, smoothness: f64) -> Result<Self, Refused> {
        Ok(CoordinateStep { mean, smoothness: positive("smoothness", smoothness)? })
    }
}

impl Operator for CoordinateStep {
    fn advance(
        &mut self,
        step: IterationStep,
        u: &mut [f64],
        oracle: &mut dyn Oracle,
    ) -> Result<(), Refusal> {
        let index = ((step.k - 1) % u.len() as u64) as usize;
        let g = oracle.ask(&Coordinate { at: u, index, mean: self.mean })?.into_inner();
        step.average(&mut u[index..=index], &[-2.0 / self.smoothness * g]);
        Ok(())
    }
}
