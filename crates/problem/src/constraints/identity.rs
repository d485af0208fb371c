//! `x = y`: the penalty sees the coefficients themselves.

use super::{Constraint, Entry};
use crate::SparseMatrix;

pub(super) const ENTRY: Entry = Entry {
    name: "identity",
    parameters: &[],
    about: "the penalty acts on the coefficients themselves",
    build: |_, context| Ok(Constraint::identity(context.features.len())),
};

impl Constraint {
    /// `x = y` for `features` features.
    pub fn identity(features: usize) -> Self {
        Self::new(ENTRY.name, ENTRY.name.to_owned(), SparseMatrix::identity(features))
    }
}
