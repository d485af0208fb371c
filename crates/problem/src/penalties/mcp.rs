//! MCP (Zhang 2010): `λ|u| − u²/(2γ)` for `|u| ≤ γλ` and `γλ²/2` beyond.
//!
//! Not convex: it bends down by `1/γ`. For `step < γ` the prox is continuous and has the usual
//! closed form. For a longer step the objective is concave up to `γλ`, so the minimiser is 0 or `u`
//! itself, and `u` wins when `u²/(2·step) > γλ²/2`; the prox is then right, but jumps.

use super::{Entry, LAMBDA, OWN, Separable, sealed, sign, soft};
use crate::ParseError;
use crate::catalogue::{Parameter, Range};

const GAMMA: Parameter = Parameter::with_default("gamma", Range::Above(1.0), 3.0);

/// The minimax concave penalty: `λ|u| − u²/(2γ)` for an entry `|u| ≤ γλ`, and `γλ²/2` beyond. Not
/// convex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mcp {
    lambda: f64,
    gamma: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: Mcp::NAME,
    parameters: &[LAMBDA, GAMMA],
    about: "like l1 at zero, fading out for larger coefficients; not convex",
    build: |p| Ok(Box::new(Mcp::new(p[0], p[1])?)),
};

impl Mcp {
    /// MCP with `λ ≥ 0` and `γ > 1`.
    ///
    /// # Errors
    /// [`ParseError::OutOfRange`], with the range, if a parameter is outside it.
    pub fn new(lambda: f64, gamma: f64) -> Result<Self, ParseError> {
        Ok(Self {
            lambda: LAMBDA.check(Self::NAME, lambda)?,
            gamma: GAMMA.check(Self::NAME, gamma)?,
        })
    }
}

impl Separable for Mcp {
    const NAME: &'static str = "mcp";

    fn parameters(&self) -> Vec<f64> {
        vec![self.lambda, self.gamma]
    }

    fn psi(&self, u: f64) -> f64 {
        let (l, g, u) = (self.lambda, self.gamma, u.abs());
        if u <= g * l { l * u - u * u / (2.0 * g) } else { 0.5 * g * l * l }
    }

    fn prox_psi(&self, u: f64, step: f64) -> f64 {
        let (l, g) = (self.lambda, self.gamma);
        if step < g {
            if u.abs() <= g * l { soft(u, l * step) / (1.0 - step / g) } else { u }
        } else if u.abs() <= l * (g * step).sqrt() {
            0.0
        } else {
            u
        }
    }

    fn slope(&self, u: f64) -> f64 {
        (self.lambda - u.abs() / self.gamma).max(0.0) * sign(u)
    }

    fn max_derivative(&self) -> f64 {
        self.lambda
    }

    fn weak(&self) -> f64 {
        if self.lambda == 0.0 { 0.0 } else { 1.0 / self.gamma }
    }

    fn own(&self) -> Option<sealed::PenaltySeal> {
        OWN
    }
}
