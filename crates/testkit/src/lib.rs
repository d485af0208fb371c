//! Generators, statistics and reference solvers for the tests of Reticent. Never a normal
//! dependency.

pub mod generators;
pub mod reference;
pub mod statistics;
