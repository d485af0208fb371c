//! One program of all test files of this crate: each would be linked by itself.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

mod parties;
mod paying;
