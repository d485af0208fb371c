//! `r(y) = (λ/2)‖y‖₂²`, the *squared* L2 norm with a factor ½, so that its gradient is `λy`. The
//! prox divides by `1 + λ·step`.

use super::{Entry, LAMBDA, OWN, Separable, sealed};
use crate::ParseError;

/// The ridge penalty, `(λ/2)‖y‖₂²`: half the squared norm, so that its gradient is `λy`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L2 {
    lambda: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: L2::NAME,
    parameters: &[LAMBDA],
    about: "lambda/2 times the sum of squares (ridge): makes all coefficients smaller",
    build: |p| Ok(Box::new(L2::new(p[0])?)),
};

impl L2 {
    /// The ridge penalty `(λ/2)‖y‖₂²` with `λ ≥ 0`.
    ///
    /// # Errors
    /// [`ParseError::OutOfRange`], with the range, if a parameter is outside it.
    pub fn new(lambda: f64) -> Result<Self, ParseError> {
        Ok(Self { lambda: LAMBDA.check(Self::NAME, lambda)? })
    }
}

impl Separable for L2 {
    const NAME: &'static str = "l2";

    fn parameters(&self) -> Vec<f64> {
        vec![self.lambda]
    }

    fn psi(&self, u: f64) -> f64 {
        0.5 * self.lambda * u * u
    }

    fn prox_psi(&self, u: f64, step: f64) -> f64 {
        u / (1.0 + self.lambda * step)
    }

    fn slope(&self, u: f64) -> f64 {
        self.lambda * u
    }

    fn max_derivative(&self) -> f64 {
        if self.lambda == 0.0 { 0.0 } else { f64::INFINITY }
    }

    fn max_curvature(&self) -> f64 {
        self.lambda
    }

    fn strong(&self) -> f64 {
        self.lambda
    }

    fn own(&self) -> Option<sealed::PenaltySeal> {
        OWN
    }
}
