//! Peers: nodes that speak with one another, and not with a server. Parties dial out alone, so that
//! everything goes through the lead, who carries what it cannot read.
//!
//! ```text
//! node ─ says ─► one transaction: state, outbox ─► sealed for its receiver ─► lead ─► receiver
//!                                                                                      │
//!      a row of the outbox goes ◄─ sealed word "heard up to k" ◄─ one transaction: state, heard
//! ```
//!
//! * `seal`: what closes a word for one peer, from one peer.
//! * `mailbox`: each word once and in order, whatever the lead repeats, swaps or loses.
//! * `pieces`: what a node only adds to, each piece written once.
//! * `engine`: the one way in to a node, and its only way out.
//! * `relay`: what the lead does: it hands frames on, and keeps none but in memory.
//! * `seat`, `serving`: a party; `leading`: the lead.
//!
//! Proof: proofs/network.md, "Peers".

pub(crate) mod engine;
pub mod frame;
mod leading;
pub(crate) mod mailbox;
mod pieces;
pub(crate) mod relay;
pub mod seal;
pub(crate) mod seat;
mod serving;
