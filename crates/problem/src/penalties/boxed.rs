//! `r(y) = 0` when every entry lies in `[lo, hi]`, else ∞; the prox moves each entry into the
//! interval.

use super::{Entry, OWN, Separable, sealed};
use crate::ParseError;
use crate::catalogue::{Parameter, Range};

const LO: Parameter = Parameter::required("lo", Range::Extended);
const HI: Parameter = Parameter::required("hi", Range::Extended);

/// Bounds on each entry: 0 when every entry lies in `[lo, hi]`, else `∞`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    lo: f64,
    hi: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: Bounds::NAME,
    parameters: &[LO, HI],
    about: "every coefficient between lo and hi; `box:0,inf` keeps them from being negative",
    build: |p| Ok(Box::new(Bounds::new(p[0], p[1])?)),
};

impl Bounds {
    /// Entries in `[lo, hi]`; either end may be infinite.
    ///
    /// # Errors
    /// [`ParseError::OutOfRange`] unless there is a finite number between the two.
    pub fn new(lo: f64, hi: f64) -> Result<Self, ParseError> {
        let (lo, hi) = (LO.check(Self::NAME, lo)?, HI.check(Self::NAME, hi)?);
        if lo > hi || lo == f64::INFINITY || hi == f64::NEG_INFINITY {
            return Err(ParseError::OutOfRange {
                name: Self::NAME,
                parameter: LO.name,
                given: format!("{lo} and {} {hi}", HI.name),
                range: "at most hi, with a finite number between them".to_owned(),
            });
        }
        Ok(Self { lo, hi })
    }
}

impl Separable for Bounds {
    const NAME: &'static str = "box";

    fn parameters(&self) -> Vec<f64> {
        vec![self.lo, self.hi]
    }

    fn psi(&self, u: f64) -> f64 {
        if self.lo <= u && u <= self.hi { 0.0 } else { f64::INFINITY }
    }

    fn prox_psi(&self, u: f64, _step: f64) -> f64 {
        u.clamp(self.lo, self.hi)
    }

    fn slope(&self, _u: f64) -> f64 {
        // In the domain 0 is a subgradient; outside there is none.
        0.0
    }

    fn max_derivative(&self) -> f64 {
        f64::INFINITY
    }

    fn own(&self) -> Option<sealed::PenaltySeal> {
        OWN
    }
}
