//! One program of all test files of this crate: each would be linked by itself.

mod cached;
mod compile_fail;
mod exact;
mod gate;
mod holders;
mod keyed;
mod noisy;
mod proofs;
#[path = "queries/main.rs"]
mod queries;
mod refusals;
mod residual;
mod select;
mod shards;
mod side_doors;
mod walk;
mod weights;
