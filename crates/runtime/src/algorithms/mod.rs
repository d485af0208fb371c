//! The algorithms of many parties, a file each, by the names that users type. Adding one is a file
//! and a line in [`CATALOGUE`]; the README of this crate says how.

use std::fmt;
use std::sync::Arc;

use reticent_accountant::{Ledger, Taint, Unit, View};
use reticent_admm::{Public, Refused, Settings};
use reticent_noise::{Digest, NoiseKey};
use reticent_oracle::{Oracle, Refusal, Rehearsal, Terms};
use reticent_problem::{Regulariser, Shape};

use crate::error::RunError;
use crate::message::{Envelope, Kind, PartyId};
use crate::node::Node;
use crate::party::Party;
use crate::topology::Topology;

mod dp_admm;
mod dp_admm_exact;
pub(crate) mod federated;
mod network;
mod star;
mod trainer;
mod walk;

/// An algorithm: what a user must know, and how it is built.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
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
    /// Whether it has noise. What has none is run for comparison, without a budget, and its books
    /// say that it is not private.
    pub private: bool,
    /// How it is built.
    pub build: Build,
}

/// How an algorithm is built.
pub type Build = fn(&Recipe<'_>) -> Result<Box<dyn Protocol>, Refused>;

/// What an algorithm is built from: public facts alone.
#[derive(Clone, Copy, Debug)]
pub struct Recipe<'a> {
    /// What the user set.
    pub settings: &'a Settings,
    /// What may be known of the problem; the population is the number of parties.
    pub public: &'a Public,
    /// The penalty and its constraint.
    pub regulariser: &'a Arc<Regulariser>,
    /// The number of records of each party. It is public where records are protected; where the
    /// party itself is, an algorithm must not use it.
    pub records: &'a [u64],
    /// Who is connected with whom.
    pub topology: &'a Topology,
    /// Who looks.
    pub view: View,
    /// What is protected.
    pub unit: Unit,
}

/// Every algorithm.
pub const CATALOGUE: &[Entry] = &[
    federated::ENTRY,
    dp_admm::ENTRY,
    dp_admm_exact::ENTRY,
    walk::ENTRY,
    network::r_admm::ENTRY,
    network::mr_admm::ENTRY,
    network::admm_network::ENTRY,
    network::dvp::ENTRY,
    network::m_admm::ENTRY,
];

/// The algorithm of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.name == name)
}

/// An algorithm with its settings: what it may ask of each party, the nodes that run it, and what
/// comes out.
pub trait Protocol: fmt::Debug + Send + Sync {
    /// From here on, has a known defect, for an audit to find.
    #[cfg(feature = "seeded-bugs")]
    fn spoil(&mut self, _bug: reticent_oracle::Bug) {}

    /// Rounds of a run.
    fn rounds(&self) -> u32;

    /// No payload of this algorithm is longer, in bytes.
    fn longest_payload(&self) -> usize;

    /// Parties with the same number here have the same plan, so that it is calibrated once.
    fn plan_class(&self, _party: PartyId) -> u64 {
        0
    }

    /// Asks all that the run may ask of `party`, by the code that will ask it, on a gate without
    /// data. `noise` is the noise multiplier; every query has a fixed multiple of it. It becomes
    /// the plan that the noise is calibrated to and that the party's gate is held to; which part of
    /// it the run uses, and in which order, is free.
    fn rehearse(&self, party: PartyId, noise: f64, oracle: &mut dyn Oracle) -> Result<(), Refusal>;

    /// The plan of a party: by default, what [`Protocol::rehearse`] asks on the terms of
    /// [`Protocol::books_terms`].
    fn plan(
        &self,
        party: PartyId,
        noise: f64,
        shape: Shape,
        own: &Terms,
    ) -> Result<Ledger, RunError> {
        let mut rehearsal = Rehearsal::new(shape, self.books_terms(own));
        self.rehearse(party, noise, &mut rehearsal)?;
        Ok(rehearsal.into_plan())
    }

    /// The terms of the books that count for a party, whose own gate has the terms `own`.
    fn books_terms(&self, own: &Terms) -> Terms {
        *own
    }

    /// The books that count for a party, and their terms: its whole plan, used or not, with what
    /// taints its own books. What was used is decided on the way, by chance that is seen or by an
    /// asker who may choose by looking at the answers, and a sum of what such a choice came to
    /// bounds nothing (proofs/filter.md).
    fn books(&self, party: PartyId, nodes: &[Box<dyn Node>]) -> Result<(Ledger, Terms), RunError> {
        let party = party_at(nodes, party)?;
        let mut ledger = party.plan().clone();
        party.ledger().taints().iter().for_each(|&taint| ledger.taint(taint));
        Ok((ledger, self.books_terms(party.terms())))
    }

    /// The public z's so far, where parties keep blocks that follow from them; else none.
    fn trajectory(&self, _nodes: &[Box<dyn Node>]) -> Result<Vec<Vec<f64>>, RunError> {
        Ok(Vec::new())
    }

    /// Whether the number of messages, their bytes and what was rejected may be told: not where
    /// they say something of a sample that is to be secret.
    fn traffic_is_public(&self) -> bool {
        true
    }

    /// The nodes, party `i` at place `i`, a server (if there is one) behind them.
    fn network(&self, parties: Vec<Party>, start: Start<'_>) -> Result<Network, RunError>;

    /// The parameter to publish, when the last deadline is over: a function of what was released.
    fn solution(&self, nodes: &[Box<dyn Node>]) -> Result<Vec<f64>, RunError>;

    /// What a party that keeps to no bound would send in place of this message; `None` if the
    /// algorithm has no such message. For tests of what it can do.
    fn exaggerated(&self, _envelope: &Envelope) -> Option<Envelope> {
        None
    }

    /// What an adversary makes of a run, one vector for each release, in their order: what an audit
    /// looks at. As it is here: every vector that the victim sends.
    fn transcript(&self, witness: &Witness<'_>) -> Vec<Vec<f64>> {
        let Witness { heard, victim, .. } = *witness;
        let sent = heard
            .iter()
            .filter(|e| e.from == victim && matches!(e.kind, Kind::Answer | Kind::Share));
        sent.filter_map(|envelope| crate::wire::unpack(&envelope.payload).ok()).collect()
    }

    /// What the guarantee relies on that no gate can see to, for the certificates.
    fn assumptions(&self) -> Vec<String> {
        Vec::new()
    }

    /// Why the books of this run are no guarantee, beside what the gates find out themselves.
    fn taints(&self) -> Vec<Taint> {
        Vec::new()
    }
}

/// What an adversary of any view may have to work with.
#[derive(Clone, Copy)]
pub struct Witness<'a> {
    /// The messages of the run, in their order.
    pub heard: &'a [Envelope],
    /// The nodes at its end, for what a server has.
    pub nodes: &'a [Box<dyn Node>],
    /// Whose data are in question.
    pub victim: PartyId,
    /// Another party, who looks where the view is that of a peer.
    pub observer: PartyId,
    /// The victim's noise multiplier.
    pub noise: f64,
}

/// The party at a place.
pub(crate) fn party_at(nodes: &[Box<dyn Node>], party: PartyId) -> Result<&Party, RunError> {
    nodes
        .get(party.index())
        .and_then(|node| node.party())
        .ok_or(RunError::Snapshot("no such party"))
}

/// The nearest point in the ball of this radius.
pub(crate) fn shorten(v: &mut [f64], radius: f64) {
    let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
    if norm > radius {
        v.iter_mut().for_each(|v| *v *= radius / norm);
    }
}

/// What the nodes of a run start from.
#[derive(Debug)]
pub struct Start<'a> {
    /// The run.
    pub run: &'a Digest,
    /// The calibrated noise of each party.
    pub noise: &'a [f64],
    /// The server's own key, for its samples.
    pub server: NoiseKey,
}

/// The nodes of a run.
pub struct Network {
    /// Party `i` at place `i`, then the server if there is one.
    pub nodes: Vec<Box<dyn Node>>,
    /// Whose deadlines are called, in this order.
    pub initiators: Vec<PartyId>,
}

impl Recipe<'_> {
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
            Unit::User => vec![1; self.records.len()],
        }
    }

    /// Refuses a setting that the algorithm does not have, and an adversary that it is not counted
    /// for.
    pub fn only(&self, entry: &Entry) -> Result<(), Refused> {
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
    pub fn needs_plain_convex(&self, entry: &Entry) -> Result<(), Refused> {
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
        let smooth = self.public.gradient_lipschitz();
        let smooth =
            if smooth.is_finite() && smooth > 0.0 { smooth } else { self.public.row_norm.powi(2) };
        reticent_admm::positive("gamma", self.settings.gamma.unwrap_or(1.0 / smooth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_and_found() {
        for entry in CATALOGUE {
            assert_eq!(find(entry.name).unwrap().about, entry.about);
            assert_eq!(CATALOGUE.iter().filter(|other| other.name == entry.name).count(), 1);
            assert!(!entry.views.is_empty() && !entry.about.ends_with('.'));
            for name in entry.takes {
                assert!(Settings::ALL.iter().any(|(setting, _)| setting == name), "{name}");
            }
        }
    }
}
