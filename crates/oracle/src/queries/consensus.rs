//! One step of consensus ADMM with the users' blocks kept inside the gate (FP23, Algorithm 2, with
//! E2).
//!
//! ```text
//! xᵢ  = prox_{γfᵢ}(2z − uᵢ) = 2z − uᵢ − γgᵢ,   gᵢ clipped to norm C
//! uᵢ⁺ = (1 − 2λ)uᵢ + 2λ(z − γgᵢ)
//! released: mean(u⁺) + noise
//! ```
//!
//! Every `gᵢ = aᵢ ⊗ sᵢ`, so `uᵢ = p + aᵢ ⊗ cᵢ` with one public `p` for all and a row of
//! coefficients for each record: the state takes one number per record and output, not one per
//! record and coordinate.
//!
//! ```text
//! p⁺ = (1 − 2λ)p + 2λz          public
//! cᵢ⁺ = (1 − 2λ)cᵢ − 2λγsᵢ      ‖aᵢ ⊗ cᵢ‖ ≤ B = γC·max(1, λ/(1 − λ))
//! released: p⁺ + ( Σ_{i ∈ S} clip(aᵢ ⊗ cᵢ⁺, B) + N(0, (zB)² I) ) / m
//! ```
//!
//! `cᵢ` is a function of record `i` and of the public `z`s, so the sum is an ordinary clipped sum
//! at every step and may be taken over a sample: all the blocks move whether they are in it or not.
//! The `cᵢ` have no noise and never leave the gate. Blocks belong to records also when the unit is
//! the user; a user counts with the mean over its records.
//!
//! Schedules. Where only some blocks move, each has a centre of its own, `uᵢ = pᵢ + aᵢ ⊗ cᵢ`, which
//! is public like `p`: which blocks move is said by the algorithm, and an algorithm knows nothing
//! that is not public. The mean is still over all blocks, of which each may differ between
//! neighbours whether it moved or not: every release has the whole sensitivity, and there is no
//! amplification (E3). Replace-one only: the mean of the `pᵢ` tells their number. Records have the
//! numbers of their rows; persons, whose place among the others a table does not fix, get numbers
//! by lot.
//!
//! As published the noise is on every block that moves, `uᵢ⁺ = … + λη`, and none on the mean (E1,
//! E2): only under a claim.
//!
//! Event: Gaussian with noise multiplier `z`, in units of `B`, under the sampling that was drawn.
//! Proof: proofs/consensus.md, proofs/sensitivity-clipped-sum.md, proofs/noise-gaussian-grid.md.

use reticent_accountant::{Adjacency, Event};
use reticent_noise::Sampling;
use reticent_noise::entropy::Entropy;
use reticent_noise::grid::{GaussianGrid, GridNoise};
use reticent_problem::Shape;
use serde::Serialize;

use super::{
    ClippedMean, Query, add_noise, check_noise, check_point, check_range, gradient, wrong,
};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::sums::{Grid, Move, PrivateLoss, Slopes, grid};
use crate::terms::Terms;

/// How a step is asked for. The numbers may change from step to step: the bound is kept by
/// clipping.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ConsensusTerms {
    /// The largest norm `C` that the gradient part of one record may have; an `L`-Lipschitz loss is
    /// not cut at `L`.
    pub clip: f64,
    /// The step `γ` of the prox.
    pub step: f64,
    /// The averaging parameter `λ`, below 1.
    pub relaxation: f64,
    /// The standard deviation of the noise on the sum, in units of `B`.
    pub noise_multiplier: f64,
    /// The blocks the mean is taken over.
    pub sampling: Sampling,
    /// As published: the standard deviation of noise on each block that moves, in units of `B`;
    /// else 0.
    pub block_noise: f64,
}

/// The blocks that move in a step, by the numbers of their units: those of the records, or numbers
/// that persons are given in secret.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Moving<'a> {
    /// Every block.
    All,
    /// These.
    Only(&'a [u32]),
}

impl ConsensusTerms {
    /// `B`, and how the sum of the blocks is asked for.
    fn sum(&self) -> ClippedMean {
        let bound = self.step * self.clip * (self.relaxation / (1.0 - self.relaxation)).max(1.0);
        ClippedMean {
            clip: bound,
            noise_multiplier: self.noise_multiplier,
            sampling: self.sampling,
        }
    }
}

/// Moves blocks against the consensus `z`; the noisy mean of all blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Consensus<'a> {
    /// The public consensus.
    pub z: &'a [f64],
    /// Whose blocks move.
    pub moving: Moving<'a>,
    /// How.
    pub params: ConsensusTerms,
}

impl Query for Consensus<'_> {
    const NAME: &'static str = "consensus";
    type Answer = Vec<f64>;

    fn check(&self, shape: Shape, terms: &Terms) -> Result<(), Refusal> {
        let ConsensusTerms { clip, step, relaxation, block_noise, .. } = self.params;
        check_range("clip", clip, 1e-50, 1e50)?;
        check_range("prox step", step, 1e-50, 1e50)?;
        check_range("relaxation", relaxation, 1e-6, 1.0 - 1e-6)?;
        check_noise(block_noise)?;
        self.params.sum().check()?;
        self.check_moving(terms)?;
        check_point(self.z, shape)
    }

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        if self.params.block_noise > 0.0 {
            return Err(wrong("noise on the blocks is for the published version, under its claim"));
        }
        Ok(vec![self.params.sum().event(terms)?])
    }

    fn moves_blocks(&self) -> bool {
        true
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        let Some(mut blocks) = inside.blocks.take() else { return Err(Refusal::NoConsensus) };
        let PrivateLoss { private, loss } = inside.rows_and_loss()?;
        let moves = match self.moving {
            Moving::All => None,
            Moving::Only(numbers) => {
                // Persons are numbered as they come in the table, where one who is replaced moves
                // the others' numbers.
                if inside.terms.unit().is_whole() && !blocks.is_numbered() {
                    blocks.number(entropy.order(private.units())?);
                }
                Some(blocks.moves(private, numbers))
            }
        };
        if moves.is_some() || self.params.block_noise > 0.0 {
            blocks.part(private.records());
        }
        let ConsensusTerms { clip, step, relaxation, .. } = self.params;
        let params = Move { z: self.z, clip, step, relaxation, moves: moves.as_deref() };
        blocks.advance(private, loss, &params);
        self.perturb_blocks(blocks.moving_centres(moves.as_deref()), entropy)?;
        let centre = blocks.mean_centre(private);
        let mean = noisy_mean(inside, entropy, blocks.coefficients(), &self.params.sum());
        let mean = mean.map(|mean| mean.iter().zip(&centre).map(|(m, p)| m + p).collect());
        inside.blocks = Some(blocks);
        mean
    }
}

impl Consensus<'_> {
    /// Refuses what would not be public: numbers of units that do not exist, and blocks of their
    /// own where the number of units is private.
    fn check_moving(&self, terms: &Terms) -> Result<(), Refusal> {
        let Moving::Only(units) = self.moving else { return Ok(()) };
        if terms.adjacency() != Adjacency::ReplaceOne || self.params.sampling != Sampling::Full {
            return Err(wrong(
                "a schedule of blocks needs replace-one, and the mean over all of them",
            ));
        }
        if units.iter().all(|&unit| u64::from(unit) < terms.population()) {
            return Ok(());
        }
        Err(wrong("a block was to move that does not exist"))
    }

    /// The noise on each block that moves, as a published version has it.
    fn perturb_blocks(
        &self,
        moving: Vec<&mut [f64]>,
        entropy: &mut Entropy,
    ) -> Result<(), Refusal> {
        if self.params.block_noise == 0.0 {
            return Ok(());
        }
        let noise = GaussianGrid::new(self.params.block_noise, grid::BITS)?;
        let step = Grid::new(self.z.len()).step(self.params.sum().clip);
        let mut draws = vec![0; self.z.len()];
        for centre in moving {
            noise.fill(entropy, &mut draws)?;
            centre.iter_mut().zip(&draws).for_each(|(p, &steps)| *p += steps as f64 * step);
        }
        Ok(())
    }
}

/// The mean over a sample of `aᵢ ⊗ t` with slopes `t` that the gate keeps, clipped, with noise.
fn noisy_mean(
    inside: &mut GateState,
    entropy: &mut Entropy,
    stored: &[f64],
    params: &ClippedMean,
) -> Result<Vec<f64>, Refusal> {
    #[cfg(reticent_seeded_bugs)]
    let (params, scale) = &crate::bug::spoiled_blocks(inside, params);
    let (len, terms) = (inside.shape().len(), inside.terms);
    let ClippedMean { clip, noise_multiplier, sampling } = *params;
    let mut chosen = Vec::new();
    let sampled = sampling.draw(inside.holder.units(), entropy, &mut chosen)?;
    let chosen = sampled.then_some(&*chosen);
    let mut sum = vec![0; len];
    let slopes = Slopes::Stored(stored);
    let table = inside.holder.table_mut().ok_or(Refusal::NoSum)?;
    gradient::add_up(table, &*inside.loss, (slopes, clip), chosen, &mut sum);
    add_noise(entropy, noise_multiplier, &mut sum)?;
    let mean = params.read(&sum, Grid::new(len).step(clip), &terms);
    #[cfg(reticent_seeded_bugs)]
    let mean = mean.iter().map(|mean| mean * scale).collect();
    Ok(mean)
}
