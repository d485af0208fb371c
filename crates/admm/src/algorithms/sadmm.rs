//! DP-SADMM: stochastic ADMM with Laplacian smoothing, under any linear constraint (LS22, Algorithm
//! 2).
//!
//! ```text
//! minimise (1/n) Σ f(x; dᵢ) + r(y)  subject to  A x + B y = c
//!
//! G  = noisy mean of clip(∇f(x; dᵢ), C) over a sample
//! y⁺ = argmin_y { r(y) + (β/2)‖A x + B y − c + λ‖² }
//! x⁺ = x − (η_k/γ) Q_ν⁻¹ [ G + β Aᵀ(A x + B y⁺ − c + λ) ]
//! λ⁺ = λ + A x⁺ + B y⁺ − c
//!
//! general convex:   η_k = 1/L,              solution = x_T
//! strongly convex:  η_k = 2γ‖Q_ν‖₂/(μk),    solution = Σ k·x_k / Σ k
//! ```
//!
//! both with η_k at most 1/L (LS22 has η_k = 1/√k and the plain mean in the general case, and so
//! has the version as published), `γ = 1 + ηβ‖AᵀA‖₂`, and μ the strong convexity that the
//! penalty lends the loss (see [`crate::splitting`]). ν = 0 unless it is given or the run is as
//! published (see [`crate::Smoothing::NONE`]).
//!
//! With `precondition` the second moment of the rows is asked for first, and G in coordinates in
//! which it is near the identity; `γQ_ν` is then `M + ηβAᵀA`, the solution the late average, and
//! clip, step and β follow from it (see [`crate::precondition`], [`crate::splitting`]).
//!
//! Released: G, once an iteration, as a Gaussian event under its sampling, and before them the
//! second moment, if it is asked for, as another. Requires: a convex
//! penalty with a prox; smoothing is for one output. Reference: LS22, Algorithm 2, equation 7,
//! Theorems 5 and 6; privacy is counted by the accountant and not by Theorem 2 (E11). As published:
//! counted by the closed form of Lemma 2, 20q²/z² in zCDP, wherever its conditions fail.

use reticent_oracle::queries::ClippedMean;
use reticent_oracle::{PaperClaim, Oracle, Refusal, Refused};

use super::{Algorithm, Iterate, Tell, told};
use crate::average::{Average, Running};
use crate::basis::gradient;
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};
use crate::precondition::{Precondition, leave};
use crate::splitting::{Schedule, Splitting};
use crate::step_size::StepSize;

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "sadmm",
    about: "noisy (sub)sampled gradients, any linear constraint; can smooth over columns in an order",
    reference: "LS22, Algorithm 2",
    takes: &[
        "iterations",
        "sampling",
        "clip",
        "clip_share",
        "step",
        "rho",
        "proximal",
        "gamma",
        "smoothing",
        "strong_convexity",
        "average",
        "precondition",
        "as_published",
    ],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: AlgorithmKind::Private(build),
};

#[derive(Debug)]
struct Sadmm {
    iterations: u64,
    params: ClippedMean,
    per_epoch: f64,
    as_published: bool,
    schedule: Schedule,
    admm: Splitting,
    x: Running,
    y: Running,
    step: StepSize,
    precondition: Option<Precondition>,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    let Recipe { settings, public, noise_multiplier, .. } = recipe;
    recipe.only(&ENTRY)?;
    let sampling = recipe.sampling();
    let per_epoch = recipe.per_epoch(sampling);
    let iterations = settings.iterations_or(recipe.steps(per_epoch))?;
    let length = recipe.step_length(iterations as f64, per_epoch);
    let mut admm = Splitting::new(recipe, &ENTRY)?;
    admm.shorten(length);
    let published = recipe.as_published();
    let schedule = match admm.is_strongly_convex() {
        true => Schedule::Harmonic,
        false if published => Schedule::Sqrt,
        false => Schedule::Smooth,
    };
    // With a step that does not decay the first iterates are far behind, and an average of sparse
    // vectors is not sparse.
    let usual = match admm.is_strongly_convex() {
        true => Average::Weighted,
        false if published => Average::Uniform,
        false => recipe.average(),
    };
    let average = settings.average.unwrap_or(usual);
    let algorithm = Sadmm {
        iterations,
        params: ClippedMean {
            clip: settings.clip_or_bound(public)?,
            noise_multiplier: *noise_multiplier,
            sampling,
        },
        per_epoch,
        as_published: published,
        schedule,
        x: Running::new(average, admm.x.len()),
        y: Running::new(average, admm.y.len()),
        admm,
        step: settings.step_or_times(public, length)?,
        precondition: Precondition::new(recipe, (iterations, per_epoch)),
    };
    Ok(Box::new(algorithm))
}

impl Iterate for Sadmm {
    fn running(&self) -> Vec<f64> {
        self.admm.model(&self.admm.x, &self.admm.y).to_vec()
    }

    fn published(&self) -> Vec<f64> {
        self.admm.model(self.x.mean(), self.y.mean()).to_vec()
    }

    fn residual(&self) -> Option<f64> {
        Some(self.admm.residual())
    }
}

impl Algorithm for Sadmm {
    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        self.change_basis(oracle)?;
        let ended = self.iterate(oracle, tell);
        leave(oracle, self.precondition.as_ref(), ended)?;
        Ok(self.published())
    }
}

impl Sadmm {
    /// Goes over to coordinates of its own, where it is to.
    fn change_basis(&mut self, oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        let Some(precondition) = &self.precondition else { return Ok(()) };
        if let Some(basis) = precondition.change(oracle, &mut self.params, &mut self.step)? {
            self.admm.enter(basis, self.step, self.per_epoch);
        }
        Ok(())
    }

    /// The loop.
    fn iterate(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<(), Refusal> {
        for k in 1..=self.iterations {
            let Sadmm { params, per_epoch, schedule, admm, x, y, .. } = self;
            if self.as_published {
                // 5ς²Δ²/σ² per order, with Δ/σ = 2/z (LS22, Lemma 2).
                let rho = 20.0 / (*per_epoch * params.noise_multiplier).powi(2);
                oracle.claim(PaperClaim::zcdp(11, rho));
            }
            let mut g = gradient(oracle, admm.basis(), &admm.x, *params)?;
            admm.add_lent(&admm.x, &mut g);
            admm.step(&g, admm.alpha(k, *per_epoch, *schedule));
            x.add(&admm.x);
            y.add(&admm.y);
            told(tell, k, self.iterations, self)?;
        }
        Ok(())
    }
}
