//! Minimising a regularised empirical risk to a proven accuracy.
//!
//! ```text
//! F(x) = (1/n) Σ f(x; dᵢ) + (m/2)‖x‖² + qᵀx + (1/2γ)‖Ax − v‖²
//! ```
//!
//! Accelerated gradient steps, their number public: no run looks whether it has converged, and on
//! every table the last iterate is as near to the minimiser as [`Descent::radius`] says. Nothing is
//! released here. The letters are those of proofs/minimiser.md.

use reticent_problem::constraints::Constraint;
use reticent_problem::losses::{Loss, LossTarget};
use reticent_problem::{Shape, SparseMatrix};
use serde::Serialize;

use super::grid::Grid;
use super::pass::{Ask, Pass, Slopes};
use super::private::Private;

/// Why a minimiser cannot be proven to any accuracy: the text says which number and what is
/// allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsolvable(String);

/// The public part of the objective. Plain numbers and no closures: a closure could keep what it is
/// shown.
///
/// A pull `w‖x − c‖²` towards a public point is `2w` in the ridge and `−2w·c` in the linear term:
/// see [`Quadratic::pull`].
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Quadratic<'a> {
    /// `m`, on every coordinate, the intercept included.
    pub ridge: f64,
    /// `q`.
    pub linear: &'a [f64],
    /// `A`, `γ` and `v` of `(1/2γ)‖Ax − v‖²`, on the features.
    pub penalty: Option<(&'a Constraint, f64, &'a [f64])>,
}

/// What is minimised, and where from: public numbers, the loss and nothing of the table.
pub struct Risk<'a> {
    /// `R`: longer rows are shortened to it.
    pub row_norm: f64,
    /// The public part.
    pub public: Quadratic<'a>,
    /// Where the first step starts.
    pub start: &'a [f64],
    /// The layout of the parameter.
    pub shape: Shape,
    /// The loss of a record.
    pub loss: &'a dyn Loss,
    /// `κ`: how many times `n` units are taken at the most.
    pub crowd: f64,
    /// A bound of the norm of a further linear term that is not public.
    pub hidden: f64,
}

/// The constants of a risk.
#[derive(Clone, Copy, Debug)]
pub struct RiskConstants {
    /// `C`.
    pub clip: f64,
    /// `μ`.
    pub convex: f64,
    /// `L`.
    smooth: f64,
    /// `‖AᵀA‖`; 0 without a penalty.
    pub gram: f64,
    /// `ω`; 0 without a penalty.
    pub omega: f64,
    /// `γ`; 1 without a penalty.
    pub gamma: f64,
    /// `V₀`.
    potential: f64,
    /// `D`.
    pub reach: f64,
    /// `e`.
    error: f64,
    /// `N`: as many products as are added up anywhere, entries of the parameter and of the image of
    /// `A`.
    terms: usize,
}

/// A number of steps, and what it achieves.
#[derive(Clone, Copy, Debug)]
pub struct Descent {
    iterations: u64,
    /// `θ`, `1/L̄` and `θ/μ̄`.
    momentum: f64,
    short: f64,
    long: f64,
    /// `V_T`.
    pub potential: f64,
}

/// More steps than this are refused.
const MOST_ITERATIONS: u64 = 1 << 18;

/// The share of both convexity and smoothness that is given up for the gradient's errors.
const ROOM: f64 = 0.25;

/// Covers the roundings of the few operations behind a public bound.
pub const UP: f64 = 1.0 + 1e-12;

impl Risk<'_> {
    /// The constants, or why there are none.
    pub fn bounds(&self) -> Result<RiskConstants, Unsolvable> {
        let Risk { row_norm, public, start, shape, loss, crowd, hidden } = *self;
        let (slope, curvature) = (loss.lipschitz(), loss.smoothness());
        if !slope.is_finite() || !curvature.is_finite() {
            return Err(wrong(
                "the minimiser cannot be released: the loss needs a bounded derivative without jumps (logistic, huber, \
                 huberised-hinge)",
            ));
        }
        let (gram, omega, gamma) = public.spectrum();
        let convex = public.convexity(shape);
        if convex <= 0.0 {
            return Err(wrong(
                "the minimiser cannot be released: the public part is not strongly convex: give a ridge",
            ));
        }
        let clip = slope * row_norm * UP;
        // Squares of slopes that are smaller or larger come out as 0 or ∞, and a bound with them.
        if !(1e-100..=1e100).contains(&clip) {
            return Err(wrong(
                "the minimiser cannot be released: the largest slope of the loss times the row norm must be between \
                 1e-100 and 1e100: scale the loss or the rows",
            ));
        }
        let smooth = (crowd * curvature * row_norm * row_norm + public.ridge + gram / gamma) * UP;

        let mut slope_at_start = vec![0.0; start.len()];
        public.add_gradient(start, shape, &mut slope_at_start);
        let public_slope = norm(&slope_at_start) + hidden;
        let steep = crowd * clip + public_slope;
        let by_value = crowd * (value_at_zero(loss) + clip * norm(start))
            + public_slope * public_slope / (2.0 * convex);
        let gap = (steep * steep / (2.0 * convex)).min(by_value);
        let potential = (2.0 - ROOM) * gap * UP;
        let root = (start.len() as f64).sqrt();
        let reach = (norm(start) + 2.2 * (2.0 * potential / convex).sqrt()) * UP;
        let offsets = norm(public.linear)
            + hidden
            + public.penalty.map_or(0.0, |(_, _, v)| gram.sqrt() * norm(v) / gamma);
        // The transpose of A adds up a column of it, which may be longer than the parameter.
        let terms = start.len() + public.penalty.map_or(0, |(_, _, v)| v.len());
        let error = crowd * clip * (0.51 * Grid::new(start.len()).step(1.0) * root + 1e-13)
            + 4.0 * unit(terms) * (smooth * reach + offsets)
            + crowd * curvature * row_norm * residual_error(loss);
        Ok(RiskConstants {
            clip,
            convex,
            smooth,
            gram,
            omega,
            gamma,
            potential,
            reach,
            error,
            terms,
        })
    }
}

/// The error of a sum of so many products, relative to the product of the norms.
fn unit(terms: usize) -> f64 {
    f64::EPSILON * (terms as f64 + 64.0)
}

/// What the rounding of a residual `w − b` with |b| ≤ 1 adds to that of the score `w`, and more:
/// `4ε(1 + |b|)`.
pub(super) const RESIDUAL_ERROR: f64 = 8.0 * f64::EPSILON;

/// The same for this loss: 0 where nothing is subtracted.
pub(super) fn residual_error(loss: &dyn Loss) -> f64 {
    if loss.target() == LossTarget::Real { RESIDUAL_ERROR } else { 0.0 }
}

/// The largest loss of a score of zero; ∞ where targets are not bounded. Losses are not negative.
fn value_at_zero(loss: &dyn Loss) -> f64 {
    let zeros = vec![0.0; loss.outputs()];
    let most = |targets: &mut dyn Iterator<Item = f64>| {
        targets.map(|target| loss.value(&zeros, target)).fold(0.0, f64::max)
    };
    match loss.target() {
        LossTarget::Binary => most(&mut [-1.0, 1.0].into_iter()),
        LossTarget::Classes(count) => most(&mut (0..count).map(|class| class as f64)),
        LossTarget::Real => f64::INFINITY,
    }
}

impl RiskConstants {
    /// As many steps as bring the potential to `target`, or to where rounding stops it.
    pub fn descend(&self, target: f64) -> Descent {
        let RiskConstants { convex, smooth, error, reach, .. } = *self;
        let (less, more) = ((1.0 - ROOM) * convex, (1.0 + ROOM) * smooth);
        let theta = (less / more).sqrt();
        let drift = error * error / (2.0 * ROOM) * (1.0 / convex + 1.0 / smooth);
        let rounding = 32.0 * f64::EPSILON * reach * smooth.sqrt();
        let (mut potential, mut iterations) = (self.potential, 0);
        while potential > target && iterations < MOST_ITERATIONS {
            let next =
                (((1.0 - theta) * potential + drift).sqrt() + rounding).powi(2) * (1.0 + 1e-14);
            if next > potential * (1.0 - theta / 16.0) {
                break;
            }
            (potential, iterations) = (next, iterations + 1);
        }
        Descent { iterations, momentum: theta, short: 1.0 / more, long: theta / less, potential }
    }

    /// The rounding of the last operations on a point of this size.
    pub fn rounding(&self, size: f64) -> f64 {
        4.0 * unit(self.terms) * size
    }
}

impl Descent {
    /// The same with so many times the steps, to compare with.
    pub fn longer(self, times: u64) -> Self {
        Descent { iterations: times * self.iterations, ..self }
    }

    /// `r`, from `V_T`: how far the last iterate may be from the minimiser.
    pub fn radius(&self, bounds: &RiskConstants) -> f64 {
        (2.0 * self.potential / bounds.convex).sqrt() + bounds.rounding(bounds.reach)
    }

    /// The last iterate, with `hidden` added to the linear term; of the units, those of `chosen`,
    /// or all of them.
    pub fn run(
        &self,
        risk: &Risk<'_>,
        clip: f64,
        hidden: &[f64],
        (private, population, chosen): (&Private, u64, Option<&[u32]>),
        pass: &mut Pass,
    ) -> Vec<f64> {
        let Risk { row_norm, public, start, shape, loss, .. } = *risk;
        let Descent { iterations, momentum, short, long, .. } = *self;
        let linear: Vec<f64> = public.linear.iter().zip(hidden).map(|(q, b)| q + b).collect();
        let public = Quadratic { linear: &linear, ..public };
        let scale = Grid::new(start.len()).step(clip) / population as f64;
        let (mut x, mut z, mut y) = (start.to_vec(), start.to_vec(), start.to_vec());
        let (mut sum, mut g) = (vec![0; start.len()], vec![0.0; start.len()]);
        for _ in 0..iterations {
            for i in 0..y.len() {
                y[i] = (x[i] + momentum * z[i]) / (1.0 + momentum);
            }
            let slopes = Slopes::Shortened(&y, row_norm);
            pass.clipped_sum(&Ask { private, loss, slopes, clip, chosen }, &mut sum);
            g.iter_mut().zip(&sum).for_each(|(g, &steps)| *g = steps as f64 * scale);
            public.add_gradient(&y, shape, &mut g);
            for i in 0..y.len() {
                x[i] = y[i] - short * g[i];
                z[i] = (1.0 - momentum) * z[i] + momentum * y[i] - long * g[i];
            }
        }
        x
    }
}

impl Quadratic<'_> {
    /// Adds `weight·‖x − centre‖²` to a ridge and a linear term that a `Quadratic` is to be made
    /// of.
    pub fn pull(weight: f64, centre: &[f64], ridge: &mut f64, linear: &mut [f64]) {
        *ridge += 2.0 * weight;
        linear.iter_mut().zip(centre).for_each(|(q, c)| *q -= 2.0 * weight * c);
    }

    /// A lower bound of its strong convexity. With an intercept, which `A` does not reach, it is
    /// the ridge's.
    pub(crate) fn convexity(&self, shape: Shape) -> f64 {
        let (_, omega, gamma) = self.spectrum();
        self.ridge + if shape.intercept { 0.0 } else { omega * omega / gamma }
    }

    /// `‖AᵀA‖`, `ω` and `γ`.
    fn spectrum(&self) -> (f64, f64, f64) {
        self.penalty
            .map_or((0.0, 0.0, 1.0), |(a, gamma, _)| (a.gram_norm(), least_singular(a.a()), gamma))
    }

    /// Refuses numbers that cannot be.
    pub(crate) fn check(&self, shape: Shape) -> Result<(), Unsolvable> {
        if !(0.0..=1e20).contains(&self.ridge) {
            return Err(wrong("the ridge must be between 0 and 1e20"));
        }
        if self.linear.len() != shape.len() || self.linear.iter().any(|q| !q.is_finite()) {
            return Err(wrong(
                "the linear term must have an entry for each of the parameter, all finite",
            ));
        }
        let Some((a, gamma, v)) = self.penalty else { return Ok(()) };
        if !(1e-20..=1e20).contains(&gamma) {
            return Err(wrong("the penalty step must be between 1e-20 and 1e20"));
        }
        if a.a().columns() != shape.features || v.len() != a.a().rows() * shape.outputs {
            return Err(wrong(
                "A must have a column for each feature, and v an entry for each row and output",
            ));
        }
        if v.iter().any(|v| !v.is_finite()) || !a.gram_norm().is_finite() {
            return Err(wrong("A and v must be finite"));
        }
        Ok(())
    }

    /// Adds the gradient at `x` to `out`.
    fn add_gradient(&self, x: &[f64], shape: Shape, out: &mut [f64]) {
        for i in 0..x.len() {
            out[i] += self.ridge * x[i] + self.linear[i];
        }
        if let Some((a, gamma, v)) = self.penalty {
            let features = shape.features * shape.outputs;
            let (mut rest, mut back) = (vec![0.0; v.len()], vec![0.0; features]);
            a.a().apply(&x[..features], shape.outputs, &mut rest);
            rest.iter_mut().zip(v).for_each(|(rest, v)| *rest = (*rest - v) / gamma);
            a.a().apply_transpose(&rest, shape.outputs, &mut back);
            out.iter_mut().zip(&back).for_each(|(out, back)| *out += back);
        }
    }
}

/// The Euclidean norm.
pub fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// A lower bound of the least singular value of `A`, from the rows that have one entry: they make a
/// diagonal part `E` of `AᵀA`, and `AᵀA ⪰ E`. Exact for the identity, 1 for a graph over the
/// identity, 0 where it sees nothing.
pub fn least_singular(a: &SparseMatrix) -> f64 {
    let mut rows = vec![(0_usize, 0_usize, 0.0); a.rows()];
    for (row, column, value) in a.triplets() {
        rows[row] = (rows[row].0 + usize::from(value != 0.0), column, value);
    }
    let mut diagonal = vec![0.0; a.columns()];
    for (_, column, value) in rows.into_iter().filter(|row| row.0 == 1) {
        diagonal[column] += value * value;
    }
    diagonal.into_iter().fold(f64::INFINITY, f64::min).sqrt() / UP
}

fn wrong(what: &str) -> Unsolvable {
    Unsolvable(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_problem::losses::PiecewiseResidual;

    /// A piece of width 2e-9 at −0.5: a score near 0 of a target of 0.5 is in it, and what the
    /// difference loses was not in the error, as scores and iterates are small.
    #[test]
    fn a_narrow_piece_is_bounded_with_its_targets() {
        let bend = 2.0 / ((-0.5 + 2e-9) - -0.5);
        let loss = PiecewiseResidual::new(&[(-0.5, -1.0), (-0.5 + 2e-9, 1.0)]).unwrap();
        let zero = [0.0];
        let risk = Risk {
            row_norm: 1.0,
            public: Quadratic { ridge: 1e6, linear: &zero, penalty: None },
            start: &zero,
            shape: Shape { features: 1, outputs: 1, intercept: false },
            loss: &loss,
            crowd: 1.0,
            hidden: 0.0,
        };
        let bounds = risk.bounds().unwrap();
        let mut off: f64 = 0.0;
        for i in 1..1000 {
            let score = f64::from(i) * 1.234e-12;
            let mut slope = [0.0];
            loss.derivative(&[score], 0.5, &mut slope);
            off = off.max((slope[0] - (bend * score - 1.0)).abs());
        }
        assert!(off > 1e-8, "the rounding is seen: {off:e}");
        assert!(off <= bounds.error, "{off:e} {:e}", bounds.error);
    }
}

#[cfg(test)]
#[path = "solver_tests.rs"]
mod by_hand;
