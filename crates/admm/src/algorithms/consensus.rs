//! Consensus ADMM with the noise on the mean (FP23, Algorithm 2; E1, E2).
//!
//! ```text
//! minimise (1/n) Σ f(xᵢ; dᵢ) + r(z)  subject to  xᵢ = z for every i
//!
//! z   = prox_{γr}(ẑ)
//! xᵢ  = prox_{γfᵢ}(2z − uᵢ) = 2z − uᵢ − γgᵢ,   gᵢ clipped to norm C
//! uᵢ⁺ = uᵢ + 2λ(xᵢ − z)
//! ẑ⁺  = mean(u⁺) + noise
//! ```
//!
//! The last three lines are the gate's: the blocks uᵢ stay inside it and carry no noise. A loss
//! that is C-Lipschitz is not cut. `z` is the prox of the running mean, which is never replaced by
//! its prox (E14).
//!
//! A schedule other than `all` moves only some of the blocks in an iteration; the mean is over all
//! of them and costs the same. As published: ẑ⁺ = mean(u⁺) without noise, λη on every block that
//! moves, and the claim of Theorem 2, whose 1/n² belongs to prox_{(γ/n)fᵢ} (E1).
//!
//! Released: ẑ, once an iteration, as a Gaussian event whose unit is the bound B = γC·max(1, λ/(1 −
//! λ)) of one block (proofs/consensus.md), under the sampling of the mean. Requires: a convex
//! penalty with a prox; the identity constraint; λ < 1. Reference: FP23, Algorithm 2, with the
//! scaling of E1 and the noise of E2.

use std::sync::Arc;

use reticent_oracle::queries::{self, ConsensusTerms, Moving};
use reticent_oracle::{PaperClaim, Oracle, Refusal, Refused, Sampling};
use reticent_problem::Regulariser;

use super::{Algorithm, Iterate, Tell, told};
use crate::block_schedule::{BlockSchedule, BlockOrder};
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "consensus",
    about: "a prox step on every record, the records' copies kept inside the gate, noise on their mean",
    reference: "FP23, Algorithm 2, with the noise of E2",
    takes: takes![iterations sampling schedule clip clip_share rho gamma relaxation as_published],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: AlgorithmKind::Private(build),
};

/// A step moves a copy of the parameter for each record, which is slow: where there is signal for
/// more, steps are longer instead.
const ITERATIONS: f64 = 100.0;

/// The largest λ at which one block is bounded by γC: Douglas–Rachford as it is usually run.
const LAMBDA: f64 = 0.5;

#[derive(Debug)]
struct ConsensusRun {
    iterations: u64,
    params: ConsensusTerms,
    order: BlockOrder,
    /// The noise that Theorem 2 takes the published version to have, in bounds of the mean.
    claimed: Option<f64>,
    regulariser: Arc<Regulariser>,
    /// ẑ.
    mean: Vec<f64>,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    let Recipe { settings, public, regulariser, noise_multiplier } = recipe;
    recipe.only(&ENTRY)?;
    recipe.needs_identity(&ENTRY)?;
    recipe.needs_convex(&ENTRY)?;
    let relaxation = settings.relaxation.unwrap_or(LAMBDA);
    if !(relaxation > 0.0 && relaxation < 1.0) {
        return Err(Refused::new(
            "relaxation",
            relaxation,
            "a number above 0 and below 1 is needed; at 1 the copies of the records have no bound",
        ));
    }
    let sampling = recipe.sampling();
    let schedule = settings.schedule.unwrap_or_default();
    let as_published = recipe.as_published();
    if sampling != Sampling::Full && (schedule != BlockSchedule::All || as_published) {
        return Err(Refused::new(
            "sampling",
            sampling,
            "with a schedule of blocks, or as published, the mean is over all blocks and nothing is gained from \
             samples (erratum E3); leave one of the two out",
        ));
    }
    let population = public.population;
    let per_epoch = match schedule {
        BlockSchedule::All => recipe.per_epoch(sampling),
        some => (population as f64 / some.moving(population) as f64).max(1.0),
    };
    let iterations = settings.iterations_or((ITERATIONS * per_epoch.sqrt()) as u64)?;
    // The mean is over all blocks, whichever move.
    let length = recipe.length(iterations as f64, ITERATIONS, recipe.per_epoch(sampling));
    // Theorem 2 has 4γL/(nσ) for 2 over the multiplier m; the noise on a block is λσ, and its bound
    // γC or γCλ/(1 − λ).
    let on_blocks = 2.0 * relaxation.min(1.0 - relaxation) * noise_multiplier / population as f64;
    let algorithm = ConsensusRun {
        iterations,
        params: ConsensusTerms {
            clip: settings.clip_or_bound(public)?,
            // 1/L is the step at which the noise is that of gradient descent; a prox is stable at
            // any other.
            step: settings.prox_step_or(length / public.curvature())?,
            relaxation,
            noise_multiplier: if as_published { 0.0 } else { *noise_multiplier },
            sampling,
            block_noise: if as_published { on_blocks } else { 0.0 },
        },
        order: schedule.order(population),
        claimed: as_published.then_some(*noise_multiplier),
        regulariser: Arc::clone(regulariser),
        mean: vec![0.0; public.shape.len()],
    };
    Ok(Box::new(algorithm))
}

impl Algorithm for ConsensusRun {
    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        oracle.open_consensus(&self.mean)?;
        for k in 1..=self.iterations {
            if let Some(claimed) = self.claimed {
                oracle.claim(PaperClaim::gaussian(1, Sampling::Full, claimed));
            }
            let z = self.z();
            let moving = self.order.next_blocks()?.map_or(Moving::All, Moving::Only);
            let query = queries::Consensus { z: &z, moving, params: self.params };
            self.mean = oracle.ask(&query)?.into_inner();
            told(tell, k, self.iterations, self)?;
        }
        Ok(self.z())
    }
}

impl Iterate for ConsensusRun {
    fn running(&self) -> Vec<f64> {
        self.z()
    }

    fn published(&self) -> Vec<f64> {
        self.z()
    }
}

impl ConsensusRun {
    fn z(&self) -> Vec<f64> {
        let mut z = self.mean.clone();
        self.regulariser.prox_y(&mut z, self.params.step);
        z
    }
}
