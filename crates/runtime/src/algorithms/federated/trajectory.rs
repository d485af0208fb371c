//! The public course of a run whose users keep their blocks to themselves: the consensus of every
//! round, and which of them each user has been told.
//!
//! ```text
//! z = prox_{γr}(ẑ);  the users' blocks move along z inside their gates;  ẑ⁺ = p⁺ + mean of (u_i − p⁺) + noise
//! ```
//!
//! `p⁺ = (1 − 2λ)p + 2λz` is what a block would be without its data ([`BlockTerms`]). A user is
//! told the z's since it was last heard of; one that knows fewer says how many, and is told the
//! rest.

use std::collections::BTreeMap;

use reticent_noise::{Digest, Hasher};
use reticent_oracle::BlockTerms;
use serde::{Deserialize, Serialize};

use super::Federated;
use crate::error::RunError;
use crate::node::{GrowingList, ListPieces};
use crate::rejected::Rejected;
use crate::wire;

/// The largest number of bytes of z's in one message on a network, unless a single z is longer; a
/// user that is further behind gets the rest when it has followed these.
pub(super) const PAGE: usize = 1 << 15;

/// No limit, in one process.
pub(super) const ALL: usize = usize::MAX;

/// The name of the list of z's.
const Z: &str = "z";

/// A course without its z's: mean, centre, the number of z's, and how many of them each user has.
pub(super) type CourseApart = (Vec<f64>, Vec<f64>, u32, BTreeMap<u32, u32>);

/// The message to a user: the z's from number `first` on, and its own number among the users that
/// are asked in this round.
#[derive(Serialize, Deserialize)]
pub(super) struct BlockRequest {
    pub first: u32,
    pub zs: Vec<Vec<f64>>,
    pub place: u32,
}

/// The label of a user's step. It is not the digest of the message: the message depends on what the
/// user had before, and its contribution does not (the gate's own record of the followed z's stands
/// for them).
pub(super) fn label(round: u32, place: u32) -> Digest {
    Hasher::new("reticent block").number(u64::from(round)).number(u64::from(place)).finish()
}

/// The course so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Trajectory {
    mean: Vec<f64>,
    centre: Vec<f64>,
    zs: Vec<Vec<f64>>,
    /// The number of z's that each user is known to have followed.
    known: BTreeMap<u32, u32>,
}

impl Trajectory {
    pub fn new(len: usize) -> Self {
        Trajectory {
            mean: vec![0.0; len],
            centre: vec![0.0; len],
            zs: Vec::new(),
            known: BTreeMap::new(),
        }
    }

    /// The state without the z's, which are kept one by one.
    pub fn apart(&self) -> CourseApart {
        let Trajectory { mean, centre, zs, known } = self;
        (mean.clone(), centre.clone(), zs.len() as u32, known.clone())
    }

    /// The list of z's.
    pub fn list(&self) -> GrowingList {
        GrowingList { name: Z.to_owned(), len: self.zs.len() }
    }

    /// The z of this number, from 0.
    pub fn piece(&self, name: &str, number: usize) -> Result<Vec<u8>, RunError> {
        let z = self.zs.get(number).filter(|_| name == Z);
        Ok(wire::pack(z.ok_or(RunError::Snapshot("a z that there is not"))?)?)
    }

    /// The course from its kept parts.
    pub fn together(apart: CourseApart, pieces: &ListPieces) -> Result<Self, RunError> {
        let (mean, centre, len, known) = apart;
        let none = Vec::new();
        let kept = pieces.get(Z).unwrap_or(&none);
        let zs: Vec<Vec<f64>> =
            kept.iter().map(|piece| wire::unpack(piece)).collect::<Result<_, _>>()?;
        if zs.len() != len as usize || zs.iter().any(|z| z.len() != mean.len()) {
            return Err(RunError::Snapshot("other z's than those of the run"));
        }
        Ok(Trajectory { mean, centre, zs, known })
    }

    /// Computes the next z.
    pub fn begin(&mut self, config: &Federated) {
        let z = config.consensus(&self.mean);
        self.zs.push(z);
    }

    /// Ends a round: p moves, and with a mean ẑ too. Without one the blocks have moved all the
    /// same, and the last mean of their offsets, which is public, replaces it.
    pub fn end(&mut self, params: &BlockTerms, mean: Option<Vec<f64>>) {
        let Some(z) = self.zs.last() else { return };
        let offset = mean
            .unwrap_or_else(|| self.mean.iter().zip(&self.centre).map(|(m, p)| m - p).collect());
        params.centre(&mut self.centre, z);
        self.mean = self.centre.iter().zip(&offset).map(|(p, c)| p + c).collect();
    }

    /// The message to a user, with at most `page` bytes of z's unless one z is longer.
    pub fn tell(&self, user: u32, place: u32, page: usize) -> Result<Vec<u8>, RunError> {
        let first = self.known.get(&user).copied().unwrap_or(0).min(self.zs.len() as u32);
        let most = (page / (8 * self.mean.len() + 10)).max(1);
        let zs = self.zs.iter().skip(first as usize).take(most).cloned().collect();
        Ok(wire::pack(&BlockRequest { first, zs, place })?)
    }

    /// Records that the user has followed this many z's; refused if there are fewer.
    pub fn heard(&mut self, user: u32, followed: u32) -> Result<(), Rejected> {
        if followed as usize > self.zs.len() {
            return Err(Rejected::Malformed("count"));
        }
        self.known.insert(user, followed);
        Ok(())
    }

    /// All z's so far.
    pub fn zs(&self) -> &[Vec<f64>] {
        &self.zs
    }

    /// Records that the user has followed all z's.
    pub fn up_to_date(&mut self, user: u32) {
        self.known.insert(user, self.zs.len() as u32);
    }

    /// The z that would be next.
    pub fn model(&self, config: &Federated) -> Vec<f64> {
        config.consensus(&self.mean)
    }
}

/// The releases of each round, the noisy means of the offsets, reconstructed from the `public` z's
/// and the model behind them. With a penalty it is what its prox leaves of them.
pub(super) fn released(public: &[Vec<f64>], params: &BlockTerms) -> Vec<Vec<f64>> {
    let mut centre = vec![0.0; public.first().map_or(0, Vec::len)];
    let offset = |(z, next): (&Vec<f64>, &Vec<f64>)| {
        params.centre(&mut centre, z);
        next.iter().zip(&centre).map(|(m, p)| m - p).collect()
    };
    public.iter().zip(public.iter().skip(1)).map(offset).collect()
}
