//! Algorithms of one table between parties that add the noise themselves: what a server sees of the
//! victim, which has either of two tables.
//!
//! Locally these are the victim's own answers; behind masks the sums of all.
//!
//! A person with rows at k parties is measured against what covers one: locally k times the entries,
//! for k answers with noise of their own; behind masks k² times, for k parts of one sum
//! (proofs/noisy-sums.md).

use std::ops::Range;

use reticent::accountant::{Ledger, Unit, View, epsilon, gdp_mu};
use reticent::internal::Seen;
use reticent::simulate::{CalibratedSums, Simulation, SimulationJob};
use reticent::{Error, Guarantee};
use reticent_data::Table;
use reticent_oracle::{NoiseKey, PrivateTable, Refusal};

use crate::pair::VICTIM;
use crate::spec::AuditSpec;

/// A run that can be repeated.
#[derive(Debug)]
pub(crate) struct SumsSubject {
    job: SimulationJob,
    calibrated: CalibratedSums,
    view: View,
    /// The parties that are attacked, and what covers them.
    victims: Range<u32>,
    plan: Ledger,
    delta: f64,
    seed: Option<u64>,
    #[cfg(reticent_seeded_bugs)]
    bug: Option<reticent_oracle::Bug>,
}

impl SumsSubject {
    /// Calibrates it.
    pub fn new(spec: &AuditSpec, view: View) -> Result<Self, Error> {
        let like = spec.pairs()[0].world(true, &spec.layout());
        let units: usize = match spec.unit() {
            Unit::User => like.iter().map(Table::user_count).sum(),
            Unit::Party => like.len(),
            Unit::Record => like.iter().map(Table::len).sum(),
        };
        let added = spec.adjacency == reticent::accountant::Adjacency::AddRemove;
        let guarantee = Guarantee::default().with(|it| {
            it.epsilon = Some(spec.epsilon);
            it.delta = Some(spec.delta);
            it.adjacency = Some(spec.adjacency);
            it.unit = Some(spec.unit());
            it.public_n = added.then_some(units as u64);
            it.seed = spec.seed;
        });
        let simulation = Simulation::of(spec.problem()?)
            .algorithm(&spec.algorithm)?
            .settings(spec.settings_between())
            .guarantee(guarantee)
            .trust(view);
        let simulation = match spec.job.standard_errors {
            Some(share) => simulation.standard_errors(share),
            None => simulation,
        };
        let job = match spec.unit() {
            Unit::User if spec.several => simulation.parties_beside(),
            Unit::User | Unit::Party => simulation.party_per_owner(),
            Unit::Record => simulation.parties(spec.parties),
        }
        .check()?;
        let calibrated = job.calibrate_sums(&tables(&like)).unwrap_or_else(|| {
            Err(Error::value("algorithm", &spec.algorithm, "it is not run on noisy sums"))
        })?;
        let first = VICTIM as u32;
        Ok(SumsSubject {
            plan: covering(calibrated.plan(), view, spec.homes),
            job,
            calibrated,
            view,
            victims: first..first + spec.homes,
            delta: spec.delta,
            seed: spec.seed,
            #[cfg(reticent_seeded_bugs)]
            bug: spec.bug,
        })
    }

    /// One run.
    pub fn run(&self, world: &[Table], number: u64) -> Result<Seen, Error> {
        let key = match self.seed {
            Some(seed) => NoiseKey::seeded(seed).child(number),
            None => NoiseKey::secure().map_err(Refusal::from)?,
        };
        self.calibrated.seen(
            &self.job,
            tables(world),
            &key,
            self.victims.clone(),
            #[cfg(reticent_seeded_bugs)]
            self.bug,
        )
    }

    /// What is certified for the victim.
    pub fn epsilon(&self) -> Result<f64, Error> {
        Ok(epsilon(&self.plan, self.delta)?.upper)
    }

    /// The plan with so many times the noise.
    pub fn plan_at(&self, scale: f64) -> Result<Ledger, Error> {
        let homes = self.victims.len() as u32;
        Ok(covering(&self.calibrated.plan_at(scale)?, self.view, homes))
    }

    /// μ of Gaussian differential privacy, when a run is exactly that.
    pub fn mu(&self) -> Option<f64> {
        gdp_mu(&self.plan)
    }

    /// Who looks.
    pub fn view(&self) -> View {
        self.view
    }
}

/// What covers a person with rows at so many parties that have this plan each.
fn covering(plan: &Ledger, view: View, homes: u32) -> Ledger {
    let times = u64::from(if view == View::Local { homes } else { homes * homes });
    let mut all = Ledger::new();
    for entry in plan.entries() {
        all.append_many(entry.event().clone(), times * entry.count());
    }
    all
}

fn tables(world: &[Table]) -> Vec<PrivateTable> {
    world.iter().map(|table| PrivateTable::from(table.clone())).collect()
}
