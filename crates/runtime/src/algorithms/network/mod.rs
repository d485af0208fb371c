//! Decentralised ADMM on a connected graph: one state machine for five algorithms, which differ in
//! a [`Variant`] each.
//!
//! ```text
//! minimise Σ_i O(f_i, D_i)  subject to  f_i = f_j along every edge,   O(f, D_i) = C · mean of the losses of D_i + r(f)
//!
//! fresh step     f_i = argmin { O(f, D_i) + (2λ_i + ε_i)ᵀf + η_i Σ_{j∈V_i} ‖½(f_i + f_j) − f‖² }
//! recycled step  f_i = argmin { gᵀf + r(f) + 2λ_iᵀf + η_i Σ_{j∈V_i} ‖½(f_i + f_j) − f‖² + (γ/2)‖f − f_i‖² }
//!                g the noisy gradient of C · mean loss that the fresh step before it has made public
//! dual           λ_i ← λ_i + (θ/2) Σ_{j∈V_i} (f_i − f_j),   after a fresh step alone;  θ = min η_i unless said otherwise
//! ```
//!
//! One θ for all keeps Σ λ_i = 0, so that where nothing moves any more the f_i agree and the sum of
//! the gradients is 0, whatever the η_i are. Everybody begins at λ_i = 0 and at an f_i that is
//! public: 0, or drawn from the public seed.
//!
//! Everybody broadcasts f_i to its neighbours after every step. With one broadcast goes s_i = Σ θ
//! f_i over the steps that had a dual update, and λ_i = ½ Σ_j (s_i − s_j): the same λ_i, and one
//! that is right again at the next message after one was lost, where increments would be wrong for
//! ever.
//!
//! What is released: f_i of a fresh step, through the party's own gate, in one of the ways of
//! [`release`]. All the rest is arithmetic on it: r is kept whole in a recycled step, where RA18
//! (equation 10) puts its gradient; the fixed points are the same and r need not be smooth. The
//! model is the mean of the last f_i of all peers; a peer's own model is its last f_i, which it has
//! broadcast.
//!
//! A party whose own budget is spent goes on with recycled steps, which cost nothing; one that
//! never released anything passes on what it hears, with r alone for an objective.
//!
//! Requires: the identity constraint and a convex penalty; for steps other than `gradient` a
//! penalty `m‖·‖²/2` or none; 0 < C ≤ B_i (`weight`). Reference: RA18, Algorithms 1 and 2, with E7 and E8 (docs/errata.md).

mod defaults;
mod own;
mod peer;
pub(crate) mod presets;
mod release;
mod rule;
mod state;
mod weight;

use reticent_accountant::{Ledger, Unit};
use reticent_admm::{Refused, Release};
use reticent_oracle::Terms;

use self::defaults::PeerDefaults;
use self::own::PeerSettings;
use self::peer::Peer;
use self::rule::StepRule;
use self::state::{NetworkStep, PeerState, Share};
use self::weight::{fits, loss_weight};
use super::{Protocol, ProtocolEntry, ProtocolRecipe, Start, rehearsed};
use crate::adversary::{FaultInjection, Transcribed, Witness};
use crate::endpoint::Endpoint;
use crate::error::RunError;
use crate::message::{Envelope, PartyId, RunId};
use crate::node::Node;
use crate::party::Party;
use crate::topology::Topology;
use crate::wire;

/// The differences between the algorithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Variant {
    /// Whether every second step reuses the gradient of the one before.
    recycles: bool,
    /// The default factor by which η and γ grow with every step.
    growth: f64,
    /// Whether the dual step stays at the first η.
    fixed_dual: bool,
    /// Whether the noise is of a constant size in f, and so grows in the gradient as η does.
    noise_on_penalty: bool,
    /// Whether there is noise at all.
    private: bool,
}

impl Variant {
    /// A fresh, noisy step in every round, and nothing that grows.
    const FRESH: Variant = Variant {
        recycles: false,
        growth: 1.0,
        fixed_dual: false,
        noise_on_penalty: false,
        private: true,
    };
}

/// An algorithm of this family with its settings.
#[derive(Debug)]
struct Peers {
    /// The rule of a peer with the least η.
    rule: StepRule,
    own: PeerSettings,
    topology: Topology,
    /// The number of records of each party; empty if it is private.
    records: Vec<u64>,
}

fn build(
    recipe: &ProtocolRecipe<'_>,
    entry: &ProtocolEntry,
    variant: Variant,
) -> Result<Box<dyn Protocol>, Refused> {
    recipe.only(entry)?;
    recipe.needs_plain_convex(entry)?;
    let records = if recipe.unit == Unit::Record { recipe.records.to_vec() } else { Vec::new() };
    let weight = loss_weight(recipe)?;
    let release = recipe.settings.release.unwrap_or(match recipe.settings.as_published {
        Some(true) => Release::Objective,
        _ if variant.private => Release::Gradient,
        _ => Release::Minimiser,
    });
    let usual = PeerDefaults::new(recipe, release, variant.private, weight);
    let own = PeerSettings::new(recipe, &usual)?;
    let rule = StepRule::new(recipe, entry, variant, (weight, own.least_eta()), (release, &usual))?;
    fits(recipe, &rule, &own)?;
    Ok(Box::new(Peers { rule, own, topology: recipe.topology.clone(), records }))
}

impl Peers {
    /// The initial state of a peer.
    fn begun(&self, peer: PartyId) -> Result<PeerState, RunError> {
        let start = |id: u32| self.own.start(id, self.rule.len(), self.rule.radius());
        let near: Result<Vec<_>, RunError> =
            self.topology.neighbours(peer.0).iter().map(|&id| Ok((id, start(id)?))).collect();
        Ok(PeerState::new(start(peer.0)?, near?))
    }

    /// The rule of a peer.
    fn rule_of(&self, peer: PartyId) -> StepRule {
        self.rule.with_eta(self.own.eta(peer))
    }
}

impl Protocol for Peers {
    fn rounds(&self) -> u32 {
        self.rule.rounds()
    }

    fn longest_payload(&self) -> usize {
        16 * self.rule.len() + 20
    }

    /// The price of a step may depend on the number of neighbours and of records, and on settings
    /// of each peer.
    fn plan_class(&self, party: PartyId) -> u64 {
        if self.own.is_listed() {
            return party.0.into();
        }
        if !self.rule.price_depends_on_party() {
            return 0;
        }
        let records =
            self.records.get(party.index()).copied().unwrap_or(0).min(u64::from(u32::MAX));
        (self.topology.degree(party.0) as u64) << 32 | records
    }

    fn plan(&self, party: PartyId, noise: f64, own: Terms) -> Result<Ledger, RunError> {
        let (rule, mut state) = (self.rule_of(party), self.begun(party)?);
        rehearsed(rule.shape(), own, |oracle| {
            for k in (1..=rule.rounds()).filter(|&k| rule.is_fresh(k)) {
                let step = rule.fresh(k, noise, &state, oracle)?;
                state.take(step, &rule, k);
            }
            Ok(())
        })
    }

    fn steps_at_deadline(&self) -> bool {
        true
    }

    fn events_by(&self, rounds: u32) -> u64 {
        let fresh = (1..=rounds).filter(|&k| self.rule.is_fresh(k)).count() as u64;
        fresh * self.rule.events_of_a_step()
    }

    fn node(&self, party: Party, start: Start<'_>) -> Result<Box<dyn Node>, RunError> {
        let (run, state) = (RunId::from(start.run), self.begun(party.id())?);
        let rule = self.rule_of(party.id());
        let endpoint = Endpoint::new(run, party);
        Ok(Box::new(Peer::new(endpoint, rule, start.noise, state)))
    }

    fn noise_share(&self, party: PartyId) -> f64 {
        self.own.noise_share(party)
    }

    /// The last f of each peer, which was broadcast.
    fn node_models(&self, nodes: &[Box<dyn Node>]) -> Vec<Vec<f64>> {
        nodes.iter().filter_map(|node| Some(node.model()?.parameter)).collect()
    }

    /// The mean of all peers' last f.
    fn published(&self, nodes: &[Box<dyn Node>]) -> Option<Vec<f64>> {
        let mut mean = vec![0.0; self.rule.len()];
        for node in nodes {
            let f = node.model()?.parameter;
            mean.iter_mut().zip(f).for_each(|(mean, f)| *mean += f / nodes.len() as f64);
        }
        Some(mean)
    }
}

impl Transcribed for Peers {
    /// An observer of all broadcasts can repeat the peer's own arithmetic: the rest of a fresh step
    /// is its noisy gradient.
    fn transcript(&self, witness: &Witness<'_>) -> Vec<Vec<f64>> {
        let Witness { heard, victim, .. } = *witness;
        let Ok(mut state) = self.begun(victim) else { return Vec::new() };
        let rule = self.rule_of(victim);
        let (mut seen, mut waiting) = (Vec::new(), Vec::new());
        for envelope in heard {
            let Ok(share) = wire::unpack::<Share>(&envelope.payload) else { continue };
            if envelope.to == victim {
                waiting.push((envelope.from.0, share, envelope.round));
            } else if envelope.from == victim && envelope.round > state.round {
                let k = envelope.round;
                // The messages of one round are received after all steps of that round.
                let (before, rest): (Vec<_>, _) =
                    waiting.into_iter().partition(|(.., round)| *round < k);
                waiting = rest;
                for (from, share, round) in before {
                    state.hear(from, share, &rule, round);
                }
                if rule.is_fresh(k) {
                    seen.push(rule.made_public(k, &state, &share.f));
                }
                state.take(NetworkStep { f: share.f, gradient: None }, &rule, k);
                state.round = k;
            }
        }
        seen
    }
}

impl FaultInjection for Peers {
    fn exaggerated(&self, honest: &Envelope) -> Option<Envelope> {
        let mut share: Share = wire::unpack(&honest.payload).ok()?;
        share.f.iter_mut().chain(&mut share.s).for_each(|v| *v = (*v + 1.0) * 1e9);
        Some(Envelope { payload: wire::pack(&share).ok()?, ..honest.clone() })
    }
}
