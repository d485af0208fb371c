//! Who: parties, messages and rounds.
//!
//! A [`Node`] is a state machine: a message or a deadline goes in, messages come out. It has no
//! socket, no clock and no randomness but that of its own gate, so the same nodes run in one
//! process, as here, or on a network. The [`Simulation`] moves their messages as bytes, in rounds,
//! with failures if asked for.
//!
//! Every party has a gate on its own records, and so a ledger of its own ([`Party`]).

pub mod algorithms;
mod checkpoint;
mod client;
mod error;
mod failures;
mod inbox;
mod message;
mod node;
mod participation;
mod party;
mod rejected;
mod run;
mod simulation;
pub mod topology;
pub mod wire;

pub use algorithms::{CATALOGUE, Entry, Network, Protocol, Recipe, Start, Witness, find};
pub use checkpoint::Checkpoint;
pub use error::RunError;
pub use failures::Failures;
pub use inbox::{Admitted, Inbox};
pub use message::{Envelope, Kind, PartyId, RunId, SERVER};
pub use node::Node;
pub use participation::{cap, choose};
pub use party::Party;
pub use rejected::Rejected;
#[cfg(feature = "seeded-bugs")]
pub use run::prepare_spoiled;
pub use run::{Budget, Outcome, PartyReport, Price, Setup, prepare};
pub use simulation::{Simulation, Tap, Traffic};
pub use topology::Topology;
