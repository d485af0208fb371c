//! A party or a server as a state machine.

use std::collections::BTreeMap;

use crate::error::RunError;
use crate::message::{Envelope, PartyId};
use crate::party::Party;
use crate::rejected::Rejected;

/// Messages and deadlines in, messages out. No socket, no clock, and no randomness but that of the
/// node's own key.
///
/// What [`Node::on_message`] does not take it rejects by name, and then nothing has changed.
pub trait Node: Send {
    /// Who it is.
    fn id(&self) -> PartyId;

    /// A message came.
    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected>;

    /// Round `round` is over and the next begins; 0 is over at the start. Called for the server, or
    /// for every party where there is none.
    fn on_deadline(&mut self, _round: u32) -> Result<Vec<Envelope>, RunError> {
        Ok(Vec::new())
    }

    /// From whom it awaits something in this round. A host has a timer for it; a simulation knows
    /// when nobody has anything more to say.
    fn awaits(&self) -> Vec<PartyId> {
        Vec::new()
    }

    /// Nobody has anything more to say in round `round`, though it is not over: a node that awaits
    /// somebody need wait no longer. Called for those whose deadlines are, until they say nothing.
    fn on_quiet(&mut self, _round: u32) -> Result<Vec<Envelope>, RunError> {
        Ok(Vec::new())
    }

    /// How many steps of the run are over, of how many, as far as this node can tell; `None` for one
    /// that only answers. When all are, it says nothing more but what it is asked for again.
    fn progress(&self) -> Option<(u32, u32)> {
        None
    }

    /// All that it must know to go on after a crash, but for the data. It is not released to
    /// anybody; of a party it holds what that party keeps itself.
    fn snapshot(&self) -> Result<Vec<u8>, RunError>;

    /// Goes on from a snapshot.
    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError>;

    /// What it only adds to, and what is in no [`Node::snapshot_apart`].
    fn lists(&self) -> Vec<GrowingList> {
        Vec::new()
    }

    /// The piece of this number, from 0, of a list of this name.
    fn piece(&self, _name: &str, _number: usize) -> Result<Vec<u8>, RunError> {
        Err(RunError::Snapshot("a list that the node does not have"))
    }

    /// A snapshot without the lists: as long in the last round as in the first.
    fn snapshot_apart(&self) -> Result<Vec<u8>, RunError> {
        self.snapshot()
    }

    /// Goes on from such a snapshot, and from the pieces of its lists.
    fn restore_apart(&mut self, snapshot: &[u8], _pieces: &ListPieces) -> Result<(), RunError> {
        self.restore(snapshot)
    }

    /// Once all nodes have gone on from their snapshots: brings back what it keeps in no snapshot,
    /// which follows from the public z's of the run so far ([`Node::trajectory`] of the server).
    fn catch_up(&mut self, _zs: &[Vec<f64>]) -> Result<(), RunError> {
        Ok(())
    }

    /// The public z's so far, of a server whose parties keep blocks that follow from them; else
    /// none.
    fn trajectory(&self) -> &[Vec<f64>] {
        &[]
    }

    /// The parameter as this node has it, a function of what was released to it; `None` if it has
    /// none. Which node's is published is said by the
    /// [`Protocol`](crate::Protocol::published).
    fn model(&self) -> Option<NodeEstimate> {
        None
    }

    /// The models of the parties as they were released to it, of a server that keeps them; else
    /// none.
    fn parts(&self) -> Vec<Vec<f64>> {
        Vec::new()
    }

    /// The party whose data it speaks for, with its books; none for a server.
    fn party(&self) -> Option<&Party> {
        None
    }
}

/// A list that a node only adds to: whoever keeps its state writes each piece once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrowingList {
    /// What it is called: one of another name begins anew. It has no spaces.
    pub name: String,
    /// How many pieces it has.
    pub len: usize,
}

/// The pieces of lists, by their names.
pub type ListPieces = BTreeMap<String, Vec<Vec<u8>>>;

/// The parameter as one node has it.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeEstimate {
    /// After how many steps of the run, so that of two estimates the later can be told.
    pub steps: u32,
    /// The parameter.
    pub parameter: Vec<f64>,
}
