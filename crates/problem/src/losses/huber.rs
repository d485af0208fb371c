//! `φ(u) = u²/2` for `|u| ≤ δ` and `δ(|u| − δ/2)` beyond, of the residual `u = w − b`.
//!
//! `|φ'| ≤ δ`, `φ'' ≤ 1`. The prox shrinks by `1 + t` while the answer stays within δ, else it
//! moves by `tδ`.

use super::{Argument, Entry, ScalarLoss};
use crate::ParseError;
use crate::catalogue::{Parameter, Range};

const DELTA: Parameter = Parameter::with_default("delta", Range::Above(0.0), 1.0);

/// The Huber loss of the residual `u = w − b`: `u²/2` for `|u| ≤ δ` and `δ(|u| − δ/2)` beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Huber {
    delta: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: Huber::NAME,
    parameters: &[DELTA],
    about: "a number; squared error up to delta, absolute error beyond (robust regression)",
    build: |p| Ok(Box::new(Huber::new(p[0])?)),
};

impl Huber {
    /// The Huber loss that is quadratic up to `delta > 0`.
    ///
    /// # Errors
    /// [`ParseError::OutOfRange`], with the range, if a parameter is outside it.
    pub fn new(delta: f64) -> Result<Self, ParseError> {
        Ok(Self { delta: DELTA.check(Self::NAME, delta)? })
    }
}

impl ScalarLoss for Huber {
    const NAME: &'static str = "huber";
    const ARGUMENT: Argument = Argument::Residual;

    fn parameters(&self) -> Vec<f64> {
        vec![self.delta]
    }

    fn phi(&self, u: f64) -> f64 {
        if u.abs() <= self.delta { 0.5 * u * u } else { self.delta * (u.abs() - 0.5 * self.delta) }
    }

    fn slope(&self, u: f64) -> f64 {
        u.clamp(-self.delta, self.delta)
    }

    fn curvature(&self, u: f64) -> f64 {
        if u.abs() <= self.delta { 1.0 } else { 0.0 }
    }

    fn prox_phi(&self, u: f64, step: f64) -> f64 {
        let shrunk = u / (1.0 + step);
        if shrunk.abs() <= self.delta { shrunk } else { u - (step * self.delta).copysign(u) }
    }

    fn max_derivative(&self) -> f64 {
        self.delta
    }

    fn max_curvature(&self) -> f64 {
        1.0
    }
}
