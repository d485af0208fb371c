//! A run of nodes between parties who are elsewhere: peers on a graph, the walk, and a server that
//! asks for steps. Each makes its own node from the description that all have, its own table and its
//! own key, and ends with a model and a certificate of its own.
//!
//! In one process it is [`run`](super::run). Proof: proofs/network.md, "Peers" and "A server of steps".

use std::sync::PoisonError;

use reticent_accountant::{Ledger, Taint, Unit, View};
use reticent_noise::Digest;
use reticent_oracle::{AggregatorKey, NoiseKey, PrivateTable, Sampling};
use reticent_runtime::{
    Agreement, NAME_ATTEMPTS, Node, NodeEstimate, PartyId, PartyReport, ProtocolEntry, Signers,
    prepare_as_apart, wire,
};

use super::check::SimulationJob;
use super::dealing::dealt;
use super::remote::RemoteJob;
use super::remote_sums::ON_A_NETWORK;
use super::run::BETWEEN_PARTIES;
use super::simulated::Simulated;
use crate::certificate::Certificate;
use crate::error::Error;
use crate::guarantee::unexpected_owners;
use crate::model::{Extras, Model};

/// The kind of messages of a run on a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteKind {
    /// The lead asks for sums.
    Sums,
    /// Peers share with their neighbours, round by round.
    Graph,
    /// A token goes from one to the next.
    Walk,
    /// The lead asks for steps: each with its party's noise, behind masks, or closed for the lead.
    Star,
}

/// The inputs of a party's node from the run that all have signed, in addition to its own.
#[derive(Debug)]
pub struct SignedByAll<'a> {
    /// The key of a lead that is trusted with steps; empty where it is trusted with nothing.
    pub aggregator: &'a [u8],
    /// The keys of the roster.
    pub signers: Signers,
}

/// The algorithms of nodes that run on a network.
const NODES: [&str; 8] =
    ["walk", "r-admm", "mr-admm", "dvp", "m-admm", "federated", "dp-admm", "dp-admm-exact"];

/// What a guarantee takes as given on a network where one adversary is counted for.
const SEALED: &str = "Ed25519, X25519, HKDF-SHA256 and XChaCha20-Poly1305, by which peers close what they say for \
                      one another, are as hard to break as they are believed to be";

/// The same.
const RELAYED: &str = "the lead has the observer's seat and carries what users say: it sees who sends to whom and \
                       when, which the guarantee tells every adversary, and no token but those that come to its own \
                       seat; whoever has its key or its journal is the same adversary";

/// The same for a user's own model.
const FOR_ITSELF: &str = "the model of a user is the last token that came to it, and is for that user alone; \
                          whoever shows it to others shows them more than is counted";

/// The same where a server is trusted with steps or sums.
pub(super) const LEAD_TRUSTED: &str = "the lead keeps its key and its journal secret until the run is over, adds \
                                       the noise that is counted, and deletes both with the model's arrival";

/// Whose the records are where a party is protected as a whole.
const ONE_PERSON: &str = "each party is one person with all of the person's records, at the place that the roster \
                          gives it, which follows from no table";

/// The same.
const TIMED: &str = "how long a party takes to answer tells nobody how many records it has";

/// Who says what to whom in an algorithm; `None` for one that no network runs.
pub(super) fn kind_of(entry: &ProtocolEntry) -> Option<RemoteKind> {
    match entry {
        entry if super::held::is_held(entry) => Some(RemoteKind::Sums),
        entry if !NODES.contains(&entry.name) => None,
        entry if entry.along_graph => Some(RemoteKind::Graph),
        entry if entry.name == "walk" => Some(RemoteKind::Walk),
        _ => Some(RemoteKind::Star),
    }
}

impl SimulationJob {
    /// Refuses a run of nodes that no network runs, or that is not proven there.
    pub(super) fn check_nodes(&self, parties: u32) -> Result<(), Error> {
        if self.opening.view == View::SecureAggregation
            && let Some(party) = self.budgets.keys().next()
        {
            let why = "behind masks on a network everybody who is drawn is in a sum: a smaller budget of one party \
                       is refused; leave it out, or use `trust = local` or `central`";
            return Err(Error::value("budgets", party, why));
        }
        if let Some(noise) = self.noise {
            let why = "on a network the noise follows from the budget; leave it out";
            return Err(Error::value("noise", noise, why));
        }
        if self.settings.as_published == Some(true) {
            let why = "what is published and does not hold has no certificate; `reticent simulate` runs it";
            return Err(Error::value("as_published", true, why));
        }
        self.try_apart(parties)
    }
}

impl RemoteJob {
    /// The kind of messages.
    pub fn kind(&self) -> RemoteKind {
        kind_of(self.job.entry).unwrap_or(RemoteKind::Sums)
    }

    /// Of how many parties those of the run are left, where others were struck.
    fn whole(&self) -> Option<u32> {
        self.job.remaining.as_ref().map(|left| left.whole)
    }

    /// Whether the lead observes a walk.
    fn has_observer(&self) -> bool {
        self.kind() == RemoteKind::Walk && self.trust() == View::Network
    }

    /// Whether the lead has a node of its own, and so a model: the observer of a walk, or a server.
    pub fn has_lead_node(&self) -> bool {
        self.has_observer() || self.kind() == RemoteKind::Star
    }

    /// No message between two nodes is longer.
    pub fn longest_between(&self) -> usize {
        let width = self.job.objective.schema.width() + 1;
        let numbers = 32 * width * self.job.objective.loss.outputs() + (1 << 12);
        match self.is_closed() {
            // A page of the course of a run; keys, signatures and shares of everybody.
            true => numbers + (1 << 16) + 512 * self.parties() as usize,
            false => numbers,
        }
    }

    /// Whether steps are closed for the lead, or behind masks.
    fn is_closed(&self) -> bool {
        self.kind() == RemoteKind::Star && self.trust() != View::Local
    }

    /// The key by which parties close their steps for the lead that has this one; empty where it is
    /// trusted with none.
    ///
    /// # Errors
    /// If the budget does not allow the run.
    pub fn step_key(
        &self,
        key: &NoiseKey,
        (run, units): (&Digest, &[Option<u64>]),
    ) -> Result<Vec<u8>, Error> {
        self.agreed(units, |agreement| {
            agreement.begin(*run);
            let public = agreement.aggregator_key(key).map(|public| wire::pack(&public));
            Ok(public.transpose().map_err(reticent_runtime::RunError::from)?.unwrap_or_default())
        })
    }

    /// Whether a lead's key for steps is one of this run's, on the terms that this party works out itself.
    ///
    /// # Errors
    /// If the budget does not allow the run.
    pub fn takes_step_key(&self, public: &[u8], units: &[Option<u64>]) -> Result<bool, Error> {
        let own =
            self.agreed(units, |agreement| Ok(agreement.aggregator_key(&NoiseKey::seeded(0))))?;
        let Some(own) = own else { return Ok(public.is_empty()) };
        Ok(wire::unpack::<AggregatorKey>(public).is_ok_and(|public| public.has_terms_of(&own)))
    }

    /// To how many attempts at a run a party gives its random number, where more follows from the run's name
    /// than which run it is; `None` where nothing does.
    pub fn name_attempts(&self) -> Option<u32> {
        let drawn = self.job.settings.sampling.unwrap_or_default() != Sampling::Full;
        let by_name = self.kind() == RemoteKind::Star && self.trust() == View::SecureAggregation;
        (by_name && drawn).then_some(NAME_ATTEMPTS)
    }

    /// The planned ledger of one party, from public numbers only.
    ///
    /// # Errors
    /// If the budget does not allow it.
    pub fn plan_of(&self, party: u32, units: &[Option<u64>]) -> Result<Ledger, Error> {
        match self.kind() {
            RemoteKind::Sums => self.plan(units),
            _ => self.agreed(units, |agreement| Ok(agreement.planned(PartyId(party))?)),
        }
    }

    /// The table as the gate of a node is opened on.
    fn table(&self, table: PrivateTable) -> Result<PrivateTable, Error> {
        self.job.check_owners(&table)?;
        match self.job.opening.unit {
            Unit::Record => Ok(table),
            unit => table.of_one_person().ok_or_else(|| unexpected_owners(unit)),
        }
    }

    /// What all have agreed on, calibrated once.
    fn agreed<T>(
        &self,
        units: &[Option<u64>],
        act: impl FnOnce(&mut Agreement) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut kept = self.agreement.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *kept {
            Some((of, agreement)) if of == units => act(agreement),
            kept => {
                let records: Vec<u64> = units.iter().map(|own| own.unwrap_or(1)).collect();
                // Each says its own number, and one that lies must not stop the others' arithmetic.
                if records.iter().try_fold(0, |sum: u64, own| sum.checked_add(*own)).is_none() {
                    let why = "the parties have more records together than can be counted: one of them does not say \
                               the truth";
                    return Err(Error::value("records", "2^64 or more", why));
                }
                // The run is said when a node is made; nothing that is calibrated depends on it.
                let made = self.job.with_setup(&records, &self.job.budgets, |setup| {
                    let job = setup.job;
                    let mut made = Agreement::new(setup, job)?;
                    self.whole().map_or(Ok(()), |whole| made.left_of(whole))?;
                    // Before anything is calibrated.
                    made.on_a_network(None)?;
                    Ok(made)
                })?;
                act(&mut kept.insert((units.to_vec(), made)).1)
            }
        }
    }

    /// The node of a party, with its own table and key.
    ///
    /// # Errors
    /// If the table is not the one that was described, or the budget does not allow it.
    pub fn peer_node(
        &self,
        table: PrivateTable,
        (key, number): (NoiseKey, u32),
        (run, units): (&Digest, &[Option<u64>]),
        by: SignedByAll<'_>,
    ) -> Result<Box<dyn Node>, Error> {
        let table = self.table(table)?;
        let closed = (!by.aggregator.is_empty()).then(|| wire::unpack(by.aggregator)).transpose();
        let closed = closed.map_err(reticent_runtime::RunError::from)?;
        self.agreed(units, |agreement| {
            agreement.begin(*run);
            agreement.trust(closed);
            agreement.on_a_network(Some(by.signers))?;
            Ok(agreement.node(PartyId(number), table, key)?)
        })
    }

    /// The node of the lead, if it has a seat.
    ///
    /// # Errors
    /// If the budget does not allow the run.
    pub fn lead_node(
        &self,
        key: NoiseKey,
        (run, units): (&Digest, &[Option<u64>]),
        signers: Signers,
    ) -> Result<Option<Box<dyn Node>>, Error> {
        self.agreed(units, |agreement| {
            agreement.begin(*run);
            agreement.on_a_network(Some(signers))?;
            Ok(agreement.server(key)?)
        })
    }

    /// What a guarantee takes as given; of a user's own model, or of the lead's.
    fn assumed_between(&self, units: &[Option<u64>], own: bool) -> Result<Vec<String>, Error> {
        let opening = &self.job.opening;
        let mut assumed = self.agreed(units, |agreement| Ok(agreement.protocol().assumptions()))?;
        assumed.extend(BETWEEN_PARTIES.map(str::to_owned));
        match opening.unit {
            Unit::Record => assumed.push(dealt(opening)),
            Unit::User | Unit::Party => assumed.extend([ONE_PERSON, TIMED].map(str::to_owned)),
        }
        assumed.extend(self.job.objective.assumptions(opening.unit));
        assumed.push(ON_A_NETWORK.to_owned());
        // Where whoever looks sees every message anyway, nothing rests on seals.
        if self.kind() == RemoteKind::Star && self.trust() == View::Central {
            assumed.extend([SEALED, LEAD_TRUSTED].map(str::to_owned));
        }
        if self.has_observer() {
            assumed.extend([SEALED, RELAYED].map(str::to_owned));
            assumed.extend(own.then(|| FOR_ITSELF.to_owned()));
        }
        Ok(assumed)
    }

    /// A party's own model with its own certificate, from its node's estimate and report.
    ///
    /// # Errors
    /// If the books cannot be accounted for.
    pub fn peer_model(
        &self,
        estimate: NodeEstimate,
        report: &PartyReport,
        units: &[Option<u64>],
    ) -> Result<Model, Error> {
        let (name, delta) = (self.job.entry.name, self.job.certificate_delta());
        let assumed = self.assumed_between(units, true)?;
        let own = Certificate::of_party(name, delta, &assumed, report)?;
        Model::new(name, &self.job.objective, estimate.parameter, Extras::default(), own)
    }

    /// The model of a server that steps were said to, with a party's own certificate: its numbers are
    /// the lead's to say, since they follow from steps that have their noise.
    ///
    /// # Errors
    /// If the model is of another job.
    pub fn star_model(
        &self,
        model: &Model,
        report: &PartyReport,
        units: &[Option<u64>],
    ) -> Result<Model, Error> {
        // Whoever adds the noise says in its own certificate how much.
        if self.trust() == View::Central
            && self.job.budgets.is_empty()
            && model.certificate().ledger.entries() != report.ledger.entries()
        {
            let why = "the lead's certificate counts something else than was agreed on";
            return Err(Error::value("model", "other", why));
        }
        let parameter = vec![0.0; self.job.objective.regulariser.shape().len()];
        let like = self.peer_model(NodeEstimate { steps: 0, parameter }, report, units)?;
        like.with_numbers_of(model)
    }

    /// The model of the lead's own node: its certificate is that of the party who spends most, by the
    /// plans that all have agreed on.
    ///
    /// # Errors
    /// If the books cannot be accounted for.
    pub fn observed_model(
        &self,
        estimate: NodeEstimate,
        units: &[Option<u64>],
        seeded: bool,
    ) -> Result<Model, Error> {
        let reports = self.agreed(units, |agreement| {
            let report = |party: u32| {
                let (id, terms) = (PartyId(party), agreement.books_terms(PartyId(party)));
                let mut ledger = agreement.planned(id)?;
                if seeded {
                    ledger.taint(Taint::SeededNoise);
                }
                Ok(PartyReport { id, answers: ledger.total_events(), ledger, terms })
            };
            (0..self.parties()).map(report).collect::<Result<Vec<PartyReport>, Error>>()
        })?;
        let assumed = self.assumed_between(units, false)?;
        let (model, _) = self.job.conclude(&assumed, &reports, estimate.parameter.into())?;
        Ok(model)
    }

    /// The same run in one process, with keys from a seed.
    pub(super) fn nodes_in_one_process(
        &self,
        tables: Vec<PrivateTable>,
        seed: u64,
    ) -> Result<Simulated, Error> {
        let job = &self.job;
        let tables: Vec<_> =
            tables.into_iter().map(|table| self.table(table)).collect::<Result<_, _>>()?;
        let count = |table: &PrivateTable| self.public_units(table).unwrap_or(1);
        let records: Vec<u64> = tables.iter().map(count).collect();
        let key = NoiseKey::seeded(seed);
        let whole = self.whole();
        let mut run = job.with_setup(&records, &job.budgets, |setup| {
            prepare_as_apart(setup, whole, key, tables)
        })?;
        while run.step()? {}
        job.close(run, &Default::default(), &mut |_| {})
    }
}
