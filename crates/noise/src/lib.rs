//! Randomness that is what it says.
//!
//! [`Entropy`] is the only source of random numbers in Reticent: the operating system's, or a seed
//! that marks all it touches as not private. From it come exactly sampled noise on a grid
//! ([`grid`]), random vectors that have a density ([`vectors`]) and exact random subsets and counts.
//! Nothing in here sees data.

mod counts;
pub mod digest;
pub mod entropy;
pub mod grid;
mod key;
mod sampling;
mod score_levels;
mod subsets;
pub mod vectors;

pub use digest::{Digest, Hasher};
pub use entropy::{Entropy, EntropyError};
pub use key::NoiseKey;
pub use sampling::Sampling;
pub use score_levels::{ScoreLevels, ScoredDraw};

/// The example of the README is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
