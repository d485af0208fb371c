//! Convex losses of one record, as functions of its scores `w = xᵀa` (one score for a linear model,
//! one per class for the multinomial).
//!
//! The gradient of a record is `a ⊗ φ'(w)`, a rank-one matrix, so its norm is `‖φ'(w)‖·‖a‖` and no
//! per-record gradient is ever written out.

use std::fmt;

use crate::ParseError;
use crate::catalogue;

mod absolute;
mod hinge;
mod huber;
mod huberised_hinge;
mod logistic;
mod multinomial;
mod piecewise;
mod scalar;
mod squared;
mod squared_hinge;
mod weighted;

pub use absolute::Absolute;
pub use hinge::Hinge;
pub use huber::Huber;
pub use huberised_hinge::HuberisedHinge;
pub use logistic::Logistic;
pub use multinomial::Multinomial;
pub use piecewise::{PiecewiseMargin, PiecewiseResidual};
pub use scalar::{Argument, ScalarLoss};
pub use squared::Squared;
pub use squared_hinge::SquaredHinge;
pub use weighted::Weighted;

/// Builds a loss from its parameters.
pub type Make = fn(&[f64]) -> Result<Box<dyn Loss>, ParseError>;

/// A loss in the catalogue.
pub type Entry = catalogue::CatalogueEntry<Make>;

/// Every loss that can be asked for by name.
pub const CATALOGUE: &[Entry] = &[
    logistic::ENTRY,
    multinomial::ENTRY,
    huberised_hinge::ENTRY,
    hinge::ENTRY,
    squared_hinge::ENTRY,
    squared::ENTRY,
    huber::ENTRY,
    absolute::ENTRY,
    piecewise::MARGIN,
    piecewise::RESIDUAL,
];

/// Reads a loss as users type it: `logistic`, `huber:1.35`, `multinomial`.
///
/// `classes` is the number of classes of the target where it is declared; `multinomial` without a
/// parameter takes it from there.
///
/// # Errors
/// A [`ParseError`] that names what was typed and what is allowed: an unknown name (with the
/// nearest one that exists), or a parameter that is missing, out of range, or one too many.
///
/// # Examples
///
/// ```
/// use reticent_problem::losses;
///
/// let huber = losses::parse("huber:1.35", None)?;
/// assert_eq!(huber.lipschitz(), 1.35);
/// assert_eq!(huber.value(&[3.0], 1.0), 1.35 * (2.0 - 1.35 / 2.0));
///
/// let wrong = losses::parse("logistik", None).unwrap_err();
/// assert!(wrong.to_string().contains("logistic"));
/// # Ok::<(), reticent_problem::ParseError>(())
/// ```
pub fn parse(text: &str, classes: Option<usize>) -> Result<Box<dyn Loss>, ParseError> {
    let (entry, arguments) = catalogue::read("loss", CATALOGUE, text, classes)?;
    (entry.build)(&arguments.numbers)
}

/// What a loss takes as the target of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossTarget {
    /// Two classes, coded −1 and +1.
    Binary,
    /// `k` classes, coded 0 … k−1.
    Classes(usize),
    /// The target is a real number.
    Real,
}

/// Keeps [`Loss`] and [`ScalarLoss`] to this library. The gate shows a loss every score and every
/// target, and a loss from elsewhere could keep them; no promise of its author would be a proof.
mod sealed {
    pub trait Sealed {}
}

macro_rules! seal {
    ($($loss:ty),*) => { $(impl sealed::Sealed for $loss {})* };
}

seal!(
    Absolute,
    Hinge,
    Huber,
    HuberisedHinge,
    Logistic,
    Multinomial,
    PiecewiseMargin,
    PiecewiseResidual,
    Squared,
    SquaredHinge,
    Weighted
);

/// A convex loss `φ(w; b)` of a record's scores `w` and target `b`. It is sealed: see the library's
/// own for all there are.
pub trait Loss: sealed::Sealed + fmt::Debug + Send + Sync {
    /// The name in the catalogue, as users type it.
    fn name(&self) -> &'static str;

    /// The description that [`parse`] reads back to the same loss.
    fn spec(&self) -> String;

    /// The weights of the classes, in their order, which [`Loss::spec`] leaves out; empty where all
    /// count alike. Two losses with the same description and the same weights are the same.
    fn weights(&self) -> &[f64] {
        &[]
    }

    /// The targets it takes.
    fn target(&self) -> LossTarget;

    /// The number of scores that a record has: 1, or one for each class.
    fn outputs(&self) -> usize {
        1
    }

    /// The loss `φ(w; b)` of the scores `w` when the target is `b`.
    fn value(&self, scores: &[f64], target: f64) -> f64;

    /// A subgradient `φ'(w; b)`, the gradient where there is one.
    fn derivative(&self, scores: &[f64], target: f64, out: &mut [f64]);

    /// The derivatives of a block of records, `outputs` scores each: one call for many records,
    /// which a loss's own code then runs through without another.
    fn derivatives(&self, scores: &[f64], targets: &[f64], out: &mut [f64]) {
        let outputs = self.outputs();
        let blocks = scores.chunks_exact(outputs).zip(out.chunks_exact_mut(outputs));
        for ((scores, out), &target) in blocks.zip(targets) {
            self.derivative(scores, target, out);
        }
    }

    /// The second derivative (a generalised one where it jumps), row-major `outputs × outputs`.
    fn curvature(&self, scores: &[f64], target: f64, out: &mut [f64]);

    /// `argmin_w φ(w; b) + ‖w − scores‖²/(2·step)`.
    ///
    /// It gives the prox of the record's loss in the parameter: with `t' = t‖a‖²`,
    /// `prox_{tf}(v) = v − (t/t')·a ⊗ (w − prox_{t'φ}(w))` where `w = vᵀa`.
    fn prox(&self, scores: &[f64], target: f64, step: f64, out: &mut [f64]);

    /// Whether there is one score, and for each target the slope is never positive or never
    /// negative.
    fn one_sided(&self) -> bool {
        false
    }

    /// An upper bound of `‖φ'(w; b)‖₂` over all scores and targets; `∞` when there is none.
    fn lipschitz(&self) -> f64;

    /// An upper bound of the largest eigenvalue of the curvature; `∞` when the derivative jumps.
    fn smoothness(&self) -> f64;
}

#[cfg(test)]
mod tests;
