//! One program of all test files of this crate: each would be linked by itself.

mod auto;
mod certificate;
mod class_weights;
mod count;
mod defaults;
mod evaluation;
mod examples;
mod fit;
mod held;
mod job_flips;
mod map;
mod memory;
mod model;
mod noisy;
mod persons;
mod recalibration;
mod results;
mod seats;
mod simulate;
mod standard_errors;
mod statistics;
mod sums;
mod total;
mod trace;
mod tune;
mod verify;
