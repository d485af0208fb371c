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

/// So many bytes of z's are told at once on a network, or one z; a user that is further behind is told
/// the rest when it has followed these.
pub(super) const PAGE: usize = 1 << 15;

/// All of them, in one process.
pub(super) const ALL: usize = usize::MAX;

/// What the list of the z's is called.
const Z: &str = "z";

/// A course without its z's: mean, centre, how many z's there are, and how many of them are known.
pub(super) type CourseApart = (Vec<f64>, Vec<f64>, u32, BTreeMap<u32, u32>);

/// What a user is told: the z's from number `first` on, and its own number among those who are
/// asked in this round.
#[derive(Serialize, Deserialize)]
pub(super) struct BlockRequest {
    pub first: u32,
    pub zs: Vec<Vec<f64>>,
    pub place: u32,
}

/// The label of a user's step. Not the digest of the message: what a user is told depends on what
/// it knew before, and what it contributes does not (the gate's own record of the z's that were
/// followed stands for them).
pub(super) fn label(round: u32, place: u32) -> Digest {
    Hasher::new("reticent block").number(u64::from(round)).number(u64::from(place)).finish()
}

/// The course so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Trajectory {
    mean: Vec<f64>,
    centre: Vec<f64>,
    zs: Vec<Vec<f64>>,
    /// How many z's each user is known to have followed.
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

    /// What is kept where the z's are kept one by one.
    pub fn apart(&self) -> CourseApart {
        let Trajectory { mean, centre, zs, known } = self;
        (mean.clone(), centre.clone(), zs.len() as u32, known.clone())
    }

    /// The z's.
    pub fn list(&self) -> GrowingList {
        GrowingList { name: Z.to_owned(), len: self.zs.len() }
    }

    /// The z of this number, from 0; `None` of another list.
    pub fn piece(&self, name: &str, number: usize) -> Result<Vec<u8>, RunError> {
        let z = self.zs.get(number).filter(|_| name == Z);
        Ok(wire::pack(z.ok_or(RunError::Snapshot("a z that there is not"))?)?)
    }

    /// The course that has been kept so.
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

    /// The next z.
    pub fn begin(&mut self, config: &Federated) {
        let z = config.consensus(&self.mean);
        self.zs.push(z);
    }

    /// The end of a round: p moves, and ẑ with it if there is a mean. Without one the blocks have
    /// moved all the same, and the last mean of their offsets, which is public, stands in.
    pub fn end(&mut self, params: &BlockTerms, mean: Option<Vec<f64>>) {
        let Some(z) = self.zs.last() else { return };
        let offset = mean
            .unwrap_or_else(|| self.mean.iter().zip(&self.centre).map(|(m, p)| m - p).collect());
        params.centre(&mut self.centre, z);
        self.mean = self.centre.iter().zip(&offset).map(|(p, c)| p + c).collect();
    }

    /// What to tell a user, in at most so many bytes where it is more than one z.
    pub fn tell(&self, user: u32, place: u32, page: usize) -> Result<Vec<u8>, RunError> {
        let first = self.known.get(&user).copied().unwrap_or(0).min(self.zs.len() as u32);
        let most = (page / (8 * self.mean.len() + 10)).max(1);
        let zs = self.zs.iter().skip(first as usize).take(most).cloned().collect();
        Ok(wire::pack(&BlockRequest { first, zs, place })?)
    }

    /// The user has followed so many; refused if there are not so many.
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

    /// The user has followed all there are.
    pub fn up_to_date(&mut self, user: u32) {
        self.known.insert(user, self.zs.len() as u32);
    }

    /// The z that would be next.
    pub fn model(&self, config: &Federated) -> Vec<f64> {
        config.consensus(&self.mean)
    }
}

/// What was released in each round, the mean of the offsets with its noise, as whoever has the
/// `public` z's and the model behind them works it out. With a penalty it is what is left of it
/// behind the penalty's prox.
pub(super) fn released(public: &[Vec<f64>], params: &BlockTerms) -> Vec<Vec<f64>> {
    let mut centre = vec![0.0; public.first().map_or(0, Vec::len)];
    let offset = |(z, next): (&Vec<f64>, &Vec<f64>)| {
        params.centre(&mut centre, z);
        next.iter().zip(&centre).map(|(m, p)| m - p).collect()
    };
    public.iter().zip(public.iter().skip(1)).map(offset).collect()
}
