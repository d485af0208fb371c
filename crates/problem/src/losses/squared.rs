//! `φ(u) = u²/2` of the residual `u = w − b`. The slope has no bound: a gate that clips bounds it.

use super::{Argument, Entry, ScalarLoss};

/// Half the squared error, `(w − b)²/2`. Its slope has no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Squared;

pub(super) const ENTRY: Entry = Entry {
    name: Squared::NAME,
    parameters: &[],
    about: "a number; half the squared error (least squares)",
    build: |_| Ok(Box::new(Squared)),
};

impl ScalarLoss for Squared {
    const NAME: &'static str = "squared";
    const ARGUMENT: Argument = Argument::Residual;

    fn phi(&self, u: f64) -> f64 {
        0.5 * u * u
    }

    fn slope(&self, u: f64) -> f64 {
        u
    }

    fn curvature(&self, _u: f64) -> f64 {
        1.0
    }

    fn prox_phi(&self, u: f64, step: f64) -> f64 {
        u / (1.0 + step)
    }

    fn max_derivative(&self) -> f64 {
        f64::INFINITY
    }

    fn max_curvature(&self) -> f64 {
        1.0
    }
}
