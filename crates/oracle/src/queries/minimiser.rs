//! The minimiser of a regularised empirical risk, found to a proven accuracy, with Gaussian noise
//! (E7, E13).
//!
//! ```text
//! F(x) = (1/n) Σ f(x; dᵢ) + (m/2)‖x‖² + qᵀx + (1/2γ)‖Ax − v‖²
//! released: x̂ + N(0, (zS)² I)   or   Ax̂ + N(0, (zS)² I)
//! ```
//!
//! `x̂` is the last of a *public* number of accelerated-gradient steps, and `‖x̂ − x*‖ ≤ r` with a
//! public `r` by theorem. No run looks whether it has converged. Rows longer than `R` are scaled
//! down to it, so every gradient has norm at most `C = R·(Lipschitz constant of φ)` and every loss
//! smoothness at most `R²·(bound of φ'')`: both must be finite.
//!
//! With `μ` the strong convexity of the public part, replacing a unit moves `x*` by at most
//! `2C/(nμ)`, so `x̂` by at most `2S` with `S = C/(nμ) + r`. For `Ax̂` the same argument in the
//! norm `‖A·‖` gives `Cγ/(nω)`, `ω` the least singular value of `A`, and `(C/2n)√(γ/m)`, whichever
//! is less.
//!
//! Event: Gaussian with noise multiplier `z`, in units of `S`. Replace-one only: the smoothness of
//! the mean is known because `n` is. Proof: proofs/minimiser.md, proofs/noise-gaussian-grid.md.

use reticent_accountant::{Adjacency, Event};
use reticent_noise::entropy::Entropy;
use reticent_problem::Shape;
use reticent_problem::losses::Loss;
use serde::Serialize;

use super::{
    Query, add_noise, check_finite, check_noise, check_point, check_range, too_flat, wrong,
};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::sums::Grid;
use crate::sums::{Descent, Quadratic, Risk, RiskConstants, UP};
use crate::terms::Terms;

/// The noisy minimiser of a regularised empirical risk.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Minimiser<'a> {
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
    bounds: RiskConstants,
    descent: Descent,
    /// `S`.
    half_sensitivity: f64,
}

/// The solver's share of `S`, if rounding allows it.
const SHARE: f64 = 0.01;

impl Minimiser<'_> {
    fn risk<'b>(&'b self, shape: Shape, loss: &'b dyn Loss) -> Risk<'b> {
        let Minimiser { row_norm, public, start, .. } = *self;
        Risk { row_norm, public, start, shape, loss, crowd: 1.0, hidden: 0.0 }
    }

    /// proofs/minimiser.md, in its order and with its letters. Public quantities alone.
    fn prove(&self, inside: &GateState) -> Result<Proven, Refusal> {
        let Minimiser { public, image, .. } = *self;
        if inside.terms.adjacency() != Adjacency::ReplaceOne {
            return Err(wrong(
                "the minimiser cannot be released: only replace-one makes the number of records public; ask for \
                 gradients instead",
            ));
        }
        let n = inside.terms.population() as f64;
        let bounds = self.risk(inside.shape(), &*inside.loss).bounds()?;
        let RiskConstants { clip, convex, gram, omega, gamma, reach, .. } = bounds;
        // From the potential V to a distance in the norm that is released.
        let weight = if image { 2.0 * gamma } else { 2.0 / convex };
        let exact = if image {
            let through_omega =
                if inside.shape().intercept { f64::INFINITY } else { clip * gamma / (n * omega) };
            let through_ridge = 0.5 * clip / n * (gamma / public.ridge).sqrt();
            through_omega.min(through_ridge)
        } else {
            clip / (n * convex)
        };
        let descent = bounds.descend((SHARE * exact).powi(2) / weight);
        let largest = if image { gram.sqrt() * reach } else { reach };
        let radius = (weight * descent.potential).sqrt() + bounds.rounding(largest);
        let half_sensitivity = (exact + radius) * UP;
        let fits = radius <= exact && largest / half_sensitivity <= (1_u64 << 28) as f64;
        if !fits {
            return Err(too_flat());
        }
        Ok(Proven { bounds, descent, half_sensitivity })
    }
}

impl Query for Minimiser<'_> {
    const NAME: &'static str = "minimiser";
    type Answer = Vec<f64>;

    fn check(&self, shape: Shape, _: &Terms) -> Result<(), Refusal> {
        let Minimiser { row_norm, public, start, image, noise_multiplier } = *self;
        check_noise(noise_multiplier)?;
        check_range("row norm", row_norm, 1e-20, 1e20)?;
        check_point(start, shape)?;
        check_finite(public.linear)?;
        check_finite(public.penalty.map_or(&[], |(_, _, v)| v))?;
        if image && public.penalty.is_none() {
            return Err(wrong("A x was asked for without an A"));
        }
        Ok(public.check(shape)?)
    }

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        Ok(vec![terms.noisy(self.noise_multiplier)?])
    }

    fn fits(&self, inside: &GateState) -> Result<(), Refusal> {
        self.prove(inside).map(drop)
    }

    fn made_up(&self, shape: Shape, _: &Terms, next: &mut dyn FnMut() -> f64) -> Vec<f64> {
        let image = self.public.penalty.filter(|_| self.image);
        (0..image.map_or(shape.len(), |(_, _, v)| v.len())).map(|_| next()).collect()
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        let proven = self.prove(inside)?;
        let x = self.solve(&proven, inside)?;
        let shape = inside.shape();
        let point = match self.public.penalty {
            Some((a, _, v)) if self.image => {
                let mut image = vec![0.0; v.len()];
                a.a().apply(&x[..shape.features * shape.outputs], shape.outputs, &mut image);
                image
            }
            _ => x,
        };
        noisy_point(&point, proven.half_sensitivity, self.noise_multiplier, entropy)
    }
}

/// A point with noise of `noise_multiplier` times `half_sensitivity`, on the grid that goes with
/// it.
pub(super) fn noisy_point(
    point: &[f64],
    half_sensitivity: f64,
    noise_multiplier: f64,
    entropy: &mut Entropy,
) -> Result<Vec<f64>, Refusal> {
    let step = Grid::new(point.len()).step(half_sensitivity);
    let mut steps: Vec<i64> = point.iter().map(|v| (v / step).round() as i64).collect();
    add_noise(entropy, noise_multiplier, &mut steps)?;
    Ok(steps.iter().map(|&steps| steps as f64 * step).collect())
}

impl Minimiser<'_> {
    fn solve(&self, proven: &Proven, inside: &mut GateState) -> Result<Vec<f64>, Refusal> {
        let loss = inside.loss.clone();
        let risk = self.risk(inside.shape(), &*loss);
        let nothing = vec![0.0; self.start.len()];
        inside.minimise(&proven.descent, &risk, proven.bounds.clip, &nothing, None)
    }
}

#[cfg(test)]
#[path = "minimiser_tests.rs"]
mod tests;
