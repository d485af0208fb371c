//! The second half of the problem, `r(y)` subject to `A x + B y = c`, for a parameter of a given shape.
//!
//! A penalty knows nothing of intercepts and a constraint nothing of outputs. Here both meet: `x` is a flat
//! row-major matrix of [`Shape`], and `y` has the rows of `A` times the features and then, if there is an
//! intercept, its row, on which `A` is 1, `B` is `b`, `c` is 0 and `r` is 0. So `z` of an algorithm with
//! the identity constraint has the shape of `x`, and one rule covers every constraint.

use thiserror::Error;

use crate::{Constraint, Penalty, Shape};

/// A constraint and a parameter that do not fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the constraint `{constraint}` is for {given} features, the model has {features}")]
pub struct ShapeError {
    /// The constraint's description.
    pub constraint: String,
    /// The features the constraint is for.
    pub given: usize,
    /// The features of the parameter.
    pub features: usize,
}

/// A penalty behind a constraint.
#[derive(Debug)]
pub struct Regulariser {
    penalty: Box<dyn Penalty>,
    constraint: Constraint,
    shape: Shape,
}

impl Regulariser {
    /// `r(y)` subject to `A x + B y = c`.
    pub fn new(penalty: Box<dyn Penalty>, constraint: Constraint, shape: Shape) -> Result<Self, ShapeError> {
        let given = constraint.a().columns();
        if given != shape.features {
            let constraint = constraint.spec().to_owned();
            return Err(ShapeError { constraint, given, features: shape.features });
        }
        Ok(Self { penalty, constraint, shape })
    }

    /// `r(x)`: the identity constraint.
    pub fn plain(penalty: Box<dyn Penalty>, shape: Shape) -> Self {
        Self { penalty, constraint: Constraint::identity(shape.features), shape }
    }

    /// The penalty `r`.
    pub fn penalty(&self) -> &dyn Penalty {
        &*self.penalty
    }

    /// The constraint.
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

    /// `r(y)`.
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
        for (row, c) in v[..self.penalised()].chunks_exact_mut(self.shape.outputs).zip(self.constraint.c()) {
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
