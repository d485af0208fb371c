//! The frames between a peer and the lead that carries them.

use serde::{Deserialize, Serialize};

/// A sealed message from one member to another. The carrier sees these numbers and its length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayedFrame {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Its number among those from `from` to `to`, counted from 1; 0 for a frame that only
    /// confirms.
    pub number: u64,
    /// The sealed content: only the receiver can read it, and only the sender can have written it.
    pub sealed: Vec<u8>,
}

/// What a peer hands to the lead. It sends again when it has been answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerPost {
    /// The frames to carry.
    pub frames: Vec<RelayedFrame>,
    /// Whether the peer has the keys of all.
    pub keyed: bool,
    /// Whether it has more frames, and wants an answer at once.
    pub more: bool,
    /// Whether its node knows that the run has ended.
    pub ended: bool,
    /// Whether all its messages were received.
    pub settled: bool,
}

/// What the lead hands to a peer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerMail {
    /// The frames for it.
    pub frames: Vec<RelayedFrame>,
    /// Whether a member knows that the run has ended, so that nothing need wait.
    pub closing: bool,
}

/// A member's public key in a run, signed by its key of the roster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignedRelayKey {
    /// The X25519 key.
    pub key: [u8; 32],
    /// The Ed25519 signature of the run, the member and the key.
    pub signature: Vec<u8>,
}
