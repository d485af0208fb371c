//! Public settings of each peer: its penalty η_i, the factor by which its noise exceeds that of its
//! budget, and its starting point.

use reticent_admm::{PartyRho, Refused, not_negative, positive};
use reticent_noise::{Entropy, Hasher};

use super::defaults::PeerDefaults;
use crate::algorithms::{ProtocolRecipe, shorten};
use crate::error::RunError;
use crate::message::PartyId;

/// The settings of each peer, which are public.
#[derive(Debug)]
pub(super) struct PeerSettings {
    etas: Etas,
    /// The factors on the noise of the budget; empty if all are 1.
    noise: Vec<f64>,
    /// The largest distance of a starting point from zero.
    start: f64,
    seed: u64,
}

#[derive(Debug)]
enum Etas {
    Same(f64),
    /// A value for each peer.
    Listed(Vec<f64>),
    /// A value for each peer, which follows from the number of its neighbours.
    ByDegree(Vec<f64>),
}

/// The mean number of neighbours, or 1 if there are none.
fn mean_degree(recipe: &ProtocolRecipe<'_>) -> f64 {
    let parties = recipe.parties();
    let ends: usize = (0..parties).map(|party| recipe.topology.degree(party)).sum();
    (ends as f64 / f64::from(parties.max(1))).max(1.0)
}

impl Etas {
    fn new(recipe: &ProtocolRecipe<'_>, usual: &PeerDefaults) -> Result<Self, Refused> {
        let settings = recipe.settings;
        let degree = |party: u32| recipe.topology.degree(party).max(1) as f64;
        match &settings.party_rho {
            Some(given) if settings.rho.is_some() => {
                let allowed = "it is rho of each party, and rho is given too; give one of the two";
                Err(Refused::new("party_rho", given, allowed))
            }
            Some(PartyRho::Each(each)) => {
                Ok(Etas::Listed(each.of("party_rho", recipe.parties())?.to_vec()))
            }
            Some(PartyRho::Degree(number)) => {
                let eta = |party| positive("party_rho", number / degree(party));
                Ok(Etas::ByDegree((0..recipe.parties()).map(eta).collect::<Result<_, _>>()?))
            }
            None => {
                let usual = 0.5 * usual.pull / mean_degree(recipe);
                Ok(Etas::Same(positive("rho", settings.rho.unwrap_or(usual))?))
            }
        }
    }
}

impl PeerSettings {
    pub fn new(recipe: &ProtocolRecipe<'_>, usual: &PeerDefaults) -> Result<Self, Refused> {
        let noise = match &recipe.settings.party_noise {
            None => Vec::new(),
            Some(each) => {
                let noise = each.of("party_noise", recipe.parties())?;
                if noise.iter().any(|share| *share < 1.0) {
                    let allowed = "at least 1 is needed: with less noise a party would spend more than its budget";
                    return Err(Refused::new("party_noise", each, allowed));
                }
                noise.to_vec()
            }
        };
        Ok(PeerSettings {
            etas: Etas::new(recipe, usual)?,
            noise,
            start: not_negative("start", recipe.settings.start.unwrap_or(0.0))?,
            seed: recipe.public_seed,
        })
    }

    /// η_i.
    pub fn eta(&self, peer: PartyId) -> f64 {
        match &self.etas {
            Etas::Same(eta) => *eta,
            Etas::Listed(etas) | Etas::ByDegree(etas) => {
                etas.get(peer.index()).copied().unwrap_or(f64::NAN)
            }
        }
    }

    /// The smallest η of all, which is the default dual step of all peers: with a larger one, a
    /// peer with a smaller η need not converge.
    pub fn least_eta(&self) -> f64 {
        match &self.etas {
            Etas::Same(eta) => *eta,
            Etas::Listed(etas) | Etas::ByDegree(etas) => {
                etas.iter().copied().fold(f64::INFINITY, f64::min)
            }
        }
    }

    /// Whether peers with the same numbers of neighbours and records may differ.
    pub fn is_listed(&self) -> bool {
        matches!(self.etas, Etas::Listed(_)) || !self.noise.is_empty()
    }

    /// The factor by which a peer's noise exceeds that of its budget, at least 1.
    pub fn noise_share(&self, peer: PartyId) -> f64 {
        self.noise.get(peer.index()).copied().unwrap_or(1.0).max(1.0)
    }

    /// f_i(0), which follows from the public seed alone.
    pub fn start(&self, peer: u32, len: usize, radius: f64) -> Result<Vec<f64>, RunError> {
        if self.start == 0.0 {
            return Ok(vec![0.0; len]);
        }
        let digest =
            Hasher::new("reticent random start").number(self.seed).number(u64::from(peer)).finish();
        let (first, _) = digest.split_first_chunk().unwrap_or((&[0; 8], &[]));
        let mut entropy = Entropy::seeded(u64::from_le_bytes(*first));
        let mut start = Vec::with_capacity(len);
        for _ in 0..len {
            let uniform = entropy.below(1 << 53)? as f64 / (1_u64 << 52) as f64 - 1.0;
            start.push(self.start * uniform);
        }
        shorten(&mut start, radius);
        Ok(start)
    }
}
