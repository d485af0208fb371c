//! `y_j = x_{j+1} − x_j`: with the L1 penalty, the 1-D fused lasso.

use super::{Constraint, Entry, trend};
use crate::ParseError;

pub(super) const ENTRY: Entry = Entry {
    name: "chain",
    parameters: &[],
    about: "the penalty acts on differences of neighbouring coefficients (fused lasso)",
    build: |_, context| Constraint::chain(context.features.len()),
};

impl Constraint {
    /// First differences, `y_j = x_{j+1} − x_j`: with the L1 penalty, the fused lasso.
    ///
    /// # Errors
    /// [`ParseError::Features`] for fewer than 2 features.
    pub fn chain(features: usize) -> Result<Self, ParseError> {
        trend::differences(features, 1)
            .map(|a| Self::new(ENTRY.name, ENTRY.name.to_owned(), a))
            .ok_or_else(|| ParseError::Features {
                name: ENTRY.name.to_owned(),
                features,
                need: "it needs at least 2".to_owned(),
            })
    }
}
