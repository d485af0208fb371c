//! One program of all test files of this crate: each would be linked by itself.

mod catalogue;
mod common;
mod exact;
mod noise_off;
mod schedules;
