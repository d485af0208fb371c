//! One program of all test files of this crate: each would be linked by itself.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

mod alone;
mod common;
mod dp_admm;
mod failures;
mod federated;
mod frozen;
mod network;
mod network_failures;
mod network_own;
mod network_weight;
mod signed;
mod trust;
mod views;
mod walk;
