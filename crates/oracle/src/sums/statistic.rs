//! Single numbers of a record: an entry, its norm, one partial derivative.

use reticent_data::Rows;
use reticent_problem::losses::Loss;
use serde::Serialize;

use super::private::Private;
use super::rows::RowAccess;

/// A number that every record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Statistic {
    /// The encoded feature with this index.
    Feature(usize),
    /// The target.
    Target,
    /// The norm of the row, the intercept's constant included.
    RowNorm,
}

impl Statistic {
    /// The number of record `i`.
    pub(crate) fn value(self, private: &Private, i: usize) -> f64 {
        match (self, private.rows()) {
            (Statistic::Feature(index), Rows::Dense(rows)) => entry(rows, i, index),
            (Statistic::Feature(index), Rows::Sparse(rows)) => entry(rows, i, index),
            (Statistic::Target, _) => private.target(i),
            (Statistic::RowNorm, _) => private.norm_above(i),
        }
    }
}

/// What record `i` has for a feature.
fn entry(rows: &impl RowAccess, i: usize, index: usize) -> f64 {
    let mut found = 0.0;
    rows.for_each(i, |feature, value| {
        if feature == index {
            found = value;
        }
    });
    found
}

impl Private {
    /// `∂_j f(x; dᵢ)` at `x = at`; `buffer` has room for two numbers an output.
    pub fn partial(
        &self,
        loss: &dyn Loss,
        i: usize,
        at: &[f64],
        index: usize,
        buffer: &mut [f64],
    ) -> f64 {
        match self.rows() {
            Rows::Dense(rows) => self.partial_of(rows, loss, i, at, index, buffer),
            Rows::Sparse(rows) => self.partial_of(rows, loss, i, at, index, buffer),
        }
    }

    fn partial_of(
        &self,
        rows: &impl RowAccess,
        loss: &dyn Loss,
        i: usize,
        at: &[f64],
        index: usize,
        buffer: &mut [f64],
    ) -> f64 {
        let outputs = loss.outputs();
        let (feature, output) = (index / outputs, index % outputs);
        let factor =
            if feature == self.features() { self.intercept() } else { entry(rows, i, feature) };
        let (scores, slopes) = buffer.split_at_mut(outputs);
        self.scores(rows, i, at, scores);
        loss.derivative(scores, self.target(i), slopes);
        slopes[output] * factor
    }
}
