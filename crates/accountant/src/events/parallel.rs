//! Mechanisms on disjoint parts of the data: a record (or user) is in one part only, whichever the
//! partition says, so the cost is the largest among the parts. The partition itself must not depend
//! on the data that is protected: under replace-one a record stays in its part. Proof note:
//! `proofs/parallel.md`.

use super::checked::out_of_range;
use super::{Curve, EventCost, EventError, Mechanism};
use crate::outward::{Upper, largest};
use crate::vocabulary::Adjacency;
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawParallel {
    parts: Vec<Mechanism>,
}

/// Mechanisms on disjoint parts of the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawParallel")]
pub struct Parallel {
    parts: Vec<Mechanism>,
}

impl TryFrom<RawParallel> for Parallel {
    type Error = EventError;
    fn try_from(raw: RawParallel) -> Result<Self, EventError> {
        if raw.parts.is_empty() {
            return Err(out_of_range("parallel", "parts", 0, "at least one mechanism"));
        }
        Ok(Self { parts: raw.parts })
    }
}

impl Parallel {
    /// One mechanism per part.
    ///
    /// # Errors
    /// When there is no part.
    pub fn new(parts: Vec<Mechanism>) -> Result<Self, EventError> {
        Self::try_from(RawParallel { parts })
    }

    /// One mechanism per part.
    #[must_use]
    pub fn parts(&self) -> &[Mechanism] {
        &self.parts
    }

    /// The largest of a cost that all parts have.
    fn largest(&self, cost: impl Fn(&dyn EventCost) -> Option<f64>) -> Option<f64> {
        self.parts
            .iter()
            .try_fold(Upper::epsilon(0.0), |largest, part| {
                Some(largest.largest(Upper::new(cost(part.cost())?)))
            })
            .map(Upper::value)
    }
}

impl std::fmt::Display for Parallel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} mechanisms on disjoint parts", self.parts.len())
    }
}

impl EventCost for Parallel {
    fn kind(&self) -> &'static str {
        "parallel"
    }

    fn check(&self, adjacency: Adjacency) -> Result<(), EventError> {
        self.parts.iter().try_for_each(|part| part.check(adjacency))
    }

    fn gdp(&self, adjacency: Adjacency) -> Option<f64> {
        self.largest(|part| part.gdp(adjacency))
    }

    fn pure(&self, adjacency: Adjacency) -> Option<f64> {
        self.largest(|part| part.pure(adjacency))
    }

    fn failure(&self) -> f64 {
        largest(self.parts.iter().map(|part| part.cost().failure()), 0.0)
    }

    fn rdp(&self, adjacency: Adjacency) -> Option<Curve> {
        let curves: Vec<Curve> =
            self.parts.iter().map(|p| p.cost().rdp(adjacency)).collect::<Option<_>>()?;
        Some(Box::new(move |order| largest(curves.iter().map(|curve| curve(order)), 0.0)))
    }
}
