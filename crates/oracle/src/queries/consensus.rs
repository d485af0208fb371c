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
//! Schedules. Where only some blocks move, each has a centre of its own, `uᵢ = pᵢ + aᵢ ⊗ cᵢ`, which is public like `p`:
//! which blocks move is said by the algorithm, and an algorithm knows nothing that is not public. The mean is still
//! over all blocks, of which each may differ between neighbours whether it moved or not: every release has the whole
//! sensitivity, and there is no amplification (E3). Replace-one only: the mean of the `pᵢ` tells their number.
//!
//! As published the noise is on every block that moves, `uᵢ⁺ = … + λη`, and none on the mean (E1, E2): only under a
//! claim.
//!
//! Event: Gaussian with noise multiplier `z`, in units of `B`, under the sampling that was drawn.
//! Proof: proofs/consensus.md, proofs/sensitivity-clipped-sum.md, proofs/noise-gaussian-grid.md.

use rayon::prelude::*;
use reticent_accountant::{Adjacency, Event};
use reticent_data::Rows;
use reticent_noise::grid::{GaussianGrid, GridNoise};
use reticent_problem::Shape;
use reticent_problem::losses::Loss;
use reticent_sums::{Grid, Private, RowAccess, Slopes, finite, grid, norm_above};

use super::{GradientTerms, Query, check_noise, check_point, check_range, noisy_mean, wrong};
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
    /// As published: the standard deviation of noise on each block that moves, in units of `B`; else 0.
    pub block_noise: f64,
}

/// The blocks that move in a step, by the numbers of their units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moving<'a> {
    /// Every block.
    All,
    /// These.
    Only(&'a [u32]),
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
    /// A centre for each record, in place of the one for all, once the blocks have not all moved alike.
    own: Option<Vec<f64>>,
}

impl Blocks {
    /// Every block at `start`.
    pub fn at(start: &[f64], inside: &Inside) -> Result<Self, Refusal> {
        check_point(start, inside.shape())?;
        let coefficients = vec![0.0; inside.private.records() * inside.loss.outputs()];
        Ok(Blocks { centre: start.to_vec(), coefficients, own: None })
    }

    /// The mean of the centres over the units. A user's records move together, and one of them stands for all: were
    /// they added up, how many they are would show in the last bits.
    fn mean_centre(&self, private: &Private) -> Vec<f64> {
        let Some(own) = &self.own else { return self.centre.clone() };
        let (len, units) = (self.centre.len(), private.units());
        let mut mean = vec![0.0; len];
        for unit in 0..units {
            let first = private.records_in(unit).first().map_or(0, |&i| i as usize);
            mean.iter_mut().zip(&own[first * len..][..len]).for_each(|(m, p)| *m += p);
        }
        mean.iter_mut().for_each(|m| *m /= units as f64);
        mean
    }
}

/// The query: the public consensus, who moves, and how.
#[derive(Debug)]
pub(crate) struct Consensus<'a> {
    pub z: &'a [f64],
    pub moving: Moving<'a>,
    pub how: &'a ConsensusTerms,
}

impl Query for Consensus<'_> {
    type Answer = Vec<f64>;

    fn check(&self, shape: Shape) -> Result<(), Refusal> {
        let ConsensusTerms { clip, step, relaxation, block_noise, .. } = *self.how;
        check_range("clip", clip, 1e-50, 1e50)?;
        check_range("prox step", step, 1e-50, 1e50)?;
        check_range("relaxation", relaxation, 1e-6, 1.0 - 1e-6)?;
        check_noise(block_noise)?;
        self.how.sum().check()?;
        check_point(self.z, shape)
    }

    fn events(&self, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        if self.how.block_noise > 0.0 {
            return Err(wrong("noise on the blocks is for the published version, under its claim"));
        }
        Ok(vec![self.how.sum().event(terms)?])
    }

    fn moves_state(&self) -> bool {
        true
    }

    fn answer(&self, inside: &mut Inside, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        let Some(mut blocks) = inside.blocks.take() else { return Err(Refusal::NoConsensus) };
        let Inside { private, loss, .. } = &*inside;
        let moves = self.moves(private);
        if moves.is_some() || self.how.block_noise > 0.0 {
            let centre = &blocks.centre;
            blocks.own.get_or_insert_with(|| centre.repeat(private.records()));
        }
        match private.rows() {
            Rows::Dense(rows) => self.advance(rows, private, &**loss, &mut blocks, moves.as_deref()),
            Rows::Sparse(rows) => self.advance(rows, private, &**loss, &mut blocks, moves.as_deref()),
        }
        self.move_centres(&mut blocks, moves.as_deref(), entropy)?;
        let centre = blocks.mean_centre(private);
        let mean = noisy_mean(inside, entropy, Slopes::Stored(&blocks.coefficients), &self.how.sum());
        let mean = mean.map(|mean| mean.iter().zip(&centre).map(|(m, p)| m + p).collect());
        inside.blocks = Some(blocks);
        mean
    }
}

impl Consensus<'_> {
    /// Refuses what would not be public: numbers of units that do not exist, and blocks of their own where the
    /// number of units is private.
    pub fn check_moving(&self, terms: &Terms) -> Result<(), Refusal> {
        let Moving::Only(units) = self.moving else { return Ok(()) };
        if terms.adjacency() != Adjacency::ReplaceOne || self.how.sampling != Sampling::Full {
            return Err(wrong("a schedule of blocks needs replace-one, and the mean over all of them"));
        }
        if units.iter().all(|&unit| u64::from(unit) < terms.population()) {
            return Ok(());
        }
        Err(wrong("a block was to move that does not exist"))
    }

    /// Whether each record moves; `None` when all do.
    fn moves(&self, private: &Private) -> Option<Vec<bool>> {
        let Moving::Only(units) = self.moving else { return None };
        let mut moves = vec![false; private.records()];
        for &unit in units {
            private.records_in(unit as usize).iter().for_each(|&i| moves[i as usize] = true);
        }
        Some(moves)
    }

    /// `p⁺ = (1 − 2λ)p + 2λz` of all that move, and the noise on each block that a published version has.
    fn move_centres(
        &self,
        blocks: &mut Blocks,
        moves: Option<&[bool]>,
        entropy: &mut Entropy,
    ) -> Result<(), Refusal> {
        let keep = 1.0 - 2.0 * self.how.relaxation;
        let shift = |centre: &mut [f64]| {
            centre.iter_mut().zip(self.z).for_each(|(p, z)| *p = keep * *p + (1.0 - keep) * z);
        };
        let len = self.z.len();
        let Some(own) = &mut blocks.own else {
            shift(&mut blocks.centre);
            return Ok(());
        };
        let mut moving: Vec<&mut [f64]> = own.chunks_exact_mut(len).collect();
        if let Some(moves) = moves {
            let mut each = moves.iter();
            moving.retain(|_| each.next() == Some(&true));
        }
        moving.iter_mut().for_each(|centre| shift(centre));
        if self.how.block_noise > 0.0 {
            let noise = GaussianGrid::new(self.how.block_noise, grid::BITS)?;
            let step = Grid::new(len).step(self.how.sum().clip);
            let mut draws = vec![0; len];
            for centre in moving {
                noise.fill(entropy, &mut draws)?;
                centre.iter_mut().zip(&draws).for_each(|(p, &steps)| *p += steps as f64 * step);
            }
        }
        Ok(())
    }
}

/// Records that a thread takes at a time.
const CHUNK: usize = 256;

/// Below it the quotient `(w − prox w)/t` has lost its digits, and the derivative at `w` is as near.
const LEAST_STEP: f64 = 1e-8;

impl Consensus<'_> {
    /// The `cᵢ⁺` of all that move, each from its own record and its `2z − p`.
    fn advance(
        &self,
        rows: &impl RowAccess,
        private: &Private,
        loss: &dyn Loss,
        Blocks { centre, coefficients, own: centres }: &mut Blocks,
        moves: Option<&[bool]>,
    ) {
        let ConsensusTerms { clip, step, relaxation, .. } = *self.how;
        let (outputs, len) = (loss.outputs(), self.z.len());
        let from = |p: &[f64]| self.z.iter().zip(p).map(|(z, p)| 2.0 * z - p).collect::<Vec<f64>>();
        let shared = from(centre);
        coefficients.par_chunks_mut(CHUNK * outputs).enumerate().for_each(|(chunk, block)| {
            let (mut scores, mut slopes) = (vec![0.0; outputs], vec![0.0; outputs]);
            for (n, own) in block.chunks_exact_mut(outputs).enumerate() {
                let i = chunk * CHUNK + n;
                if moves.is_some_and(|moves| !moves[i]) {
                    continue;
                }
                let apart = centres.as_ref().map(|all| from(&all[i * len..][..len]));
                let at = apart.as_deref().unwrap_or(&shared);
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
