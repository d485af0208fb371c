use serde::{Deserialize, Serialize};

/// The layout of a parameter: a row-major matrix with a row per feature and a column per output.
///
/// A linear model with one output is the case `outputs = 1`. When there is an intercept it is the
/// *last* row, and no penalty or constraint touches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Features, the intercept not counted.
    pub features: usize,
    /// Scores per record: 1, or the number of classes.
    pub outputs: usize,
    /// Whether a last row stands for the intercept.
    pub intercept: bool,
}

impl Shape {
    /// Rows of the parameter: the features and, if there is one, the intercept.
    pub fn rows(&self) -> usize {
        self.features + usize::from(self.intercept)
    }

    /// Length of the parameter as a flat vector.
    pub fn len(&self) -> usize {
        self.rows() * self.outputs
    }

    /// Whether there is nothing to fit.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
