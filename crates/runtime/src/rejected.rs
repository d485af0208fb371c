//! Why a message was rejected. A rejected message changes nothing.

use crate::message::PartyId;

/// A rejected message, by name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejected {
    /// It is not a message of this kind; the word names the invalid part.
    #[error("malformed message ({0})")]
    Malformed(&'static str),
    /// It is longer than any valid message.
    #[error("a message of {bytes} bytes, where the payload may have at most {limit}")]
    Oversized {
        /// Its length.
        bytes: usize,
        /// The longest payload.
        limit: usize,
    },
    /// The checksum does not fit the bytes.
    #[error("the bytes were changed on the way")]
    Corrupt,
    /// It was written by another version.
    #[error("wire format {given}, this program speaks {}", crate::wire::VERSION)]
    Version {
        /// The version of the message.
        given: u16,
    },
    /// It is of another run, or replayed from one.
    #[error("it belongs to another run")]
    OtherRun,
    /// It is for another node.
    #[error("it is addressed to {0}")]
    NotForMe(PartyId),
    /// It is from an unexpected sender.
    #[error("{0} is not expected to write")]
    UnknownSender(PartyId),
    /// It is of a kind that is not expected from that sender.
    #[error("a message of this kind is not expected")]
    Unexpected,
    /// It is of a round that is over, or replayed from one.
    #[error("it belongs to round {given}, which is over")]
    Stale {
        /// Its round.
        given: u32,
    },
    /// It is of a round that has not begun.
    #[error("it belongs to round {given}, which has not begun")]
    Early {
        /// Its round.
        given: u32,
    },
    /// It was taken before.
    #[error("it was taken before")]
    Duplicate,
    /// Another message was taken for the same round: an answer to both would spend twice.
    #[error("a different message was taken for this round")]
    Conflicting,
    /// It proves that the server violates the protocol of a masked sum: nothing is answered to it
    /// again.
    #[error("the server does not follow the protocol of the masked sum: {0}")]
    Forged(String),
    /// It proves that a party violates the protocol of a masked sum.
    #[error("a party does not follow the protocol of the masked sum: {0}")]
    Blamed(String),
    /// The gate did not answer, for a reason other than the budget.
    #[error("the gate did not answer: {0}")]
    Gate(String),
}

impl Rejected {
    /// The name under which rejections are counted.
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
