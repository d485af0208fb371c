//! From tables to a run that is ready: rehearse, calibrate, open the gates, make the nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use reticent_accountant::{Ledger, Refused, Unit, calibrate, epsilon};
use reticent_noise::{Digest, Hasher, NoiseKey};
use reticent_oracle::{Gate, Opening, Oracle, PrivateTable, Terms};
use reticent_problem::losses::Loss;

use crate::algorithms::{Entry, Protocol, Recipe, Start, party_at};
use crate::error::RunError;
use crate::message::PartyId;
use crate::party::Party;
use crate::simulation::{Simulation, Traffic};

/// What may be spent by one party.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
}

/// How much noise there is.
#[derive(Clone, Debug, PartialEq)]
pub enum Price {
    /// The least with which the whole plan of a party is within the budget; parties that have a
    /// smaller budget of their own stop when that is spent.
    Within(Budget, BTreeMap<u32, f64>),
    /// A noise multiplier, for tests and experiments; 0 is none, and no privacy.
    Noise(f64),
}

/// All that a run is made from, but for the tables.
#[derive(Debug)]
pub struct Setup<'a> {
    /// The algorithm.
    pub entry: &'static Entry,
    /// What it is built from.
    pub recipe: Recipe<'a>,
    /// The loss of a record.
    pub loss: Arc<dyn Loss>,
    /// The terms of the parties' gates.
    pub opening: Opening,
    /// The noise.
    pub price: Price,
    /// The key that the keys of all parties follow from. (In a real run each has its own.)
    pub key: NoiseKey,
    /// Stands for the job: two runs that differ in it share no noise, and a checkpoint is of one
    /// job.
    pub job: Digest,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The parameter.
    pub parameter: Vec<f64>,
    /// The books of each party.
    pub parties: Vec<PartyReport>,
    /// What was moved; `None` where that would say something of a secret sample.
    pub traffic: Option<Traffic>,
    /// Messages that were rejected, by name; none are told where the traffic is not.
    pub rejections: BTreeMap<String, u64>,
}

/// What one party has set aside, and how much of it was asked for.
#[derive(Clone, Debug)]
pub struct PartyReport {
    /// Who.
    pub id: PartyId,
    /// What its certificate counts.
    pub ledger: Ledger,
    /// How often its own gate has answered.
    pub answers: u64,
    /// On which terms.
    pub terms: Terms,
}

/// Calibrates the noise and makes the nodes; a table for each party.
pub fn prepare(setup: Setup<'_>, tables: Vec<PrivateTable>) -> Result<Simulation, RunError> {
    prepare_altered(setup, tables, |_| {})
}

/// The same with a known defect, for an audit to find.
#[cfg(feature = "seeded-bugs")]
pub fn prepare_spoiled(
    setup: Setup<'_>,
    tables: Vec<PrivateTable>,
    bug: reticent_oracle::Bug,
) -> Result<Simulation, RunError> {
    let mut simulation = prepare_altered(setup, tables, |protocol| protocol.spoil(bug))?;
    simulation.bug = Some(bug);
    Ok(simulation)
}

fn prepare_altered(
    setup: Setup<'_>,
    tables: Vec<PrivateTable>,
    alter: impl FnOnce(&mut dyn Protocol),
) -> Result<Simulation, RunError> {
    let Setup { entry, recipe, loss, opening, price, key, job } = setup;
    if tables.is_empty()
        || tables.len() >= u32::MAX as usize / 2
        || tables.len() != recipe.records.len()
    {
        return Err(Refused::new(
            "parties",
            tables.len(),
            "at least one party with its table is needed",
        )
        .into());
    }
    if let Price::Within(_, smaller) = &price
        && let Some((&nobody, _)) = smaller.range(tables.len() as u32..).next()
    {
        let allowed = format!("parties are numbered from 0 to {}", tables.len() - 1);
        return Err(Refused::new("budgets", nobody, allowed).into());
    }
    let mut protocol = (entry.build)(&recipe)?;
    alter(&mut *protocol);
    let gates = tables
        .into_iter()
        .enumerate()
        .map(|(i, table)| {
            Gate::open_keyed(table, Arc::clone(&loss), &opening, key.child(i as u64), &job)
        })
        .collect::<Result<Vec<Gate>, _>>()?;
    // The number of persons is public, and an answer is divided by it: at 0 it would show that
    // there is nothing.
    if recipe.unit == Unit::User && gates.iter().any(|gate| gate.terms().population() == 0) {
        let why = "a party without records cannot be protected as a person: take fewer parties, or protect records";
        return Err(Refused::new("parties", gates.len(), why).into());
    }
    let mut tables = Hasher::new("reticent tables");
    for gate in &gates {
        tables.field(&gate.fingerprint()?.unwrap_or_default());
    }
    // Public, and another for every run: the key is.
    let run =
        Hasher::new("reticent run").field(&job).number(key.entropy(&job).below(u64::MAX)?).finish();
    let mut classes: BTreeMap<u64, (f64, Ledger)> = BTreeMap::new();
    let mut noise = Vec::with_capacity(gates.len());
    let mut parties = Vec::with_capacity(gates.len());
    for (i, mut gate) in gates.into_iter().enumerate() {
        let id = PartyId(i as u32);
        let class = protocol.plan_class(id);
        if let std::collections::btree_map::Entry::Vacant(vacant) = classes.entry(class) {
            vacant.insert(calibrated(&*protocol, id, &gate, &price)?);
        }
        let (own, plan) = &classes[&class];
        noise.push(*own);
        protocol.taints().into_iter().for_each(|taint| gate.taint(taint));
        parties.push(match &price {
            Price::Within(budget, smaller) if smaller.contains_key(&id.0) => {
                let budget = Budget { epsilon: smaller[&id.0], ..*budget };
                Party::new(id, gate, &front(plan, budget)?)?
            }
            _ => Party::new(id, gate, plan)?,
        });
    }
    let start = Start { run: &run, noise: &noise, server: key.child(u64::MAX) };
    let network = protocol.network(parties, start)?;
    let mut simulation = Simulation::new(protocol, network, job, key);
    simulation.tables = tables.numbers(&noise).finish();
    simulation.noise = noise;
    Ok(simulation)
}

impl Simulation {
    /// Runs what is left of the run to its end.
    pub fn complete(mut self, after: impl FnMut(u32, u32)) -> Result<Outcome, RunError> {
        self.run(after)?;
        let parameter = self.finish()?;
        let ids = self.nodes.iter().filter_map(|node| node.party()).map(|party| party.id());
        let report = |id: PartyId| {
            let (ledger, terms) = self.protocol.books(id, &self.nodes)?;
            let answers = party_at(&self.nodes, id)?.ledger().total_events();
            Ok(PartyReport { id, ledger, answers, terms })
        };
        let told = self.protocol.traffic_is_public();
        Ok(Outcome {
            parameter,
            parties: ids.map(report).collect::<Result<_, RunError>>()?,
            traffic: told.then(|| self.traffic()),
            rejections: if told { self.rejections().clone() } else { BTreeMap::new() },
        })
    }
}

/// The noise of a party, and the plan with it.
fn calibrated(
    protocol: &dyn Protocol,
    id: PartyId,
    gate: &Gate,
    price: &Price,
) -> Result<(f64, Ledger), RunError> {
    let plan = |noise: f64| protocol.plan(id, noise, gate.shape(), gate.terms());
    let noise = match price {
        Price::Noise(noise) => *noise,
        Price::Within(budget, _) => {
            // Once before the search, so that a plan that cannot be is refused as itself and not
            // for its price.
            plan(1.0)?;
            calibrate(budget.epsilon, budget.delta, plan)?.noise_multiplier
        }
    };
    Ok((noise, plan(noise)?))
}

/// The longest front of the plan that is within the budget. Fixed before the run, so that where a
/// party stops does not depend on anything that happens in it.
fn front(plan: &Ledger, budget: Budget) -> Result<Ledger, RunError> {
    let (mut fits, mut over) = (0, plan.total_events() + 1);
    while over - fits > 1 {
        let middle = fits.midpoint(over);
        if epsilon(&first(plan, middle), budget.delta)?.upper <= budget.epsilon {
            fits = middle;
        } else {
            over = middle;
        }
    }
    Ok(first(plan, fits))
}

/// The first `count` events of a ledger, with all its taints.
fn first(ledger: &Ledger, mut count: u64) -> Ledger {
    let mut front = Ledger::new();
    for entry in ledger.entries() {
        let taken = entry.count().min(count);
        if taken > 0 {
            front.append_many(entry.event().clone(), taken);
        }
        count -= taken;
    }
    ledger.taints().iter().for_each(|&taint| front.taint(taint));
    front
}
