//! `y = D^{(k+1)} x`, differences of order `k + 1`: with the L1 penalty, trend filtering of order
//! `k`, whose solutions are piecewise polynomials of degree `k` in the index of the feature. Order
//! 0 is the chain.
//!
//! Row `j` holds `(−1)^{k+1−i} C(k+1, i)` at column `j + i`; `‖DᵀD‖₂ < 4^{k+1}`.

use super::{Constraint, Entry};
use crate::catalogue::{Parameter, Range, spec};
use crate::{ParseError, SparseMatrix};

/// The norm grows as 4^{k+1}; beyond order 8 the problem is too badly scaled for a first-order
/// method.
const ORDER: Parameter = Parameter::with_default("order", Range::Whole(0, 8), 1.0);

pub(super) const ENTRY: Entry = Entry {
    name: "trend",
    parameters: &[ORDER],
    about: "the penalty acts on higher differences: piecewise polynomials of this order (trend filtering)",
    build: |arguments, context| Constraint::trend(context.features.len(), arguments.numbers[0]),
};

impl Constraint {
    /// Trend filtering: `y = D x` with differences of order `order + 1`. With the L1 penalty the
    /// coefficients become piecewise polynomials of degree `order`.
    ///
    /// # Errors
    /// [`ParseError::OutOfRange`] unless `order` is a whole number from 0 to 8, and
    /// [`ParseError::Features`] for fewer than `order + 2` features.
    pub fn trend(features: usize, order: f64) -> Result<Self, ParseError> {
        let order = ORDER.check(ENTRY.name, order)?;
        let spec = spec(ENTRY.name, &[order]);
        differences(features, order as usize + 1)
            .map(|a| Self::new(ENTRY.name, spec.clone(), a))
            .ok_or_else(|| ParseError::Features {
                name: spec,
                features,
                need: format!("it needs at least {}", order + 2.0),
            })
    }
}

/// Differences of an order ≥ 1, or nothing when no row is left.
pub(super) fn differences(features: usize, order: usize) -> Option<SparseMatrix> {
    let rows = features.checked_sub(order).filter(|rows| *rows > 0)?;
    // Pascal's triangle with alternating signs, from the difference of the difference.
    let mut stencil = vec![1.0];
    for _ in 0..order {
        let mut next = vec![0.0; stencil.len() + 1];
        for (i, s) in stencil.iter().enumerate() {
            next[i] -= s;
            next[i + 1] += s;
        }
        stencil = next;
    }
    let triplets: Vec<_> = (0..rows)
        .flat_map(|j| stencil.iter().enumerate().map(move |(i, s)| (j, j + i, *s)))
        .collect();
    Some(SparseMatrix::from_triplets(rows, features, &triplets))
}
