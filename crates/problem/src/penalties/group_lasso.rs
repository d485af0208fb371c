//! `r(y) = λ Σ_g √|g|·‖y_g‖₂`: whole groups are zero or not. The prox shortens each group by
//! `λ√|g|·step`, and to zero if it is shorter.
//!
//! A group is `size` consecutive *rows* of `y` with all their columns, and `|g|` its number of
//! entries. So for one output the groups are `size` consecutive coefficients, and for a matrix of
//! classes the default `size = 1` makes each feature a group: it is used for all the classes or for
//! none. The last group takes what rows are left.

use super::{Entry, LAMBDA, OWN, Penalty, norm, sealed};
use crate::ParseError;
use crate::catalogue::{Parameter, Range, spec};

const SIZE: Parameter = Parameter::with_default("size", Range::Whole(1, u32::MAX), 1.0);

const NAME: &str = "group-lasso";

/// The group lasso `λ Σ_g √|g|·‖y_g‖₂`: whole groups are zero or not. A group is `size` consecutive
/// rows with all their columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupLasso {
    lambda: f64,
    size: usize,
}

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    parameters: &[LAMBDA, SIZE],
    about: "sets whole groups of `size` neighbouring features to zero, for all outputs together",
    build: |p| Ok(Box::new(GroupLasso::new(p[0], p[1])?)),
};

impl GroupLasso {
    /// The group lasso of strength `λ ≥ 0` over groups of `size` rows, a whole number from 1 on.
    ///
    /// # Errors
    /// [`ParseError::OutOfRange`], with the range, if a parameter is outside it.
    pub fn new(lambda: f64, size: f64) -> Result<Self, ParseError> {
        Ok(Self { lambda: LAMBDA.check(NAME, lambda)?, size: SIZE.check(NAME, size)? as usize })
    }

    /// Entries of a whole group; `columns ≥ 1`.
    fn entries(&self, columns: usize) -> usize {
        self.size.saturating_mul(columns.max(1))
    }

    fn weight(&self, group: &[f64]) -> f64 {
        self.lambda * (group.len() as f64).sqrt()
    }
}

impl Penalty for GroupLasso {
    fn name(&self) -> &'static str {
        NAME
    }

    fn spec(&self) -> String {
        spec(NAME, &[self.lambda, self.size as f64])
    }

    fn value(&self, y: &[f64], columns: usize) -> f64 {
        y.chunks(self.entries(columns)).map(|g| self.weight(g) * norm(g)).sum()
    }

    fn prox(&self, y: &mut [f64], columns: usize, step: f64) {
        for g in y.chunks_mut(self.entries(columns)) {
            let (size, cut) = (norm(g), self.weight(g) * step);
            let scale = if size <= cut { 0.0 } else { 1.0 - cut / size };
            for u in g {
                *u *= scale;
            }
        }
    }

    fn subgradient(&self, y: &[f64], columns: usize, out: &mut [f64]) {
        let n = self.entries(columns);
        for (g, o) in y.chunks(n).zip(out.chunks_mut(n)) {
            let size = norm(g);
            for (o, u) in o.iter_mut().zip(g) {
                *o = if size == 0.0 { 0.0 } else { self.weight(g) * (u / size) };
            }
        }
    }

    fn lipschitz(&self, rows: usize, columns: usize) -> f64 {
        // The groups are orthogonal, so the squares of their weights add up.
        self.lambda * ((rows * columns) as f64).sqrt()
    }

    fn own(&self) -> Option<sealed::PenaltySeal> {
        OWN
    }
}
