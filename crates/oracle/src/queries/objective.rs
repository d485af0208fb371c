//! Approximate minima perturbation: the minimiser of an objective to which a random linear term was
//! added (E7, E8; Iyengar et al. 2019, Algorithm 1).
//!
//! ```text
//! J(x) = (1/n) Σ f(x; dᵢ) + (m/2)‖x‖² + qᵀx + (1/2γ)‖Ax − v‖² + bᵀx
//! released: x̂ + noise,   ‖x̂ − argmin J‖ ≤ r
//! ```
//!
//! `b` is drawn in the gate and never leaves it: normal with deviation `zC/n` a coordinate, or with
//! density `∝ exp(−(n/zC)‖b‖)`. Its law has a density, so the exact minimiser has one too, and the
//! two densities of neighbours are compared; with `Λ` the strong convexity of the public part and
//! `c = βR²/(nΛ)`, adding one record changes the determinant of the Hessian by a factor between 1
//! and `1 + c`. The solver is that of the minimiser query, with a public number of steps and a
//! public `r`; noise in proportion to `r` covers the distance from the exact minimiser.
//!
//! Crowds. The solver is proven for a number of units, which add-remove keeps private. There `n` is
//! the public number, and of more than `2n` units a subset of `2n` is taken, uniform among all: a
//! part of the mechanism, on every table. Who is added may then push another out, so that
//! add-remove is counted as a replacement.
//!
//! Event, normal `b`: objective perturbation with multiplier `z`, and a Gaussian of multiplier `8z`
//! for the distance. For losses of one score whose slope has one sign, records only. Event,
//! spherical Laplace `b`: pure, `ln(1 + c) + (2 + 1/32)/z`. Proof: proofs/objective.md,
//! proofs/minimiser.md, proofs/noise-objective-perturbation.md.

use reticent_accountant::{
    Adjacency, Event, Gaussian, NonPrivate, ObjectivePerturbation, PureDp, Unit,
};
use reticent_noise::entropy::Entropy;
use reticent_noise::grid::{GridNoise, LaplaceGrid};
use reticent_noise::vectors::{Near, normal, spherical_laplace};
use reticent_problem::Shape;
use reticent_problem::losses::Loss;
use serde::Serialize;

use super::minimiser::noisy_point;
use super::{Query, check_finite, check_noise, check_point, check_range, too_flat, wrong};
use crate::inside::GateState;
use crate::law::Law;
use crate::refusal::Refusal;
use crate::sums::{Descent, Grid, Quadratic, Risk, RiskConstants, UP, grid, norm};
use crate::terms::Terms;

/// The minimiser of a regularised empirical risk with a random linear term.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PerturbedObjective<'a> {
    /// `R`: rows with a longer norm, the intercept's constant included, are scaled down to it.
    pub row_norm: f64,
    /// `β`: a bound of the loss's curvature in the score. Less than the loss declares is refused.
    pub smoothness: f64,
    /// The public part of the objective.
    pub public: Quadratic<'a>,
    /// Where the inner solver starts.
    pub start: &'a [f64],
    /// How `b` is drawn.
    pub law: Law,
    /// `z`: the scale of `b` in units of `C/n`, `C` the largest gradient of a record. 0 for no
    /// noise and no privacy.
    pub noise_multiplier: f64,
}

/// What is known before the data are read.
#[derive(Debug)]
struct ProvenObjective {
    bounds: RiskConstants,
    descent: Descent,
    radius: f64,
    /// `zC/n`.
    scale: f64,
}

/// The noise that covers the solver's distance, in units of the noise that covers a record.
const COVER: f64 = 8.0;

/// What the same costs when it is Laplace noise, in units of `1/z`.
const COVER_PURE: f64 = 1.0 / 64.0;

/// The radius that the solver is to reach, in units of `C/(nΛ)`, if rounding allows it; and the
/// most that is accepted.
const SHARE: f64 = 1e-4;
const MOST: f64 = 0.1;

/// Under add-remove, the most units that are taken, as a multiple of the public number.
const CROWD: u64 = 2;

/// Deviations beyond which a norm is not found: probability below e⁻¹¹².
const TAIL: f64 = 15.0;

impl PerturbedObjective<'_> {
    fn risk<'b>(&'b self, inside: &GateState, loss: &'b dyn Loss, scale: f64) -> Risk<'b> {
        let PerturbedObjective { row_norm, public, start, .. } = *self;
        let crowded = inside.terms.adjacency() == Adjacency::AddRemove;
        let crowd = if crowded { CROWD as f64 } else { 1.0 };
        Risk {
            row_norm,
            public,
            start,
            shape: inside.shape(),
            loss,
            crowd,
            hidden: scale * self.longest(),
        }
    }

    /// A bound of `‖b‖` in units of its scale, passed with probability below e⁻¹¹².
    fn longest(&self) -> f64 {
        let len = self.start.len() as f64;
        match self.law {
            Law::Normal => len.sqrt() + TAIL,
            // Gamma(d) exceeds d + √(2dt) + t with probability at most e⁻ᵗ.
            Law::SphericalLaplace => len + TAIL * len.sqrt() + 0.5 * TAIL * TAIL,
        }
    }

    /// How far `b` is from one with exactly its law, in units of its scale: see the sampler.
    fn farthest(&self) -> f64 {
        1e-14 * (self.start.len() as f64 + 8.0) * self.longest()
    }

    fn prove(&self, inside: &GateState) -> Result<ProvenObjective, Refusal> {
        let PerturbedObjective { smoothness, law, noise_multiplier, .. } = *self;
        let GateState { loss, terms, .. } = inside;
        let n = terms.population() as f64;
        if loss.smoothness() > smoothness {
            return Err(wrong("the loss bends more than the smoothness that was declared for it"));
        }
        if law == Law::Normal && (terms.unit() != Unit::Record || !loss.one_sided()) {
            return Err(wrong(
                "a normal linear term is proven to be private for records and for losses whose slope has one sign \
                 (logistic, huberised-hinge): use the spherical Laplace law",
            ));
        }
        let scale = noise_multiplier * loss.lipschitz() * self.row_norm * UP / n;
        let bounds = self.risk(inside, &**loss, scale).bounds()?;
        let exact = bounds.clip / (n * bounds.convex);
        let descent = bounds.descend((SHARE * exact).powi(2) * bounds.convex / 2.0);
        let off = scale * self.farthest() / bounds.convex;
        // A solution may be nearer than the noise that covers the distance can be drawn for beside
        // a point of that size.
        let finest = bounds.reach / (1_u64 << 28) as f64;
        let proven = (descent.radius(&bounds) + off) * UP;
        // Each by itself: a bound that is not a number fits nowhere, and `max` would pass over it.
        let fits = proven <= MOST * exact && finest <= MOST * exact;
        let radius = proven.max(finest);
        if !fits {
            return Err(too_flat());
        }
        Ok(ProvenObjective { bounds, descent, radius, scale })
    }

    /// A bound of the logarithm of the factor by which one unit changes the determinant.
    fn log_determinant(&self, shape: Shape, terms: &Terms) -> f64 {
        let PerturbedObjective { row_norm, smoothness, public, .. } = *self;
        let convex = public.convexity(shape);
        let c = smoothness * row_norm * row_norm / (terms.population() as f64 * convex);
        let one = match terms.unit() {
            Unit::Record => c.ln_1p(),
            // The mean of many rank-one matrices has any rank, and only its trace is known.
            Unit::User | Unit::Party => c,
        };
        shape.outputs as f64 * one * UP
    }

    /// What a Gaussian event of one multiplier needs in noise: whatever the neighbours, two
    /// solutions near one exact minimiser are up to two radii apart, and add-remove counts one
    /// where replace-one counts two.
    fn moves(&self, terms: &Terms) -> f64 {
        if terms.adjacency() == Adjacency::AddRemove { 2.0 } else { 1.0 }
    }

    /// The units that are taken; `None` for all of them.
    fn taken(
        &self,
        inside: &GateState,
        entropy: &mut Entropy,
    ) -> Result<Option<Vec<u32>>, Refusal> {
        let most = inside.terms.population().saturating_mul(CROWD);
        let units = inside.holder.units();
        if inside.terms.adjacency() == Adjacency::ReplaceOne || units as u64 <= most {
            return Ok(None);
        }
        let mut taken = Vec::new();
        entropy.subset(units, most as usize, &mut taken)?;
        Ok(Some(taken))
    }

    fn draw(&self, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        let len = self.start.len();
        loop {
            let Near { values, off } = match self.law {
                Law::Normal => normal(entropy, len)?,
                Law::SphericalLaplace => spherical_laplace(entropy, len)?,
            };
            // Otherwise once more: a matter of the random words alone, and of fewer of them than
            // there are keys to try.
            if norm(&values) <= self.longest() && off <= self.farthest() {
                return Ok(values);
            }
        }
    }
}

impl Query for PerturbedObjective<'_> {
    const NAME: &'static str = "objective";
    type Answer = Vec<f64>;

    fn check(&self, shape: Shape, _: &Terms) -> Result<(), Refusal> {
        let PerturbedObjective { row_norm, smoothness, public, start, law, noise_multiplier } =
            *self;
        check_noise(noise_multiplier)?;
        check_noise(COVER * noise_multiplier)?;
        check_range("row norm", row_norm, 1e-20, 1e20)?;
        check_range("smoothness", smoothness, 0.0, 1e20)?;
        check_point(start, shape)?;
        check_finite(public.linear)?;
        check_finite(public.penalty.map_or(&[], |(_, _, v)| v))?;
        public.check(shape)?;
        if public.convexity(shape) <= 0.0 {
            return Err(wrong(
                "the public part of the objective is not strongly convex: give a ridge",
            ));
        }
        if law == Law::Normal && shape.outputs > 1 && noise_multiplier > 0.0 {
            return Err(wrong(
                "a normal linear term is proven to be private for one score only: use the spherical Laplace law",
            ));
        }
        Ok(())
    }

    fn events(&self, shape: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        let z = self.noise_multiplier;
        if z == 0.0 {
            return Ok(vec![terms.event(NonPrivate::new()?)?]);
        }
        let log_determinant = self.log_determinant(shape, terms);
        match self.law {
            Law::Normal => Ok(vec![
                terms.event(ObjectivePerturbation::new(z, log_determinant)?)?,
                terms.event(Gaussian::new(COVER * z)?)?,
            ]),
            Law::SphericalLaplace => {
                let epsilon = log_determinant + (2.0 + 2.0 * COVER_PURE) / z;
                Ok(vec![terms.event(PureDp::new(epsilon * UP)?)?])
            }
        }
    }

    fn fits(&self, inside: &GateState) -> Result<(), Refusal> {
        self.prove(inside).map(drop)
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        let ProvenObjective { bounds, descent, radius, scale } = self.prove(inside)?;
        let z = self.noise_multiplier;
        let mut b = vec![0.0; self.start.len()];
        if z > 0.0 {
            b = self.draw(entropy)?;
            b.iter_mut().for_each(|b| *b *= scale);
        }
        let loss = inside.loss.clone();
        let risk = self.risk(inside, &*loss, scale);
        let taken = self.taken(inside, entropy)?;
        let x = inside.minimise(&descent, &risk, bounds.clip, &b, taken.as_deref())?;
        match self.law {
            Law::SphericalLaplace if z > 0.0 => laplace_point(&x, radius, z / COVER_PURE, entropy),
            _ => noisy_point(&x, radius, COVER * z * self.moves(&inside.terms), entropy),
        }
    }
}

/// A point with Laplace noise of `times` its `radius` in the norm of absolute values, on the grid
/// that goes with it.
fn laplace_point(
    point: &[f64],
    radius: f64,
    times: f64,
    entropy: &mut Entropy,
) -> Result<Vec<f64>, Refusal> {
    let step = Grid::new(point.len()).step(radius);
    let mut steps: Vec<i64> = point.iter().map(|v| (v / step).round() as i64).collect();
    let scale = times * (point.len() as f64).sqrt() * UP;
    LaplaceGrid::new(scale, grid::BITS)?.perturb(entropy, &mut steps)?;
    Ok(steps.iter().map(|&steps| steps as f64 * step).collect())
}

#[cfg(test)]
#[path = "objective_tests.rs"]
mod tests;
