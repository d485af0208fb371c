//! One program of all test files of this crate: each would be linked by itself.

mod evaluation;
mod examples;
mod map;
mod no_bugs_by_default;
mod noisy;
mod parties;
mod piecewise;
mod product;
mod statistics;
