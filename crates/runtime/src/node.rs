//! A party or a server as a state machine.

use std::any::Any;

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

    /// Round `round` is over and the next begins; 0 is over at the start. Called for the nodes that
    /// the algorithm names ([`Network::initiators`](crate::Network)).
    fn on_deadline(&mut self, _round: u32) -> Result<Vec<Envelope>, RunError> {
        Ok(Vec::new())
    }

    /// Nobody has anything more to say in round `round`, though it is not over: whoever waits for
    /// somebody need wait no longer. Called for the initiators until they say nothing.
    fn on_quiet(&mut self, _round: u32) -> Result<Vec<Envelope>, RunError> {
        Ok(Vec::new())
    }

    /// All that it must know to go on after a crash, but for the data. It is not released to
    /// anybody; of a party it holds what that party keeps itself.
    fn snapshot(&self) -> Result<Vec<u8>, RunError>;

    /// Goes on from a snapshot.
    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError>;

    /// Once all nodes have gone on from their snapshots: brings back what it keeps in no snapshot,
    /// which follows from the public z's of the run so far
    /// ([`Protocol::trajectory`](crate::Protocol::course)).
    fn catch_up(&mut self, _zs: &[Vec<f64>]) -> Result<(), RunError> {
        Ok(())
    }

    /// The party whose data it speaks for, if any.
    fn party(&self) -> Option<&Party> {
        None
    }

    /// For the algorithm, which knows the type of its own nodes.
    fn as_any(&self) -> &dyn Any;
}
