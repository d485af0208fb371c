//! `r(y) = 0`; the prox is the identity.

use super::{Entry, OWN, Separable, sealed};

/// No penalty at all: `r(y) = 0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoPenalty;

pub(super) const ENTRY: Entry = Entry {
    name: NoPenalty::NAME,
    parameters: &[],
    about: "no penalty",
    build: |_| Ok(Box::new(NoPenalty)),
};

impl Separable for NoPenalty {
    const NAME: &'static str = "none";

    fn parameters(&self) -> Vec<f64> {
        Vec::new()
    }

    fn psi(&self, _u: f64) -> f64 {
        0.0
    }

    fn prox_psi(&self, u: f64, _step: f64) -> f64 {
        u
    }

    fn slope(&self, _u: f64) -> f64 {
        0.0
    }

    fn max_derivative(&self) -> f64 {
        0.0
    }

    fn max_curvature(&self) -> f64 {
        0.0
    }

    fn lasso(&self) -> Option<f64> {
        Some(0.0)
    }

    fn own(&self) -> Option<sealed::PenaltySeal> {
        OWN
    }
}
