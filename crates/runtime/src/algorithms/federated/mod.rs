//! Federated ADMM (FP23, Algorithm 3, with the corrections E2, E3 and E14).
//!
//! ```text
//! minimise (1/n) Σ f_i(x_i) + r(z)  subject to  x_i = z,   f_i the mean over the records of user i
//!
//! server:  z = prox_{γr}(ẑ),  asks a sample of the users
//! user i:  x_i = prox_{γf_i}(2z − u_i),  u_i⁺ = u_i + 2λ(x_i − z)
//! server:  ẑ ← ẑ + (1/n) Σ_i (u_i⁺ − u_i)
//! ```
//!
//! Trust decides where the noise is and what is counted; a file each: `local` (the server sees each message).
//!
//! Requires: a convex penalty with a prox; the identity constraint.
//! Reference: FP23, Algorithm 3; PRIVACY.md, section 3.

mod local;

use std::sync::Arc;

use reticent_accountant::View;
use reticent_admm::{SettingsError, fraction, positive};
use reticent_oracle::{ResidualTerms, Sampling};
use reticent_problem::Regulariser;

use super::{Entry, Protocol, Recipe};

pub(crate) const ENTRY: Entry = Entry {
    name: "federated",
    about: "users' prox steps against a server's consensus, a sample of the users each round",
    reference: "FP23, Algorithm 3, with E2, E3 and E14",
    takes: &["iterations", "sampling", "clip", "gamma", "lambda", "inner"],
    views: &[View::Local],
    private: true,
    build,
};

/// As for the algorithms of one party.
const ROUNDS: u64 = 100;

/// Douglas–Rachford as it is usually run.
const LAMBDA: f64 = 0.5;

/// Steps of a user's inner solver. With γ = 1/L each halves the distance.
const INNER: u64 = 20;

/// What all versions have in common.
#[derive(Clone, Debug)]
pub(crate) struct Federated {
    parties: u32,
    rounds: u32,
    sampling: Sampling,
    lambda: f64,
    regulariser: Arc<Regulariser>,
    /// The noise multiplier in it is not the one of a run.
    how: ResidualTerms,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Protocol>, SettingsError> {
    recipe.only(&ENTRY)?;
    recipe.needs_plain_convex(&ENTRY)?;
    let settings = recipe.settings;
    let sampling = settings.sampling.unwrap_or_default();
    if let Sampling::WithoutReplacement(size) = sampling
        && size > u64::from(recipe.parties())
    {
        let allowed = format!("there are {} users; choose at most as many", recipe.parties());
        return Err(SettingsError::new("sampling", sampling, allowed));
    }
    let gamma = recipe.gamma()?;
    let clip = settings.clip_or_bound(recipe.public)?;
    let federated = Federated {
        parties: recipe.parties(),
        rounds: settings.iterations_or(ROUNDS)?.min(u64::from(u32::MAX - 1)) as u32,
        sampling,
        lambda: fraction("lambda", settings.lambda.unwrap_or(LAMBDA))?,
        regulariser: Arc::clone(recipe.regulariser),
        how: ResidualTerms {
            // At the solution x = z and u = z − γg; a residual is the change of γg, and γC is its size.
            clip: positive("clip", gamma * clip)?,
            record_clip: clip,
            row_norm: recipe.public.row_norm,
            step: gamma,
            inner: settings.inner.unwrap_or(INNER).clamp(1, 1_000_000) as u32,
            noise_multiplier: 0.0,
            walk: None,
        },
    };
    Ok(Box::new(local::Local(federated)))
}

impl Federated {
    fn len(&self) -> usize {
        self.regulariser.shape().len()
    }

    /// `z = prox_{γr}(ẑ)`.
    fn consensus(&self, mean: &[f64]) -> Vec<f64> {
        let mut z = mean.to_vec();
        self.regulariser.prox_y(&mut z, self.how.step);
        z
    }
}
