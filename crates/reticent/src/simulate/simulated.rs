//! What a run between parties comes to.

use std::collections::BTreeMap;

use reticent_runtime::Traffic;

use super::{NodeModels, PartyBooks};
use crate::model::Model;
use crate::trace::Trace;

/// A model and how it came about.
#[derive(Debug)]
pub struct Simulated {
    /// The model; its certificate is that of the party who spent most.
    pub model: Model,
    /// The model of each party, where each has one to show: in a run between peers.
    pub nodes: NodeModels,
    /// Every party's books.
    pub parties: PartyBooks,
    /// The number of rounds.
    pub rounds: u32,
    /// The traffic; `None` where that would say something of a secret sample.
    pub traffic: Option<Traffic>,
    /// Messages that were rejected, by name; none are told where the traffic is not.
    pub rejections: BTreeMap<String, u64>,
    /// The fewest parties that a masked sum was taken over, where somebody left one; such a sum has
    /// the noise of those who stayed, and is scaled to the records of all.
    pub fewest: Option<u32>,
    /// The trace of the run, round by round, if it was traced. One that went on from a checkpoint has
    /// a trace of what was left.
    pub trace: Option<Trace>,
}
