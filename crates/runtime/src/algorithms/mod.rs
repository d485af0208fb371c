//! The algorithms of many parties, a file each (those of `network` are presets of one, a table), by the
//! names that users type. Adding one is a file and a line in [`CATALOGUE`]; the README of this crate says how.

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

/// An algorithm: what a user must know, and how it is built.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolEntry {
    /// The name users type.
    pub name: &'static str,
    /// One line in plain words.
    pub about: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// The settings it has (see [`Settings::ALL`]); any other is refused.
    pub takes: &'static [&'static str],
    /// The adversaries it can be run against, the usual one first.
    pub views: &'static [View],
    /// Whether its parties talk along a graph, which the user may choose.
    pub along_graph: bool,
    /// Whether it has noise. What has none is run for comparison, without a budget, and its books
    /// say that it is not private.
    pub private: bool,
    /// How it is built.
    pub build: Build,
}

/// How an algorithm is built.
pub type Build = fn(&ProtocolRecipe<'_>) -> Result<Box<dyn Protocol>, Refused>;

/// What an algorithm is built from: public facts alone.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolRecipe<'a> {
    /// What the user set.
    pub settings: &'a Settings,
    /// What may be known of the problem; the population is the number of parties.
    pub public: &'a ProblemFacts,
    /// The penalty and its constraint.
    pub regulariser: &'a Arc<Regulariser>,
    /// The number of records of each party. It is public where records are protected; where the
    /// party itself is, an algorithm must not use it.
    pub records: &'a [u64],
    /// Who is connected with whom.
    pub topology: &'a Topology,
    /// The trust model: who sees the messages.
    pub view: View,
    /// What is protected.
    pub unit: Unit,
    /// The seed of what is random and public, as where peers begin.
    pub public_seed: u64,
}

/// Every algorithm.
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

/// The one that is taken where none is named: `federated`.
pub const USUAL: &ProtocolEntry = &CATALOGUE[0];

/// The algorithm of that name.
pub fn find(name: &str) -> Option<&'static ProtocolEntry> {
    CATALOGUE.iter().find(|entry| entry.name == name)
}

/// An algorithm with its settings: what it may ask of each party, and the nodes that run it. Every
/// node is made by itself, from what is public and from what its owner has.
pub trait Protocol: FaultInjection + Transcribed + fmt::Debug + Send + Sync {
    /// Rounds of a run.
    fn rounds(&self) -> u32;

    /// No payload of this algorithm is longer, in bytes.
    fn longest_payload(&self) -> usize;

    /// Parties with the same number here have the same plan, so that it is calibrated once.
    fn plan_class(&self, _party: PartyId) -> u64 {
        0
    }

    /// All that the run may ask of `party`, whose own gate has the terms `own`: where the gate is
    /// asked, by the code that will ask it, on a gate without data (`rehearsed`). `noise` is the
    /// noise multiplier; every query has a fixed multiple of it. The noise is calibrated to it and
    /// the party's gate is held to it; which part of it the run uses, and in which order, is free.
    fn plan(&self, party: PartyId, noise: f64, own: Terms) -> Result<Ledger, RunError>;

    /// The accountant of the paper, for a run as published: the noise is then the paper's for the ε
    /// that is asked for. `None` is the best there is.
    fn counted_by(&self) -> Option<Method> {
        None
    }

    /// How many times the noise that its budget asks for a party takes: at least 1, and public.
    fn noise_share(&self, _party: PartyId) -> f64 {
        1.0
    }

    /// How many events of its plan a party can have used when so many rounds are over: one a round,
    /// where nothing else is said. When all rounds are, no plan may have more: one that has is
    /// refused before the run.
    fn events_by(&self, rounds: u32) -> u64 {
        rounds.into()
    }

    /// Between fewer parties no round comes to anything.
    fn least_parties(&self) -> u32 {
        1
    }

    /// Message and answer and answer to the answer … that a simulated round has time for: more than
    /// a round of any algorithm has but the walk, whose token goes on. What is on its way then
    /// arrives with the next round.
    fn waves(&self) -> u32 {
        64
    }

    /// Whether the deadline of a round is the first step of the next one, as it is for peers: what
    /// the models are after a round is then to be read before its deadline, but for the last, which
    /// no step follows.
    fn steps_at_deadline(&self) -> bool {
        false
    }

    /// The terms of the books that count for a party, whose own gate has the terms `own`.
    fn books_terms(&self, own: Terms) -> Terms {
        own
    }

    /// The public key that parties close their contributions with where they trust the server that
    /// has this secret one.
    fn aggregator_key(&self, _server: &NoiseKey, _run: &Digest) -> Option<AggregatorKey> {
        None
    }

    /// The node of one party.
    fn node(&self, party: Party, start: Start<'_>) -> Result<Box<dyn Node>, RunError>;

    /// The node that has no data, behind those of the parties: the server, or a seat that looks on.
    /// `key` is its own, `noise` that of each party.
    fn server(
        &self,
        _run: &Digest,
        _key: NoiseKey,
        _noise: &[f64],
    ) -> Result<Option<Box<dyn Node>>, RunError> {
        Ok(None)
    }

    /// The parameter to publish when the last deadline is over: a function of the models of the
    /// nodes, of which party `i` is at place `i` and the server, if there is one, behind them. As
    /// it is here: the server's.
    fn published(&self, nodes: &[Box<dyn Node>]) -> Option<Vec<f64>> {
        Some(nodes.last()?.model()?.parameter)
    }

    /// The parameter of each party that has one of its own to show: a function of what was
    /// broadcast, as its books count it. Empty where what a party keeps is its secret, or is not
    /// counted for everybody.
    fn node_models(&self, _nodes: &[Box<dyn Node>]) -> Vec<Vec<f64>> {
        Vec::new()
    }

    /// Whether the number of messages, their bytes and what was rejected may be told: not where
    /// they say something of a sample that is to be secret.
    fn traffic_is_public(&self) -> bool {
        true
    }

    /// From here on the run's name is one that others may have chosen among so many as parties let them on a network,
    /// and what follows from it is counted so.
    fn count_attempts(&mut self) {}

    /// From here on its parties are those who are left of so many, of whom others may have struck whom they
    /// liked: what is counted of all parties is counted so. Where nothing is, nothing changes.
    ///
    /// # Errors
    /// If no guarantee is left.
    fn left_of(&mut self, _whole: u32) -> Result<(), RunError> {
        Ok(())
    }

    /// From here on its nodes are on machines of their own: others watch who is asked, and a server that is
    /// trusted with nothing may do as it likes. `signers` are the keys of those who are in it, for a node
    /// that signs.
    ///
    /// # Errors
    /// If it is not proven there.
    fn on_a_network(&mut self, _signers: Option<Signers>) -> Result<(), Refused> {
        Ok(())
    }

    /// What the guarantee relies on that no gate can see to, for the certificates.
    fn assumptions(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What the node of a party starts from: public, but for its own key.
#[derive(Debug)]
pub struct Start<'a> {
    /// The run.
    pub run: &'a Digest,
    /// The party's own key for what its gate does not draw.
    pub key: NoiseKey,
    /// The calibrated noise multiplier of the party.
    pub noise: f64,
    /// What it encrypts its contributions with ([`Protocol::aggregator_key`]).
    pub aggregator: Option<&'a AggregatorKey>,
}

/// The plan that a rehearsal writes: `ask` asks a gate without data.
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
    /// How many parties there are.
    pub fn parties(&self) -> u32 {
        self.records.len() as u32
    }

    /// The rounds that were asked for.
    pub fn rounds(&self, default: u64) -> Result<u32, Refused> {
        Ok(self.settings.iterations_or(default)? as u32)
    }

    /// The number of units of each party that may be known: its records where those are protected,
    /// else 1.
    pub fn units(&self) -> Vec<u64> {
        match self.unit {
            Unit::Record => self.records.to_vec(),
            Unit::User | Unit::Party => vec![1; self.records.len()],
        }
    }

    /// Refuses a setting that the algorithm does not have, and an adversary that it is not counted
    /// for.
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

    /// The step γ of a prox, or 1/L with L the curvature of one party's loss; 1/R² where it has
    /// none.
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
