//! What goes between an aggregator and a party, before it is closed.

use std::borrow::Cow;

use reticent_noise::{Digest, Hasher};
use reticent_problem::losses::Loss;
use serde::{Deserialize, Serialize};

use crate::gate::PrivacyModel;
use crate::queries::{RecordSum, wrong};
use crate::refusal::Refusal;

/// A party's greeting: the key of its line, and what the aggregator must know of its rows.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HolderGreeting {
    pub key: [u8; 32],
    /// As many bytes however many there are.
    #[serde(with = "postcard::fixint::le")]
    pub units: u64,
    #[serde(with = "postcard::fixint::le")]
    pub features: u64,
    pub drafted: bool,
    /// Whether its key is from a seed, so that whoever knows the seed reads its sums.
    pub seeded: bool,
    /// See [`agreed`].
    pub agreed: Digest,
}

/// Stands for the terms and the loss that rows were opened for: whoever counts persons must not add
/// up what others clip by records.
pub(crate) fn agreed(opening: &PrivacyModel, loss: &dyn Loss) -> Result<Digest, Refusal> {
    let mut hasher = Hasher::new("reticent entrusted");
    // The description of a loss does not say the weights of its classes.
    hasher.canonical(&(opening, loss.spec(), loss.weights()))?;
    Ok(hasher.finish())
}

/// What a party is asked. Who is drawn, if anybody is, stands behind it: a bit for each unit.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum HolderRequest<'a> {
    /// See [`Oracle::set_basis`](crate::Oracle::set_basis).
    Basis(Option<Cow<'a, [f64]>>),
    /// A sum.
    Sum { what: RecordSum<'a>, sampled: bool },
}

impl HolderRequest<'_> {
    pub fn pack(&self) -> Result<Vec<u8>, Refusal> {
        postcard::to_allocvec(self).map_err(|_| wrong("a request cannot be written"))
    }
}

impl HolderRequest<'static> {
    /// The request, and what stands behind it.
    pub fn unpack(bytes: &[u8]) -> Option<(Self, &[u8])> {
        postcard::take_from_bytes(bytes).ok()
    }
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direction {
    Asked,
    Answered,
}

/// What a greeting is bound to.
pub(super) fn greeting(run: &Digest, party: u32) -> Digest {
    Hasher::new("reticent greeting").field(run).number(party.into()).finish()
}

/// What a message is bound to.
pub(super) fn bound_to(run: &Digest, party: u32, round: u32, way: Direction) -> Digest {
    let label = match way {
        Direction::Asked => "reticent asked",
        Direction::Answered => "reticent answered",
    };
    Hasher::new(label).field(run).number(party.into()).number(round.into()).finish()
}

/// Sums as bytes, eight each.
pub(crate) fn write_steps(steps: &[i64]) -> Vec<u8> {
    steps.iter().flat_map(|step| step.to_le_bytes()).collect()
}

/// The sums that bytes are.
pub(crate) fn read_steps(bytes: &[u8]) -> Option<Vec<i64>> {
    let (words, rest) = bytes.as_chunks::<8>();
    rest.is_empty().then(|| words.iter().map(|word| i64::from_le_bytes(*word)).collect())
}

/// The units that are marked, in ascending order; `None` where there are not as many bits as units.
pub(crate) fn marked(bits: &[u8], units: usize) -> Option<Vec<u32>> {
    let is = |unit: usize| bits[unit / 8] >> (unit % 8) & 1 == 1;
    (bits.len() == units.div_ceil(8))
        .then(|| (0..units).filter(|&unit| is(unit)).map(|unit| unit as u32).collect())
}
