//! Runs of many parties, of which one, the victim, has either of two tables: what its view's
//! adversary sees of the messages is the transcript. What the tables are is said by the pair.
//!
//! Locally the adversary sees all that the victim sends; in a network, one other party sees what
//! comes by it.

use std::sync::{Arc, Mutex, PoisonError};

use reticent::Error;
use reticent::accountant::{Adjacency, Ledger, View, epsilon, gdp_mu};
use reticent::admm::Settings;
use reticent::internal::admm::ProblemFacts;
use reticent::internal::runtime::{
    NoisePrice, PartyBudget, PartyId, ProtocolEntry, ProtocolRecipe, RunError, Setup, SimulatedRun,
    Topology, find, prepare, wire,
};
use reticent::internal::{Seen, whole_budget};
use reticent::problem::{Loss, Regulariser};
use reticent_data::Table;
use reticent_oracle::{NoiseKey, PrivacyModel, PrivateTable, Refusal, Sampling};

use crate::pair::VICTIM as PLACE;
use crate::spec::AuditSpec;

/// Who is attacked, and who looks where a peer does.
const VICTIM: PartyId = PartyId(PLACE as u32);
const OBSERVER: PartyId = PartyId(0);

/// A run that can be repeated.
#[derive(Debug)]
pub(crate) struct PartiesSubject {
    entry: &'static ProtocolEntry,
    settings: Settings,
    public: ProblemFacts,
    regulariser: Arc<Regulariser>,
    topology: Topology,
    loss: Arc<dyn Loss>,
    opening: PrivacyModel,
    records: Vec<u64>,
    /// A world of the kind that it was calibrated for.
    like: Vec<Table>,
    seed: Option<u64>,
    /// That of the victim, and how many times the noise of a budget it is.
    noise: f64,
    share: f64,
    plan: Ledger,
    delta: f64,
    #[cfg(reticent_seeded_bugs)]
    bug: Option<reticent_oracle::Bug>,
}

/// Whether an algorithm of this name is for many parties.
pub(crate) fn knows(algorithm: &str) -> bool {
    find(algorithm).is_some()
}

impl PartiesSubject {
    /// Calibrates it.
    pub fn new(spec: &AuditSpec) -> Result<Self, Error> {
        let entry = find(&spec.algorithm)
            .ok_or_else(|| Error::value("algorithm", &spec.algorithm, "it is not for parties"))?;
        if spec.adjacency != Adjacency::ReplaceOne {
            return Err(Error::value(
                "adjacency",
                spec.adjacency,
                "who the parties are is public: use replace-one",
            ));
        }
        if spec.parties < 2 {
            return Err(Error::value(
                "parties",
                spec.parties,
                "the victim and another one are needed",
            ));
        }
        let view = spec.trust.unwrap_or(entry.views[0]);
        let objective = spec.problem()?.check()?;
        let like = spec.pairs()[0].world(true, &spec.layout());
        let opening = PrivacyModel {
            adjacency: Adjacency::ReplaceOne,
            unit: spec.unit(),
            view,
            public_n: None,
            intercept: 0.0,
        };
        // As the product has it: what is left to the algorithm may follow from the budget.
        let whole = whole_budget(Some(reticent::Budget::new(spec.epsilon, spec.delta)?), opening)?;
        let mut crowd = PartiesSubject {
            entry,
            settings: settings(spec, entry),
            public: objective.public(u64::from(spec.parties), whole),
            regulariser: Arc::clone(objective.regulariser()),
            topology: Topology::complete(spec.parties),
            loss: Arc::clone(objective.loss()),
            opening,
            records: like.iter().map(|table| table.len() as u64).collect(),
            like,
            seed: spec.seed,
            noise: 0.0,
            share: 1.0,
            plan: Ledger::new(),
            delta: spec.delta,
            #[cfg(reticent_seeded_bugs)]
            bug: spec.bug,
        };
        let budget = PartyBudget { epsilon: spec.epsilon, delta: spec.delta };
        let price = NoisePrice::Within(budget, std::collections::BTreeMap::new());
        let simulation = crowd.prepare(&crowd.like, u64::MAX, price)?;
        crowd.noise = simulation.noise()[VICTIM.index()];
        crowd.share = simulation.protocol().noise_share(VICTIM);
        crowd.plan = crowd.planned(&simulation, crowd.noise)?;
        Ok(crowd)
    }

    /// The victim's plan with this noise.
    fn planned(&self, simulation: &SimulatedRun, noise: f64) -> Result<Ledger, Error> {
        simulation.plan(VICTIM, noise).map_err(|error| self.failed(&error))
    }

    /// The same with so many times the noise.
    pub fn plan_at(&self, scale: f64) -> Result<Ledger, Error> {
        let simulation = self.prepare(&self.like, u64::MAX, self.price())?;
        self.planned(&simulation, scale * self.noise)
    }

    /// What gives the victim its noise once more.
    fn price(&self) -> NoisePrice {
        NoisePrice::Noise(self.noise / self.share)
    }

    fn prepare(
        &self,
        world: &[Table],
        number: u64,
        price: NoisePrice,
    ) -> Result<SimulatedRun, Error> {
        let recipe = ProtocolRecipe {
            settings: &self.settings,
            public: &self.public,
            regulariser: &self.regulariser,
            records: &self.records,
            topology: &self.topology,
            view: self.opening.view,
            unit: self.opening.unit,
            public_seed: 1,
        };
        let key = match self.seed {
            Some(seed) => NoiseKey::seeded(seed).child(number),
            None => NoiseKey::secure().map_err(Refusal::from)?,
        };
        let setup = Setup {
            entry: self.entry,
            recipe,
            loss: Arc::clone(&self.loss),
            opening: self.opening,
            price,
            job: [0; 32],
        };
        let tables = world.iter().map(|table| PrivateTable::from(table.clone())).collect();
        #[cfg(reticent_seeded_bugs)]
        if let Some(bug) = self.bug {
            return reticent::internal::runtime::prepare_spoiled(setup, key, tables, bug)
                .map_err(|error| self.failed(&error));
        }
        prepare(setup, key, tables).map_err(|error| self.failed(&error))
    }

    /// One run.
    pub fn run(&self, world: &[Table], number: u64) -> Result<Seen, Error> {
        let mut simulation = self.prepare(world, number, self.price())?;
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ours = Arc::clone(&heard);
        simulation.listen(Box::new(move |_, bytes| {
            if let Ok(envelope) = wire::decode(bytes, wire::LONGEST) {
                ours.lock().unwrap_or_else(PoisonError::into_inner).push(envelope);
            }
        }));
        simulation.run(|_, _| {}).map_err(|error| self.failed(&error))?;
        let parameter = simulation.finish().map_err(|error| self.failed(&error))?;
        let heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        let transcript = simulation.transcript(&heard, VICTIM, OBSERVER);
        Ok(Seen { parameter, transcript })
    }

    /// What is certified for the victim.
    pub fn epsilon(&self) -> Result<f64, Error> {
        Ok(epsilon(&self.plan, self.delta)?.upper)
    }

    /// μ of Gaussian differential privacy, when a run is exactly that.
    pub fn mu(&self) -> Option<f64> {
        gdp_mu(&self.plan)
    }

    /// Who looks.
    pub fn view(&self) -> View {
        self.opening.view
    }

    fn failed(&self, error: &RunError) -> Error {
        Error::value("algorithm", self.entry.name, error.to_string())
    }
}

/// What the algorithm has of the settings.
fn settings(spec: &AuditSpec, entry: &ProtocolEntry) -> Settings {
    let has = |name: &str| entry.takes.contains(&name);
    Settings {
        iterations: has("iterations").then_some(spec.iterations),
        // One that it does not have is left in, for the product to refuse.
        sampling: (has("sampling") || spec.sampling != Sampling::Full).then_some(spec.sampling),
        clip: spec.clip,
        step: spec.step,
        walk: spec.walk,
        release: spec.release,
        relaxation: spec.relaxation.filter(|_| has("relaxation")),
        as_published: spec.as_published.then_some(true),
        ..spec.others.clone()
    }
}
