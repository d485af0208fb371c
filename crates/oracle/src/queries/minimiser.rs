//! The minimiser of a regularised empirical risk, found to a proven accuracy, with Gaussian noise (E7, E13).
//!
//! ```text
//! F(x) = (1/n) Σ f(x; dᵢ) + (m/2)‖x‖² + qᵀx + (1/2γ)‖Ax − v‖²
//! released: x̂ + N(0, (zS)² I)   or   Ax̂ + N(0, (zS)² I)
//! ```
//!
//! `x̂` is the last of a *public* number of accelerated-gradient steps, and `‖x̂ − x*‖ ≤ r` with a public `r` by
//! theorem. No run looks whether it has converged. Rows longer than `R` are scaled down to it, so every gradient has
//! norm at most `C = R·(Lipschitz constant of φ)` and every loss smoothness at most `R²·(bound of φ'')`: both
//! must be finite.
//!
//! With `μ` the strong convexity of the public part, replacing a unit moves `x*` by at most `2C/(nμ)`, so `x̂` by at
//! most `2S` with `S = C/(nμ) + r`. For `Ax̂` the same argument in the norm `‖A·‖` gives `Cγ/(nω)`, `ω` the least singular
//! value of `A`, and `(C/2n)√(γ/m)`, whichever is less.
//!
//! Event: Gaussian with noise multiplier `z`, in units of `S`. Replace-one only: the smoothness of the mean is known
//! because `n` is. Proof: proofs/minimiser.md, proofs/noise-gaussian-grid.md.

use reticent_accountant::{Adjacency, Event};
use reticent_problem::constraints::Constraint;
use reticent_problem::{Shape, SparseMatrix};
use reticent_sums::{Ask, Grid, Slopes};

use super::{Query, add_noise, check_noise, check_point, check_range};
use crate::gate::Inside;
use crate::refusal::Refusal;
use crate::sample::Sampling;
use crate::terms::Terms;
use reticent_noise::entropy::Entropy;

/// The public part of the objective. Plain numbers and no closures: a closure could keep what it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Quadratic<'a> {
    /// `m`, on every coordinate, the intercept included.
    pub ridge: f64,
    /// `q`.
    pub linear: &'a [f64],
    /// `A`, `γ` and `v` of `(1/2γ)‖Ax − v‖²`, on the features.
    pub penalty: Option<(&'a Constraint, f64, &'a [f64])>,
}

/// How a minimiser is asked for.
#[derive(Clone, Copy, Debug)]
pub struct MinimiserTerms<'a> {
    /// `R`: rows with a longer norm, the intercept's constant included, are scaled down to it.
    pub row_norm: f64,
    /// The public part of the objective.
    pub public: Quadratic<'a>,
    /// Where the inner solver starts.
    pub start: &'a [f64],
    /// Whether `Ax` is wanted, and not `x`.
    pub image: bool,
    /// The standard deviation of the noise, in units of `S`.
    pub noise_multiplier: f64,
}

/// What is known before the data are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proven {
    clip: f64,
    iterations: u64,
    /// `θ`, `1/L̄` and `θ/μ̄` of the solver.
    momentum: f64,
    short: f64,
    long: f64,
    /// `S`.
    half_sensitivity: f64,
}

/// The query: how, and what follows from it.
#[derive(Debug)]
pub(crate) struct Minimiser<'a> {
    how: &'a MinimiserTerms<'a>,
    /// `None` in a rehearsal, which has no loss.
    proven: Option<Proven>,
}

/// More steps than this are refused.
const MOST_ITERATIONS: u64 = 1 << 18;

/// The solver's share of `S`, if rounding allows it.
const SHARE: f64 = 0.01;

impl<'a> Minimiser<'a> {
    pub fn rehearsed(how: &'a MinimiserTerms<'a>) -> Self {
        Minimiser { how, proven: None }
    }

    pub fn proven(how: &'a MinimiserTerms<'a>, inside: &Inside) -> Result<Self, Refusal> {
        let query = Minimiser { how, proven: None };
        query.check(inside.shape())?;
        let proven = query.prove(inside)?;
        Ok(Minimiser { proven: Some(proven), ..query })
    }

    /// proofs/minimiser.md, in its order and with its letters. Public quantities alone.
    fn prove(&self, inside: &Inside) -> Result<Proven, Refusal> {
        let refuse = |why: &str| Err(Refusal::BadQuery(format!("the minimiser cannot be released: {why}")));
        let MinimiserTerms { row_norm, public, start, image, .. } = *self.how;
        let (slope, bend) = (inside.loss.lipschitz(), inside.loss.smoothness());
        if inside.terms.adjacency() != Adjacency::ReplaceOne {
            return refuse("only replace-one makes the number of records public; ask for gradients instead");
        }
        if !slope.is_finite() || !bend.is_finite() {
            return refuse(
                "the loss needs a bounded derivative without jumps (logistic, huber, huberised-hinge)",
            );
        }
        let n = inside.terms.population() as f64;
        let shape = inside.shape();
        let (gram, omega, gamma) = public
            .penalty
            .map_or((0.0, 0.0, 1.0), |(a, gamma, _)| (a.gram_norm(), least_singular(a.a()), gamma));
        let clip = slope * row_norm * UP;
        let convex = public.ridge + if shape.intercept { 0.0 } else { omega * omega / gamma };
        if convex <= 0.0 {
            return refuse("the public part is not strongly convex: give a ridge");
        }
        let smooth = (bend * row_norm * row_norm + public.ridge + gram / gamma) * UP;
        let theta = 0.5 * (convex / smooth).sqrt();

        let mut slope_at_start = vec![0.0; start.len()];
        public.add_gradient(start, shape, &mut slope_at_start);
        let steep = (clip + norm(&slope_at_start)) * UP;
        let (reach, root) = (norm(start) + 4.0 * steep / convex, (start.len() as f64).sqrt());
        let offsets =
            norm(public.linear) + public.penalty.map_or(0.0, |(_, _, v)| gram.sqrt() * norm(v) / gamma);
        let unit = f64::EPSILON * (start.len() as f64 + 64.0);
        let error = clip * (Grid::new(start.len()).step(1.0) * root + 1e-13)
            + 4.0 * unit * (smooth * reach + offsets);
        let drift = error * error * (1.0 / convex + 0.5 / smooth);
        let rounding = 32.0 * f64::EPSILON * reach * smooth.sqrt();

        // From the potential V to a distance in the norm that is released.
        let weight = if image { 2.0 * gamma } else { 2.0 / convex };
        let exact = if image {
            let through_omega = if shape.intercept { f64::INFINITY } else { clip * gamma / (n * omega) };
            let through_ridge = 0.5 * clip / n * (gamma / public.ridge).sqrt();
            through_omega.min(through_ridge)
        } else {
            clip / (n * convex)
        };
        let mut potential = 0.75 * steep * steep / convex * UP;
        let mut iterations = 0;
        let target = (SHARE * exact).powi(2) / weight;
        while potential > target && iterations < MOST_ITERATIONS {
            let next = (((1.0 - theta) * potential + drift).sqrt() + rounding).powi(2) * (1.0 + 1e-14);
            if next > potential * (1.0 - theta / 16.0) {
                break;
            }
            (potential, iterations) = (next, iterations + 1);
        }
        let largest = if image { gram.sqrt() * reach } else { reach };
        let radius = (weight * potential).sqrt() + 4.0 * unit * largest;
        let half_sensitivity = (exact + radius) * UP;
        let fits = radius <= exact && largest / half_sensitivity <= (1_u64 << 28) as f64;
        if !fits {
            return refuse(
                "the objective is too flat for its solution to be computed accurately: give a larger ridge",
            );
        }
        Ok(Proven {
            clip,
            iterations,
            momentum: theta,
            short: 0.5 / smooth,
            long: 2.0 * theta / convex,
            half_sensitivity,
        })
    }
}

impl Query for Minimiser<'_> {
    type Answer = Vec<f64>;

    fn check(&self, shape: Shape) -> Result<(), Refusal> {
        let MinimiserTerms { row_norm, public, start, image, noise_multiplier } = *self.how;
        check_noise(noise_multiplier)?;
        check_range("row norm", row_norm, 1e-20, 1e20)?;
        check_range("ridge", public.ridge, 0.0, 1e20)?;
        check_point(start, shape)?;
        check_point(public.linear, shape)?;
        let Some((a, gamma, v)) = public.penalty else {
            return if image { Err(wrong("A x was asked for without an A")) } else { Ok(()) };
        };
        check_range("penalty step", gamma, 1e-20, 1e20)?;
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

    fn event(&self, terms: &Terms) -> Result<Event, Refusal> {
        let mechanism = Sampling::Full.mechanism(self.how.noise_multiplier, terms.population())?;
        Ok(terms.event(mechanism)?)
    }

    fn answer(&self, inside: &mut Inside, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        let Some(proven) = self.proven else { return Err(wrong("a rehearsed query has no answer")) };
        let x = self.solve(&proven, inside);
        let shape = inside.shape();
        let point = match self.how.public.penalty {
            Some((a, _, v)) if self.how.image => {
                let mut image = vec![0.0; v.len()];
                a.a().apply(&x[..shape.features * shape.outputs], shape.outputs, &mut image);
                image
            }
            _ => x,
        };
        let step = Grid::new(point.len()).step(proven.half_sensitivity);
        let mut steps: Vec<i64> = point.iter().map(|v| (v / step).round() as i64).collect();
        add_noise(entropy, self.how.noise_multiplier, &mut steps)?;
        Ok(steps.iter().map(|&steps| steps as f64 * step).collect())
    }
}

impl Minimiser<'_> {
    /// The accelerated gradient method with constant momentum.
    fn solve(&self, proven: &Proven, inside: &mut Inside) -> Vec<f64> {
        let MinimiserTerms { row_norm, public, start, .. } = *self.how;
        let Proven { clip, iterations, momentum, short, long, .. } = *proven;
        let shape = inside.shape();
        let Inside { private, loss, terms, pass, .. } = inside;
        let scale = Grid::new(start.len()).step(clip) / terms.population() as f64;
        let (mut x, mut z, mut y) = (start.to_vec(), start.to_vec(), start.to_vec());
        let (mut sum, mut g) = (vec![0; start.len()], vec![0.0; start.len()]);
        for _ in 0..iterations {
            for i in 0..y.len() {
                y[i] = (x[i] + momentum * z[i]) / (1.0 + momentum);
            }
            let slopes = Slopes::Shortened(&y, row_norm);
            pass.clipped_sum(&Ask { private, loss: &**loss, slopes, clip, chosen: None }, &mut sum);
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

/// Covers the roundings of the few operations behind a public bound.
const UP: f64 = 1.0 + 1e-12;

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// A lower bound of the least singular value of `A`, from the rows that have one entry: they make a diagonal part
/// `E` of `AᵀA`, and `AᵀA ⪰ E`. Exact for the identity, 1 for a graph over the identity, 0 where it sees nothing.
fn least_singular(a: &SparseMatrix) -> f64 {
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

fn wrong(what: &str) -> Refusal {
    Refusal::BadQuery(what.to_owned())
}

#[cfg(test)]
#[path = "minimiser_tests.rs"]
mod tests;
