//! `φ(u) = ln(1 + e^{−u})` of the margin `u = b·w`.
//!
//! `φ' = −σ(−u)`, `φ'' = σ(u)σ(−u) ≤ 1/4`. The prox solves `v − u = t·σ(−v)`; the right side lies
//! in `[0, t]`, so the root lies in `[u, u + t]`.

use super::{Argument, Entry, ScalarLoss};
use crate::exp::exp;
use crate::root::increasing_root;

/// The logistic loss `ln(1 + e^{−b·w})`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Logistic;

pub(super) const ENTRY: Entry = Entry {
    name: Logistic::NAME,
    parameters: &[],
    about: "two classes; logistic regression, gives probabilities",
    build: |_| Ok(Box::new(Logistic)),
};

impl ScalarLoss for Logistic {
    const NAME: &'static str = "logistic";
    const ARGUMENT: Argument = Argument::Margin;

    fn phi(&self, u: f64) -> f64 {
        (-u).max(0.0) + (-u.abs()).exp().ln_1p()
    }

    fn slope(&self, u: f64) -> f64 {
        -1.0 / (1.0 + u.exp())
    }

    #[inline(always)]
    fn slopes(&self, us: &mut [f64]) {
        us.iter_mut().for_each(|u| *u = -1.0 / (1.0 + exp(*u)));
    }

    fn curvature(&self, u: f64) -> f64 {
        // Both tails without overflow.
        let e = (-u.abs()).exp();
        e / ((1.0 + e) * (1.0 + e))
    }

    fn prox_phi(&self, u: f64, step: f64) -> f64 {
        increasing_root(u, u + step, |v| {
            (v - u + step * self.slope(v), 1.0 + step * self.curvature(v))
        })
    }

    fn max_derivative(&self) -> f64 {
        1.0
    }

    fn max_curvature(&self) -> f64 {
        0.25
    }
}
