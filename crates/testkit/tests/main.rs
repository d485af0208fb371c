//! One program of all test files of this crate: each would be linked by itself.

mod edges;
mod functions;
mod mutants;
mod paying;
mod programs;
mod published;
mod review;
mod supply_chain;
