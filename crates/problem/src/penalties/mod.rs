//! Penalties `r(y)` that do not depend on the data: a value, a prox and a subgradient each.

use std::fmt;

use crate::ParseError;
use crate::catalogue;

mod boxed;
mod elastic_net;
mod group_lasso;
mod l1;
mod l2;
mod l2_ball;
mod mcp;
mod none;
mod nuclear;
mod scad;
mod separable;

pub use boxed::Bounds;
pub use elastic_net::ElasticNet;
pub use group_lasso::GroupLasso;
pub use l1::L1;
pub use l2::L2;
pub use l2_ball::L2Ball;
pub use mcp::Mcp;
pub use none::NoPenalty;
pub use nuclear::Nuclear;
pub use scad::Scad;
pub use separable::Separable;
pub(crate) use separable::{sign, soft};

/// Builds a penalty from its parameters.
pub type Make = fn(&[f64]) -> Result<Box<dyn Penalty>, ParseError>;

/// A penalty in the catalogue.
pub type Entry = catalogue::CatalogueEntry<Make>;

/// Every penalty that can be asked for by name.
pub const CATALOGUE: &[Entry] = &[
    none::ENTRY,
    l1::ENTRY,
    l2::ENTRY,
    elastic_net::ENTRY,
    group_lasso::ENTRY,
    nuclear::ENTRY,
    scad::ENTRY,
    mcp::ENTRY,
    boxed::ENTRY,
    l2_ball::ENTRY,
];

/// Reads a penalty as users type it: `l1:1e-4`, `elastic-net:1e-4,1e-3`.
///
/// # Errors
/// A [`ParseError`] that names what was typed and what is allowed: an unknown name (with the
/// nearest one that exists), or a parameter that is missing, out of range, or one too many.
///
/// # Examples
///
/// ```
/// use reticent_problem::penalties;
///
/// let penalty = penalties::parse("elastic-net:1,2")?;
/// assert_eq!(penalty.value(&[3.0, 0.0], 1), 3.0 + 9.0);
///
/// // The proximal step of length ½: towards zero by λ₁/2, then divided by 1 + λ₂/2.
/// let mut y = [3.0, 0.2];
/// penalty.prox(&mut y, 1, 0.5);
/// assert_eq!(y, [1.25, 0.0]);
/// # Ok::<(), reticent_problem::ParseError>(())
/// ```
pub fn parse(text: &str) -> Result<Box<dyn Penalty>, ParseError> {
    let (entry, arguments) = catalogue::read("penalty", CATALOGUE, text, None)?;
    (entry.build)(&arguments.numbers)
}

/// The strength of a penalty, a parameter that most of them have.
const LAMBDA: catalogue::Parameter =
    catalogue::Parameter::required("lambda", catalogue::Range::AtLeast(0.0));

/// `‖v‖₂`, without overflow or underflow of the squares.
fn norm(v: &[f64]) -> f64 {
    let top = v.iter().fold(0.0f64, |m, u| m.max(u.abs()));
    if top == 0.0 || !top.is_finite() {
        return if v.iter().any(|u| u.is_nan()) { f64::NAN } else { top };
    }
    if (1e-140..1e140).contains(&top) {
        return v.iter().map(|u| u * u).sum::<f64>().sqrt();
    }
    top * v.iter().map(|u| (u / top) * (u / top)).sum::<f64>().sqrt()
}

/// Only this module makes one, and nobody else can name it: see [`is_own`].
mod sealed {
    #[derive(Debug)]
    pub struct PenaltySeal(pub(super) ());
}

/// What the library's own penalties answer to [`Penalty::own`].
const OWN: Option<sealed::PenaltySeal> = Some(sealed::PenaltySeal(()));

/// Whether a penalty is one of this library, which keeps nothing of what it is shown and is what it
/// says of itself. A penalty from elsewhere cannot say so, whatever its name and description are.
///
/// Guarantees about what is *not* released rest on it: the losing runs of a choice, the token of a
/// walk between two visits.
pub fn is_own(penalty: &dyn Penalty) -> bool {
    penalty.own().is_some()
}

/// A penalty on a row-major matrix with `columns` columns (1 for an ordinary linear model).
///
/// The intercept is not part of what a penalty sees. `y.len()` is a multiple of `columns`.
pub trait Penalty: fmt::Debug + Send + Sync {
    /// The name in the catalogue, as users type it.
    fn name(&self) -> &'static str;

    /// The description that [`parse`] reads back to the same penalty.
    fn spec(&self) -> String;

    /// The penalty `r(y)`; `∞` outside the domain of a constraint.
    fn value(&self, y: &[f64], columns: usize) -> f64;

    /// `y ← argmin_u r(u) + ‖u − y‖²/(2·step)`, in place.
    fn prox(&self, y: &mut [f64], columns: usize, step: f64);

    /// Writes a subgradient at `y` to `out`, the gradient where there is one.
    fn subgradient(&self, y: &[f64], columns: usize, out: &mut [f64]);

    /// The smallest `w` such that `r + (w/2)‖·‖²` is convex: 0 for a convex penalty.
    ///
    /// The prox is a single-valued, continuous map for every `step < 1/w`. For a larger step it
    /// still returns a global minimiser, but jumps from one to another.
    fn weak_convexity(&self) -> f64 {
        0.0
    }

    /// Whether it is convex (SCAD and MCP are not).
    fn is_convex(&self) -> bool {
        self.weak_convexity() == 0.0
    }

    /// The modulus of strong convexity, 0 when there is none.
    fn strong_convexity(&self) -> f64 {
        0.0
    }

    /// An upper bound of `‖r'(y)‖₂` over matrices of this size; `∞` when there is none.
    fn lipschitz(&self, rows: usize, columns: usize) -> f64;

    /// A Lipschitz constant of the gradient; `∞` when there is none.
    fn smoothness(&self) -> f64 {
        f64::INFINITY
    }

    /// Whether it is a sum over entries, so that its prox moves each of them by itself.
    fn is_separable(&self) -> bool {
        false
    }

    /// Whether its prox is found by iterations, to within an error that nobody has bounded.
    fn is_prox_iterative(&self) -> bool {
        false
    }

    /// `λ` if the penalty is `(λ/2)‖y‖²`, which 0 is too; nothing for any other.
    ///
    /// A function whose curvature is bounded from below and from above by the same number is that
    /// quadratic, up to an affine part that no penalty here has.
    fn ridge(&self) -> Option<f64> {
        (self.smoothness() == self.strong_convexity()).then(|| self.strong_convexity())
    }

    /// `λ` if the penalty is `λ‖y‖₁`, which 0 is too; nothing for any other.
    fn lasso(&self) -> Option<f64> {
        None
    }

    /// `λ` of a ridge `(λ/2)‖x‖²` on the coefficients alone, for a penalty behind a graph `[φ; I]`
    /// whose last entries they are; 0 where there is none. A method may count it to the loss.
    fn coefficient_ridge(&self) -> f64 {
        0.0
    }

    /// See [`is_own`]. The type has no name outside, so that nobody else can write this.
    #[doc(hidden)]
    fn own(&self) -> Option<sealed::PenaltySeal> {
        None
    }
}

#[cfg(test)]
mod tests;
