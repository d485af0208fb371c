//! One program of all test files of this crate: each would be linked by itself.

mod entropy;
mod law;
mod least_significant_bits;
mod second_implementation;
mod spherical;
