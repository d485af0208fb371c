//! One program of all test files of this crate: each would be linked by itself.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

mod archive;
mod arrow;
mod bad_input;
mod byte_flips;
mod dataset;
mod drafts;
mod formats;
mod nothing_lost;
mod parallel;
mod parquet;
mod persons;
mod real_files;
mod round_trip;
