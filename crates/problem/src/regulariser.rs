//! The second half of the problem, `r(y)` subject to `A x + B y = c`, for a parameter of a given
//! shape.
//!
//! A penalty knows nothing of intercepts and a constraint nothing of outputs. Here both meet: `x`
//! is a flat row-major matrix of [`Shape`], and `y` has the rows of `A` times the features and
//! then, if there is an intercept, its row, on which `A` is 1, `B` is `b`, `c` is 0 and `r` is 0.
//! So `z` of an algorithm with the identity constraint has the shape of `x`, and one rule covers
//! every constraint.

use std::sync::Arc;

use thiserror::Error;

use crate::{Constraint, Penalty, Shape};

/// A constraint and a parameter that do not fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the constraint `{constraint}` is for {given} features, the model has {features}")]
pub struct ShapeError {
    /// The constraint, as it is described in text.
    pub constraint: String,
    /// The features the constraint is for.
    pub given: usize,
    /// The features of the parameter.
    pub features: usize,
}

/// A penalty behind a constraint.
#[derive(Debug)]
pub struct Regulariser {
    penalty: Arc<dyn Penalty>,
    constraint: Constraint,
    shape: Shape,
}

impl Regulariser {
    /// The penalty `r(y)` subject to `A x + B y = c`, for a parameter of this shape.
    ///
    /// # Errors
    /// [`ShapeError`] if the constraint is for another number of features.
    pub fn new(
        penalty: impl Into<Arc<dyn Penalty>>,
        constraint: Constraint,
        shape: Shape,
    ) -> Result<Self, ShapeError> {
        let given = constraint.a().columns();
        if given != shape.features {
            let constraint = constraint.spec().to_owned();
            return Err(ShapeError { constraint, given, features: shape.features });
        }
        Ok(Self { penalty: penalty.into(), constraint, shape })
    }

    /// The penalty on the parameter itself, `r(x)`: the identity constraint.
    pub fn plain(penalty: impl Into<Arc<dyn Penalty>>, shape: Shape) -> Self {
        Self { penalty: penalty.into(), constraint: Constraint::identity(shape.features), shape }
    }

    /// The same penalty behind another constraint.
    ///
    /// # Errors
    /// If the constraint is for another number of features.
    pub fn with_constraint(&self, constraint: Constraint) -> Result<Self, ShapeError> {
        Self::new(Arc::clone(&self.penalty), constraint, self.shape)
    }

    /// The penalty `r`, without its constraint.
    pub fn penalty(&self) -> &dyn Penalty {
        &*self.penalty
    }

    /// The constraint `A x + B y = c`.
    pub fn constraint(&self) -> &Constraint {
        &self.constraint
    }

    /// The shape of `x`.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The length of `y`, of the dual variable and of `c`.
    pub fn y_len(&self) -> usize {
        self.penalised() + usize::from(self.shape.intercept) * self.shape.outputs
    }

    /// Entries of `y` that the penalty sees; they come first.
    fn penalised(&self) -> usize {
        self.constraint.a().rows() * self.shape.outputs
    }

    /// Entries of `x` that the constraint sees; they come first.
    fn constrained(&self) -> usize {
        self.shape.features * self.shape.outputs
    }

    /// The penalty `r(y)` of the constrained variable, the intercept left out.
    pub fn value(&self, y: &[f64]) -> f64 {
        self.penalty.value(&y[..self.penalised()], self.shape.outputs)
    }

    /// `r` at the `y` that goes with `x`: what the problem adds to the loss at a model `x`.
    pub fn value_at(&self, x: &[f64]) -> f64 {
        let mut y = vec![0.0; self.y_len()];
        self.y_of(x, &mut y);
        self.value(&y)
    }

    /// `out ← A x`.
    pub fn apply_a(&self, x: &[f64], out: &mut [f64]) {
        let (xs, intercept) = x.split_at(self.constrained());
        let (ys, last) = out.split_at_mut(self.penalised());
        self.constraint.a().apply(xs, self.shape.outputs, ys);
        last.copy_from_slice(intercept);
    }

    /// `out ← Aᵀ y`.
    pub fn apply_at(&self, y: &[f64], out: &mut [f64]) {
        let (ys, intercept) = y.split_at(self.penalised());
        let (xs, last) = out.split_at_mut(self.constrained());
        self.constraint.a().apply_transpose(ys, self.shape.outputs, xs);
        last.copy_from_slice(intercept);
    }

    /// `y ← B y`, in place.
    pub fn apply_b(&self, y: &mut [f64]) {
        for y in y {
            *y *= self.constraint.b();
        }
    }

    /// `out ← A x + B y − c`.
    pub fn residual(&self, x: &[f64], y: &[f64], out: &mut [f64]) {
        self.apply_a(x, out);
        for (o, y) in out.iter_mut().zip(y) {
            *o += self.constraint.b() * y;
        }
        self.subtract_c(out);
    }

    /// `v ← v − c`, in place.
    pub fn subtract_c(&self, v: &mut [f64]) {
        for (row, c) in
            v[..self.penalised()].chunks_exact_mut(self.shape.outputs).zip(self.constraint.c())
        {
            for v in row {
                *v -= c;
            }
        }
    }

    /// `out ←` the `y` with `A x + B y = c`.
    pub fn y_of(&self, x: &[f64], out: &mut [f64]) {
        self.apply_a(x, out);
        self.subtract_c(out);
        for o in out {
            *o /= -self.constraint.b();
        }
    }

    /// `y ← argmin_u r(u) + ‖u − y‖²/(2·step)`, in place; the intercept stays as it is.
    pub fn prox_y(&self, y: &mut [f64], step: f64) {
        let n = self.penalised();
        self.penalty.prox(&mut y[..n], self.shape.outputs, step);
    }

    /// `v ← argmin_y r(y) + (β/2)‖B y + v‖²`, in place: the second update of every ADMM, with
    /// `v = A x − c + λ` (scaled dual) or `v = u` (FP23).
    ///
    /// As `B = b·I` it is the prox of `r` with step `1/(βb²)` at `−v/b`.
    pub fn argmin_y(&self, v: &mut [f64], beta: f64) {
        let b = self.constraint.b();
        for v in v.iter_mut() {
            *v /= -b;
        }
        self.prox_y(v, 1.0 / (beta * b * b));
    }

    /// `out ←` a subgradient of `r` at `y`, 0 for the intercept.
    pub fn subgradient(&self, y: &[f64], out: &mut [f64]) {
        let n = self.penalised();
        self.penalty.subgradient(&y[..n], self.shape.outputs, &mut out[..n]);
        out[n..].fill(0.0);
    }

    /// An upper bound of `‖AᵀA‖₂`, the intercept's row included.
    pub fn gram_norm(&self) -> f64 {
        let one = if self.shape.intercept { 1.0 } else { 0.0 };
        self.constraint.gram_norm().max(one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalties;

    const SHAPE: Shape = Shape { features: 3, outputs: 2, intercept: true };

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    fn numbers(n: usize, seed: f64) -> Vec<f64> {
        (0..n).map(|i| 2.0 * ((i as f64 + 1.0) * seed).sin()).collect()
    }

    fn all() -> Vec<Regulariser> {
        let offset = Constraint::chain(3).unwrap().with_scale_and_offset(2.0, vec![0.5, -1.0]);
        [
            ("l1:0.3", Constraint::identity(3)),
            ("nuclear:0.3", Constraint::identity(3)),
            ("l1:0.3", Constraint::chain(3).unwrap()),
            ("group-lasso:0.2", Constraint::graph(&crate::Graph::path(3))),
            ("elastic-net:0.1,0.4", offset),
        ]
        .into_iter()
        .flat_map(|(penalty, constraint)| {
            [true, false].map(|intercept| {
                let shape = Shape { intercept, ..SHAPE };
                Regulariser::new(penalties::parse(penalty).unwrap(), constraint.clone(), shape)
                    .unwrap()
            })
        })
        .collect()
    }

    #[test]
    fn adjoint_residual_and_norm() {
        for r in all() {
            let (x, y) = (numbers(r.shape().len(), 0.7), numbers(r.y_len(), 1.3));
            let (mut ax, mut aty) = (vec![f64::NAN; y.len()], vec![f64::NAN; x.len()]);
            r.apply_a(&x, &mut ax);
            r.apply_at(&y, &mut aty);
            assert!((dot(&ax, &y) - dot(&x, &aty)).abs() < 1e-13);
            assert!(dot(&ax, &ax) <= r.gram_norm() * dot(&x, &x) * (1.0 + 1e-14));
            let mut of_x = vec![f64::NAN; y.len()];
            r.y_of(&x, &mut of_x);
            let mut gap = vec![f64::NAN; y.len()];
            r.residual(&x, &of_x, &mut gap);
            assert!(gap.iter().all(|g| g.abs() < 1e-14), "{gap:?}");
            assert_eq!(r.value_at(&x), r.value(&of_x));
            let mut by = y.clone();
            r.apply_b(&mut by);
            r.residual(&x, &y, &mut gap);
            let mut expected: Vec<f64> = ax.iter().zip(&by).map(|(a, b)| a + b).collect();
            r.subtract_c(&mut expected);
            assert_eq!(gap, expected);
        }
    }

    #[test]
    fn the_intercept_is_free() {
        let plain = Regulariser::plain(penalties::parse("l1:100").unwrap(), SHAPE);
        let mut x = numbers(8, 0.9);
        let intercept = x[6..].to_vec();
        assert_eq!(plain.y_len(), SHAPE.len());
        plain.prox_y(&mut x, 1.0);
        assert_eq!(x[..6], [0.0; 6]);
        assert_eq!(x[6..], intercept);
        assert_eq!(plain.value(&x), 0.0);
        let mut g = vec![f64::NAN; 8];
        plain.subgradient(&numbers(8, 0.9), &mut g);
        assert!(g[..6].iter().all(|g| g.abs() == 100.0) && g[6..] == [0.0, 0.0]);
        assert!(plain.constraint().is_identity() && plain.gram_norm() == 1.0);
    }

    #[test]
    fn argmin_y_minimises() {
        for r in all() {
            let (v, other) = (numbers(r.y_len(), 1.1), numbers(r.y_len(), 2.3));
            for beta in [0.1, 1.0, 7.0] {
                let mut y = v.clone();
                r.argmin_y(&mut y, beta);
                let objective = |y: &[f64]| {
                    let mut by = y.to_vec();
                    r.apply_b(&mut by);
                    let sum: f64 = by.iter().zip(&v).map(|(b, v)| (b + v) * (b + v)).sum();
                    r.value(y) + 0.5 * beta * sum
                };
                for scale in [-1.0, -1e-3, 1e-4, 0.1, 1.0] {
                    let near: Vec<f64> = y.iter().zip(&other).map(|(y, o)| y + scale * o).collect();
                    assert!(objective(&y) < objective(&near), "{r:?} {scale}");
                }
            }
        }
    }

    /// Written with these parts, ADMM for `½‖x − a‖² + λ Σ|x_{j+1} − x_j|` reads like its listing,
    /// and two neighbours closer than 2λ end up at their mean.
    #[test]
    fn a_small_fused_lasso_is_solved() {
        let shape = Shape { features: 2, outputs: 1, intercept: false };
        let r = Regulariser::new(
            penalties::parse("l1:0.5").unwrap(),
            Constraint::chain(2).unwrap(),
            shape,
        )
        .unwrap();
        let a = [1.0, 1.6];
        let (mut x, mut y, mut dual) = (vec![0.0; 2], vec![0.0; 1], vec![0.0; 1]);
        let (mut v, mut pull) = (vec![0.0; 1], vec![0.0; 2]);
        let (beta, bound) = (1.0, r.gram_norm());
        for _ in 0..400 {
            r.residual(&x, &[0.0], &mut v);
            v[0] += dual[0];
            y.copy_from_slice(&v);
            r.argmin_y(&mut y, beta);
            r.residual(&x, &y, &mut v);
            v[0] += dual[0];
            r.apply_at(&v, &mut pull);
            for j in 0..2 {
                x[j] = (a[j] + beta * bound * x[j] - beta * pull[j]) / (1.0 + beta * bound);
            }
            r.residual(&x, &y, &mut v);
            dual[0] += v[0];
        }
        assert!(x.iter().all(|x| (x - 1.3).abs() < 1e-9), "{x:?}");
    }

    #[test]
    fn a_constraint_for_other_features_is_refused() {
        let error =
            Regulariser::new(penalties::parse("none").unwrap(), Constraint::identity(4), SHAPE);
        assert_eq!(
            error.unwrap_err().to_string(),
            "the constraint `identity` is for 4 features, the model has 3"
        );
    }
}
