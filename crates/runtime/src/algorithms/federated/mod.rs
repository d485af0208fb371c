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
//! Trust decides where the noise is and what is counted; a file each: `local` (the server sees each
//! message), `masked` (it sees sums), `central` (it is trusted). In the last two a user's block
//! carries no noise and stays in its gate.
//!
//! As published the server goes on from z in place of ẑ, `ẑ ← z + (1/n) Σ_i (u_i⁺ − u_i)`, as printed
//! (E14), and a round has the price of Theorem 3 (E3), whoever takes part in it.
//!
//! Requires: a convex penalty with a prox; the identity constraint.
//! Reference: FP23, Algorithm 3; proofs/local-prox.md and proofs/trust.md.

mod central;
pub(crate) mod draw;
mod follower;
mod local;
mod masked;
pub(crate) mod signed;
mod signed_sums;
mod sum_terms;
mod trajectory;

use std::sync::Arc;

use reticent_accountant::{Unit, View};
use reticent_admm::defaults::time;
use reticent_admm::{Refused, fraction, positive};
use reticent_oracle::queries::ResidualTerms;
use reticent_oracle::{BlockTerms, OneRecord, PaperClaim, Sampling};
use reticent_problem::Regulariser;

use super::{Protocol, ProtocolEntry, ProtocolRecipe};
use crate::participation::cap;

pub(crate) const ENTRY: ProtocolEntry = ProtocolEntry {
    name: "federated",
    about: "users' prox steps against a server's consensus, a sample of the users each round",
    reference: "FP23, Algorithm 3, with E2, E3 and E14",
    takes: &[
        "iterations",
        "sampling",
        "clip",
        "rho",
        "gamma",
        "relaxation",
        "inner",
        "honest",
        "as_published",
    ],
    views: &[View::Local, View::SecureAggregation, View::Central],
    along_graph: false,
    private: true,
    build,
};

/// The same as for the algorithms of one party.
const ROUNDS: u64 = 100;

/// The usual value of Douglas–Rachford.
const LAMBDA: f64 = 0.5;

/// Steps of a user's inner solver. With γ = 1/L each halves the distance.
const INNER: u64 = 20;

/// The number of the erratum.
const E3: u8 = 3;

/// The condition of FP23, Theorem 3: samples of less than this part of the users.
const FIFTH: f64 = 0.2;

/// The fraction of the users of a masked sum that is assumed honest.
const HONEST: f64 = 0.8;

/// The common part of all versions.
#[derive(Clone, Debug)]
pub(crate) struct Federated {
    parties: u32,
    rounds: u32,
    sampling: Sampling,
    lambda: f64,
    regulariser: Arc<Regulariser>,
    /// Whether it runs as printed, with the claim of FP23, Theorem 3 (E3).
    published: bool,
    /// The terms of a residual; their noise multiplier is not that of a run.
    params: ResidualTerms,
    #[cfg(reticent_seeded_bugs)]
    bug: Option<reticent_oracle::Bug>,
}

fn build(recipe: &ProtocolRecipe<'_>) -> Result<Box<dyn Protocol>, Refused> {
    recipe.only(&ENTRY)?;
    recipe.needs_plain_convex(&ENTRY)?;
    let federated = in_common(recipe)?;
    if federated.published && recipe.view != View::Central {
        let allowed = "the paper's claim (E3) is about what a trusted server publishes; say `trust = central`";
        return Err(Refused::new("as_published", true, allowed));
    }
    if federated.published && federated.sampling != Sampling::Full && federated.rate() >= FIFTH {
        let allowed = "Theorem 3 is about samples of less than a fifth of the users, or about all of them: draw fewer, \
                       or leave as_published out";
        return Err(Refused::new("sampling", federated.sampling, allowed));
    }
    if recipe.view == View::Local || federated.published {
        return Ok(Box::new(local::Local(federated)));
    }
    if federated.lambda >= 1.0 {
        let allowed =
            "a number above 0 and below 1 is needed; at 1 the blocks of the users have no bound";
        return Err(Refused::new("relaxation", federated.lambda, allowed));
    }
    let block = block_terms(recipe, &federated);
    if recipe.view == View::Central {
        return Ok(Box::new(central::Central(
            federated,
            block,
            recipe.unit,
            central::AskedUsers::Invited,
        )));
    }
    if let Sampling::Poisson(_) = federated.sampling {
        let allowed =
            "the number of users in a masked sum must be known beforehand; use full or wor:SIZE";
        return Err(Refused::new("sampling", federated.sampling, allowed));
    }
    let honest = fraction("honest", recipe.settings.honest.unwrap_or(HONEST))?;
    let (unit, config) = (recipe.unit, federated);
    let (whole, attempts, signed, signers) = (None, 1, false, None);
    let masked = masked::Masked { config, block, honest, whole, attempts, unit, signed, signers };
    masked.check().map_err(|error| Refused::new("trust", recipe.view, error.to_string()))?;
    Ok(Box::new(masked))
}

/// The length of a step in 1/L, at most 1, by the rule of the algorithms of one party: noise that
/// each user adds is √parties times that of one sum.
fn length(recipe: &ProtocolRecipe<'_>, rounds: u32) -> f64 {
    if recipe.settings.as_published == Some(true) {
        return 1.0;
    }
    let parties = f64::from(recipe.parties());
    let noises = if recipe.view == View::Local { parties.sqrt() } else { 1.0 };
    let units: u64 = recipe.units().iter().sum();
    let signal = units as f64 / (recipe.public.whole_budget * noises);
    (time(signal, recipe.public.shape.len()) / f64::from(rounds)).min(1.0)
}

/// The part that is independent of the trust model.
fn in_common(recipe: &ProtocolRecipe<'_>) -> Result<Federated, Refused> {
    let settings = recipe.settings;
    let sampling = settings.sampling.unwrap_or_default();
    if let Sampling::WithoutReplacement(size) = sampling
        && size > u64::from(recipe.parties())
    {
        let allowed = format!("there are {} users; choose at most as many", recipe.parties());
        return Err(Refused::new("sampling", sampling, allowed));
    }
    let rounds = settings.iterations_or(ROUNDS)? as u32;
    let gamma = settings.prox_step_or(length(recipe, rounds) / recipe.public.curvature())?;
    let clip = settings.clip_or_bound(recipe.public)?;
    Ok(Federated {
        parties: recipe.parties(),
        rounds,
        sampling,
        lambda: fraction("relaxation", settings.relaxation.unwrap_or(LAMBDA))?,
        regulariser: Arc::clone(recipe.regulariser),
        published: settings.as_published == Some(true),
        params: ResidualTerms {
            // At the solution x = z and u = z − γg; a residual is the change of γg, and γC is its
            // size.
            clip: positive("clip", gamma * clip)?,
            record_clip: clip,
            row_norm: recipe.public.row_norm,
            step: gamma,
            inner: settings.inner.unwrap_or(INNER).clamp(1, 1_000_000) as u32,
            noise_multiplier: 0.0,
            walk: None,
        },
        #[cfg(reticent_seeded_bugs)]
        bug: None,
    })
}

/// How blocks move that stay with their users.
fn block_terms(recipe: &ProtocolRecipe<'_>, federated: &Federated) -> BlockTerms {
    let ResidualTerms { row_norm, step, inner, .. } = federated.params;
    // With several scores the clipped gradients are no gradient of a function, and a record is
    // protected like its party.
    let smoothness =
        if recipe.public.shape.outputs == 1 { recipe.public.smoothness } else { f64::INFINITY };
    let one_record = (recipe.unit == Unit::Record).then(|| OneRecord {
        fewest: recipe.units().into_iter().min().unwrap_or(1),
        smoothness,
        rounds: federated.rounds,
    });
    let (clip, relaxation) = (federated.params.record_clip, federated.lambda);
    BlockTerms { clip, row_norm, step, inner, relaxation, one_record }
}

/// The assumption about the records of a party, if records are protected.
fn fewest_records(block: &BlockTerms) -> Option<String> {
    let fewest = block.one_record?.fewest;
    Some(format!(
        "every party has {fewest} records or more, how many each has is public, and whether it answers does not \
         depend on them"
    ))
}

impl Federated {
    fn len(&self) -> usize {
        self.regulariser.shape().len()
    }

    /// The part of the users that takes part in a round.
    fn rate(&self) -> f64 {
        match self.sampling {
            Sampling::Full => 1.0,
            Sampling::Poisson(rate) => rate,
            Sampling::WithoutReplacement(size) => size as f64 / f64::from(self.parties),
        }
    }

    /// What FP23 claims of one round, for every user, with σ = 2zγL: 8αL²γ²/(σ²n²) where all take
    /// part (Remark 4), twice that where fewer than a fifth do (Theorem 3). Of m messages the mean
    /// is given 1/m² of the cost of one, although they divide the variance of the noise by m as
    /// well, and the sample (m/n)² more (E3).
    fn claim(&self, noise: f64) -> Option<PaperClaim> {
        let all = noise * f64::from(self.parties);
        self.published.then(|| match self.sampling {
            Sampling::Full => PaperClaim::gaussian(E3, Sampling::Full, all),
            _ => PaperClaim::zcdp(E3, 4.0 / (all * all)),
        })
    }

    /// The most rounds in which one user can be asked: as published, the price is that of all
    /// rounds.
    fn most(&self) -> u32 {
        if self.published { self.rounds } else { cap(self.sampling, self.parties, self.rounds) }
    }

    /// `z = prox_{γr}(ẑ)`.
    fn consensus(&self, mean: &[f64]) -> Vec<f64> {
        let mut z = mean.to_vec();
        self.regulariser.prox_y(&mut z, self.params.step);
        z
    }
}
