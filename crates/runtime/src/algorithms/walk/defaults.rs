//! How far a visit goes, and where a record is clipped, if nothing is set and records are protected: from
//! public numbers.
//!
//! T visits to each party, of which the token takes the 2λ-th part over all, go τ = 2λTγL steps of 1/L. For
//! one budget their noise moves the token by τ/s clips, however many there are, with s the signal of all
//! records behind the noise of n parties: τ is what the noise allows (as of peers on a graph, see
//! `network/defaults.rs`). It is half of theirs: a user has noise for more visits than it has on average, and the
//! token is no mean of many models. So γ = τ/(2λTL), and no longer than the inner solver goes.

use reticent_accountant::{Unit, View};
use reticent_admm::defaults::time;

use crate::algorithms::ProtocolRecipe;

/// The time of a walk relative to that of peers whose models are averaged. Measured on a9a with 10
/// and 50 peers.
const TIME: f64 = 0.5;

/// The clip as a part of the largest gradient, if there is no time for visits of the full length: a
/// logistic slope is half of its bound at a score of 0.
const CLIP: f64 = 0.5;

/// The defaults of a walk whose records are protected. Public.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WalkDefaults {
    /// γ, in steps of 1/L.
    pub visit: f64,
    /// The part of the largest gradient that is the clip.
    pub clip: f64,
}

impl WalkDefaults {
    /// The defaults without a time: for whole parties, of which there are few, and for a walk with
    /// a state, in which γ is no step length.
    pub const PLAIN: Self = WalkDefaults { visit: 1.0, clip: 1.0 };

    /// The defaults for this many steps of the token, each by 2λ; a visit is no longer than `inner`
    /// steps.
    pub fn new(recipe: &ProtocolRecipe<'_>, hops: u32, lambda: f64, inner: u32) -> Self {
        let free = recipe.public.whole_budget.is_nan() || recipe.public.whole_budget <= 0.0;
        if recipe.unit != Unit::Record || recipe.view != View::Local || free {
            return WalkDefaults::PLAIN;
        }
        let parties = f64::from(recipe.parties().max(1));
        let records: u64 = recipe.units().iter().sum();
        let clip = if recipe.public.numeric { 1.0 } else { CLIP };
        let noise = recipe.public.whole_budget * parties.sqrt();
        let allowed = TIME * time(records as f64 / (noise * clip), recipe.public.shape.len());
        let visits = 2.0 * lambda * f64::from(hops.max(1)) / parties;
        let most = f64::from(inner.max(1));
        WalkDefaults {
            visit: (allowed / visits).min(most),
            clip: (clip * allowed / (visits * most)).clamp(clip, 1.0),
        }
    }
}
