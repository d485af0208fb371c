//! One step of consensus ADMM with the users' blocks kept inside the gate (ALGORITHMS.md 2.2, E2).
//!
//! ```text
//! xᵢ  = prox_{γfᵢ}(2z − uᵢ) = 2z − uᵢ − γgᵢ,   gᵢ clipped to norm C
//! uᵢ⁺ = (1 − 2λ)uᵢ + 2λ(z − γgᵢ)
//! released: mean(u⁺) + noise
//! ```
//!
//! Every `gᵢ = aᵢ ⊗ sᵢ`, so `uᵢ = p + aᵢ ⊗ cᵢ` with one public `p` for all and a row of coefficients for each
//! record: the state takes one number per record and output, not one per record and coordinate.
//!
//! ```text
//! p⁺ = (1 − 2λ)p + 2λz          public
//! cᵢ⁺ = (1 − 2λ)cᵢ − 2λγsᵢ      ‖aᵢ ⊗ cᵢ‖ ≤ B = γC·max(1, λ/(1 − λ))
//! released: p⁺ + ( Σ_{i ∈ S} clip(aᵢ ⊗ cᵢ⁺, B) + N(0, (zB)² I) ) / m
//! ```
//!
//! `cᵢ` is a function of record `i` and of the public `z`s, so the sum is an ordinary clipped sum at every step
//! and may be taken over a sample: all the blocks move whether they are in it or not. The `cᵢ` have no noise
//! and never leave the gate. Blocks belong to records also when the unit is the user; a user counts with the
//! mean over its records.
//!
//! Event: Gaussian with noise multiplier `z`, in units of `B`, under the sampling that was drawn.
//! Proof: proofs/consensus.md, proofs/sensitivity-clipped-sum.md, proofs/noise-gaussian-grid.md.

use rayon::prelude::*;
use reticent_accountant::Event;
use reticent_data::Rows;
use reticent_problem::Shape;
use reticent_problem::losses::Loss;
use reticent_sums::{Private, RowAccess, Slopes, finite, norm_above};

use super::{GradientTerms, Query, check_point, check_range, noisy_mean};
use crate::gate::Inside;
use crate::refusal::Refusal;
use crate::sample::Sampling;
use crate::terms::Terms;
use reticent_noise::entropy::Entropy;

/// How a step is asked for. The numbers may change from step to step: the bound is kept by clipping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConsensusTerms {
    /// The largest norm `C` that the gradient part of one record may have; an `L`-Lipschitz loss is not cut at `L`.
    pub clip: f64,
    /// The step `γ` of the prox.
    pub step: f64,
    /// The averaging parameter `λ`, below 1.
    pub relaxation: f64,
    /// The standard deviation of the noise on the sum, in units of `B`.
    pub noise_multiplier: f64,
    /// The blocks the mean is taken over.
    pub sampling: Sampling,
}

impl ConsensusTerms {
    /// `B`, and how the sum of the blocks is asked for.
    fn sum(&self) -> GradientTerms {
        let bound = self.step * self.clip * (self.relaxation / (1.0 - self.relaxation)).max(1.0);
        GradientTerms { clip: bound, noise_multiplier: self.noise_multiplier, sampling: self.sampling }
    }
}

/// The blocks of all records: `uᵢ = centre + aᵢ ⊗ coefficientsᵢ`.
#[derive(Debug)]
pub(crate) struct Blocks {
    centre: Vec<f64>,
    coefficients: Vec<f64>,
}

impl Blocks {
    /// Every block at `start`.
    pub fn at(start: &[f64], inside: &Inside) -> Result<Self, Refusal> {
        check_point(start, inside.shape())?;
        let coefficients = vec![0.0; inside.private.records() * inside.loss.outputs()];
        Ok(Blocks { centre: start.to_vec(), coefficients })
    }
}

/// The query: the public consensus, and how.
#[derive(Debug)]
pub(crate) struct Consensus<'a> {
    pub z: &'a [f64],
    pub how: &'a ConsensusTerms,
}

impl Query for Consensus<'_> {
    type Answer = Vec<f64>;

    fn check(&self, shape: Shape) -> Result<(), Refusal> {
        let ConsensusTerms { clip, step, relaxation, .. } = *self.how;
        check_range("clip", clip, 1e-50, 1e50)?;
        check_range("prox step", step, 1e-50, 1e50)?;
        check_range("relaxation", relaxation, 1e-6, 1.0 - 1e-6)?;
        self.how.sum().check()?;
        check_point(self.z, shape)
    }

    fn event(&self, terms: &Terms) -> Result<Event, Refusal> {
        self.how.sum().event(terms)
    }

    fn moves_state(&self) -> bool {
        true
    }

    fn answer(&self, inside: &mut Inside, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        let Some(mut blocks) = inside.blocks.take() else { return Err(Refusal::NoConsensus) };
        let keep = 1.0 - 2.0 * self.how.relaxation;
        let at: Vec<f64> = self.z.iter().zip(&blocks.centre).map(|(z, p)| 2.0 * z - p).collect();
        let Inside { private, loss, .. } = &*inside;
        match private.rows() {
            Rows::Dense(rows) => self.advance(rows, private, &**loss, &at, &mut blocks.coefficients),
            Rows::Sparse(rows) => self.advance(rows, private, &**loss, &at, &mut blocks.coefficients),
        }
        for (p, z) in blocks.centre.iter_mut().zip(self.z) {
            *p = keep * *p + (1.0 - keep) * z;
        }
        let mean = noisy_mean(inside, entropy, Slopes::Stored(&blocks.coefficients), &self.how.sum());
        let mean = mean.map(|mean| mean.iter().zip(&blocks.centre).map(|(m, p)| m + p).collect());
        inside.blocks = Some(blocks);
        mean
    }
}

/// Records that a thread takes at a time.
const CHUNK: usize = 256;

/// Below it the quotient `(w − prox w)/t` has lost its digits, and the derivative at `w` is as near.
const LEAST_STEP: f64 = 1e-8;

impl Consensus<'_> {
    /// Every `cᵢ⁺`, each from its own record. `at` is `2z − p`, public.
    fn advance(
        &self,
        rows: &impl RowAccess,
        private: &Private,
        loss: &dyn Loss,
        at: &[f64],
        coefficients: &mut [f64],
    ) {
        let ConsensusTerms { clip, step, relaxation, .. } = *self.how;
        let outputs = loss.outputs();
        coefficients.par_chunks_mut(CHUNK * outputs).enumerate().for_each(|(chunk, block)| {
            let (mut scores, mut slopes) = (vec![0.0; outputs], vec![0.0; outputs]);
            for (n, own) in block.chunks_exact_mut(outputs).enumerate() {
                let i = chunk * CHUNK + n;
                let norm = private.norm_above(i);
                let step_in_score = step * norm * norm;
                private.scores(rows, i, at, &mut scores);
                scores.iter_mut().zip(&*own).for_each(|(w, c)| *w -= c * norm * norm);
                if !step_in_score.is_finite() || scores.iter().any(|w| !w.is_finite()) {
                    slopes.fill(0.0);
                } else if step_in_score > LEAST_STEP {
                    loss.prox(&scores, private.target(i), step_in_score, &mut slopes);
                    slopes.iter_mut().zip(&scores).for_each(|(s, w)| *s = (w - *s) / step_in_score);
                } else {
                    loss.derivative(&scores, private.target(i), &mut slopes);
                }
                slopes.iter_mut().for_each(finite);
                let size = norm_above(slopes.iter().map(|s| s * s).sum(), outputs) * norm;
                let factor = clip / size.max(clip);
                for (c, s) in own.iter_mut().zip(&slopes) {
                    *c = (1.0 - 2.0 * relaxation) * *c - 2.0 * relaxation * step * factor * s;
                    finite(c);
                }
            }
        });
    }
}
