//! Sums that show no summand.
//!
//! m members each hold a vector of integers modulo 2⁶⁴. A collector learns their sum over the
//! members that stayed, and nothing else, although members may leave at any moment (Bonawitz et al.
//! 2017; on a sparse graph of neighbours as in Bell et al. 2020). Four phases, each closed when
//! everybody has answered or when the caller says that time is up:
//!
//! 1. **Advertise.** Each member sends two public keys.
//! 2. **Share.** Each member hands every neighbour a sealed share of its mask secret key and one of
//!    its self-mask seed.
//! 3. **Mask.** yᵤ = xᵤ + PRG(bᵤ) + Σ_{v > u} PRG(sᵤᵥ) − Σ_{v < u} PRG(sᵤᵥ), the sums over
//!    neighbours that shared.
//! 4. **Unmask.** For a neighbour that sent yᵤ a member gives back its share of bᵤ, for one that
//!    did not its share of the secret key: never both.
//!
//! [`Member`] and [`Collector`] are state machines: bytes in, bytes out; no clock, no socket, no
//! randomness but the 32-byte key a member is made from. What is certified and against whom:
//! `proofs/secure-aggregation.md`.
//!
//! What a member puts in comes from [`FixedPoint`] (reals to integers, with a proof that the sum
//! does not overflow) and [`NoiseShare`] (each member's part of the noise of the sum).
//!
//! Where one is trusted with the summands, they travel to it in a [`SealedBox`] that it alone opens.
//!
//! # Examples
//!
//! A round in which everybody stays. The README of the crate has one in which somebody leaves.
//!
//! ```
//! use reticent_masks::{Collector, Member, LinkEnd, AggregationTerms};
//!
//! // Three members, two of whom must stay, vectors of two entries. In use, the name of the run is
//! // never used twice and each key is fresh.
//! let terms = AggregationTerms::complete([7; 32], 0, 3, 2, 2)?;
//! let mut collector = Collector::new(terms.clone());
//! let mut members = Vec::new();
//! for id in 0..3 {
//!     members.push(Member::new(terms.clone(), id, &[id as u8; 32], vec![u64::from(id), 10])?);
//! }
//! let mut answers: Vec<_> = members.iter().map(|m| (m.id(), m.start().bytes)).collect();
//! while collector.outcome().is_none() {
//!     let mut said = Vec::new();
//!     for (from, bytes) in answers.drain(..) {
//!         said.extend(collector.on_message(from, &bytes)?);
//!     }
//!     for outgoing in said {
//!         let LinkEnd::Member(id) = outgoing.to else { continue };
//!         let answer = members[id as usize].on_message(&outgoing.bytes)?;
//!         answers.extend(answer.into_iter().map(|answer| (id, answer.bytes)));
//!     }
//! }
//! let Some(Ok(sum)) = collector.outcome() else { panic!("everybody stayed") };
//! assert_eq!(sum.values, [3, 30]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod channels;
mod collector;
mod corrupt;
mod fixed_point;
mod graph;
mod kept_member;
mod keys;
mod line;
mod mask;
mod member;
mod noise_share;
mod rejected;
mod sealed_box;
mod shamir;
mod sum_members;
mod terms;
#[cfg(test)]
mod tests;
mod wire;

pub use channels::Channels;
pub use collector::{Abort, Collector, Sum};
pub use corrupt::Corrupt;
pub use fixed_point::{FixedPoint, FixedPointError};
pub use graph::{Sparsity, SparsityError};
pub use kept_member::KeptMember;
pub use line::Line;
pub use member::Member;
pub use noise_share::{NoiseShare, NoiseShareError};
pub use rejected::MaskRejected;
pub use sealed_box::{Receiver, ReceiverKey, SealedBox};
pub use sum_members::SumMembers;
pub use terms::{AggregationTerms, MOST_HOLDERS, TermsError};
pub use wire::{Body, BodyKind, LinkEnd, Message, Outgoing, PublicKeys, SealedShares, VERSION};

/// The number of a member, from 0.
pub type MemberId = u32;

/// The example of the README is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
