//! Algorithms of one table between parties that add the noise themselves: what a server sees of the
//! victim, which has either of two tables.
//!
//! Locally these are the victim's own answers; behind masks the sums of all.

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
        let job = match spec.unit() {
            Unit::User if spec.several => simulation.parties_beside(),
            Unit::User | Unit::Party => simulation.party_per_owner(),
            Unit::Record => simulation.parties(spec.parties),
        }
        .check()?;
        let calibrated = job.calibrate_sums(&tables(&like)).unwrap_or_else(|| {
            Err(Error::value("algorithm", &spec.algorithm, "it is not run on noisy sums"))
        })?;
        Ok(SumsSubject {
            job,
            calibrated,
            view,
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
            VICTIM as u32,
            #[cfg(reticent_seeded_bugs)]
            self.bug,
        )
    }

    /// What is certified for the victim.
    pub fn epsilon(&self) -> Result<f64, Error> {
        Ok(epsilon(self.calibrated.plan(), self.delta)?.upper)
    }

    /// The plan with so many times the noise.
    pub fn plan_at(&self, scale: f64) -> Result<Ledger, Error> {
        self.calibrated.plan_at(scale)
    }

    /// μ of Gaussian differential privacy, when a run is exactly that.
    pub fn mu(&self) -> Option<f64> {
        gdp_mu(self.calibrated.plan())
    }

    /// Who looks.
    pub fn view(&self) -> View {
        self.view
    }
}

fn tables(world: &[Table]) -> Vec<PrivateTable> {
    world.iter().map(|table| PrivateTable::from(table.clone())).collect()
}
