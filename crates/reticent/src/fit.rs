//! From a job to a model: load, rehearse, calibrate, run, close the books.

use std::ops::ControlFlow;
use std::sync::Arc;

use reticent_accountant::{Ledger, Taint};
use reticent_admm::exact::{ExactSettings, ExactSolution, Status, solve};
use reticent_admm::{Choice, Progress as Told};
use reticent_oracle::{Entropy, Gate, Oracle, PrivateTable, Refusal};
use reticent_problem::Graph;

use crate::certificate::Certificate;
use crate::error::Error;
use crate::job::{Budget, Job};
use crate::model::Model;
use crate::run::{Calibrated, Outcome};
use crate::tune::{Prepared, Tuned};

/// What a fit tells while it runs: which part it is at, and how many iterations are done. Nothing
/// that is computed from the data.
pub trait Progress {
    /// The table is being read.
    fn reading(&mut self) {}
    /// The noise is being calibrated.
    fn calibrating(&mut self) {}
    /// The algorithm runs. Not every one tells of its iterations: how many runs a choice takes is
    /// secret.
    fn running(&mut self) {}
    /// So many of so many iterations are done.
    fn iteration(&mut self, _done: u64, _of: u64) {}
}

/// No progress shown.
impl Progress for () {}

/// A model and how it came about. How long it took is not told: a time depends on what is in the
/// records.
#[derive(Debug)]
pub struct Fitted {
    /// The model, its certificate inside.
    pub model: Model,
    /// Records read, where their number is public: records are protected, and one is replaced by
    /// another.
    pub records: Option<u64>,
    /// Iterations made.
    pub iterations: u64,
    /// What came of tuning, if the job was tuned.
    pub tuned: Option<Tuned>,
    /// Whether the exact solver got to the optimum before its iterations ran out; the others have
    /// no such thing.
    pub converged: Option<bool>,
}

/// What there is to do, calibrated.
#[derive(Debug)]
pub(crate) enum Plan {
    /// One run.
    One(Calibrated),
    /// The best of a random number of runs.
    Best(Prepared),
}

/// A job with its table read and its noise calibrated, before anything about the table was asked.
/// Whoever keeps books of several runs reserves what [`Ready::plan`] says, runs, and settles.
#[derive(Debug)]
pub struct Ready<'j> {
    job: &'j Job,
    gate: Gate,
    plan: Option<Plan>,
    records: Option<u64>,
}

/// What was done.
#[derive(Debug)]
pub(crate) struct Done<'j> {
    /// The job whose model it is.
    job: &'j Job,
    pub parameter: Vec<f64>,
    iterations: u64,
    graph: Option<Graph>,
    pub tuned: Option<Tuned>,
    converged: Option<bool>,
    /// Every answer that was released on the way, if they were kept.
    pub transcript: Vec<Vec<f64>>,
    ledger: Ledger,
    choice: Option<Choice>,
}

impl Job {
    /// Does the job.
    pub fn fit(self, progress: &mut dyn Progress) -> Result<Fitted, Error> {
        self.ready(progress)?.run(progress)
    }

    /// Reads the table and calibrates the noise; nothing is asked about the table yet.
    pub fn ready(&self, progress: &mut dyn Progress) -> Result<Ready<'_>, Error> {
        progress.reading();
        let table = PrivateTable::load_all(&self.data, self.reading, &self.schema)?;
        let records = table.public_count(self.opening.unit, self.opening.adjacency);
        let gate = self.open(table, 0)?;
        let plan = match self.budget {
            Some(budget) => {
                progress.calibrating();
                Some(self.prepare(&gate, budget)?)
            }
            None => None,
        };
        Ok(Ready { job: self, gate, plan, records })
    }

    /// The gate on `table`. `number` tells runs with the same seed apart.
    pub(crate) fn open(&self, table: PrivateTable, number: u64) -> Result<Gate, Error> {
        let entropy = match self.seed {
            // Multiples of an odd number near 2⁶⁴/φ: runs of different small seeds never meet.
            Some(seed) => {
                Entropy::seeded(seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            }
            None => Entropy::secure().map_err(Refusal::from)?,
        };
        Ok(Gate::open(table, Arc::clone(&self.loss), &self.opening, entropy)?)
    }

    /// The least noise within the budget. Only what is public about the gate is used.
    pub(crate) fn prepare(&self, gate: &Gate, budget: Budget) -> Result<Plan, Error> {
        self.check_sample(gate.terms().population())?;
        match &self.tuning {
            Some(tuning) => Ok(Plan::Best(tuning.prepare(gate, budget)?)),
            None => Ok(Plan::One(self.calibrate(gate, budget)?)),
        }
    }

    /// Does what was planned and nothing else.
    pub(crate) fn execute(
        &self,
        mut gate: Gate,
        plan: &Plan,
        progress: &mut dyn Progress,
    ) -> Result<Done<'_>, Error> {
        let (job, outcome, tuned, transcript, ledger) = match (plan, &self.tuning) {
            (Plan::Best(prepared), Some(tuning)) => {
                gate.bind(prepared.plan.clone());
                let (job, outcome, tuned, ledger) =
                    tuning.run(gate, prepared).map_err(|why| self.after(true, why))?;
                (job, outcome, Some(tuned), Vec::new(), ledger)
            }
            (Plan::One(Calibrated { public, noise, plan }), _) => {
                gate.bind(plan.clone());
                let mut tell = |Told { done, of }| {
                    progress.iteration(done, of);
                    ControlFlow::Continue(())
                };
                let outcome = self
                    .perform(&mut gate, public, noise, &mut tell)
                    .map_err(|why| self.after(gate.ledger().total_events() > 0, why))?;
                let transcript = gate.take_transcript();
                let ledger = gate.close().map_err(|why| self.after(true, why.into()))?;
                (self, outcome, None, transcript, ledger)
            }
            (Plan::Best(_), None) => return Err(self.not_private()),
        };
        let Outcome { parameter, iterations, graph, choice, .. } = outcome;
        Ok(Done {
            job,
            parameter,
            iterations,
            graph,
            tuned,
            converged: None,
            transcript,
            ledger,
            choice,
        })
    }

    /// What is said of a run that ended for this reason, after it was told something or before.
    fn after(&self, told: bool, why: Error) -> Error {
        match self.budget.filter(|_| told) {
            Some(budget) => budget.spent(why),
            None => why,
        }
    }

    fn fit_exact(&self, mut gate: Gate) -> Result<Done<'_>, Error> {
        let settings = ExactSettings::try_from(&self.settings)?;
        let ExactSolution { x, iterations, status, .. } =
            solve(&mut gate, &self.regulariser, &settings)?;
        Ok(Done {
            job: self,
            parameter: x,
            iterations,
            graph: None,
            tuned: None,
            converged: Some(status == Status::Converged),
            transcript: Vec::new(),
            ledger: gate.close()?,
            choice: None,
        })
    }
}

impl Ready<'_> {
    /// What the books of the run will have, entry for entry; `None` for an algorithm without noise.
    pub fn plan(&self) -> Option<&Ledger> {
        self.plan.as_ref().map(Plan::ledger)
    }

    /// Why the run would be no guarantee, as far as that is known before it.
    pub fn taints(&self) -> &[Taint] {
        self.gate.ledger().taints()
    }

    /// Runs it. An error that is not [`Error::Spent`] came before anything was asked.
    pub fn run(self, progress: &mut dyn Progress) -> Result<Fitted, Error> {
        let Ready { job, gate, plan, records } = self;
        let terms = *gate.terms();
        progress.running();
        let done = match &plan {
            Some(plan) => job.execute(gate, plan, progress)?,
            None => job.fit_exact(gate)?,
        };
        let Done { job, parameter, iterations, graph, tuned, converged, ledger, choice, .. } = done;
        let certificate =
            Certificate::new(job, &terms, ledger).map_err(|why| job.after(true, why))?;
        let certificate = Certificate { choice, ..certificate };
        let model = Model::new(job, parameter, graph.as_ref(), certificate);
        Ok(Fitted { model, records, iterations, tuned, converged })
    }
}

impl Plan {
    /// What the ledger will have.
    pub fn ledger(&self) -> &Ledger {
        match self {
            Plan::One(calibrated) => &calibrated.plan,
            Plan::Best(prepared) => &prepared.plan,
        }
    }
}
