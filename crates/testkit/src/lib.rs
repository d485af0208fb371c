//! Generators, statistics, reference solvers and free ports for the tests of Reticent. Never a normal
//! dependency.

pub mod generators;
mod ports;
pub mod reference;
pub mod statistics;

pub use ports::free_port;
