//! What is minimised: `(1/n) Σ f(x; dᵢ) + r(y)` subject to `A x + B y = c`.
//!
//! Pure mathematics: no data, no randomness, no files. Losses, penalties and constraints are three
//! families, a folder each, whose `mod.rs` holds the trait (or type), the catalogue and the
//! conformance tests. [`Regulariser`] ties a penalty and a constraint to the shape of a parameter.
//!
//! ```
//! use reticent_problem::{Constraint, Regulariser, Shape, losses, penalties};
//!
//! let loss = losses::parse("huber:1.35", None)?;
//! let penalty = penalties::parse("l1:0.1")?;
//! let shape = Shape { features: 3, outputs: loss.outputs(), intercept: true };
//!
//! // The fused lasso: 0.1·Σ|x_{j+1} − x_j|, the intercept (here 7) left out.
//! let fused = Regulariser::new(penalty, Constraint::chain(3)?, shape)?;
//! assert!((fused.value_at(&[1.0, 1.0, 3.0, 7.0]) - 0.2).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! To add a loss or a penalty: a file beside the others with the type and its `ENTRY` (for one
//! score or one entry, [`losses::ScalarLoss`] or [`penalties::Separable`] is all there is to
//! implement), its `mod` line and its line in the `CATALOGUE`. A penalty also gets a line in the
//! list of `penalties/tests.rs`, and a test fails until it has one; then the conformance tests say
//! whether it is right.
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

pub mod catalogue;
pub mod constraints;
mod error;
mod exp;
mod graph;
mod graphical_lasso;
mod learned_graph;
pub mod losses;
pub mod penalties;
mod regulariser;
mod root;
mod score;
mod shape;
mod sparse;

pub use constraints::Constraint;
pub use error::ParseError;
pub use graph::{Edge, Graph};
pub use learned_graph::GraphTerms;
pub use losses::{Loss, LossTarget};
pub use penalties::Penalty;
pub use regulariser::{Regulariser, ShapeError};
pub use score::prediction_error;
pub use shape::Shape;
pub use sparse::SparseMatrix;

/// The example of the README is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
