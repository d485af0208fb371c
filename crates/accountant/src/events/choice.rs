//! One of several runs, chosen without looking at the data: by a public coin, say, as when a
//! hyper-parameter is drawn at random. Which one it was is part of the output, so the cost is at
//! most the largest among them. Proof note: `proofs/choice.md`.

use super::checked::out_of_range;
use super::{Curve, EventCost, EventError, Mechanism};
use crate::outward::largest;
use crate::tally::Tally;
use crate::vocabulary::Adjacency;
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawChoice {
    runs: Vec<Vec<(Mechanism, u64)>>,
}

/// One of several runs, chosen without looking at the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawChoice")]
pub struct Choice {
    runs: Vec<Vec<(Mechanism, u64)>>,
}

const KIND: &str = "choice";

impl TryFrom<RawChoice> for Choice {
    type Error = EventError;
    fn try_from(raw: RawChoice) -> Result<Self, EventError> {
        if raw.runs.is_empty() {
            return Err(out_of_range(KIND, "runs", 0, "at least one run"));
        }
        Ok(Self { runs: raw.runs })
    }
}

impl Choice {
    /// The mechanisms of each run, with counts.
    ///
    /// # Errors
    /// When there is none.
    pub fn new(runs: Vec<Vec<(Mechanism, u64)>>) -> Result<Self, EventError> {
        Self::try_from(RawChoice { runs })
    }

    /// The mechanisms of each run, with counts.
    #[must_use]
    pub fn runs(&self) -> &[Vec<(Mechanism, u64)>] {
        &self.runs
    }

    fn tallies(&self, adjacency: Adjacency) -> impl Iterator<Item = Tally> {
        self.runs.iter().map(move |run| Tally::new(adjacency, run.iter().cloned()))
    }
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "one of {} runs", self.runs.len())
    }
}

impl EventCost for Choice {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn check(&self, adjacency: Adjacency) -> Result<(), EventError> {
        self.runs.iter().flatten().try_for_each(|(mechanism, _)| mechanism.check(adjacency))
    }

    fn pure(&self, adjacency: Adjacency) -> Option<f64> {
        let all: Option<Vec<f64>> = self.tallies(adjacency).map(|run| run.pure()).collect();
        Some(largest(all?, 0.0))
    }

    fn failure(&self) -> f64 {
        // The adjacency plays no part in it.
        largest(self.tallies(Adjacency::default()).map(|run| run.failure()), 0.0)
    }

    fn rdp(&self, adjacency: Adjacency) -> Option<Curve> {
        let curves: Vec<_> = self.tallies(adjacency).map(|run| run.rdp()).collect::<Option<_>>()?;
        Some(Box::new(move |order| largest(curves.iter().map(|curve| curve(order)), 0.0)))
    }
}
