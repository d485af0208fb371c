//! From a public description to nodes: the agreement of all members of a run, and the node that
//! each makes from it and from its own data.

use std::collections::BTreeMap;
use std::sync::Arc;

use reticent_accountant::{Ledger, Refused, calibrate, calibrate_by, epsilon};
use reticent_noise::{Digest, NoiseKey};
use reticent_oracle::{AggregatorKey, Gate, Oracle, PrivacyModel, PrivateTable, Terms};
use reticent_problem::losses::Loss;

use crate::algorithms::federated::signed::Signers;
use crate::algorithms::{Protocol, ProtocolEntry, ProtocolRecipe, Start};
use crate::error::RunError;
use crate::message::PartyId;
use crate::node::Node;
use crate::party::Party;

/// The number of the key for randomness outside the gate, derived from a party's key.
const BESIDE_THE_GATE: u64 = 0;

/// The budget of one party.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartyBudget {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
}

/// The amount of noise.
#[derive(Clone, Debug, PartialEq)]
pub enum NoisePrice {
    /// The least noise with which the whole plan of a party is within the budget, times the party's
    /// factor ([`Protocol::noise_share`]); a party with a smaller budget of its own stops when that
    /// is spent.
    Within(PartyBudget, BTreeMap<u32, f64>),
    /// A noise multiplier, for tests and experiments; 0 is no noise and no privacy.
    Noise(f64),
}

/// The public description of a run.
#[derive(Debug)]
pub struct Setup<'a> {
    /// The algorithm.
    pub entry: &'static ProtocolEntry,
    /// The input of its constructor.
    pub recipe: ProtocolRecipe<'a>,
    /// The loss of a record.
    pub loss: Arc<dyn Loss>,
    /// The terms of the parties' gates.
    pub opening: PrivacyModel,
    /// The noise.
    pub price: NoisePrice,
    /// The digest of the job: a checkpoint is of one.
    pub job: Digest,
}

/// The noise and the plan of a class of parties.
#[derive(Debug)]
struct CalibratedClass {
    noise: f64,
    plan: Ledger,
}

/// The agreement of all members of a run. A party makes its node from it, its own table and its own
/// key ([`Agreement::node`]); the node has the party's books and, if the algorithm gives it one, a
/// model. It needs nothing of another party. Plans and noise follow from public numbers alone, so
/// all members compute the same ones.
#[derive(Debug)]
pub struct Agreement {
    pub(crate) protocol: Box<dyn Protocol>,
    loss: Arc<dyn Loss>,
    opening: PrivacyModel,
    price: NoisePrice,
    pub(crate) job: Digest,
    run: Digest,
    /// The public number of units of each party.
    units: Vec<u64>,
    aggregator: Option<AggregatorKey>,
    /// The noise and the plan of each class of parties that was calibrated so far.
    classes: BTreeMap<u64, CalibratedClass>,
    #[cfg(reticent_seeded_bugs)]
    bug: Option<reticent_oracle::Bug>,
}

impl Agreement {
    /// The agreement on a run: `run` is public and different for every run, so a party whose key
    /// outlives a run uses no noise twice.
    pub fn new(setup: Setup<'_>, run: Digest) -> Result<Self, RunError> {
        let Setup { entry, recipe, loss, opening, price, job } = setup;
        let units = recipe.units();
        if units.is_empty() || units.len() >= u32::MAX as usize / 2 {
            let allowed = "at least one party with its table is needed";
            return Err(Refused::new("parties", units.len(), allowed).into());
        }
        if let NoisePrice::Within(_, smaller) = &price
            && let Some((&nobody, _)) = smaller.range(units.len() as u32..).next()
        {
            let allowed = format!("parties are numbered from 0 to {}", units.len() - 1);
            return Err(Refused::new("budgets", nobody, allowed).into());
        }
        let protocol = (entry.build)(&recipe)?;
        Ok(Agreement {
            protocol,
            loss,
            opening,
            price,
            job,
            run,
            units,
            aggregator: None,
            classes: BTreeMap::new(),
            #[cfg(reticent_seeded_bugs)]
            bug: None,
        })
    }

    /// Gives every node, and every gate behind one, a known defect.
    #[cfg(reticent_seeded_bugs)]
    pub(crate) fn spoil(&mut self, bug: reticent_oracle::Bug) {
        self.protocol.spoil(bug);
        self.bug = Some(bug);
    }

    /// The algorithm with its settings.
    pub fn protocol(&self) -> &dyn Protocol {
        &*self.protocol
    }

    /// The number of parties.
    pub fn parties(&self) -> u32 {
        self.units.len() as u32
    }

    /// The plan of a party with this noise.
    pub fn plan(&self, party: PartyId, noise: f64) -> Result<Ledger, RunError> {
        let plan = self.protocol.plan(party, noise, self.terms(party))?;
        let planned = plan.total_events();
        let counted = self.protocol.events_by(self.protocol.rounds());
        if planned > counted {
            return Err(RunError::Uncounted { planned, counted });
        }
        Ok(plan)
    }

    /// Makes this the agreement on another run: the calibration is the same for all runs.
    pub fn begin(&mut self, run: Digest) {
        self.run = run;
    }

    /// The plan that a party's gate enforces, which the party pays for before its node is made.
    pub fn planned(&mut self, party: PartyId) -> Result<Ledger, RunError> {
        let plan = self.calibrated(party)?.plan.clone();
        match &self.price {
            NoisePrice::Within(budget, smaller) if smaller.contains_key(&party.0) => {
                front(&plan, PartyBudget { epsilon: smaller[&party.0], ..*budget })
            }
            _ => Ok(plan),
        }
    }

    /// The calibrated noise multiplier of a party.
    pub fn noise(&mut self, party: PartyId) -> Result<f64, RunError> {
        Ok(self.calibrated(party)?.noise)
    }

    /// The public key by which the parties encrypt their contributions for a trusted server that
    /// has this secret key: the server announces it, and the parties take it with
    /// [`Agreement::trust`].
    pub fn aggregator_key(&self, server: &NoiseKey) -> Option<AggregatorKey> {
        self.protocol.aggregator_key(server, &self.run)
    }

    /// Encrypts contributions with the key that the server has announced, from here on; it decrypts
    /// none.
    pub fn trust(&mut self, aggregator: Option<AggregatorKey>) {
        self.aggregator = aggregator;
    }

    /// Counts for parties that are left of `whole` ([`Protocol::left_of`]).
    ///
    /// # Errors
    /// If no guarantee is left.
    pub fn left_of(&mut self, whole: u32) -> Result<(), RunError> {
        self.protocol.left_of(whole)
    }

    /// Prepares for nodes on separate machines ([`Protocol::on_a_network`]).
    ///
    /// # Errors
    /// If the algorithm is not proven there.
    pub fn on_a_network(&mut self, signers: Option<Signers>) -> Result<(), Refused> {
        self.protocol.on_a_network(signers)
    }

    /// The node of one party: `key` is its own, and no other node needs it.
    pub fn node(
        &mut self,
        id: PartyId,
        table: PrivateTable,
        key: NoiseKey,
    ) -> Result<Box<dyn Node>, RunError> {
        let beside = key.child(BESIDE_THE_GATE);
        let loss = Arc::clone(&self.loss);
        #[allow(unused_mut, reason = "a defect is switched on in audit builds alone")]
        let mut gate = Gate::open_keyed(table, loss, &self.opening, key, &self.run)?;
        #[cfg(reticent_seeded_bugs)]
        self.bug.map_or(Ok(()), |bug| gate.spoil(bug))?;
        // The number of persons is public, and an answer is divided by it: 0 would show that the
        // table is empty.
        let count = gate.terms().population();
        if self.opening.unit.is_whole() && count == 0 {
            let why = "a party without records cannot be protected as a whole: take fewer parties, or protect records";
            return Err(Refused::new("parties", self.units.len(), why).into());
        }
        if *gate.terms() != self.terms(id) {
            let why = "the description of the run says otherwise of this party: it must be right";
            return Err(Refused::new("records", count, why).into());
        }
        let (noise, plan) = (self.calibrated(id)?.noise, self.planned(id)?);
        let party = Party::new(id, gate, plan, self.protocol.books_terms(self.terms(id)))?;
        let start =
            Start { run: &self.run, key: beside, noise, aggregator: self.aggregator.as_ref() };
        self.protocol.node(party, start)
    }

    /// The node of the server, if the algorithm has one; `key` is its own.
    pub fn server(&mut self, key: NoiseKey) -> Result<Option<Box<dyn Node>>, RunError> {
        let noise = self.all_noise()?;
        self.protocol.server(&self.run, key, &noise)
    }

    /// The calibrated noise multiplier of every party.
    pub(crate) fn all_noise(&mut self) -> Result<Vec<f64>, RunError> {
        (0..self.parties()).map(|party| self.noise(PartyId(party))).collect()
    }

    /// The terms of the books that count for a party.
    pub fn books_terms(&self, party: PartyId) -> Terms {
        self.protocol.books_terms(self.terms(party))
    }

    fn terms(&self, party: PartyId) -> Terms {
        let PrivacyModel { unit, view, .. } = self.opening;
        Terms::of_parties(unit, view, self.units.get(party.index()).copied().unwrap_or(0))
    }

    /// The noise of a party, and its plan.
    fn calibrated(&mut self, party: PartyId) -> Result<&CalibratedClass, RunError> {
        let class = self.protocol.plan_class(party);
        if !self.classes.contains_key(&class) {
            let plan = |noise: f64| self.plan(party, noise);
            let noise = match &self.price {
                NoisePrice::Noise(noise) => *noise,
                NoisePrice::Within(budget, _) => {
                    // Once before the search, so that an impossible plan is refused as such and not
                    // for its price.
                    plan(1.0)?;
                    let PartyBudget { epsilon, delta } = *budget;
                    match self.protocol.counted_by() {
                        None => calibrate(epsilon, delta, plan)?.noise_multiplier,
                        Some(by) => calibrate_by(by, epsilon, delta, plan)?.noise_multiplier,
                    }
                }
            };
            let share = self.protocol.noise_share(party);
            let noise = noise * share;
            let plan = plan(noise)?;
            // More noise costs less; a plan that violates this is refused.
            if let NoisePrice::Within(budget, _) = &self.price
                && share > 1.0
                && epsilon(&plan, budget.delta)?.upper > budget.epsilon
            {
                let allowed = "with more noise the plan of a party costs more than its budget";
                return Err(Refused::new("party_noise", share, allowed).into());
            }
            self.classes.insert(class, CalibratedClass { noise, plan });
        }
        Ok(&self.classes[&class])
    }
}

/// The longest prefix of the plan that is within the budget. It is fixed before the run, so the end
/// of a party depends on nothing in the run.
fn front(plan: &Ledger, budget: PartyBudget) -> Result<Ledger, RunError> {
    let (mut fits, mut over) = (0, plan.total_events() + 1);
    while over - fits > 1 {
        let middle = fits.midpoint(over);
        if epsilon(&plan.front(middle), budget.delta)?.upper <= budget.epsilon {
            fits = middle;
        } else {
            over = middle;
        }
    }
    Ok(plan.front(fits))
}
