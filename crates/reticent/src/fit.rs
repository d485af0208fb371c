//! From a job to a model: load, rehearse, calibrate, run, close the books.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reticent_accountant::{Ledger, calibrate};
use reticent_admm::catalogue::{Build, Built, Kind};
use reticent_admm::exact::{ExactSettings, solve};
use reticent_admm::{Choice, Public, run};
use reticent_oracle::{Entropy, Gate, Oracle, PrivateTable, Refusal, Rehearsal, Terms};

use crate::certificate::Certificate;
use crate::error::Error;
use crate::job::{Budget, Job};
use crate::model::Model;

/// What a fit tells while it runs: which part it is at, and how many iterations are done. Nothing that is
/// computed from the data.
pub trait Progress {
    /// The table is being read.
    fn reading(&mut self) {}
    /// The noise is being calibrated.
    fn calibrating(&mut self) {}
    /// So many of so many iterations are done.
    fn iteration(&mut self, _done: u64, _of: u64) {}
}

/// No progress shown.
impl Progress for () {}

/// A model and how it came about.
#[derive(Debug)]
pub struct Fitted {
    /// The model, its certificate inside.
    pub model: Model,
    /// Iterations made.
    pub iterations: u64,
    /// How long it took, reading included.
    pub time: Duration,
}

/// The noise of a job, and what it will record with it.
#[derive(Debug)]
pub(crate) struct Calibrated {
    public: Public,
    noise: f64,
    pub plan: Ledger,
}

impl Job {
    /// Does the job.
    pub fn fit(self, progress: &mut dyn Progress) -> Result<Fitted, Error> {
        let start = Instant::now();
        progress.reading();
        let table = PrivateTable::load(&self.data, self.format, &self.schema)?;
        let gate = self.open(table, 0)?;
        let terms = *gate.terms();
        let (parameter, iterations, ledger) = match (self.entry.kind, self.budget) {
            (Kind::Private(build), Some(budget)) => self.fit_private(gate, build, budget, progress)?,
            _ => self.fit_exact(gate)?,
        };
        let certificate =
            Certificate { choice: self.choice(&terms)?, ..Certificate::new(&self, &terms, ledger)? };
        let model = Model::new(&self, parameter, certificate);
        Ok(Fitted { model, iterations, time: start.elapsed() })
    }

    /// What `auto` has chosen, where it was to choose.
    fn choice(&self, terms: &Terms) -> Result<Option<Choice>, Error> {
        if self.budget.is_none() {
            return Ok(None);
        }
        let public = self.public(terms.population())?;
        Ok(self.entry.choice(&self.recipe(&public, 1.0))?)
    }

    fn fit_private(
        &self,
        mut gate: Gate,
        build: Build,
        budget: Budget,
        progress: &mut dyn Progress,
    ) -> Result<(Vec<f64>, u64, Ledger), Error> {
        progress.calibrating();
        let calibrated = self.calibrate(&gate, build, budget)?;
        let (parameter, iterations) = self.run(&mut gate, build, &calibrated, progress)?;
        Ok((parameter, iterations, gate.close()?))
    }

    /// The gate on `table`. `number` tells runs with the same seed apart.
    pub(crate) fn open(&self, table: PrivateTable, number: u64) -> Result<Gate, Error> {
        let entropy = match self.seed {
            // Multiples of an odd number near 2⁶⁴/φ: runs of different small seeds never meet.
            Some(seed) => Entropy::seeded(seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))),
            None => Entropy::secure().map_err(Refusal::from)?,
        };
        Ok(Gate::open(table, Arc::clone(&self.loss), &self.opening, entropy)?)
    }

    /// The least noise within the budget. Only what is public about the gate is used.
    pub(crate) fn calibrate(
        &self,
        gate: &Gate,
        build: Build,
        Budget { epsilon, delta }: Budget,
    ) -> Result<Calibrated, Error> {
        let public = self.public(gate.terms().population())?;
        // Once before the search, so that a plan that cannot be is refused as itself and not for its price.
        self.rehearse(gate, build, &public, 1.0)?;
        let noise = {
            let plan = |noise| self.rehearse(gate, build, &public, noise);
            calibrate(epsilon, delta, plan)?.noise_multiplier
        };
        let plan = self.rehearse(gate, build, &public, noise)?;
        Ok(Calibrated { public, noise, plan })
    }

    /// Binds the gate to the plan and runs the algorithm over it; the parameter and the iterations made.
    pub(crate) fn run(
        &self,
        gate: &mut Gate,
        build: Build,
        Calibrated { public, noise, plan }: &Calibrated,
        progress: &mut dyn Progress,
    ) -> Result<(Vec<f64>, u64), Error> {
        gate.bind(plan.clone());
        let Built { mut algorithm, iterations } = build(&self.recipe(public, *noise))?;
        let after = |done| progress.iteration(done, iterations);
        Ok((run(&mut *algorithm, iterations, gate, after)?, iterations))
    }

    fn fit_exact(&self, mut gate: Gate) -> Result<(Vec<f64>, u64, Ledger), Error> {
        let settings = ExactSettings::try_from(&self.settings)?;
        let solution = solve(&mut gate, &self.regulariser, &settings)?;
        Ok((solution.x, solution.iterations, gate.close()?))
    }

    /// The ledger that the run will have with this noise: the algorithm itself, on a gate without data.
    fn rehearse(&self, gate: &Gate, build: Build, public: &Public, noise: f64) -> Result<Ledger, Error> {
        let Built { mut algorithm, iterations } = build(&self.recipe(public, noise))?;
        let mut rehearsal = Rehearsal::new(gate.shape(), *gate.terms());
        run(&mut *algorithm, iterations, &mut rehearsal, |_| {})?;
        Ok(rehearsal.into_plan())
    }
}
