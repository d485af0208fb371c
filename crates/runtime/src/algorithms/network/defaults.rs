//! What the peers' steps are if nothing is set, from public numbers.
//!
//! A linearised step is 1/(2ηV + γ) long. With z the noise of T answers that spend the budget
//! together, the mean of all peers ends T·z/(2ηV + γ) clips of one record over all records and √N
//! away from where it would be: for one budget that is τ/s with τ = T/(2ηV + γ), however many steps
//! there are, and s the signal of all records behind the noise of N peers. So τ is what the noise
//! allows (the `time` of the algorithms of one table), T as many steps of 1/(CL) as fit into it, and
//! steps are shorter where not even few fit.
//!
//! 2ηV and γ are half of a step's stiffness each, so that a step is no longer than 1/(CL) and γ holds a
//! peer back where its neighbours do not, as linearised decentralised ADMM needs it (Ling, Shi, Wu and
//! Ribeiro 2015). That is for convergence alone, which privacy never rests on; it was measured on rings,
//! grids, random and complete graphs. Updates that are minimisers have no such limit, and their noise
//! hangs on η: these keep T = 100, 2ηV = γ = CL.

use reticent_accountant::Unit;
use reticent_admm::Release;
use reticent_admm::defaults::time;

use crate::algorithms::ProtocolRecipe;

/// Rounds of minimisers.
const ROUNDS: u64 = 100;

/// The fewest and the most linearised steps: fewer make no progress, and more cost messages for
/// little accuracy.
const STEPS: (f64, f64) = (20.0, 400.0);

/// The clip as a part of the largest gradient, while there is no time for more than [`STEPS`]: a
/// logistic slope is half of its bound at a score of 0.
const CLIP: f64 = 0.5;

/// The defaults of a family of peers. Public.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PeerDefaults {
    pub rounds: u64,
    /// 2ηV, with V the mean number of neighbours.
    pub pull: f64,
    /// γ.
    pub proximal: f64,
    /// The part of the largest gradient that is the clip.
    pub clip: f64,
}

impl PeerDefaults {
    /// The defaults for a loss of weight C with this release.
    pub fn new(recipe: &ProtocolRecipe<'_>, release: Release, private: bool, weight: f64) -> Self {
        // A loss with kinks has no curvature; its slopes change by 2 at most over scores of 1.
        let smooth = weight * recipe.public.curvature();
        // Without noise, or with whole parties, of which there are few, no time is computed.
        let counted = private && release == Release::Gradient && recipe.unit == Unit::Record;
        let free = recipe.public.whole_budget.is_nan() || recipe.public.whole_budget <= 0.0;
        if !counted || free || recipe.settings.loss_weight.is_some() {
            return PeerDefaults { rounds: ROUNDS, pull: smooth, proximal: smooth, clip: 1.0 };
        }
        let records: u64 = recipe.units().iter().sum();
        let noise = recipe.public.whole_budget * f64::from(recipe.parties().max(1)).sqrt();
        let clip = if recipe.public.numeric { 1.0 } else { CLIP };
        let allowed = time(records as f64 / (noise * clip), recipe.public.shape.len());
        let rounds = allowed.clamp(STEPS.0, STEPS.1).round();
        let given = recipe.settings.iterations.map_or(rounds, |given| given as f64).max(1.0);
        let stiffness = smooth * (given / allowed).max(1.0);
        PeerDefaults {
            rounds: rounds as u64,
            pull: 0.5 * stiffness,
            proximal: 0.5 * stiffness,
            clip: (clip * allowed / STEPS.1).clamp(clip, 1.0),
        }
    }
}
