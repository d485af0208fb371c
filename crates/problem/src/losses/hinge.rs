//! `φ(u) = max(0, 1 − u)` of the margin `u = b·w`. The prox moves `u` up by `t` but not across 1.

use super::{Argument, Entry, ScalarLoss};

/// The hinge `max(0, 1 − b·w)` of a support vector machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hinge;

pub(super) const ENTRY: Entry = Entry {
    name: Hinge::NAME,
    parameters: &[],
    about: "two classes; the hinge (support vector machine), with a kink",
    build: |_| Ok(Box::new(Hinge)),
};

impl ScalarLoss for Hinge {
    const NAME: &'static str = "hinge";
    const ARGUMENT: Argument = Argument::Margin;

    fn phi(&self, u: f64) -> f64 {
        if u >= 1.0 { 0.0 } else { 1.0 - u }
    }

    fn slope(&self, u: f64) -> f64 {
        if u >= 1.0 { 0.0 } else { -1.0 }
    }

    fn curvature(&self, _u: f64) -> f64 {
        0.0
    }

    fn prox_phi(&self, u: f64, step: f64) -> f64 {
        if u + step <= 1.0 { u + step } else { u.clamp(1.0, f64::INFINITY) }
    }

    fn max_derivative(&self) -> f64 {
        1.0
    }

    fn max_curvature(&self) -> f64 {
        f64::INFINITY
    }
}
