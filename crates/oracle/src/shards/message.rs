//! What goes between the driver and a shard. Nothing of it is closed: both are in one trust. An answer
//! has digests, so that one that was changed, is to another question or of another worker is no
//! answer.

use std::borrow::Cow;

use reticent_noise::{Digest, Hasher};
use serde::{Deserialize, Serialize};

use super::shard::ShardSeat;
use super::{OTHER_TERMS, refused};
use crate::parties::{read_steps, write_steps};
use crate::queries::{RecordSum, wrong};
use crate::refusal::Refusal;

/// The version of this program.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// What a worker enrols with: all that its integers follow from. As many bytes whatever its rows are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ShardHello {
    pub program: String,
    /// Stands for the file of the program.
    pub build: Digest,
    /// Stands for the numbers that this machine computes: see [`self_test`](super::self_test).
    pub arithmetic: Digest,
    /// The terms and the loss that the rows were opened for.
    pub agreed: Digest,
    /// Stands for the encoded rows and what they were opened for.
    pub rows: Digest,
    /// Stands for what each file holds.
    pub files: Vec<Digest>,
    pub seat: ShardSeat,
    #[serde(with = "postcard::fixint::le")]
    pub units: u64,
    #[serde(with = "postcard::fixint::le")]
    pub records: u64,
    /// The units of the table that this is a part of; where it is all of its files, its own.
    #[serde(with = "postcard::fixint::le")]
    pub whole: u64,
    pub features: u64,
    pub drafted: bool,
}

impl ShardHello {
    /// The version of the program that says this.
    pub fn program() -> String {
        PROGRAM.to_owned()
    }

    /// Stands for all of it.
    pub fn identity(&self) -> Result<Digest, Refusal> {
        Ok(Hasher::new("reticent shard").canonical(self)?.finish())
    }

    /// Refuses a worker that is not what the driver of this program takes it for.
    pub fn check(
        &self,
        (number, of): (usize, usize),
        build: &Digest,
        agreed: &Digest,
        features: usize,
    ) -> Result<(), Refusal> {
        let seat = (self.seat.number as usize, self.seat.of as usize);
        let why = if self.program != PROGRAM || self.build != *build {
            "runs another build of Reticent than the driver: install the same package on every machine"
        } else if self.arithmetic != super::self_test() {
            "computes other numbers than the driver, by another mathematics library or processor: use machines of one kind, \
             with one operating system"
        } else if self.agreed != *agreed || self.features != features as u64 {
            OTHER_TERMS
        } else if seat != (number, of) {
            "has the seat of another shard"
        } else {
            return Ok(());
        };
        Err(refused(number, why))
    }
}

/// What a shard is asked. Who is drawn, if anybody is, stands behind it: a bit for each unit.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ShardRequest<'a> {
    /// Who it is.
    Hello,
    /// See [`Oracle::set_basis`](crate::Oracle::set_basis).
    Basis(Option<Cow<'a, [f64]>>),
    /// A sum, in the basis that has this digest: a worker that was started anew is without.
    Sum { what: RecordSum<'a>, sampled: bool, basis: Digest },
}

impl ShardRequest<'_> {
    pub fn pack(&self) -> Result<Vec<u8>, Refusal> {
        postcard::to_allocvec(self).map_err(|_| wrong("a request cannot be written"))
    }
}

impl ShardRequest<'static> {
    /// The request, and what stands behind it.
    pub fn unpack(bytes: &[u8]) -> Option<(Self, &[u8])> {
        postcard::take_from_bytes(bytes).ok()
    }
}

/// What a shard says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ShardReply {
    Hello(Box<ShardHello>),
    /// The basis is set.
    Basis,
    /// It is without the basis that the sum is in.
    NoBasis,
    /// A sum, whose steps stand behind it.
    Sum,
}

/// What stands before the steps of an answer.
#[derive(Debug, Serialize, Deserialize)]
struct AnswerHead {
    identity: Digest,
    /// Stands for the request.
    asked: Digest,
    reply: ShardReply,
    /// Stands for the steps.
    steps: Digest,
}

/// An answer that is whole, and to the request.
pub(super) struct ShardAnswer {
    pub identity: Digest,
    pub reply: ShardReply,
    pub steps: Vec<i64>,
}

fn request_digest(request: &[u8]) -> Digest {
    Hasher::new("reticent shard request").field(request).finish()
}

fn steps_digest(steps: &[u8]) -> Digest {
    Hasher::new("reticent shard steps").field(steps).finish()
}

/// Stands for a basis; all zero for rows as they came.
pub(super) fn basis_digest(images: Option<&[f64]>) -> Digest {
    images
        .map(|images| Hasher::new("reticent shard basis").numbers(images).finish())
        .unwrap_or_default()
}

pub(super) fn write_answer(
    identity: &Digest,
    request: &[u8],
    (reply, steps): (ShardReply, &[i64]),
) -> Result<Vec<u8>, Refusal> {
    let steps = write_steps(steps);
    let asked = request_digest(request);
    let head = AnswerHead { identity: *identity, asked, reply, steps: steps_digest(&steps) };
    let mut bytes =
        postcard::to_allocvec(&head).map_err(|_| wrong("an answer cannot be written"))?;
    bytes.extend_from_slice(&steps);
    Ok(bytes)
}

pub(super) fn read_answer(request: &[u8], answer: &[u8]) -> Option<ShardAnswer> {
    let (head, rest): (AnswerHead, &[u8]) = postcard::take_from_bytes(answer).ok()?;
    let AnswerHead { identity, asked, reply, steps } = head;
    let whole = asked == request_digest(request) && steps == steps_digest(rest);
    Some(ShardAnswer { identity, reply, steps: read_steps(rest).filter(|_| whole)? })
}
