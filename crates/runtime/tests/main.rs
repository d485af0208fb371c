//! One program of all test files of this crate: each would be linked by itself.

mod alone;
mod common;
mod dp_admm;
mod failures;
mod federated;
mod network;
mod network_failures;
mod trust;
mod views;
mod walk;
