//! What travels: a version byte, a digest, and a postcard-encoded [`Message`].
//!
//! The digest (128 bits of SHA-256) finds damage, not forgery: that a message comes over the link
//! of the member it names is for the transport to see to. Every list is bounded by the terms before
//! a byte is parsed ([`crate::AggregationTerms::longest_message`]).

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{AggregationTerms, MaskRejected, MemberId};

/// The format described here.
pub const VERSION: u8 = 3;

const DIGEST: usize = 16;

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LinkEnd {
    /// The collector, who adds up the masked vectors.
    Collector,
    /// The member with this number.
    Member(MemberId),
}

/// Bytes to be carried to somebody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// The party that is to receive it.
    pub to: LinkEnd,
    /// The bytes of an encoded [`Message`].
    pub bytes: Vec<u8>,
}

/// A message and what it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The public name of the run that it belongs to.
    pub run: [u8; 32],
    /// The round of the run.
    pub round: u64,
    /// The member at one end of the link; the collector is at the other.
    pub member: MemberId,
    /// The content of the message.
    pub body: Body,
}

/// The two public keys of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublicKeys {
    /// Agrees on pairwise masks; its secret half is shared, and opened when the member leaves.
    pub mask: [u8; 32],
    /// Agrees on the keys that seal shares; its secret half is never shared.
    pub channel: [u8; 32],
}

/// The two shares for one holder, encrypted and authenticated for it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedShares {
    /// The share of the mask secret key.
    pub key: [u8; 32],
    /// The share of the self-mask seed.
    pub seed: [u8; 32],
    /// The tag of both.
    pub tag: [u8; 16],
    /// By which the share of the key is known when it comes back.
    pub key_mark: [u8; 16],
    /// The same for that of the seed.
    pub seed_mark: [u8; 16],
}

/// What is said. Lists are in increasing order of members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    /// Member: my public keys.
    Advertise(PublicKeys),
    /// Collector: the public keys of your neighbours.
    Directory(Vec<(MemberId, PublicKeys)>),
    /// Member: a check value of my seed, and a sealed share for each neighbour.
    Shares {
        /// By which a wrongly opened seed is noticed.
        seed_tag: [u8; 16],
        /// The sealed shares, each with the neighbour that it is for.
        sealed: Vec<(MemberId, SealedShares)>,
    },
    /// Collector: the shares your neighbours sealed for you.
    Deliveries(Vec<(MemberId, SealedShares)>),
    /// Member: my vector under its masks, eight little-endian bytes an entry.
    Masked(Vec<u8>),
    /// Collector: whose vectors are in the sum.
    Survivors {
        /// How many of all members.
        count: u32,
        /// Which of your neighbours and you.
        holders: Vec<MemberId>,
    },
    /// Member: shares of the seeds of those who stayed, shares of the secret keys of those who
    /// left.
    Unmask {
        /// Shares of self-mask seeds.
        seeds: Vec<(MemberId, [u8; 32])>,
        /// Shares of mask secret keys.
        keys: Vec<(MemberId, [u8; 32])>,
    },
}

/// The kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // the names are those of Body
pub enum BodyKind {
    Advertise,
    Directory,
    Shares,
    Deliveries,
    Masked,
    Survivors,
    Unmask,
}

impl std::fmt::Display for BodyKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Advertise => "an advertisement of keys",
            Self::Directory => "a directory of keys",
            Self::Shares => "a set of shares",
            Self::Deliveries => "a delivery of shares",
            Self::Masked => "a masked vector",
            Self::Survivors => "a list of survivors",
            Self::Unmask => "an unmasking",
        })
    }
}

impl Body {
    /// Which kind it is.
    #[must_use]
    pub fn kind(&self) -> BodyKind {
        match self {
            Self::Advertise(_) => BodyKind::Advertise,
            Self::Directory(_) => BodyKind::Directory,
            Self::Shares { .. } => BodyKind::Shares,
            Self::Deliveries(_) => BodyKind::Deliveries,
            Self::Masked(_) => BodyKind::Masked,
            Self::Survivors { .. } => BodyKind::Survivors,
            Self::Unmask { .. } => BodyKind::Unmask,
        }
    }
}

fn digest(payload: &[u8]) -> [u8; DIGEST] {
    let whole =
        Sha256::new().chain_update(b"reticent-masks/1 frame").chain_update(payload).finalize();
    let mut short = [0; DIGEST];
    short.copy_from_slice(&whole[..DIGEST]);
    short
}

/// Version, digest, payload.
pub(crate) fn framed(payload: &[u8]) -> Vec<u8> {
    [&[VERSION][..], &digest(payload), payload].concat()
}

impl Message {
    /// The message about `member` under `terms`.
    #[must_use]
    pub fn new(terms: &AggregationTerms, member: MemberId, body: Body) -> Self {
        Self { run: *terms.run(), round: terms.round(), member, body }
    }

    /// The message as bytes: version, digest, payload.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        // Writing to a growing vector cannot fail, and none of the types is one that postcard
        // refuses.
        let payload = postcard::to_allocvec(self).unwrap_or_default();
        framed(&payload)
    }

    /// Parses and checks all that does not depend on the phase. `member` is at the other end, or
    /// this end, of the link.
    ///
    /// # Errors
    /// [`MaskRejected`] says what is wrong.
    pub fn decode(
        terms: &AggregationTerms,
        member: MemberId,
        bytes: &[u8],
    ) -> Result<Self, MaskRejected> {
        let limit = terms.longest_message();
        if bytes.len() > limit {
            return Err(MaskRejected::TooLong { given: bytes.len(), limit });
        }
        let (&version, rest) =
            bytes.split_first().ok_or(MaskRejected::Malformed("no bytes at all"))?;
        if version != VERSION {
            return Err(MaskRejected::Version { given: version });
        }
        let (check, payload) =
            rest.split_at_checked(DIGEST).ok_or(MaskRejected::Malformed("too short"))?;
        if check != digest(payload) {
            return Err(MaskRejected::Corrupted);
        }
        let (message, left) = postcard::take_from_bytes::<Self>(payload)
            .map_err(|_| MaskRejected::Malformed("its fields do not parse"))?;
        if !left.is_empty() {
            return Err(MaskRejected::Malformed("bytes after its end"));
        }
        if message.run != *terms.run() {
            return Err(MaskRejected::WrongRun);
        }
        if message.round != terms.round() {
            return Err(MaskRejected::WrongRound { given: message.round, expected: terms.round() });
        }
        if message.member != member {
            return Err(MaskRejected::Misdirected { named: message.member, expected: member });
        }
        Ok(message)
    }
}

/// Whether the numbers of a list increase strictly.
pub(crate) fn increasing(members: impl IntoIterator<Item = MemberId>) -> bool {
    let mut last = None;
    members.into_iter().all(|member| last.replace(member).is_none_or(|before| before < member))
}
