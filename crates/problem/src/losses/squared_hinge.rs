//! `φ(u) = max(0, 1 − u)²` of the margin `u = b·w`, without a factor ½, as in scikit-learn and
//! LIBLINEAR. The slope has no bound: a gate that clips bounds it.

use super::{Argument, Entry, ScalarLoss};

/// The squared hinge `max(0, 1 − b·w)²`, without a factor ½. Its slope has no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SquaredHinge;

pub(super) const ENTRY: Entry = Entry {
    name: SquaredHinge::NAME,
    parameters: &[],
    about: "two classes; the square of the hinge (support vector machine without a kink)",
    build: |_| Ok(Box::new(SquaredHinge)),
};

impl ScalarLoss for SquaredHinge {
    const NAME: &'static str = "squared-hinge";
    const ARGUMENT: Argument = Argument::Margin;

    fn phi(&self, u: f64) -> f64 {
        if u >= 1.0 { 0.0 } else { (1.0 - u) * (1.0 - u) }
    }

    fn slope(&self, u: f64) -> f64 {
        if u >= 1.0 { 0.0 } else { -2.0 * (1.0 - u) }
    }

    fn curvature(&self, u: f64) -> f64 {
        if u < 1.0 { 2.0 } else { 0.0 }
    }

    fn prox_phi(&self, u: f64, step: f64) -> f64 {
        if u >= 1.0 { u } else { (u + 2.0 * step) / (1.0 + 2.0 * step) }
    }

    fn max_derivative(&self) -> f64 {
        f64::INFINITY
    }

    fn max_curvature(&self) -> f64 {
        2.0
    }
}
