//! Single numbers of a record: an entry, its norm, one partial derivative.

use reticent_problem::losses::Loss;
use serde::{Deserialize, Serialize};

use super::private::Private;
use super::rows::{RowAccess, with_rows};

/// A number that every record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordStatistic {
    /// The encoded feature with this index.
    Feature(usize),
    /// The target.
    Target,
    /// The size of the target, `|b|`: the residual of a number at a parameter of zeros.
    TargetSize,
    /// The norm of the row, the intercept's constant included.
    RowNorm,
}

impl RecordStatistic {
    /// The number of record `i`.
    pub(crate) fn value(self, private: &Private, i: usize) -> f64 {
        match self {
            RecordStatistic::Feature(index) => private.entry(i, index),
            RecordStatistic::Target => private.target(i),
            RecordStatistic::TargetSize => private.target(i).abs(),
            RecordStatistic::RowNorm => private.norm_above(i),
        }
    }
}

impl Private {
    /// What record `i` has for a feature.
    fn entry(&self, i: usize, index: usize) -> f64 {
        let mut found = 0.0;
        self.each_entry(i, |feature, value| {
            if feature == index {
                found = value;
            }
        });
        found
    }

    /// Calls `look(feature, value)` for every stored entry of record `i`.
    pub fn each_entry(&self, i: usize, look: impl FnMut(usize, f64)) {
        with_rows!(self.rows(), rows => rows.for_each(i, look));
    }

    /// `∂_j f(x; dᵢ)` at `x = at`, times the weight of the record; `buffer` has room for two numbers an output.
    pub fn partial(
        &self,
        loss: &dyn Loss,
        i: usize,
        at: &[f64],
        index: usize,
        buffer: &mut [f64],
    ) -> f64 {
        let outputs = loss.outputs();
        let (feature, output) = (index / outputs, index % outputs);
        let factor =
            if feature == self.features() { self.intercept() } else { self.entry(i, feature) };
        let (scores, slopes) = buffer.split_at_mut(outputs);
        with_rows!(self.rows(), rows => self.scores(rows, i, at, scores));
        loss.derivative(scores, self.target(i), slopes);
        self.times_weight(i, slopes[output] * factor)
    }
}
