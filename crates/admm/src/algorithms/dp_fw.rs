//! DP-FW: Frank–Wolfe for an L1 penalty or an L1 ball (Talwar, Thakurta and Zhang 2015, with Gaussian noise).
//!
//! ```text
//! minimise (1/n) Σ f(x; dᵢ) + λ‖x‖₁  subject to  ‖x‖₁ ≤ ρ
//!
//! g̃ = noisy mean of clip(∇f(x; dᵢ), C) over a sample
//! j = argmax |g̃_j|
//! s = −ρ sign(g̃_j) e_j  if |g̃_j| > λ, and 0 otherwise
//! x⁺ = x + 2/(k + 1) (s − x)
//! ```
//!
//! `s` minimises `g̃ᵀs + λ‖s‖₁` over the ball: with λ = 0 it is Frank–Wolfe, with λ > 0 its generalised form, which
//! needs ρ to be no more than a bound of the solution. The intercept, of which neither the ball nor the penalty
//! knows, has the interval [−ρ, ρ] to itself.
//!
//! Released: g̃, once an iteration, as a Gaussian event under its sampling. The published version releases j alone,
//! by report-noisy-max with Laplace noise: fewer numbers, but it cannot be composed as tightly.
//! Requires: the penalty `none` or `l1`; the identity constraint.
//! Reference: Talwar, Thakurta and Zhang 2015, Algorithm 2; Bach 2015 for the generalised form.

use reticent_oracle::{GradientTerms, Oracle, Refusal};
use reticent_problem::Shape;

use super::Algorithm;
use crate::catalogue::{Built, Entry, Kind, Recipe};
use crate::settings::{SettingsError, positive};

pub(crate) const ENTRY: Entry = Entry {
    name: "dp-fw",
    about: "Frank–Wolfe over an L1 ball: one coordinate moves in each iteration; a baseline",
    reference: "Talwar, Thakurta and Zhang 2015",
    takes: &["iterations", "sampling", "clip", "radius"],
    kind: Kind::Private(build),
};

/// As for ssADMM.
const ITERATIONS: f64 = 100.0;

/// Scores of up to 10 in rows of norm 1: a probability of 1 − 5·10⁻⁵ for the logistic loss, as sure as a private
/// model has reason to be.
const RADIUS: f64 = 10.0;

#[derive(Debug)]
struct DpFw {
    how: GradientTerms,
    shape: Shape,
    radius: f64,
    /// λ.
    threshold: f64,
    x: Vec<f64>,
}

fn build(recipe: &Recipe<'_>) -> Result<Built, SettingsError> {
    let Recipe { settings, public, regulariser, noise_multiplier } = recipe;
    recipe.only(&ENTRY)?;
    recipe.needs_identity(&ENTRY)?;
    let penalty = regulariser.penalty();
    if !["none", "l1"].contains(&penalty.name()) {
        return Err(SettingsError::new(
            "penalty",
            penalty.spec(),
            "dp-fw works on an L1 ball: give none or l1:LAMBDA, and the ball with radius",
        ));
    }
    let sampling = recipe.sampling();
    let iterations = settings.iterations_or((ITERATIONS * recipe.per_epoch(sampling).sqrt()) as u64)?;
    let algorithm = DpFw {
        how: GradientTerms {
            clip: settings.clip_or_bound(public)?,
            noise_multiplier: *noise_multiplier,
            sampling,
        },
        shape: public.shape,
        radius: positive("radius", settings.radius.unwrap_or(RADIUS / public.row_norm))?,
        // λ is what the penalty costs a vector with one entry of 1.
        threshold: penalty.value(&[1.0], 1),
        x: vec![0.0; public.shape.len()],
    };
    Ok(Built { algorithm: Box::new(algorithm), iterations })
}

impl Algorithm for DpFw {
    fn step(&mut self, k: u64, oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        let DpFw { how, shape, radius, threshold, x } = self;
        let g = oracle.gradient(x, how)?.into_inner();
        let step = 2.0 / (k as f64 + 1.0);
        x.iter_mut().for_each(|x| *x *= 1.0 - step);
        let (features, intercept) = g.split_at(shape.features * shape.outputs);
        let largest = features.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        if let Some((j, g)) = largest.filter(|(_, g)| g.abs() > *threshold) {
            x[j] -= step * *radius * g.signum();
        }
        for (j, g) in intercept.iter().enumerate() {
            x[features.len() + j] -= step * *radius * g.signum();
        }
        Ok(())
    }

    fn solution(&self) -> Vec<f64> {
        self.x.clone()
    }
}
