//! The algorithms of many parties, a file each (those of `network` are presets of one, in a table),
//! by the names that users type. A new one is a file and a line in [`CATALOGUE`]; see the README of
//! this crate.

use std::fmt;
use std::sync::Arc;

use reticent_accountant::{Ledger, Method, Unit, View};
use reticent_admm::{ProblemFacts, Refused, Settings};
use reticent_noise::{Digest, NoiseKey};
use reticent_oracle::{AggregatorKey, Oracle, Refusal, Rehearsal, Terms};
use reticent_problem::{Regulariser, Shape};

use self::federated::signed::Signers;
use crate::adversary::{FaultInjection, Transcribed};
use crate::error::RunError;
use crate::message::PartyId;
use crate::node::Node;
use crate::party::Party;
use crate::topology::Topology;

mod dp_admm;
mod dp_admm_exact;
pub(crate) mod federated;
mod network;
mod star;
mod walk;

/// An algorithm: its description for users, and its constructor.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolEntry {
    /// The name that users type.
    pub name: &'static str,
    /// A one-line description.
    pub about: &'static str,
    /// The reference.
    pub reference: &'static str,
    /// Its settings (see [`Settings::ALL`]); any other is refused.
    pub takes: &'static [&'static str],
    /// The adversaries that it supports, the default one first.
    pub views: &'static [View],
    /// Whether its parties communicate along a graph, which the user may choose.
    pub along_graph: bool,
    /// Whether it has noise. An algorithm without noise is run for comparison, without a budget,
    /// and its ledger says that it is not private.
    pub private: bool,
    /// The constructor.
    pub build: Build,
}

/// The constructor of an algorithm.
pub type Build = fn(&ProtocolRecipe<'_>) -> Result<Box<dyn Protocol>, Refused>;

/// The input of a constructor: public facts alone.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolRecipe<'a> {
    /// The settings of the user.
    pub settings: &'a Settings,
    /// Public facts of the problem; the population is the number of parties.
    pub public: &'a ProblemFacts,
    /// The penalty and its constraint.
    pub regulariser: &'a Arc<Regulariser>,
    /// The number of records of each party. It is public where records are protected; where parties
    /// are protected, an algorithm must not use it.
    pub records: &'a [u64],
    /// The graph of the parties.
    pub topology: &'a Topology,
    /// The trust model: who sees the messages.
    pub view: View,
    /// The unit of protection.
    pub unit: Unit,
    /// The seed of public randomness, such as the starting points of peers.
    pub public_seed: u64,
}

/// All algorithms.
pub const CATALOGUE: &[ProtocolEntry] = &[
    federated::ENTRY,
    dp_admm::ENTRY,
    dp_admm_exact::ENTRY,
    walk::ENTRY,
    network::presets::R_ADMM,
    network::presets::MR_ADMM,
    network::presets::ADMM_NETWORK,
    network::presets::DVP,
    network::presets::M_ADMM,
];

/// The default algorithm: `federated`.
pub const USUAL: &ProtocolEntry = &CATALOGUE[0];

/// The algorithm of this name.
pub fn find(name: &str) -> Option<&'static ProtocolEntry> {
    CATALOGUE.iter().find(|entry| entry.name == name)
}

/// An algorithm with its settings: the queries that it may make to each party, and the nodes that
/// run it. Every node is built separately, from public facts and the data of its owner.
pub trait Protocol: FaultInjection + Transcribed + fmt::Debug + Send + Sync {
    /// The number of rounds of a run.
    fn rounds(&self) -> u32;

    /// The longest payload of this algorithm, in bytes.
    fn longest_payload(&self) -> usize;

    /// The class of a party's plan: parties of the same class have the same plan, which is
    /// calibrated once.
    fn plan_class(&self, _party: PartyId) -> u64 {
        0
    }

    /// All queries that the run may make to `party`, whose own gate has the terms `own`. Where a
    /// gate is asked, the plan is made by the same code on a gate without data (`rehearsed`).
    /// `noise` is the noise multiplier; every query has a fixed multiple of it. The noise is
    /// calibrated to the plan, and the party's gate enforces it; the run may use any part of it in
    /// any order.
    fn plan(&self, party: PartyId, noise: f64, own: Terms) -> Result<Ledger, RunError>;

    /// The accountant of the paper, for a run as published: its noise is then the paper's for the
    /// given ε. `None` for the best accountant.
    fn counted_by(&self) -> Option<Method> {
        None
    }

    /// The factor by which a party's noise exceeds that of its budget: at least 1, and public.
    fn noise_share(&self, _party: PartyId) -> f64 {
        1.0
    }

    /// The most events of a party's plan that the first `rounds` rounds can use; by default one a
    /// round. A plan with more events than all rounds can use is refused before the run.
    fn events_by(&self, rounds: u32) -> u64 {
        rounds.into()
    }

    /// The fewest parties for which a round has a result.
    fn least_parties(&self) -> u32 {
        1
    }

    /// The number of successive messages and answers for which a simulated round has time: more
    /// than any algorithm needs, except for the walk, whose token continues. Later messages arrive
    /// with the next round.
    fn waves(&self) -> u32 {
        64
    }

    /// Whether the deadline of a round is the first step of the next one, as for peers: the models
    /// of a round are then read before its deadline, except for the last one, after which there is
    /// no step.
    fn steps_at_deadline(&self) -> bool {
        false
    }

    /// The terms of the books of a party, whose own gate has the terms `own`.
    fn books_terms(&self, own: Terms) -> Terms {
        own
    }

    /// The public key by which parties encrypt their contributions for a trusted server that has
    /// this secret key.
    fn aggregator_key(&self, _server: &NoiseKey, _run: &Digest) -> Option<AggregatorKey> {
        None
    }

    /// The node of one party.
    fn node(&self, party: Party, start: Start<'_>) -> Result<Box<dyn Node>, RunError>;

    /// The node without data, which is behind those of the parties: the server, or an observer.
    /// `key` is its own, `noise` that of each party.
    fn server(
        &self,
        _run: &Digest,
        _key: NoiseKey,
        _noise: &[f64],
    ) -> Result<Option<Box<dyn Node>>, RunError> {
        Ok(None)
    }

    /// The parameter to publish after the last deadline: a function of the models of the nodes, of
    /// which party `i` is at place `i` and the server, if there is one, behind them. Default: the
    /// server's.
    fn published(&self, nodes: &[Box<dyn Node>]) -> Option<Vec<f64>> {
        Some(nodes.last()?.model()?.parameter)
    }

    /// The parameter of each party that has one to show: a function of what was broadcast, as its
    /// books count it. Empty if what a party keeps is its secret, or is not counted for all.
    fn node_models(&self, _nodes: &[Box<dyn Node>]) -> Vec<Vec<f64>> {
        Vec::new()
    }

    /// Whether the number of messages, their bytes and the rejections are public: not if they
    /// depend on a secret sample.
    fn traffic_is_public(&self) -> bool {
        true
    }

    /// Counts the draw of members for identifiers that others may have chosen among as many
    /// attempts as parties allow on a network.
    fn count_attempts(&mut self) {}

    /// Counts all guarantees for parties that are left of `whole`, of which others may have struck
    /// any. Algorithms that count nothing of all parties do not change.
    ///
    /// # Errors
    /// If no guarantee is left.
    fn left_of(&mut self, _whole: u32) -> Result<(), RunError> {
        Ok(())
    }

    /// Prepares for nodes on separate machines: others watch who is asked, and an untrusted server
    /// may deviate. `signers` are the keys of the members, for a node that signs.
    ///
    /// # Errors
    /// If the algorithm is not proven there.
    fn on_a_network(&mut self, _signers: Option<Signers>) -> Result<(), Refused> {
        Ok(())
    }

    /// The assumptions of the guarantee that no gate can check, for the certificates.
    fn assumptions(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The input of a party's node: public, except for its own key.
#[derive(Debug)]
pub struct Start<'a> {
    /// The run.
    pub run: &'a Digest,
    /// The party's own key for randomness outside its gate.
    pub key: NoiseKey,
    /// The calibrated noise multiplier of the party.
    pub noise: f64,
    /// The key for its contributions ([`Protocol::aggregator_key`]).
    pub aggregator: Option<&'a AggregatorKey>,
}

/// The plan of a rehearsal: `ask` queries a gate without data.
pub(crate) fn rehearsed(
    shape: Shape,
    terms: Terms,
    ask: impl FnOnce(&mut dyn Oracle) -> Result<(), Refusal>,
) -> Result<Ledger, RunError> {
    let mut rehearsal = Rehearsal::new(shape, terms);
    ask(&mut rehearsal)?;
    Ok(rehearsal.into_plan())
}

/// The nearest point in the ball of this radius.
pub(crate) fn shorten(v: &mut [f64], radius: f64) {
    let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
    if norm > radius {
        v.iter_mut().for_each(|v| *v *= radius / norm);
    }
}

impl ProtocolRecipe<'_> {
    /// The number of parties.
    pub fn parties(&self) -> u32 {
        self.records.len() as u32
    }

    /// The number of rounds.
    pub fn rounds(&self, default: u64) -> Result<u32, Refused> {
        Ok(self.settings.iterations_or(default)? as u32)
    }

    /// The public number of units of each party: its records if those are protected, otherwise 1.
    pub fn units(&self) -> Vec<u64> {
        match self.unit {
            Unit::Record => self.records.to_vec(),
            Unit::User | Unit::Party => vec![1; self.records.len()],
        }
    }

    /// Refuses a setting that the algorithm does not have, and an adversary that it does not
    /// support.
    pub fn only(&self, entry: &ProtocolEntry) -> Result<(), Refused> {
        self.settings.only(entry.name, entry.takes)?;
        if entry.views.contains(&self.view) {
            return Ok(());
        }
        let views: Vec<_> = entry.views.iter().map(|view| view.name()).collect();
        Err(Refused::new(
            "trust",
            self.view,
            format!("{} has a guarantee for {} only", entry.name, views.join(", ")),
        ))
    }

    /// Refuses a constraint other than `x = z`, and a penalty that is not convex.
    pub fn needs_plain_convex(&self, entry: &ProtocolEntry) -> Result<(), Refused> {
        if !self.regulariser.constraint().is_identity() {
            let given = self.regulariser.constraint().spec();
            return Err(Refused::new(
                "constraint",
                given,
                format!("{} handles only 'identity'", entry.name),
            ));
        }
        let penalty = self.regulariser.penalty();
        if !penalty.is_convex() {
            let allowed = format!("it is not convex, and {} needs a convex one", entry.name);
            return Err(Refused::new("penalty", penalty.spec(), allowed));
        }
        Ok(())
    }

    /// The step γ of a prox, by default 1/L with L the curvature of one party's loss; 1/R² if it
    /// has none.
    pub fn gamma(&self) -> Result<f64, Refused> {
        self.settings.prox_step_or(1.0 / self.public.curvature())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_and_found() {
        assert_eq!(USUAL.name, "federated");
        for entry in CATALOGUE {
            assert_eq!(find(entry.name).unwrap().about, entry.about);
            assert_eq!(CATALOGUE.iter().filter(|other| other.name == entry.name).count(), 1);
            assert!(!entry.views.is_empty() && !entry.about.ends_with('.'));
            for name in entry.takes {
                assert!(Settings::ALL.iter().any(|setting| setting.name == *name), "{name}");
            }
        }
    }
}
