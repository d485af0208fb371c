//! The gate: the only code that sees private data, and the only maker of released values.

pub mod entropy;
pub mod noise;
pub mod sampling;
