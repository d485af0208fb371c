//! Records that do not count alike (docs/classes.md).
//!
//! ```text
//! minimised   (1/n) Σ (wᵢ/W)·loss(x; dᵢ) + penalty(A x)      0 ≤ wᵢ ≤ W
//! ```
//!
//! The largest weight W is public and the weights are private: each is clipped to [0, W] when the
//! table is read, and the gate multiplies what a record says with wᵢ/W before it clips it. A record
//! of the largest weight counts as every record does without weights, so that all that is declared
//! of a loss holds as it is. What is not a sum over records has no proof for weights and is refused.
//! Proof: proofs/weights.md.

use reticent_admm::catalogue::AlgorithmKind;
use reticent_oracle::tables::Schema;

use crate::error::Error;
use crate::fit::Fit;
use crate::objective::Problem;
use crate::task::Task;

/// The column of weights that are given beside a table in memory.
const COLUMN: &str = "sample_weight";

impl Problem {
    /// Records have weights from 0 to `largest`, which is public, given beside a table in memory
    /// ([`Dataset::with_weights`](crate::tables::Dataset::with_weights)). A file has a column of
    /// kind `weight` in its schema instead.
    ///
    /// # Errors
    /// If there is such a column already, or `largest` is not a number above 0.
    pub fn record_weights(self, largest: f64) -> Result<Self, Error> {
        self.with_schema(|schema| Ok(schema.with_weight(COLUMN, largest)?))
    }
}

impl Fit {
    /// Records have weights from 0 to `largest`, which is public, given beside a table in memory
    /// ([`Dataset::with_weights`](crate::tables::Dataset::with_weights)). A file has a column of
    /// kind `weight` in its schema instead.
    ///
    /// # Errors
    /// If there is such a column already, or `largest` is not a number above 0.
    pub fn record_weights(mut self, largest: f64) -> Result<Self, Error> {
        self.problem = self.problem.record_weights(largest)?;
        Ok(self)
    }
}

impl Task {
    /// Whether records have weights.
    pub fn is_weighted(&self) -> bool {
        self.objective.schema.weight().is_some()
    }

    /// Refuses weights beside what is not proven and audited with them; which algorithms are is on
    /// the map.
    pub fn check_weights(&self, tuned: bool) -> Result<(), Error> {
        let Some((column, _)) = self.objective.schema.weight() else { return Ok(()) };
        let refuse = |with: &str| {
            let why = format!(
                "nothing is proven and audited for weights of records with {with}; leave one of the two out"
            );
            Err(Error::value("weight", column, why))
        };
        match self.entry.kind {
            AlgorithmKind::Exact => return refuse("the exact solver"),
            AlgorithmKind::Private(_) if self.settings.as_published == Some(true) => {
                return refuse("a version as published");
            }
            AlgorithmKind::Private(_) => {}
        }
        let beside = [
            (tuned, "a choice among several fits"),
            (self.graph.is_some(), "a learned graph"),
            (self.standard_errors.is_some(), "standard errors"),
            (self.calibrate.is_some(), "a recalibration"),
        ];
        match beside.iter().find(|(given, _)| *given) {
            Some((_, what)) => refuse(what),
            None => Ok(()),
        }
    }
}

/// Refuses weights where every record counts once.
pub(crate) fn check_alike(schema: &Schema, what: &str) -> Result<(), Error> {
    let Some((column, _)) = schema.weight() else { return Ok(()) };
    let why = format!("{what}; give the column kind = \"ignored\"");
    Err(Error::value("weight", column, why))
}

/// What a guarantee takes as given of weights. Weights that are balanced or normalised by the table
/// change with every record of it.
pub(crate) fn assumption(schema: &Schema) -> Option<String> {
    let (column, weight) = schema.weight()?;
    Some(format!(
        "the weight of a record (`{column}`) follows from that record and from public numbers alone, not from other \
         records; the largest, {}, is public",
        weight.upper()
    ))
}
