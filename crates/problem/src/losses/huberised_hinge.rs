//! The hinge with its kink rounded off over `|1 − u| ≤ h`, of the margin `u = b·w` (RDP20, eq. 28):
//! `φ(u) = 0` for `u > 1 + h`, `(1 + h − u)²/(4h)` for `|1 − u| ≤ h`, `1 − u` below.
//!
//! `|φ'| ≤ 1`, `φ'' ≤ 1/(2h)`.

use super::{Argument, Entry, ScalarLoss};
use crate::ParseError;
use crate::catalogue::{Parameter, Range};

const H: Parameter = Parameter::with_default("h", Range::Above(0.0), 0.5);

/// The hinge of the margin `u = b·w` with its kink rounded off: 0 for `u > 1 + h`, `(1 + h −
/// u)²/(4h)` for `|1 − u| ≤ h`, and `1 − u` below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HuberisedHinge {
    h: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: HuberisedHinge::NAME,
    parameters: &[H],
    about: "two classes; the hinge rounded off within h of its kink (smooth support vector machine)",
    build: |p| Ok(Box::new(HuberisedHinge::new(p[0])?)),
};

impl HuberisedHinge {
    /// The hinge rounded off within `h > 0` of its kink.
    ///
    /// # Errors
    /// [`ParseError::OutOfRange`], with the range, if a parameter is outside it.
    pub fn new(h: f64) -> Result<Self, ParseError> {
        Ok(Self { h: H.check(Self::NAME, h)? })
    }
}

impl ScalarLoss for HuberisedHinge {
    const NAME: &'static str = "huberised-hinge";
    const ARGUMENT: Argument = Argument::Margin;

    fn parameters(&self) -> Vec<f64> {
        vec![self.h]
    }

    fn phi(&self, u: f64) -> f64 {
        let short = 1.0 - u;
        if short <= -self.h {
            0.0
        } else if short <= self.h {
            (short + self.h) * (short + self.h) / (4.0 * self.h)
        } else {
            short
        }
    }

    fn slope(&self, u: f64) -> f64 {
        -((1.0 + self.h - u) / (2.0 * self.h)).clamp(0.0, 1.0)
    }

    fn curvature(&self, u: f64) -> f64 {
        if (1.0 - u).abs() <= self.h { 0.5 / self.h } else { 0.0 }
    }

    fn prox_phi(&self, u: f64, step: f64) -> f64 {
        if u >= 1.0 + self.h {
            u
        } else if u + step <= 1.0 - self.h {
            u + step
        } else {
            (2.0 * self.h * u + step * (1.0 + self.h)) / (2.0 * self.h + step)
        }
    }

    fn max_derivative(&self) -> f64 {
        1.0
    }

    fn max_curvature(&self) -> f64 {
        0.5 / self.h
    }
}
