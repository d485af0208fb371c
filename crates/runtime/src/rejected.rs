//! Why a message was not taken. Nothing changes when one is not.

use crate::message::PartyId;

/// A message that was not taken, by name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejected {
    /// Not a message of this kind; the word says which part.
    #[error("malformed message ({0})")]
    Malformed(&'static str),
    /// Longer than anything that can be meant.
    #[error("a message of {bytes} bytes, where the payload may have at most {limit}")]
    Oversized {
        /// Its length.
        bytes: usize,
        /// The longest payload.
        limit: usize,
    },
    /// The check does not fit the bytes.
    #[error("the bytes were changed on the way")]
    Corrupt,
    /// Written by another version.
    #[error("wire format {given}, this program speaks {}", crate::wire::VERSION)]
    Version {
        /// What the message says.
        given: u16,
    },
    /// Of another run, or replayed from one.
    #[error("it belongs to another run")]
    OtherRun,
    /// For somebody else.
    #[error("it is addressed to {0}")]
    NotForMe(PartyId),
    /// From somebody who has nothing to say here.
    #[error("{0} is not expected to write")]
    UnknownSender(PartyId),
    /// Of a kind that is not expected from that sender.
    #[error("a message of this kind is not expected")]
    Unexpected,
    /// Of a round that is over, or replayed from one.
    #[error("it belongs to round {given}, which is over")]
    Stale {
        /// Its round.
        given: u32,
    },
    /// Of a round that has not begun.
    #[error("it belongs to round {given}, which has not begun")]
    Early {
        /// Its round.
        given: u32,
    },
    /// The same again.
    #[error("it was taken before")]
    Duplicate,
    /// Another one for the same round: to answer both would be to spend twice.
    #[error("a different message was taken for this round")]
    Conflicting,
    /// What no server says that follows the protocol of a masked sum: nothing is answered to it again.
    #[error("the server does not follow the protocol of the masked sum: {0}")]
    Forged(String),
    /// What no party says that follows the protocol of a masked sum.
    #[error("a party does not follow the protocol of the masked sum: {0}")]
    Blamed(String),
    /// The gate did not answer, for a reason other than the budget.
    #[error("the gate did not answer: {0}")]
    Gate(String),
}

impl Rejected {
    /// The name that rejections are counted by.
    pub fn name(&self) -> &'static str {
        match self {
            Rejected::Malformed(_) => "malformed",
            Rejected::Oversized { .. } => "oversized",
            Rejected::Corrupt => "corrupt",
            Rejected::Version { .. } => "other version",
            Rejected::OtherRun => "other run",
            Rejected::NotForMe(_) => "not addressed here",
            Rejected::UnknownSender(_) => "unknown sender",
            Rejected::Unexpected => "unexpected",
            Rejected::Stale { .. } => "stale",
            Rejected::Early { .. } => "early",
            Rejected::Duplicate => "duplicate",
            Rejected::Conflicting => "conflicting",
            Rejected::Forged(_) => "forged",
            Rejected::Blamed(_) => "blamed",
            Rejected::Gate(_) => "refused by the gate",
        }
    }
}
