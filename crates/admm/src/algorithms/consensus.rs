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
//! The last three lines are the gate's: the blocks uᵢ stay inside it and carry no noise. A loss that is
//! C-Lipschitz is not cut. `z` is the prox of the running mean, which is never replaced by its prox (E14).
//!
//! Released: ẑ, once an iteration, as a Gaussian event whose unit is the bound B = γC·max(1, λ/(1 − λ)) of one
//! block (PRIVACY.md, section 3), under the sampling of the mean. All the blocks move in every iteration.
//! Requires: a convex penalty with a prox; the identity constraint; λ < 1.
//! Reference: FP23, Algorithm 2, with the scaling of E1 and the noise of E2.

use std::sync::Arc;

use reticent_oracle::{ConsensusTerms, Oracle, Refusal};
use reticent_problem::Regulariser;

use super::Algorithm;
use crate::catalogue::{Built, Entry, Kind, Recipe};
use crate::settings::{SettingsError, positive};

pub(crate) const ENTRY: Entry = Entry {
    name: "consensus",
    about: "a prox step on every record, the records' copies kept inside the gate, noise on their mean",
    reference: "FP23, Algorithm 2, with the noise of E2",
    takes: &["iterations", "sampling", "clip", "gamma", "lambda"],
    kind: Kind::Private(build),
};

/// As for ssADMM.
const ITERATIONS: f64 = 100.0;

/// The largest λ at which one block is bounded by γC: Douglas–Rachford as it is usually run.
const LAMBDA: f64 = 0.5;

#[derive(Debug)]
struct Consensus {
    how: ConsensusTerms,
    regulariser: Arc<Regulariser>,
    /// ẑ.
    mean: Vec<f64>,
}

fn build(recipe: &Recipe<'_>) -> Result<Built, SettingsError> {
    let Recipe { settings, public, regulariser, noise_multiplier } = recipe;
    recipe.only(&ENTRY)?;
    recipe.needs_identity(&ENTRY)?;
    recipe.needs_convex(&ENTRY)?;
    let relaxation = settings.lambda.unwrap_or(LAMBDA);
    if !(relaxation > 0.0 && relaxation < 1.0) {
        return Err(SettingsError::new(
            "lambda",
            relaxation,
            "a number above 0 and below 1 is needed; at 1 the copies of the records have no bound",
        ));
    }
    // 1/L, the step at which the noise is that of gradient descent; a prox is stable at any other. Without an L
    // the curvature of the loss in the score is taken to be 1.
    let smooth = public.gradient_lipschitz();
    let smooth = if smooth.is_finite() && smooth > 0.0 { smooth } else { public.row_norm.powi(2) };
    let sampling = recipe.sampling();
    let iterations = settings.iterations_or((ITERATIONS * recipe.per_epoch(sampling).sqrt()) as u64)?;
    let algorithm = Consensus {
        how: ConsensusTerms {
            clip: settings.clip_or_bound(public)?,
            step: positive("gamma", settings.gamma.unwrap_or(1.0 / smooth))?,
            relaxation,
            noise_multiplier: *noise_multiplier,
            sampling,
        },
        regulariser: Arc::clone(regulariser),
        mean: vec![0.0; public.shape.len()],
    };
    Ok(Built { algorithm: Box::new(algorithm), iterations })
}

impl Algorithm for Consensus {
    fn step(&mut self, k: u64, oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        if k == 1 {
            oracle.open_consensus(&self.mean)?;
        }
        self.mean = oracle.consensus(&self.solution(), &self.how)?.into_inner();
        Ok(())
    }

    /// z.
    fn solution(&self) -> Vec<f64> {
        let mut z = self.mean.clone();
        self.regulariser.prox_y(&mut z, self.how.step);
        z
    }
}
