//! What is minimised: `(1/n) Σ f(x; dᵢ) + r(y)` subject to `A x + B y = c`.
//!
//! Pure mathematics: no data, no randomness, no files. Losses, penalties and constraints are three
//! families, a folder each, whose `mod.rs` holds the trait (or type), the catalogue and the conformance
//! tests. [`Regulariser`] ties a penalty and a constraint to the shape of a parameter.

pub mod catalogue;
pub mod constraints;
mod error;
mod graph;
pub mod losses;
pub mod penalties;
mod regulariser;
mod root;
mod shape;
mod sparse;

pub use constraints::Constraint;
pub use error::ParseError;
pub use graph::{Edge, Graph};
pub use losses::{Loss, Target};
pub use penalties::Penalty;
pub use regulariser::{Regulariser, ShapeError};
pub use shape::Shape;
pub use sparse::SparseMatrix;
