//! What travels between a peer and the lead that carries it.

use serde::{Deserialize, Serialize};

/// A sealed word from one member to another. Whoever carries it sees these numbers and its length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayedFrame {
    /// Who says it.
    pub from: u32,
    /// Whom it is for.
    pub to: u32,
    /// Its number among those from `from` to `to`, counted from 1; 0 for a frame that only
    /// acknowledges.
    pub number: u64,
    /// What only the receiver can read, and only the sender can have written.
    pub sealed: Vec<u8>,
}

/// What a peer hands to the lead. It may speak again when it has been answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerPost {
    /// What is to be carried.
    pub frames: Vec<RelayedFrame>,
    /// Whether it has the keys of all.
    pub keyed: bool,
    /// Whether it has more to hand over, and wants to be answered at once.
    pub more: bool,
    /// Whether its node knows that the run has come to its end.
    pub ended: bool,
    /// Whether all that it has said was heard.
    pub settled: bool,
}

/// What the lead hands to a peer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerMail {
    /// What was said to it.
    pub frames: Vec<RelayedFrame>,
    /// Whether somebody knows that the run has come to its end, so that nothing need wait.
    pub closing: bool,
}

/// A member's public key in a run, and its signature of it by its key of the roster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignedRelayKey {
    /// X25519.
    pub key: [u8; 32],
    /// Ed25519, of the run, the member and the key.
    pub signature: Vec<u8>,
}
