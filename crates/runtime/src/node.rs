//! A party or a server as a state machine.

use std::collections::BTreeMap;

use crate::error::RunError;
use crate::message::{Envelope, PartyId};
use crate::party::Party;
use crate::rejected::Rejected;

/// A state machine with messages and deadlines as its input and messages as its output. It has no
/// socket, no clock, and no randomness except that of its own key.
///
/// [`Node::on_message`] rejects an invalid message by name, and then its state has not changed.
pub trait Node: Send {
    /// The party of the node.
    fn id(&self) -> PartyId;

    /// Handles a message.
    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected>;

    /// Ends round `round` and begins the next; round 0 ends at the start. Called for the server, or
    /// for every party if there is none.
    fn on_deadline(&mut self, _round: u32) -> Result<Vec<Envelope>, RunError> {
        Ok(Vec::new())
    }

    /// The nodes that it awaits in this round. A host has a timer for it; a simulation knows when
    /// no messages are left.
    fn awaits(&self) -> Vec<PartyId> {
        Vec::new()
    }

    /// Handles silence: no messages of round `round` are left, though it is not over, and a node
    /// need wait no longer. Called for the nodes with deadlines, until they send nothing.
    fn on_quiet(&mut self, _round: u32) -> Result<Vec<Envelope>, RunError> {
        Ok(Vec::new())
    }

    /// The number of steps that are over, and of all steps, as far as this node knows; `None` for a
    /// node that only answers. When all are over, it only repeats answers.
    fn progress(&self) -> Option<RunProgress> {
        None
    }

    /// The state that it needs to continue after a crash, except for the data. It is never
    /// released; for a party it holds the party's own state.
    fn snapshot(&self) -> Result<Vec<u8>, RunError>;

    /// Restores a snapshot.
    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError>;

    /// Its growing lists, which are in no [`Node::snapshot_apart`].
    fn lists(&self) -> Vec<GrowingList> {
        Vec::new()
    }

    /// The piece of this number, from 0, of the list of this name.
    fn piece(&self, _name: &str, _number: usize) -> Result<Vec<u8>, RunError> {
        Err(RunError::Snapshot("a list that the node does not have"))
    }

    /// A snapshot without the lists: its length does not grow with the rounds.
    fn snapshot_apart(&self) -> Result<Vec<u8>, RunError> {
        self.snapshot()
    }

    /// Restores such a snapshot, with the pieces of its lists.
    fn restore_apart(&mut self, snapshot: &[u8], _pieces: &ListPieces) -> Result<(), RunError> {
        self.restore(snapshot)
    }

    /// Restores, after all nodes have restored their snapshots, the state that no snapshot has and
    /// that follows from the public z's of the run so far ([`Node::trajectory`] of the server).
    fn catch_up(&mut self, _zs: &[Vec<f64>]) -> Result<(), RunError> {
        Ok(())
    }

    /// The public z's so far, for a server whose parties keep blocks that follow from them;
    /// otherwise empty.
    fn trajectory(&self) -> &[Vec<f64>] {
        &[]
    }

    /// The node's view of the parameter, a function of what was released to it; `None` if it has
    /// none. The [`Protocol`](crate::Protocol::published) tells which node's is published.
    fn model(&self) -> Option<NodeEstimate> {
        None
    }

    /// The released models of the parties, for a server that keeps them; otherwise empty.
    fn parts(&self) -> Vec<Vec<f64>> {
        Vec::new()
    }

    /// The party whose data the node holds, with its books; `None` for a server.
    fn party(&self) -> Option<&Party> {
        None
    }
}

/// Steps of a run that are over, and all of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunProgress {
    /// Steps that are over.
    pub done: u32,
    /// All steps.
    pub of: u32,
}

/// A list that only grows: its owner's storage writes each piece once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrowingList {
    /// The name: a list of another name begins again. It has no spaces.
    pub name: String,
    /// The number of pieces.
    pub len: usize,
}

/// The pieces of lists, by their names.
pub type ListPieces = BTreeMap<String, Vec<Vec<u8>>>;

/// The parameter of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeEstimate {
    /// The number of steps after which it was estimated: the later of two estimates has more.
    pub steps: u32,
    /// The parameter.
    pub parameter: Vec<f64>,
}
