//! The penalty of LS22's strongly convex problem: ℓ₁ on the differences along a graph and on the
//! coefficients, and a ridge on the coefficients alone.
//!
//! ```text
//! y = A x,  A = [φ; I]:   r(y) = λ₁‖y‖₁ + (λ₂/2)‖last d entries of y‖²
//! ```

use reticent::problem::Penalty;

/// λ₁ on every row of A, λ₂ on those of the identity, which come last.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GraphRidge {
    pub features: usize,
    pub lasso: f64,
    pub ridge: f64,
}

impl GraphRidge {
    /// Where the coefficients begin.
    fn first(&self, y: &[f64]) -> usize {
        y.len().saturating_sub(self.features)
    }
}

impl Penalty for GraphRidge {
    fn name(&self) -> &'static str {
        "graph-ridge"
    }

    fn spec(&self) -> String {
        format!("graph-ridge:{},{}", self.lasso, self.ridge)
    }

    fn value(&self, y: &[f64], _: usize) -> f64 {
        let ridge: f64 = y[self.first(y)..].iter().map(|v| v * v).sum();
        self.lasso * y.iter().map(|v| v.abs()).sum::<f64>() + 0.5 * self.ridge * ridge
    }

    fn prox(&self, y: &mut [f64], _: usize, step: f64) {
        let first = self.first(y);
        for v in y.iter_mut() {
            *v = v.signum() * (v.abs() - step * self.lasso).max(0.0);
        }
        y[first..].iter_mut().for_each(|v| *v /= 1.0 + step * self.ridge);
    }

    fn subgradient(&self, y: &[f64], _: usize, out: &mut [f64]) {
        let first = self.first(y);
        for (i, (v, out)) in y.iter().zip(out).enumerate() {
            let ridge = if i >= first { self.ridge * v } else { 0.0 };
            *out = ridge + if *v == 0.0 { 0.0 } else { self.lasso * v.signum() };
        }
    }

    fn coefficient_ridge(&self) -> f64 {
        self.ridge
    }

    fn lipschitz(&self, _: usize, _: usize) -> f64 {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The prox is where the gradient of r(u) + ‖u − y‖²/(2·step) is 0.
    #[test]
    fn the_prox_minimises() {
        let penalty = GraphRidge { features: 1, lasso: 0.5, ridge: 2.0 };
        let (y, step) = ([3.0, -0.1, -2.0], 0.25);
        let mut u = y;
        penalty.prox(&mut u, 1, step);
        assert_eq!(u, [2.875, 0.0, -1.25]);
        let mut slope = [0.0; 3];
        penalty.subgradient(&u, 1, &mut slope);
        for i in [0, 2] {
            assert!((slope[i] + (u[i] - y[i]) / step).abs() < 1e-12);
        }
        assert_eq!(penalty.value(&u, 1), 0.5 * 4.125 + 1.25 * 1.25);
    }
}
