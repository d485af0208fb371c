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

use reticent_oracle::{Oracle, PaperClaim, Refusal, Refused};

use super::{Algorithm, Iterate};
use crate::average::{Average, Running};
use crate::basis::{Basis, gradient};
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};
use crate::gradient_run::{GradientRun, GradientSteps};
use crate::splitting::{Schedule, Splitting};

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "sadmm",
    about: "noisy (sub)sampled gradients, any linear constraint; can smooth over columns in an order",
    reference: "LS22, Algorithm 2",
    takes: takes![
        iterations sampling clip clip_share step rho proximal gamma smoothing
        strong_convexity average precondition as_published
    ],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: AlgorithmKind::Private(build),
};

#[derive(Debug)]
struct Sadmm {
    as_published: bool,
    schedule: Schedule,
    admm: Splitting,
    x: Running,
    y: Running,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    recipe.only(&ENTRY)?;
    let run = GradientRun::new(recipe, recipe.sampling())?;
    let mut admm = Splitting::new(recipe, &ENTRY)?;
    admm.shorten(recipe.step_length(run.iterations as f64, run.per_epoch));
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
    let average = recipe.settings.average.unwrap_or(usual);
    Ok(run.with(Sadmm {
        as_published: published,
        schedule,
        x: Running::new(average, admm.x.len()),
        y: Running::new(average, admm.y.len()),
        admm,
    }))
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

impl GradientSteps for Sadmm {
    fn at(&self) -> &dyn Iterate {
        self
    }

    fn enter(&mut self, basis: Basis, run: &GradientRun) {
        self.admm.enter(basis, run.step, run.per_epoch);
    }

    fn iterate(
        &mut self,
        k: u64,
        run: &GradientRun,
        oracle: &mut dyn Oracle,
    ) -> Result<(), Refusal> {
        let Sadmm { schedule, admm, x, y, as_published } = self;
        if *as_published {
            // 5ς²Δ²/σ² per order, with Δ/σ = 2/z (LS22, Lemma 2).
            let rho = 20.0 / (run.per_epoch * run.params.noise_multiplier).powi(2);
            oracle.claim(PaperClaim::zcdp(11, rho));
        }
        let mut g = gradient(oracle, admm.basis(), &admm.x, run.params)?;
        admm.add_lent(&admm.x, &mut g);
        admm.step(&g, admm.alpha(k, run.per_epoch, *schedule));
        x.add(&admm.x);
        y.add(&admm.y);
        Ok(())
    }
}
