//! `r(y) = λ₁‖y‖₁ + (λ₂/2)‖y‖₂²`; the prox shrinks by `λ₁·step` and then divides by `1 + λ₂·step`.

use super::{Entry, OWN, Separable, sealed, sign, soft};
use crate::ParseError;
use crate::catalogue::{Parameter, Range};

const LAMBDA1: Parameter = Parameter::required("lambda1", Range::AtLeast(0.0));
const LAMBDA2: Parameter = Parameter::required("lambda2", Range::AtLeast(0.0));

/// The elastic net, `λ₁‖y‖₁ + (λ₂/2)‖y‖₂²`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElasticNet {
    lambda1: f64,
    lambda2: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: ElasticNet::NAME,
    parameters: &[LAMBDA1, LAMBDA2],
    about: "lambda1 times the sum of absolute values plus lambda2/2 times the sum of squares",
    build: |p| Ok(Box::new(ElasticNet::new(p[0], p[1])?)),
};

impl ElasticNet {
    /// The elastic net `λ₁‖y‖₁ + (λ₂/2)‖y‖₂²` with both strengths at least 0.
    ///
    /// # Errors
    /// [`ParseError::OutOfRange`], with the range, if a parameter is outside it.
    pub fn new(lambda1: f64, lambda2: f64) -> Result<Self, ParseError> {
        let lambda1 = LAMBDA1.check(Self::NAME, lambda1)?;
        Ok(Self { lambda1, lambda2: LAMBDA2.check(Self::NAME, lambda2)? })
    }
}

impl Separable for ElasticNet {
    const NAME: &'static str = "elastic-net";

    fn parameters(&self) -> Vec<f64> {
        vec![self.lambda1, self.lambda2]
    }

    fn psi(&self, u: f64) -> f64 {
        self.lambda1 * u.abs() + 0.5 * self.lambda2 * u * u
    }

    fn prox_psi(&self, u: f64, step: f64) -> f64 {
        soft(u, self.lambda1 * step) / (1.0 + self.lambda2 * step)
    }

    fn slope(&self, u: f64) -> f64 {
        self.lambda1 * sign(u) + self.lambda2 * u
    }

    fn max_derivative(&self) -> f64 {
        if self.lambda2 == 0.0 { self.lambda1 } else { f64::INFINITY }
    }

    fn max_curvature(&self) -> f64 {
        if self.lambda1 == 0.0 { self.lambda2 } else { f64::INFINITY }
    }

    fn strong(&self) -> f64 {
        self.lambda2
    }

    fn own(&self) -> Option<sealed::PenaltySeal> {
        OWN
    }
}
