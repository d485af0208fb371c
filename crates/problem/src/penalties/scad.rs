//! SCAD (Fan and Li 2001): like `λ|u|` near 0, flat from `aλ` on, and a parabola between:
//! `λ|u|` for `|u| ≤ λ`; `(2aλ|u| − u² − λ²)/(2(a − 1))` for `λ < |u| ≤ aλ`; `λ²(a + 1)/2` beyond.
//!
//! Not convex: the parabola bends down by `1/(a − 1)`. For `step < a − 1` the prox is continuous
//! and has the usual closed form. For a longer step the middle piece of the objective is concave,
//! so the minimiser is that of the first piece or that of the last, and the prox compares the two;
//! it is then right, but jumps.

use super::{Entry, LAMBDA, OWN, Separable, sealed, sign, soft};
use crate::ParseError;
use crate::catalogue::{Parameter, Range};

/// 3.7 is the value that its authors recommend.
const A: Parameter = Parameter::with_default("a", Range::Above(2.0), 3.7);

/// The smoothly clipped absolute deviation: like `λ|u|` for a small entry, constant from `aλ` on,
/// and a parabola between. Not convex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scad {
    lambda: f64,
    a: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: Scad::NAME,
    parameters: &[LAMBDA, A],
    about: "like l1 for small coefficients, no shrinking of large ones; not convex",
    build: |p| Ok(Box::new(Scad::new(p[0], p[1])?)),
};

impl Scad {
    /// SCAD with `λ ≥ 0` and `a > 2`.
    ///
    /// # Errors
    /// [`ParseError::OutOfRange`], with the range, if a parameter is outside it.
    pub fn new(lambda: f64, a: f64) -> Result<Self, ParseError> {
        Ok(Self { lambda: LAMBDA.check(Self::NAME, lambda)?, a: A.check(Self::NAME, a)? })
    }
}

impl Separable for Scad {
    const NAME: &'static str = "scad";

    fn parameters(&self) -> Vec<f64> {
        vec![self.lambda, self.a]
    }

    fn psi(&self, u: f64) -> f64 {
        let (l, a, u) = (self.lambda, self.a, u.abs());
        if u <= l {
            l * u
        } else if u <= a * l {
            (2.0 * a * l * u - u * u - l * l) / (2.0 * (a - 1.0))
        } else {
            0.5 * l * l * (a + 1.0)
        }
    }

    fn prox_psi(&self, u: f64, step: f64) -> f64 {
        let (l, a, size) = (self.lambda, self.a, u.abs());
        if u.is_nan() {
            u
        } else if step < a - 1.0 {
            if size <= l * (1.0 + step) {
                soft(u, l * step)
            } else if size <= a * l {
                (((a - 1.0) * size - a * l * step) / (a - 1.0 - step)).copysign(u)
            } else {
                u
            }
        } else {
            let near = soft(size, l * step).min(l);
            let far = size.max(a * l);
            let objective = |w: f64| self.psi(w) + (w - size) * (w - size) / (2.0 * step);
            if objective(far) < objective(near) { far.copysign(u) } else { near.copysign(u) }
        }
    }

    fn slope(&self, u: f64) -> f64 {
        let (l, a) = (self.lambda, self.a);
        if u.abs() <= l { l * sign(u) } else { (a * l - u.abs()).max(0.0) / (a - 1.0) * sign(u) }
    }

    fn max_derivative(&self) -> f64 {
        self.lambda
    }

    fn weak(&self) -> f64 {
        if self.lambda == 0.0 { 0.0 } else { 1.0 / (self.a - 1.0) }
    }

    fn own(&self) -> Option<sealed::PenaltySeal> {
        OWN
    }
}
