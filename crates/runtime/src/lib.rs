//! Parties, messages and rounds.
//!
//! A [`Node`] is a state machine: a message or a deadline goes in, messages come out. It has no
//! socket, no clock, and no randomness except that of its own gate, so the same nodes run in one
//! process, as here, or on a network. A [`SimulatedRun`] moves their messages as bytes, in rounds,
//! with failures on request.
//!
//! Every party has a gate on its own records, and so its own ledger ([`Party`]).

pub mod adversary;
pub mod algorithms;
mod checkpoint;
mod client;
mod coordinator;
mod endpoint;
mod entrusted;
mod error;
mod failures;
mod inbox;
mod masked_party;
mod message;
mod node;
mod noisy;
mod noisy_party;
mod participation;
mod party;
mod prepare;
mod rejected;
mod responder;
mod run;
mod simulation;
mod standing;
pub mod topology;
pub mod wire;

pub use algorithms::federated::draw::NAME_ATTEMPTS;
pub use algorithms::federated::signed::Signers;
pub use algorithms::{CATALOGUE, Protocol, ProtocolEntry, ProtocolRecipe, Start, USUAL, find};
pub use checkpoint::Checkpoint;
pub use entrusted::{EntrustedParty, Post, entrust};
pub use error::RunError;
pub use failures::Failures;
pub use inbox::{Admitted, Inbox};
pub use masked_party::{MaskKeys, MaskedParty, STEPS, SignedKeys, key_statement};
pub use message::{Envelope, MessageKind, PartyId, RunId, SERVER};
pub use node::{GrowingList, ListPieces, Node, NodeEstimate, RunProgress};
pub use noisy::{NoisyParties, SharedTerms, SumBooks, noisy_parties};
pub use noisy_party::{NoisyParty, added};
pub use participation::{cap, choose};
pub use party::{Party, PartyReport};
#[cfg(reticent_seeded_bugs)]
pub use prepare::prepare_spoiled;
pub use prepare::{RunKey, key_of, prepare, prepare_as_apart, run_id};
pub use rejected::Rejected;
pub use run::{Agreement, NoisePrice, PartyBudget, Setup};
pub use simulation::{SimulatedRun, SimulationOutcome, Tap, Traffic};
pub use standing::{SlotRequest, Staying};
pub use topology::Topology;
