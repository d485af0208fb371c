//! From a job to a model: load, rehearse, calibrate, run, close the books.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reticent_accountant::{Ledger, calibrate};
use reticent_admm::catalogue::{Build, Built, Kind};
use reticent_admm::exact::{ExactSettings, solve};
use reticent_admm::{Public, run};
use reticent_oracle::{Entropy, Gate, Oracle, PrivateTable, Refusal, Rehearsal};

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

impl Job {
    /// Does the job.
    pub fn fit(self, progress: &mut dyn Progress) -> Result<Fitted, Error> {
        let start = Instant::now();
        let entropy = match self.seed {
            Some(seed) => Entropy::seeded(seed),
            None => Entropy::secure().map_err(Refusal::from)?,
        };
        progress.reading();
        let table = PrivateTable::load(&self.data, self.format, &self.schema)?;
        let gate = Gate::open(table, Arc::clone(&self.loss), &self.opening, entropy)?;
        let terms = *gate.terms();
        let (parameter, iterations, ledger) = match (self.entry.kind, self.budget) {
            (Kind::Private(build), Some(budget)) => self.fit_private(gate, build, budget, progress)?,
            _ => self.fit_exact(gate)?,
        };
        let certificate = Certificate::new(&self, &terms, ledger)?;
        let model = Model::new(&self, parameter, certificate);
        Ok(Fitted { model, iterations, time: start.elapsed() })
    }

    fn fit_private(
        &self,
        mut gate: Gate,
        build: Build,
        Budget { epsilon, delta }: Budget,
        progress: &mut dyn Progress,
    ) -> Result<(Vec<f64>, u64, Ledger), Error> {
        progress.calibrating();
        let public = self.public(gate.terms().population());
        // Once before the search, so that a plan that cannot be is refused as itself and not for its price.
        self.rehearse(&gate, build, &public, 1.0)?;
        let noise = {
            let plan = |noise| self.rehearse(&gate, build, &public, noise);
            calibrate(epsilon, delta, plan)?.noise_multiplier
        };
        gate.bind(self.rehearse(&gate, build, &public, noise)?);
        let Built { mut algorithm, iterations } = build(&self.recipe(&public, noise))?;
        let after = |done| progress.iteration(done, iterations);
        let parameter = run(&mut *algorithm, iterations, &mut gate, after)?;
        Ok((parameter, iterations, gate.close()?))
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
