//! One program of all test files of this crate: each would be linked by itself.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

mod account;
mod audit;
#[path = "bad_input/main.rs"]
mod bad_input;
mod between;
mod book;
mod budget;
mod cached;
mod common;
mod curves;
mod drafts;
mod end_to_end;
mod evaluation;
mod frozen;
mod kills;
mod network;
mod packaging;
mod paid;
mod persons;
mod predictions;
mod reading;
mod report;
mod serve;
mod simulate;
mod split;
mod statistics;
mod sweep;
mod verify;
mod weights;
mod words;
