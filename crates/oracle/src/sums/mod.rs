//! Arithmetic over private rows: clipped sums on an integer grid, and what is built on them.
//!
//! ```text
//! table ─► Private (norms, units) ─► Pass: score · slope · clip · round ─► integers
//! ```
//!
//! One unit moves a sum by at most one clip whatever its records are, and the bits of a sum do not
//! depend on the threads that computed it: proofs/sensitivity-clipped-sum.md. What is in here is as
//! private as the rows, and the module is private to the gate: the compiler lets nobody else use
//! it.

mod blocks;
pub(crate) mod grid;
mod images;
pub(crate) mod lanes;
mod map_tiles;
mod moving_gradient;
mod party_block;
mod pass;
mod private;
mod prox;
mod rows;
mod scored_columns;
#[cfg(test)]
mod sensitivity_tests;
mod shared;
mod solver;
mod square;
#[cfg(test)]
mod square_tests;
mod statistic;
mod threads;
mod unclipped;

pub(crate) use blocks::{Blocks, Move};
pub(crate) use grid::Grid;
pub(crate) use lanes::{LaneQuery, together};
pub(crate) use moving_gradient::PartialTerms;
pub(crate) use party_block::PartyBlock;
pub use party_block::{BlockTerms, OneRecord};
pub(crate) use pass::{Ask, Pass, Slopes, Vectors, finite};
pub use private::TableError;
pub(crate) use private::{Private, PrivateLoss, length_above};
pub(crate) use prox::ProxTerms;
pub(crate) use rows::{SeenRows, with_rows};
pub(crate) use scored_columns::{ColumnTerms, ScoredColumns};
pub(crate) use shared::{Meeting, PassMember};
pub use solver::Quadratic;
pub(crate) use solver::Unsolvable;
#[cfg(test)]
pub(crate) use solver::least_singular;
pub(crate) use solver::{Descent, Risk, RiskConstants, UP, norm};
pub(crate) use square::{Squares, symmetric};
pub use statistic::RecordStatistic;
pub(crate) use unclipped::{Split, Want, unclipped_sum};
