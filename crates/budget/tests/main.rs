//! One program of all test files of this crate: each would be linked by itself.

mod common;
mod crashes;
mod file;
mod looking;
mod store;
