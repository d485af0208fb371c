//! Randomness that is what it says.
//!
//! [`Entropy`] is the only source of random numbers in Reticent: the operating system's, or a seed that marks all it
//! touches as not private. From it come exactly sampled noise on a grid ([`grid`]) and exact random subsets and counts. Nothing
//! in here sees data.

mod counts;
pub mod entropy;
pub mod grid;
mod subsets;

pub use entropy::{Entropy, EntropyError};
