//! One program of all test files of this crate: each would be linked by itself.

mod closed_forms;
mod events;
mod extremes;
mod filter;
mod frozen;
mod golden;
mod properties;
mod raw_comparisons;
mod reference;
mod selection;
