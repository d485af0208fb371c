//! `r(y) = 0` when `‖y‖₂ ≤ R` (the Frobenius norm for a matrix), else ∞; the prox scales `y` down
//! to the ball.

use super::{Entry, OWN, Penalty, norm, sealed};
use crate::ParseError;
use crate::catalogue::{Parameter, Range, spec};

const RADIUS: Parameter = Parameter::required("radius", Range::Above(0.0));

const NAME: &str = "l2-ball";

/// A ball around zero: 0 when `‖y‖₂ ≤ radius`, else `∞`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L2Ball {
    radius: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    parameters: &[RADIUS],
    about: "the L2 norm of the coefficients at most the radius",
    build: |p| Ok(Box::new(L2Ball::new(p[0])?)),
};

impl L2Ball {
    /// The ball `‖y‖₂ ≤ radius`, with `radius > 0`.
    ///
    /// # Errors
    /// [`ParseError::OutOfRange`], with the range, if a parameter is outside it.
    pub fn new(radius: f64) -> Result<Self, ParseError> {
        Ok(Self { radius: RADIUS.check(NAME, radius)? })
    }
}

impl Penalty for L2Ball {
    fn name(&self) -> &'static str {
        NAME
    }

    fn spec(&self) -> String {
        spec(NAME, &[self.radius])
    }

    fn value(&self, y: &[f64], _columns: usize) -> f64 {
        if norm(y) <= self.radius { 0.0 } else { f64::INFINITY }
    }

    fn prox(&self, y: &mut [f64], _columns: usize, _step: f64) {
        // A scaled point can miss the ball by rounding, and its value would be ∞; so scale again,
        // by a hair.
        let mut size = norm(y);
        let mut hair = 0.0;
        while size > self.radius {
            for u in y.iter_mut() {
                *u *= self.radius / size * (1.0 - hair);
            }
            size = norm(y);
            hair += f64::EPSILON;
        }
    }

    fn subgradient(&self, _y: &[f64], _columns: usize, out: &mut [f64]) {
        out.fill(0.0);
    }

    fn lipschitz(&self, _rows: usize, _columns: usize) -> f64 {
        f64::INFINITY
    }

    fn own(&self) -> Option<sealed::PenaltySeal> {
        OWN
    }
}
