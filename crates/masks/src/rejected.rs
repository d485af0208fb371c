//! Why a message was refused. A refused message has changed nothing.

use crate::MemberId;
use crate::wire::BodyKind;

/// Why a message was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MaskRejected {
    /// Longer than any honest message.
    #[error("a message of {given} bytes is longer than the {limit} that these terms allow")]
    TooLong {
        /// The length of the message in bytes.
        given: usize,
        /// The greatest length that the terms allow.
        limit: usize,
    },
    /// A message in another version of the format.
    #[error("a message of format {given}; this is format {}", crate::VERSION)]
    Version {
        /// The format named in it.
        given: u8,
    },
    /// The digest does not fit the bytes: damaged on the way.
    #[error("the bytes of a message do not fit its digest: it was damaged on the way")]
    Corrupted,
    /// Not a message, or one that no honest party makes.
    #[error("not a well-formed message: {0}")]
    Malformed(&'static str),
    /// A message that belongs to another run.
    #[error("a message of another run")]
    WrongRun,
    /// Of another round of the run.
    #[error("a message of round {given}; this is round {expected}")]
    WrongRound {
        /// The round named in it.
        given: u64,
        /// The round that is on.
        expected: u64,
    },
    /// A member that does not exist, or a vector that is not of the length agreed on.
    #[error("there is no member {0}")]
    NotAMember(MemberId),
    /// It names another member than the one that sent it or is to receive it.
    #[error("the message names member {named}, the link is that of member {expected}")]
    Misdirected {
        /// Named in the message.
        named: MemberId,
        /// Whose link it came over.
        expected: MemberId,
    },
    /// Of a phase that has not begun.
    #[error("{0} comes before its phase")]
    Early(BodyKind),
    /// Of a phase that is over.
    #[error("{0} comes after its phase was closed")]
    Late(BodyKind),
    /// The second of its kind.
    #[error("{0} was already received; a repetition changes nothing")]
    Duplicate(BodyKind),
    /// From a member that was away in an earlier phase.
    #[error("member {0} was away in an earlier phase and is out of this round")]
    Away(MemberId),
    /// A public key with which no secret can be agreed.
    #[error("the public key of member {0} has small order")]
    WeakKey(MemberId),
    /// A key that another member, or this one, has shown too.
    #[error("member {0} has a key that another member has shown")]
    EqualKeys(MemberId),
    /// A list of others than those whose sum was agreed on.
    #[error(
        "a list of {found} of {members} members; a sum of just those {members} was agreed on, and nothing else is \
         opened"
    )]
    NotEverybody {
        /// Members in the list, its reader included.
        found: u32,
        /// Those that were agreed on, as far as they can be in the list.
        members: u32,
    },
    /// A share that its seal does not fit.
    #[error("the sealed share from member {0} does not open")]
    Unsealed(MemberId),
    /// Too few neighbours are left; this member takes no further part.
    #[error(
        "{found} holders of shares are left, {quorum} are needed; the mask could never be opened"
    )]
    BelowQuorum {
        /// How many are left, the member itself included.
        found: u32,
        /// How many are needed.
        quorum: u32,
    },
    /// The collector claims a sum over too few members; nothing is opened for it.
    #[error(
        "a sum over {found} members is below the threshold of {threshold}; nothing is opened for it"
    )]
    BelowThreshold {
        /// Members in the sum, as claimed.
        found: u32,
        /// The least number of members that was agreed on.
        threshold: u32,
    },
    /// The aggregation has ended.
    #[error("the aggregation has ended")]
    Ended,
}
