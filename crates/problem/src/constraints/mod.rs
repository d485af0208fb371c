//! Linear constraints `A x + B y = c` between the parameter and what the penalty sees.
//!
//! `B = b·I` with a number `b ≠ 0`, −1 unless said otherwise, and `c = 0` unless said otherwise:
//! then `y = A x`, and the problem is `min (1/n) Σ f(x; dᵢ) + r(A x)`.

use std::io;

use crate::catalogue::{self, Arguments};
use crate::{ParseError, SparseMatrix};

mod chain;
mod graph;
mod identity;
mod matrix;
mod trend;

/// A constraint `A x + b·y = c` on the features of a parameter; the intercept is no part of it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Constraint {
    name: &'static str,
    spec: String,
    a: SparseMatrix,
    b: f64,
    c: Vec<f64>,
    gram_norm: f64,
}

impl Constraint {
    fn new(name: &'static str, spec: String, a: SparseMatrix) -> Self {
        let c = vec![0.0; a.rows()];
        let gram_norm = if name == identity::ENTRY.name { 1.0 } else { a.gram_norm_bound() };
        Self { name, spec, a, b: -1.0, c, gram_norm }
    }

    /// Any matrix, as a constraint.
    ///
    /// # Examples
    ///
    /// ```
    /// use reticent_problem::{Constraint, Regulariser, Shape, SparseMatrix, penalties::L1};
    ///
    /// // The sum of two coefficients is penalised, and nothing else.
    /// let sum = SparseMatrix::from_triplets(1, 2, &[(0, 0, 1.0), (0, 1, 1.0)]);
    /// let shape = Shape { features: 2, outputs: 1, intercept: false };
    /// let lasso = Box::new(L1::new(1.0)?) as Box<dyn reticent_problem::Penalty>;
    /// let regulariser = Regulariser::new(lasso, Constraint::from_matrix(sum), shape)?;
    /// assert_eq!(regulariser.value_at(&[3.0, -1.0]), 2.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_matrix(a: SparseMatrix) -> Self {
        Self::new(matrix::ENTRY.name, matrix::ENTRY.name.to_owned(), a)
    }

    /// The same `A` with `B = b·I` and an offset `c`, one number for each row of `A`, the same for
    /// every output.
    ///
    /// # Panics
    /// If `b` is zero or not finite, or if `c` has another length: a mistake in the program, as
    /// neither is something that users type.
    pub fn with_scale_and_offset(self, b: f64, c: Vec<f64>) -> Self {
        assert!(b.is_finite() && b != 0.0, "b is {b}; it must be finite and not zero");
        assert_eq!(c.len(), self.a.rows(), "c must have an entry for each row of A");
        Self { b, c, ..self }
    }

    /// The name in the catalogue.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The description that [`parse`] reads back to the same `A`.
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// The matrix `A` of `A x + B y = c`.
    pub fn a(&self) -> &SparseMatrix {
        &self.a
    }

    /// The number `b` of `B = b·I`.
    pub fn b(&self) -> f64 {
        self.b
    }

    /// The offset `c` of `A x + B y = c`.
    pub fn c(&self) -> &[f64] {
        &self.c
    }

    /// Whether it says `x = y` and nothing else.
    pub fn is_identity(&self) -> bool {
        self.name == identity::ENTRY.name && self.b == -1.0 && self.c.iter().all(|c| *c == 0.0)
    }

    /// An upper bound of `‖AᵀA‖₂`.
    pub fn gram_norm(&self) -> f64 {
        self.gram_norm
    }
}

/// What a constraint may need to know when it is read: the features, and how to get at a file.
pub struct ConstraintContext<'c> {
    /// The names of the features, in order.
    pub features: &'c [String],
    /// How a file is read. This crate touches no files itself.
    pub read: &'c dyn Fn(&str) -> io::Result<String>,
}

impl ConstraintContext<'_> {
    fn file(&self, name: &str) -> Result<String, ParseError> {
        (self.read)(name)
            .map_err(|e| ParseError::Unreadable { file: name.to_owned(), problem: e.to_string() })
    }
}

/// Builds a constraint from its parameters.
pub type Make = fn(&Arguments, &ConstraintContext<'_>) -> Result<Constraint, ParseError>;

/// A constraint in the catalogue.
pub type Entry = catalogue::CatalogueEntry<Make>;

/// Every constraint that can be asked for by name.
pub const CATALOGUE: &[Entry] =
    &[identity::ENTRY, chain::ENTRY, trend::ENTRY, graph::ENTRY, matrix::ENTRY];

/// Reads a constraint as users type it: `identity`, `trend:2`, `graph:edges.txt`.
///
/// # Errors
/// A [`ParseError`] that names what was typed and what is allowed: an unknown name, a parameter
/// that is missing or out of range, too few features, a file that cannot be read or understood.
///
/// # Examples
///
/// ```
/// use reticent_problem::constraints::{ConstraintContext, parse};
///
/// let features = ["age", "height", "weight"].map(str::to_owned);
/// let read = |_: &str| Ok("age height 1\nheight weight -0.5\n".to_owned());
/// let graph = parse("graph:edges.txt", &ConstraintContext { features: &features, read: &read })?;
/// // A row for each edge and one for each feature.
/// assert_eq!((graph.a().rows(), graph.a().columns()), (5, 3));
/// # Ok::<(), reticent_problem::ParseError>(())
/// ```
pub fn parse(text: &str, context: &ConstraintContext<'_>) -> Result<Constraint, ParseError> {
    let (entry, arguments) = catalogue::read("constraint", CATALOGUE, text, None)?;
    (entry.build)(&arguments, context)
}

/// Says which file a line of text came from.
fn in_file(file: &str, error: ParseError) -> ParseError {
    match error {
        ParseError::Line { line, problem, .. } => {
            ParseError::Line { file: format!("`{file}`, "), line, problem }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests;
