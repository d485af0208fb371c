//! `φ(u) = |u|` of the residual `u = w − b`. The prox moves `u` towards 0 by `t` but not across.

use super::{Argument, Entry, ScalarLoss};
use crate::penalties::{sign, soft};

/// The absolute error `|w − b|`: median regression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Absolute;

pub(super) const ENTRY: Entry = Entry {
    name: Absolute::NAME,
    parameters: &[],
    about: "a number; the absolute error (median regression), with a kink",
    build: |_| Ok(Box::new(Absolute)),
};

impl ScalarLoss for Absolute {
    const NAME: &'static str = "absolute";
    const ARGUMENT: Argument = Argument::Residual;

    fn phi(&self, u: f64) -> f64 {
        u.abs()
    }

    fn slope(&self, u: f64) -> f64 {
        sign(u)
    }

    fn curvature(&self, _u: f64) -> f64 {
        0.0
    }

    fn prox_phi(&self, u: f64, step: f64) -> f64 {
        soft(u, step)
    }

    fn max_derivative(&self) -> f64 {
        1.0
    }

    fn max_curvature(&self) -> f64 {
        f64::INFINITY
    }
}
