//! What is minimised: `(1/n) Σ f(x; dᵢ) + r(y)` subject to `A x + B y = c`.
//!
//! Pure mathematics: no data, no randomness. Losses, penalties and constraints are three families, a
//! folder each, whose `mod.rs` holds the trait, the catalogue and the conformance tests.

pub mod constraints;
pub mod losses;
pub mod penalties;
mod shape;

pub use shape::Shape;
