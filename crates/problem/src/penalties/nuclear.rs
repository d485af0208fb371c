//! `r(Y) = λ Σ_i σ_i(Y)`, the sum of the singular values of the matrix `Y` (a row per feature, a
//! column per output): matrices of low rank, so that classes share directions. With one column it
//! is `λ‖y‖₂`.
//!
//! With `Y = U Σ Vᵀ`, the prox is `U max(Σ − λ·step, 0) Vᵀ` and `λ·U Vᵀ` over the positive singular
//! values is a subgradient. The decomposition is that of `Y` itself: the eigenvalues of `YᵀY` would
//! be cheaper, but they square the condition number, and a singular value near the threshold is
//! what matters here.

use faer::MatRef;
use faer::linalg::solvers::Svd;

use super::{Entry, LAMBDA, OWN, Penalty, sealed};
use crate::ParseError;
use crate::catalogue::spec;

const NAME: &str = "nuclear";

/// The nuclear norm, `λ` times the sum of the singular values: coefficient matrices of low rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nuclear {
    lambda: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    parameters: &[LAMBDA],
    about: "lambda times the sum of singular values: coefficient matrices of low rank (several outputs)",
    build: |p| Ok(Box::new(Nuclear::new(p[0])?)),
};

impl Nuclear {
    /// The nuclear norm `λ‖Y‖_*` with `λ ≥ 0`.
    ///
    /// # Errors
    /// [`ParseError::OutOfRange`], with the range, if a parameter is outside it.
    pub fn new(lambda: f64) -> Result<Self, ParseError> {
        Ok(Self { lambda: LAMBDA.check(NAME, lambda)? })
    }
}

/// `Y`, unless there is nothing in it, or something that no decomposition can be made of.
fn decompose(y: &[f64], columns: usize) -> Option<Svd<f64>> {
    if y.is_empty() || y.iter().any(|u| !u.is_finite()) {
        return None;
    }
    MatRef::from_row_major_slice(y, y.len() / columns, columns).thin_svd().ok()
}

/// `out ← U f(Σ) Vᵀ`, or NaN where there is no decomposition: a wrong number must not pass as a
/// right one.
fn rebuild(svd: Option<Svd<f64>>, columns: usize, out: &mut [f64], f: impl Fn(f64) -> f64) {
    let Some(svd) = svd else {
        out.fill(f64::NAN);
        return;
    };
    out.fill(0.0);
    let (u, v) = (svd.U(), svd.V());
    for (k, sigma) in svd.S().column_vector().iter().enumerate() {
        let size = f(*sigma);
        if size == 0.0 {
            continue;
        }
        for (i, row) in out.chunks_exact_mut(columns).enumerate() {
            for (j, o) in row.iter_mut().enumerate() {
                *o += size * u[(i, k)] * v[(j, k)];
            }
        }
    }
}

impl Penalty for Nuclear {
    fn name(&self) -> &'static str {
        NAME
    }

    fn spec(&self) -> String {
        spec(NAME, &[self.lambda])
    }

    fn value(&self, y: &[f64], columns: usize) -> f64 {
        if y.is_empty() {
            return 0.0;
        }
        let sum = |svd: Svd<f64>| svd.S().column_vector().iter().sum::<f64>();
        self.lambda * decompose(y, columns).map_or(f64::NAN, sum)
    }

    fn prox(&self, y: &mut [f64], columns: usize, step: f64) {
        let cut = self.lambda * step;
        rebuild(decompose(y, columns), columns, y, |sigma| (sigma - cut).max(0.0));
    }

    fn subgradient(&self, y: &[f64], columns: usize, out: &mut [f64]) {
        // What is positive by rounding only has no direction; leaving it out is a subgradient too.
        let svd = decompose(y, columns);
        let top = svd.as_ref().and_then(|s| s.S().column_vector().iter().copied().reduce(f64::max));
        let least = top.unwrap_or(0.0) * f64::EPSILON * y.len() as f64;
        rebuild(svd, columns, out, |sigma| if sigma > least { self.lambda } else { 0.0 });
    }

    fn lipschitz(&self, rows: usize, columns: usize) -> f64 {
        self.lambda * (rows.min(columns) as f64).sqrt()
    }

    fn is_prox_iterative(&self) -> bool {
        true
    }

    fn own(&self) -> Option<sealed::PenaltySeal> {
        OWN
    }
}
