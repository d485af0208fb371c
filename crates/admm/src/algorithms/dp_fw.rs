//! DP-FW: Frank–Wolfe for an L1 penalty or an L1 ball (Talwar, Thakurta and Zhang 2015, with
//! Gaussian noise).
//!
//! ```text
//! minimise (1/n) Σ f(x; dᵢ) + λ‖x‖₁  subject to  ‖x‖₁ ≤ ρ
//!
//! g̃ = noisy mean of clip(∇f(x; dᵢ), C) over a sample
//! h⁺ = β_k h + (1 − β_k) g̃,  β_k = min( (k − 1)/(k + 2), β )
//! j = argmax |h⁺_j|
//! s = −ρ sign(h⁺_j) e_j  if |h⁺_j| > λ, and 0 otherwise
//! x⁺ = x + 2/(k + 1) (s − x)
//! ```
//!
//! β = 0 is the published iteration. The default of 0.9 keeps a quarter of the noise of a gradient
//! and follows x within ten steps; β = 1 would keep less, and x would swing around the optimum (Li
//! et al. 2021 for the rate without noise). The solution is a late average of the x, which evens
//! out what swing is left; an entry that one x has touched is in all that follow, so that the
//! average has the zeros of the last. Both are arithmetic on what was released.
//!
//! `s` minimises `hᵀs + λ‖s‖₁` over the ball: with λ = 0 it is Frank–Wolfe, with λ > 0 its
//! generalised form, which needs ρ to be no more than a bound of the solution. The intercept, of
//! which neither the ball nor the penalty knows, has the interval [−ρ, ρ] to itself.
//!
//! Released: g̃, once an iteration, as a Gaussian event under its sampling. The published version
//! releases j alone, by report-noisy-max with Laplace noise: fewer numbers, but it cannot be
//! composed as tightly. Requires: the penalty `none` or `l1`; the identity constraint. Reference:
//! Talwar, Thakurta and Zhang 2015, Algorithm 2; Bach 2015 for the generalised form; Li, Coutiño,
//! Giannakis and Leus 2021 (a momentum-guided Frank–Wolfe algorithm) for the average.

use reticent_oracle::queries::{Gradient, ClippedMean};
use reticent_oracle::{Oracle, Refusal, Refused};
use reticent_problem::Shape;

use super::{Algorithm, Iterate, Tell, told};
use crate::average::{Average, Running};
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};
use crate::defaults::CLIP;
use crate::momentum::Momentum;
use crate::settings::positive;

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "dp-fw",
    about: "Frank–Wolfe over an L1 ball: one coordinate moves in each iteration; a baseline",
    reference: "Talwar, Thakurta and Zhang 2015",
    takes: &["iterations", "sampling", "clip", "clip_share", "momentum", "radius", "average"],
    penalty: "l1:0.1",
    needs_penalty: false,
    kind: AlgorithmKind::Private(build),
};

/// Steps of 2/(k + 1) are too long in fewer iterations than the first, and more than the second are
/// time.
const ITERATIONS: (f64, f64) = (100.0, 200.0);

/// See above.
const MOMENTUM: f64 = 0.9;

/// Scores of up to 10 in rows of norm 1, from a vector whose norm is spread over all d columns and
/// is therefore √d times as long in L1: a probability of 1 − 5·10⁻⁵ for the logistic loss, as sure
/// as a private model has reason to be.
const RADIUS: f64 = 10.0;

/// The same for a number, in residuals that are clipped at: its scores are within its range, and a
/// vertex that noise has chosen costs less. The signal for each of them, up to [`RADIUS`].
const SURE: f64 = 100.0;

#[derive(Debug)]
struct DpFw {
    iterations: u64,
    params: ClippedMean,
    shape: Shape,
    radius: f64,
    /// λ.
    threshold: f64,
    momentum: Momentum,
    x: Vec<f64>,
    average: Running,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    let Recipe { settings, public, regulariser, noise_multiplier } = recipe;
    recipe.only(&ENTRY)?;
    recipe.needs_identity(&ENTRY)?;
    let penalty = regulariser.penalty();
    let Some(threshold) = penalty.lasso() else {
        return Err(Refused::new(
            "penalty",
            penalty.spec(),
            "dp-fw works on an L1 ball: give none or l1:LAMBDA, and the ball with radius",
        ));
    };
    let sampling = recipe.sampling();
    let steps = (recipe.plain_steps(1.0) as f64).clamp(ITERATIONS.0, ITERATIONS.1);
    let iterations =
        settings.iterations_or((steps * recipe.per_epoch(sampling).max(1.0).sqrt()) as u64)?;
    let spread = (public.shape.features as f64).sqrt();
    let scores = match public.numeric {
        true => public.slope().min(1.0) * (public.signal() / SURE).clamp(0.5, RADIUS),
        false => RADIUS,
    };
    let algorithm = DpFw {
        iterations,
        params: ClippedMean {
            clip: settings.clip_or_part(public, CLIP)?,
            noise_multiplier: *noise_multiplier,
            sampling,
        },
        shape: public.shape,
        radius: positive("radius", settings.radius.unwrap_or(scores * spread / public.row_norm))?,
        threshold,
        momentum: Momentum::new(Some(settings.momentum.unwrap_or(MOMENTUM)), public.shape.len())?,
        x: vec![0.0; public.shape.len()],
        average: Running::new(settings.average.unwrap_or(Average::Late), public.shape.len()),
    };
    Ok(Box::new(algorithm))
}

impl Iterate for DpFw {
    fn running(&self) -> Vec<f64> {
        self.x.clone()
    }

    fn published(&self) -> Vec<f64> {
        self.average.mean().to_vec()
    }
}

impl Algorithm for DpFw {
    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        for k in 1..=self.iterations {
            let DpFw { params, shape, radius, threshold, momentum, x, average, .. } = self;
            let mut g = oracle.ask(&Gradient { at: x, mean: *params })?.into_inner();
            momentum.average(k, &mut g);
            let step = 2.0 / (k as f64 + 1.0);
            x.iter_mut().for_each(|x| *x *= 1.0 - step);
            let (features, intercept) = g.split_at(shape.features * shape.outputs);
            let largest =
                features.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
            if let Some((j, g)) = largest.filter(|(_, g)| g.abs() > *threshold) {
                x[j] -= step * *radius * g.signum();
            }
            for (j, g) in intercept.iter().enumerate() {
                x[features.len() + j] -= step * *radius * g.signum();
            }
            average.add(x);
            told(tell, k, self.iterations, self)?;
        }
        Ok(self.published())
    }
}
