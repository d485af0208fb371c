use super::{Penalty, sealed};

/// A penalty that is a sum over entries, `r(y) = Σ ψ(yᵢ)`; its [`Penalty`] follows.
pub trait Separable: std::fmt::Debug + Send + Sync {
    /// The name in the catalogue.
    const NAME: &'static str;

    /// Its parameters, as in its description.
    fn parameters(&self) -> Vec<f64>;

    /// The penalty `ψ(u)` of one entry `u`.
    fn psi(&self, u: f64) -> f64;

    /// `argmin_w ψ(w) + (w − u)²/(2·step)`.
    fn prox_psi(&self, u: f64, step: f64) -> f64;

    /// A subgradient of `ψ`.
    fn slope(&self, u: f64) -> f64;

    /// A bound of `|ψ'|`.
    fn max_derivative(&self) -> f64;

    /// A Lipschitz constant of `ψ'`.
    fn max_curvature(&self) -> f64 {
        f64::INFINITY
    }

    /// The modulus of strong convexity of `ψ`.
    fn strong(&self) -> f64 {
        0.0
    }

    /// The modulus of weak convexity of `ψ`.
    fn weak(&self) -> f64 {
        0.0
    }

    /// `λ` if `ψ(u) = λ|u|`, which 0 is too.
    fn lasso(&self) -> Option<f64> {
        None
    }

    /// See [`is_own`](super::is_own). The type has no name outside, so that nobody else can write
    /// this.
    #[doc(hidden)]
    fn own(&self) -> Option<sealed::PenaltySeal> {
        None
    }
}

impl<T: Separable> Penalty for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn spec(&self) -> String {
        crate::catalogue::spec(T::NAME, &self.parameters())
    }

    fn value(&self, y: &[f64], _columns: usize) -> f64 {
        y.iter().map(|u| self.psi(*u)).sum()
    }

    fn prox(&self, y: &mut [f64], _columns: usize, step: f64) {
        for u in y {
            *u = self.prox_psi(*u, step);
        }
    }

    fn subgradient(&self, y: &[f64], _columns: usize, out: &mut [f64]) {
        for (o, u) in out.iter_mut().zip(y) {
            *o = self.slope(*u);
        }
    }

    fn weak_convexity(&self) -> f64 {
        self.weak()
    }

    fn strong_convexity(&self) -> f64 {
        self.strong()
    }

    fn lipschitz(&self, rows: usize, columns: usize) -> f64 {
        let entries = (rows * columns) as f64;
        if entries == 0.0 || self.max_derivative() == 0.0 {
            0.0
        } else {
            self.max_derivative() * entries.sqrt()
        }
    }

    fn smoothness(&self) -> f64 {
        self.max_curvature()
    }

    fn is_separable(&self) -> bool {
        true
    }

    fn lasso(&self) -> Option<f64> {
        Separable::lasso(self)
    }

    fn own(&self) -> Option<sealed::PenaltySeal> {
        Separable::own(self)
    }
}

/// `sign(u)·max(|u| − t, 0)`, the prox of `t|·|`.
pub(crate) fn soft(u: f64, t: f64) -> f64 {
    // Not `max(0.0)`, which would turn NaN into 0.
    if u.abs() <= t { 0.0 } else { u - t.copysign(u) }
}

/// −1, 0 or 1: the least subgradient of `|·|` in absolute value, where `f64::signum` gives ±1 at 0.
pub(crate) fn sign(u: f64) -> f64 {
    if u == 0.0 { 0.0 } else { u.signum() }
}
