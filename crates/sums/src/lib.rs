//! Arithmetic over private rows: clipped sums on an integer grid, and what is built on them.
//!
//! ```text
//! table ─► Private (norms, units) ─► Pass: score · slope · clip · round ─► integers
//! ```
//!
//! One unit moves a sum by at most one clip whatever its records are, and the bits of a sum do not
//! depend on the threads that computed it: proofs/sensitivity-clipped-sum.md. What is in here is as
//! private as the rows. Nothing is made public, and no crate but the gate may use it.

mod blocks;
pub mod grid;
mod party_block;
mod pass;
mod private;
mod prox;
mod rows;
#[cfg(test)]
mod sensitivity_tests;
mod solver;
mod square;
mod statistic;
mod unclipped;

pub use blocks::{Blocks, Move};
pub use grid::Grid;
pub use party_block::{BlockTerms, OneRecord, PartyBlock};
pub use pass::{Ask, Pass, Scratch, Slopes, Vectors, finite};
pub use private::{Private, TableError, Users, norm_above};
pub use prox::Prox;
pub use rows::RowAccess;
pub use solver::{Bounds, Descent, Quadratic, Risk, UP, Unsolvable, least_singular, norm};
pub use square::symmetric;
pub use statistic::Statistic;
pub use unclipped::{Split, Want, unclipped_sum};
