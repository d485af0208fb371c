//! What an audit found.

use reticent::accountant::{Adjacency, View};
use serde::Serialize;

use crate::attack::AttackStatistic;
use crate::method::AuditMethod;
use crate::pair::Neighbours;

/// The result of one audit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AuditReport {
    /// The algorithm that ran.
    pub algorithm: String,
    /// Which tables are neighbours.
    pub adjacency: Adjacency,
    /// What the adversary sees: everything that the gate released, and the model.
    pub view: View,
    /// What is certified for these runs; what the paper claims of them, if they are as published.
    pub epsilon_certified: f64,
    /// Whether the paper's own version ran, of which nothing is certified.
    pub as_published: bool,
    /// At this δ, for both.
    pub delta: f64,
    /// ε is at least this, at the confidence.
    pub epsilon_lower: f64,
    /// The probability that a lower bound made like this one holds, at least.
    pub confidence: f64,
    /// Fits made.
    pub runs: u64,
    /// How the bound was made.
    pub method: AuditMethod,
    /// The number that told the tables apart best.
    pub statistic: AttackStatistic,
    /// The pair of worlds that could be told apart best.
    pub pair: Neighbours,
    /// Whether the lower bound is above what is certified: then something is wrong.
    pub exceeded: bool,
    /// The defect that was switched on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seeded_bug: Option<String>,
}
