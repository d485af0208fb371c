//! General private ADMM: exact minimisation of the loss in every iteration (FP23, Algorithm 5;
//! E13).
//!
//! ```text
//! minimise F(x) + r(z)  subject to  A x + B z = c,      F(x) = (1/n) Σ f(x; dᵢ)
//!
//! z⁺ = argmin_z { r(z) + (1/2γ)‖B z + u‖² }
//! x⁺ = argmin_x { F(x) + (1/2γ)‖A x + 2B z⁺ + u − c‖² }
//! u⁺ = u + 2λ( A x⁺ + B z⁺ − c + ½ η )
//! ```
//!
//! It is the fixed-point iteration with R = R_{γp₁}R_{γp₂}, `R(u) = u + 2(A x⁺ + B z⁺ − c)`.
//!
//! Released: A x⁺ with noise, once an iteration, as a plain Gaussian event. The gate minimises to a
//! proven accuracy, which its sensitivity includes. In the norm ‖A·‖ replacing a record moves A x⁺
//! by at most 2Lγ/(nω), ω the least singular value of A (E13). As published: noise in proportion to
//! 2Lγ‖A‖/(nω), which is too little when ‖A‖ < 1. The solution is a function of z: z itself for
//! `x = z`, and else the x with `A x = c − B z` in least squares. Requires: a convex penalty with a
//! prox; a loss with a bounded and continuous derivative; replace-one; for a constraint other than
//! the identity, a row for each feature alone (as a graph has), and no intercept. Reference: FP23,
//! Algorithm 5, Theorem 7 as corrected in E13.

use std::sync::Arc;

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, MatMut, Side};
use reticent_oracle::queries::Minimiser;
use reticent_oracle::{PaperClaim, Oracle, Quadratic, Refusal, Refused, Sampling};
use reticent_problem::Regulariser;

use super::{Algorithm, Iterate, Tell, told};
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};
use crate::fixed_point::{Operator, IterationStep};
use crate::settings::{fraction, positive};

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "general",
    about: "the loss minimised exactly in every iteration, noise on the minimiser; few iterations",
    reference: "FP23, Algorithm 5, with the sensitivity of E13",
    takes: &["iterations", "rho", "gamma", "relaxation", "as_published"],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: AlgorithmKind::Private(build),
};

/// Each is a whole minimisation, and the error falls by a constant factor in each.
const ITERATIONS: u64 = 20;

/// The longest step, in 1/L: the curvature of a loss is mostly far below its bound, and a prox is
/// stable at any step.
const STEP: f64 = 4.0;

/// Douglas–Rachford as it is usually run.
const LAMBDA: f64 = 0.5;

#[derive(Debug)]
struct General {
    iterations: u64,
    lambda: f64,
    operator: Reflections,
    u: Vec<f64>,
}

/// `R = R_{γp₁}R_{γp₂}`: R(u) = u + 2(A x⁺ + B z⁺ − c), with the noise of the query on A x⁺.
#[derive(Debug)]
pub struct Reflections {
    row_norm: f64,
    gamma: f64,
    noise_multiplier: f64,
    as_published: bool,
    regulariser: Arc<Regulariser>,
    /// Where the inner solver starts: the last x that could be told from what was released.
    x: Vec<f64>,
    z: Vec<f64>,
    back: Back,
}

impl Reflections {
    /// On rows of at most `row_norm`, with the step γ and noise of so many bounds. The loss of the
    /// gate must have a bounded and continuous derivative, or it refuses to minimise.
    ///
    /// # Errors
    /// A γ that is not above 0; a constraint that general cannot handle.
    pub fn new(
        regulariser: &Arc<Regulariser>,
        row_norm: f64,
        gamma: f64,
        noise_multiplier: f64,
    ) -> Result<Self, Refused> {
        Ok(Reflections {
            row_norm,
            gamma: positive("gamma", gamma)?,
            noise_multiplier,
            as_published: false,
            regulariser: Arc::clone(regulariser),
            x: vec![0.0; regulariser.shape().len()],
            z: vec![0.0; regulariser.y_len()],
            back: Back::new(regulariser)?,
        })
    }
}

impl Operator for Reflections {
    fn advance(
        &mut self,
        step: IterationStep,
        u: &mut [f64],
        oracle: &mut dyn Oracle,
    ) -> Result<(), Refusal> {
        let displacement = self.displacement(u, oracle)?;
        step.average(u, &displacement);
        self.x = self.solution(u);
        Ok(())
    }

    fn model(&self, u: &[f64]) -> Vec<f64> {
        self.solution(u)
    }
}

/// From `A x` to `x`.
#[derive(Debug)]
enum Back {
    Identity,
    /// A Cholesky factor of `AᵀA`.
    LeastSquares(Llt<f64>),
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    let Recipe { settings, public, regulariser, noise_multiplier } = recipe;
    recipe.only(&ENTRY)?;
    recipe.needs_convex(&ENTRY)?;
    recipe.needs_bounded_smooth(&ENTRY)?;
    // A longer step needs fewer iterations, but the noise is in proportion to it.
    let step = match recipe.as_published() {
        true => STEP,
        false => recipe.length(ITERATIONS as f64, ITERATIONS as f64, 1.0).min(STEP),
    };
    let gamma = settings.prox_step_or(step / public.gradient_lipschitz())?;
    let lambda = fraction("relaxation", settings.relaxation.unwrap_or(LAMBDA))?;
    let mut operator = Reflections::new(regulariser, public.row_norm, gamma, *noise_multiplier)?;
    operator.as_published = recipe.as_published();
    let algorithm = General {
        iterations: settings.iterations_or(ITERATIONS)?,
        lambda,
        operator,
        u: vec![0.0; regulariser.y_len()],
    };
    Ok(Box::new(algorithm))
}

impl Back {
    fn new(regulariser: &Regulariser) -> Result<Self, Refused> {
        let constraint = regulariser.constraint();
        if constraint.is_identity() {
            return Ok(Back::Identity);
        }
        let refuse = |why: &str| Err(Refused::new("constraint", constraint.spec(), why));
        if regulariser.shape().intercept {
            return refuse(
                "with an intercept, general handles only 'identity': leave the intercept out, or use sadmm or vradmm",
            );
        }
        let a = constraint.a();
        let mut entries = vec![(0, 0); a.rows()];
        a.triplets().for_each(|(row, column, _)| entries[row] = (entries[row].0 + 1, column));
        let mut alone = vec![false; a.columns()];
        entries.iter().filter(|e| e.0 == 1).for_each(|e| alone[e.1] = true);
        if !alone.iter().all(|alone| *alone) {
            return refuse(
                "general needs a matrix A whose least singular value is known to be above 0, by a row for each \
                 feature alone ('identity' and 'graph' have them); use sadmm or vradmm",
            );
        }
        let mut dense = Mat::<f64>::zeros(a.rows(), a.columns());
        a.triplets().for_each(|(r, c, v)| dense[(r, c)] += v);
        match (dense.transpose() * &dense).llt(Side::Lower) {
            Ok(factor) => Ok(Back::LeastSquares(factor)),
            Err(_) => refuse(
                "the least singular value of A is too small to divide by; use sadmm or vradmm",
            ),
        }
    }
}

impl Iterate for General {
    fn running(&self) -> Vec<f64> {
        self.operator.x.clone()
    }

    fn published(&self) -> Vec<f64> {
        self.operator.x.clone()
    }
}

impl Algorithm for General {
    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        for k in 1..=self.iterations {
            let step = IterationStep { k, relaxation: self.lambda };
            self.operator.advance(step, &mut self.u, oracle)?;
            told(tell, k, self.iterations, self)?;
        }
        Ok(self.operator.x.clone())
    }
}

impl Reflections {
    /// R(u) − u, noise and all.
    fn displacement(&mut self, u: &[f64], oracle: &mut dyn Oracle) -> Result<Vec<f64>, Refusal> {
        let Reflections { gamma, regulariser, x, z, back, .. } = self;
        let constraint = regulariser.constraint();
        z.copy_from_slice(u);
        regulariser.argmin_y(z, 1.0 / *gamma);

        // v = c − 2B z⁺ − u, so that the quadratic is ‖A x − v‖²/2γ.
        let b = constraint.b();
        let mut v: Vec<f64> = z.iter().zip(u).map(|(z, u)| 2.0 * b * z + u).collect();
        regulariser.subtract_c(&mut v);
        v.iter_mut().for_each(|v| *v = -*v);

        let linear: Vec<f64>;
        let zeros = vec![0.0; x.len()];
        // For x = z the same quadratic, the intercept included, is a ridge and a linear term.
        let public = match back {
            Back::Identity => {
                linear = v.iter().map(|v| -v / *gamma).collect();
                Quadratic { ridge: 1.0 / *gamma, linear: &linear, penalty: None }
            }
            Back::LeastSquares(_) => {
                Quadratic { ridge: 0.0, linear: &zeros, penalty: Some((constraint, *gamma, &v)) }
            }
        };
        let image = matches!(back, Back::LeastSquares(_));
        let mut params = Minimiser {
            row_norm: self.row_norm,
            public,
            start: x,
            image,
            noise_multiplier: self.noise_multiplier,
        };
        if self.as_published {
            oracle.claim(PaperClaim::gaussian(13, Sampling::Full, self.noise_multiplier));
            // Its bound is ‖A‖ times ours.
            params.noise_multiplier *= regulariser.gram_norm().sqrt();
        }
        // A x⁺ + noise; the noise η of the listing is twice this one.
        let mut r = oracle.ask(&params)?.into_inner();

        // 2(A x⁺ − c − (−B z⁺)).
        regulariser.subtract_c(&mut r);
        r.iter_mut().zip(&*z).for_each(|(r, z)| *r = 2.0 * (*r + b * z));
        Ok(r)
    }

    fn solution(&self, u: &[f64]) -> Vec<f64> {
        let Reflections { regulariser, gamma, back, .. } = self;
        // z of the last u: what the next iteration would begin with, and free.
        let mut z = u.to_vec();
        regulariser.argmin_y(&mut z, 1.0 / gamma);
        let Back::LeastSquares(factor) = back else { return z };
        // A x = c − B z.
        regulariser.apply_b(&mut z);
        regulariser.subtract_c(&mut z);
        z.iter_mut().for_each(|z| *z = -*z);
        let mut x = vec![0.0; self.x.len()];
        regulariser.apply_at(&z, &mut x);
        let (features, outputs) = (regulariser.shape().features, regulariser.shape().outputs);
        for j in 0..outputs {
            let mut column: Vec<f64> = (0..features).map(|i| x[i * outputs + j]).collect();
            factor.solve_in_place(MatMut::from_column_major_slice_mut(&mut column, features, 1));
            column.iter().enumerate().for_each(|(i, v)| x[i * outputs + j] = *v);
        }
        x
    }
}
