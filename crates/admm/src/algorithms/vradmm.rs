//! DP-VRADMM: variance-reduced ADMM with Laplacian smoothing and shrinking noise (LS22, Algorithm
//! 1; E5).
//!
//! ```text
//! minimise F(x) + r(y)  subject to  A x + B y = c,      F(x) = (1/n) Σ f(x; dᵢ)
//!
//! for s = 1 … S:
//!     p̃ = noisy mean of clip(∇f(x̃; dᵢ), C) over everything
//!     strongly convex: x = x̃,  λ = −(1/β)(Aᵀ)† p̃        general convex: x, λ as they are
//!     m times:
//!         G  = p̃ + noisy mean of clip(∇f(x; dᵢ) − ∇f(x̃; dᵢ), C_t) over a sample
//!         y⁺ = argmin_y { r(y) + (β/2)‖A x + B y − c + λ‖² }
//!         x⁺ = x − (η/γ) Q_ν⁻¹ [ G + β Aᵀ(A x + B y⁺ − c + λ) ]
//!         λ⁺ = λ + A x⁺ + B y⁺ − c
//!     x̃, ỹ = averages of the m inner x and y
//! solution: the last x̃
//! ```
//!
//! As published, the general convex solution is the average of the x̃ and ν = 2; ours has ν = 0
//! unless it is given (see [`crate::Smoothing::NONE`]). S and m: see [`crate::defaults`].
//!
//! Shrinking noise. `C_t = min(2C, L‖x − x̃‖)`, with `L` the Lipschitz constant of a record's
//! gradient, is public and cuts nothing; the noise of the correction is in proportion to it, so it
//! vanishes as the iterates settle while the event stays the same.
//!
//! Budget. A snapshot has noise of `z` clips and a correction of `z·q√(3m)` clips, `q` the fraction
//! sampled: in the regime where sampling divides μ by 1/q, snapshots then have three quarters of
//! the sum of squares S/z² + Smq²/z_c². The error that the two leave after m steps is in proportion
//! to C² and C_t² over their shares, which is least for shares as C to C_t, and C_t is about C/3
//! over a run. The regime ends where the noise is no longer above what one record can do, so a
//! correction has at least the noise with which all of them cost a quarter of the budget
//! (see [`crate::defaults`]).
//!
//! The paper's p̃ has no noise and λ₀ hands it on; ours is a released value wherever it appears
//! (E5). As published: p̃ without noise, and every correction with the σ of Theorem 1,
//!
//! ```text
//! σ² = c₂ l² S m ln(1/δ)/(n²ε²),   l = C,   c₂ the open `noise_constant`, 1 unless it is given
//! ```
//!
//! claimed as the Rényi divergence that a theorem of this form is made from (E16). (Aᵀ)† is that of
//! any A of full rank; Theorem 4 asks for independent rows, which its own A = [φ; I] has not (E17).
//!
//! Released: S snapshots as plain Gaussian events, S·m corrections as Gaussian events under their
//! sampling. Requires: a convex penalty with a prox; A of full rank in the strongly convex case;
//! smoothing is for one output. Reference: LS22, Algorithm 1, Theorems 1, 3 and 4, with the privacy
//! of E5.

use reticent_oracle::queries::{Correction, Gradient, ClippedMean};
use reticent_oracle::{PaperClaim, Oracle, Refusal, Refused, Sampling};

use super::{Algorithm, Iterate, Tell, told};
use crate::average::{Average, Running};
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};
use crate::defaults::{LoopLengths, LoopNoises};
use crate::printed::{PaperBudget, divergence_of_theorem_1, theorem_1};
use crate::pseudo_inverse::TransposedPseudoInverse;
use crate::settings::{at_least_one, positive};
use crate::splitting::{Schedule, Splitting};

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "vradmm",
    about: "variance-reduced gradients whose noise shrinks, any linear constraint; can smooth over columns in an order",
    reference: "LS22, Algorithm 1, with the privacy of E5",
    takes: takes![
        outer inner sampling clip clip_share step rho proximal gamma smoothing
        strong_convexity average shrink noise_constant as_published
    ],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: AlgorithmKind::Private(build),
};

/// A tenth: large enough that sampling adds little noise of its own, small enough that it is quick.
const SAMPLING: Sampling = Sampling::Poisson(0.1);

/// Where 2n/b is less, as without sampling, so many inner steps still pay for a snapshot.
const FEW_INNER: f64 = 10.0;

/// The least C_t, in clips: where x is x̃ there is nothing to clip, and the gate is asked all the
/// same.
const LEAST_CLIP: f64 = 1e-9;

#[derive(Debug)]
struct Vradmm {
    snapshots: ClippedMean,
    /// Its clip is 2C, the most that C_t may be.
    corrections: ClippedMean,
    /// `L`, ∞ for a loss with kinks and where nothing is to shrink.
    smooth: f64,
    published: Option<Theorem1>,
    outer: u64,
    inner: u64,
    per_epoch: f64,
    admm: Splitting,
    /// In the strongly convex case.
    restart: Option<TransposedPseudoInverse>,
    /// x̃.
    snapshot: Vec<f64>,
    inner_x: Running,
    inner_y: Running,
    outer_x: Running,
    outer_y: Running,
}

/// What Theorem 1 knows.
#[derive(Clone, Copy, Debug)]
struct Theorem1 {
    /// c₂.
    constant: f64,
    /// n.
    population: f64,
    /// The fraction sampled over 2, which is σ/l over z: corrections have clip 2C.
    share: f64,
}

impl Theorem1 {
    fn new(recipe: &Recipe<'_>, per_epoch: f64) -> Result<Option<Self>, Refused> {
        let given = recipe.settings.noise_constant;
        if !recipe.as_published() {
            return match given {
                None => Ok(None),
                Some(constant) => Err(Refused::new(
                    "noise_constant",
                    constant,
                    "it is a part of the published noise; give as_published too, or leave it out",
                )),
            };
        }
        let constant = positive("noise_constant", given.unwrap_or(1.0))?;
        let population = recipe.public.population as f64;
        Ok(Some(Theorem1 { constant, population, share: 0.5 / per_epoch.max(1.0) }))
    }

    /// That a correction with noise of `z` times its clip costs what the theorem says.
    fn claim(&self, z: f64) -> PaperClaim {
        let sigma = z / (self.population * self.share);
        PaperClaim::zcdp(16, divergence_of_theorem_1(self.constant, self.population, sigma))
    }
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    let Recipe { settings, public, regulariser, .. } = recipe;
    recipe.only(&ENTRY)?;
    let mut admm = Splitting::new(recipe, &ENTRY)?;
    let restart = admm
        .is_strongly_convex()
        .then(|| TransposedPseudoInverse::new(regulariser, ENTRY.name))
        .transpose()?;
    let as_published = recipe.as_published();
    let uniform = as_published && restart.is_none();
    let average =
        settings.average.unwrap_or(if uniform { Average::Uniform } else { Average::Last });
    let sampling = settings.sampling.unwrap_or(SAMPLING);
    let per_epoch = recipe.per_epoch(sampling);
    let published = Theorem1::new(recipe, per_epoch)?;
    let loops = recipe.loops(settings.inner, FEW_INNER, per_epoch, restart.is_some());
    let outer = at_least_one("outer", settings.outer.unwrap_or(loops.outer))?;
    let inner = at_least_one("inner", loops.inner)?;
    let Some(steps) = outer.checked_mul(inner) else {
        let allowed = format!("with outer = {outer} it is too many steps to count");
        return Err(Refused::new("inner", inner, allowed));
    };
    let clip = settings.clip_or_bound(public)?;
    let shrinks = settings.shrink.unwrap_or(!as_published);
    if shrinks && as_published {
        return Err(Refused::new(
            "shrink",
            true,
            "the published version has noise of one size only",
        ));
    }
    let noises = noises(recipe, steps, inner, per_epoch);
    let loops = LoopLengths { outer, inner };
    admm.shorten(recipe.loop_length(loops, noises, per_epoch, restart.is_some()));
    let (x_len, y_len) = (admm.x.len(), admm.y.len());
    let algorithm = Vradmm {
        snapshots: ClippedMean { clip, noise_multiplier: noises.snapshot, sampling: Sampling::Full },
        corrections: ClippedMean {
            clip: 2.0 * clip,
            noise_multiplier: noises.correction,
            sampling,
        },
        smooth: if shrinks { public.gradient_lipschitz() } else { f64::INFINITY },
        published,
        outer,
        inner,
        per_epoch,
        admm,
        restart,
        snapshot: vec![0.0; x_len],
        inner_x: Running::new(Average::Uniform, x_len),
        inner_y: Running::new(Average::Uniform, y_len),
        outer_x: Running::new(average, x_len),
        outer_y: Running::new(average, y_len),
    };
    Ok(Box::new(algorithm))
}

/// The noise of a snapshot and of a correction, in clips, for so many steps, `inner` of them in a loop.
fn noises(recipe: &Recipe<'_>, steps: u64, inner: u64, per_epoch: f64) -> LoopNoises {
    let z = recipe.noise_multiplier;
    if recipe.as_published() {
        return LoopNoises { snapshot: 0.0, correction: z };
    }
    let share = (3.0 * inner as f64).sqrt() / per_epoch.max(1.0);
    let least = if z == 0.0 { 0.0 } else { recipe.least_correction(steps as f64, per_epoch) };
    LoopNoises { snapshot: z, correction: (z * share).max(least) }
}

impl Iterate for Vradmm {
    fn running(&self) -> Vec<f64> {
        self.admm.model(&self.admm.x, &self.admm.y).to_vec()
    }

    /// As if the inner loop that is at work ended here.
    fn published(&self) -> Vec<f64> {
        let (mut x, mut y) = (self.outer_x.clone(), self.outer_y.clone());
        x.add(self.inner_x.mean());
        y.add(self.inner_y.mean());
        self.admm.model(x.mean(), y.mean()).to_vec()
    }

    fn residual(&self) -> Option<f64> {
        Some(self.admm.residual())
    }
}

impl Algorithm for Vradmm {
    fn iterations(&self) -> u64 {
        self.outer * self.inner
    }

    fn printed_noise(&self, epsilon: f64, delta: f64) -> Result<Option<f64>, Refused> {
        let Some(Theorem1 { constant, population, share }) = self.published else {
            return Ok(None);
        };
        let steps = (self.outer * self.inner) as f64;
        let sigma = theorem_1(constant, steps, population, PaperBudget { epsilon, delta });
        Ok(Some(sigma * population * share))
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        let mut k = 0;
        for _ in 0..self.outer {
            let p = self.snapshot(oracle)?;
            self.inner_x.restart();
            self.inner_y.restart();
            for _ in 0..self.inner {
                k += 1;
                let mut g = self.correction(oracle)?;
                g.iter_mut().zip(&p).for_each(|(g, p)| *g += p);
                let admm = &mut self.admm;
                admm.add_lent(&admm.x, &mut g);
                admm.step(&g, admm.alpha(k, self.per_epoch, Schedule::Constant));
                self.inner_x.add(&admm.x);
                self.inner_y.add(&admm.y);
                told(tell, k, self.outer * self.inner, self)?;
            }
            self.snapshot.copy_from_slice(self.inner_x.mean());
            self.outer_x.add(self.inner_x.mean());
            self.outer_y.add(self.inner_y.mean());
        }
        Ok(self.admm.model(self.outer_x.mean(), self.outer_y.mean()).to_vec())
    }
}

impl Vradmm {
    /// p̃, without what the penalty has lent; in the strongly convex case x and λ follow from it.
    fn snapshot(&mut self, oracle: &mut dyn Oracle) -> Result<Vec<f64>, Refusal> {
        let Vradmm { admm, snapshot, .. } = self;
        if self.published.is_some() {
            oracle.claim(PaperClaim::nothing(5));
        }
        let p = oracle.ask(&Gradient { at: snapshot, mean: self.snapshots })?.into_inner();
        if let Some(pseudo_inverse) = &self.restart {
            admm.x.copy_from_slice(snapshot);
            let mut whole = p.clone();
            admm.add_lent(snapshot, &mut whole);
            pseudo_inverse.apply(&whole, &mut admm.dual);
            let beta = admm.beta();
            admm.dual.iter_mut().for_each(|l| *l /= -beta);
        }
        Ok(p)
    }

    /// G − p̃: the noisy mean of the clipped differences from the snapshot.
    fn correction(&self, oracle: &mut dyn Oracle) -> Result<Vec<f64>, Refusal> {
        let Vradmm { corrections, admm, snapshot, .. } = self;
        let clip = shrunk(corrections.clip, self.smooth, &admm.x, snapshot);
        let mean = ClippedMean { clip, ..*corrections };
        if let Some(theorem) = self.published {
            oracle.claim(theorem.claim(mean.noise_multiplier));
        }
        Ok(oracle.ask(&Correction { at: &admm.x, from: snapshot, mean })?.into_inner())
    }
}

/// `C_t = min(2C, L‖x − x̃‖)`. Any public number would be private; this one cuts nothing.
fn shrunk(most: f64, smooth: f64, x: &[f64], snapshot: &[f64]) -> f64 {
    let square: f64 = x.iter().zip(snapshot).map(|(x, s)| (x - s).powi(2)).sum();
    // A loss with kinks has no bound but 2C, also at a distance of 0.
    let bound = if smooth.is_finite() { smooth * square.sqrt() } else { most };
    bound.clamp(LEAST_CLIP * most, most)
}

#[cfg(test)]
mod tests {
    use super::shrunk;

    #[test]
    fn the_clip_shrinks_with_the_distance_and_no_further() {
        assert_eq!(shrunk(2.0, 0.5, &[3.0, 0.0], &[0.0, 1.0]), 0.5 * 10_f64.sqrt());
        assert_eq!(shrunk(2.0, 0.5, &[300.0], &[0.0]), 2.0);
        assert_eq!(shrunk(2.0, f64::INFINITY, &[1.0], &[1.0]), 2.0);
        assert_eq!(shrunk(2.0, 0.5, &[1.0], &[1.0]), 2e-9);
    }
}
