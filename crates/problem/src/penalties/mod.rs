//! Penalties `r(y)` that do not depend on the data: a value, a prox and a subgradient each.

use std::fmt;

/// A penalty on a row-major matrix with `columns` columns (1 for an ordinary linear model).
///
/// The intercept is not part of what a penalty sees.
pub trait Penalty: fmt::Debug + Send + Sync {
    /// The name in the catalogue, as users type it.
    fn name(&self) -> &'static str;

    /// `r(y)`; `∞` outside the domain of a constraint.
    fn value(&self, y: &[f64], columns: usize) -> f64;

    /// `y ← argmin_u r(u) + ‖u − y‖²/(2·step)`, in place.
    fn prox(&self, y: &mut [f64], columns: usize, step: f64);

    /// A subgradient at `y`.
    fn subgradient(&self, y: &[f64], columns: usize, out: &mut [f64]);

    /// Whether it is convex (SCAD and MCP are not).
    fn is_convex(&self) -> bool {
        true
    }

    /// The modulus of strong convexity, 0 when there is none.
    fn strong_convexity(&self) -> f64 {
        0.0
    }
}
