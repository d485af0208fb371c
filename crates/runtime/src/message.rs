//! The messages between nodes.

use std::fmt;

use reticent_noise::{Digest, Hasher};
use serde::{Deserialize, Serialize};

/// A party, numbered from 0, or the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PartyId(pub u32);

/// The node without data.
pub const SERVER: PartyId = PartyId(u32::MAX);

impl PartyId {
    /// The party's index in a list of parties.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for PartyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == SERVER { f.write_str("the server") } else { write!(f, "party {}", self.0) }
    }
}

/// The identifier of a run, which tells its messages from those of other runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunId(pub [u8; 16]);

impl From<&Digest> for RunId {
    fn from(digest: &Digest) -> Self {
        let mut id = [0; 16];
        id.copy_from_slice(&digest[..16]);
        RunId(id)
    }
}

/// The purpose of a message. The algorithm defines the meaning of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum MessageKind {
    /// A request for a contribution.
    Ask = 1,
    /// A contribution.
    Answer = 2,
    /// No contribution, now or later: the party's budget does not allow one.
    Declined = 3,
    /// A message to a neighbour.
    Share = 4,
    /// The token of a walk.
    Token = 5,
    /// The receipt of a token.
    Receipt = 6,
    /// A message of a masked sum, which the crate `masks` interprets.
    Masks = 8,
}

impl MessageKind {
    /// All kinds.
    pub const ALL: [MessageKind; 7] = [
        MessageKind::Ask,
        MessageKind::Answer,
        MessageKind::Declined,
        MessageKind::Share,
        MessageKind::Token,
        MessageKind::Receipt,
        MessageKind::Masks,
    ];
}

/// A message with its address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// The run it belongs to.
    pub run: RunId,
    /// The round it belongs to, counted from 1.
    pub round: u32,
    /// 0, and one more for each deliberate repetition.
    pub attempt: u16,
    /// The sender.
    pub from: PartyId,
    /// The receiver.
    pub to: PartyId,
    /// The kind.
    pub kind: MessageKind,
    /// The content.
    pub payload: Vec<u8>,
}

impl Envelope {
    /// The digest of the content without the attempt: the label of the step that answers it.
    pub fn digest(&self) -> Digest {
        Hasher::new("reticent step")
            .field(&self.run.0)
            .number(u64::from(self.round))
            .number(u64::from(self.from.0))
            .number(u64::from(self.to.0))
            .number(self.kind as u64)
            .field(&self.payload)
            .finish()
    }

    /// An answer to it: the same run and round, back to the sender.
    pub fn reply(&self, kind: MessageKind, payload: Vec<u8>) -> Envelope {
        let Envelope { run, round, attempt, from, to, .. } = *self;
        Envelope { run, round, attempt, from: to, to: from, kind, payload }
    }
}
