//! `r(y) = λ‖y‖₁`; the prox shrinks each entry by `λ·step`, and to zero if it is smaller.

use super::{Entry, LAMBDA, OWN, Separable, sealed, sign, soft};
use crate::ParseError;

/// The lasso, `λ‖y‖₁`: the sum of absolute values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L1 {
    lambda: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: L1::NAME,
    parameters: &[LAMBDA],
    about: "lambda times the sum of absolute values (lasso): sets many coefficients to zero",
    build: |p| Ok(Box::new(L1::new(p[0])?)),
};

impl L1 {
    /// The lasso `λ‖y‖₁` with `λ ≥ 0`.
    ///
    /// # Errors
    /// [`ParseError::OutOfRange`], with the range, if a parameter is outside it.
    pub fn new(lambda: f64) -> Result<Self, ParseError> {
        Ok(Self { lambda: LAMBDA.check(Self::NAME, lambda)? })
    }
}

impl Separable for L1 {
    const NAME: &'static str = "l1";

    fn parameters(&self) -> Vec<f64> {
        vec![self.lambda]
    }

    fn psi(&self, u: f64) -> f64 {
        self.lambda * u.abs()
    }

    fn prox_psi(&self, u: f64, step: f64) -> f64 {
        soft(u, self.lambda * step)
    }

    fn slope(&self, u: f64) -> f64 {
        self.lambda * sign(u)
    }

    fn max_derivative(&self) -> f64 {
        self.lambda
    }

    fn lasso(&self) -> Option<f64> {
        Some(self.lambda)
    }

    fn own(&self) -> Option<sealed::PenaltySeal> {
        OWN
    }
}
