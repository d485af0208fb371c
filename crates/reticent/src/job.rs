//! From a checked job to a model: load, rehearse, calibrate, run, close the books.

use reticent_accountant::{Adjacency, Ledger, Taint};
use reticent_admm::exact::{ExactSettings, ExactSolution, SolverStatus, solve};
use reticent_admm::{AutoChoice, Iterate, ProblemFacts};
use reticent_oracle::{Entropy, Gate, Oracle, PrivateTable, Refusal, SharedPasses, Terms};
use reticent_problem::Graph;

use crate::budget::Budget;
use crate::certificate::Certificate;
use crate::error::Error;
use crate::model::Model;
use crate::outlook::UtilityForecast;
use crate::run::{Calibrated, RunOutcome};
use crate::source::Source;
use crate::stage::{Stage, Watch, enter, unwatched};
use crate::standard_errors::Found;
use crate::task::Task;
use crate::trace::{Recorder, Trace, Tracing};
use crate::tune::{Prepared, Tuned, Tuning};

/// A checked job, made by [`Fit::check`](crate::Fit::check), [`Tune::check`](crate::Tune::check) or
/// [`Spec::check`](crate::Spec::check). Everything that could be refused without a table has been.
#[derive(Debug)]
pub struct Job {
    work: Work,
}

/// What there is to do.
#[derive(Debug)]
pub(crate) enum Work {
    /// One run.
    One(Box<Task>),
    /// The best of a random number of runs.
    Best(Tuning),
}

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
pub(crate) enum CalibratedPlan {
    /// One run.
    One(Calibrated),
    /// The best of a random number of runs.
    Best(Prepared),
}

/// What was done.
#[derive(Debug)]
pub(crate) struct Done<'j> {
    /// The task whose model it is.
    task: &'j Task,
    pub parameter: Vec<f64>,
    iterations: u64,
    graph: Option<Graph>,
    pub tuned: Option<Tuned>,
    converged: Option<bool>,
    /// Every answer that was released on the way, if they were kept.
    pub transcript: Vec<Vec<f64>>,
    ledger: Ledger,
    choice: Option<AutoChoice>,
    standard_errors: Option<Found>,
}

/// A job with its table read and its noise calibrated, before anything about the table was asked.
/// Whoever keeps books of several runs reserves what [`Ready::plan`] says, runs, and settles.
#[derive(Debug)]
pub struct Ready<'j> {
    work: &'j Work,
    gate: Gate,
    plan: Option<CalibratedPlan>,
    records: Option<u64>,
}

impl Job {
    pub(crate) fn one(task: Task) -> Self {
        Job { work: Work::One(Box::new(task)) }
    }

    pub(crate) fn best(tuning: Tuning) -> Self {
        Job { work: Work::Best(tuning) }
    }

    pub(crate) fn work(&self) -> &Work {
        &self.work
    }

    /// What may be spent; `None` for an algorithm without noise.
    pub fn budget(&self) -> Option<Budget> {
        self.work.task().budget
    }

    /// What the books of the run will have, or what costs the same, where that follows before there
    /// is a table; `None` where it does not, and for an algorithm without noise. Whoever keeps a
    /// budget refuses by it what does not fit before a table is opened. [`Ready::plan`] is the plan
    /// itself.
    pub fn plan_beforehand(&self) -> Option<Ledger> {
        match &self.work {
            Work::One(task) => task.plan_beforehand(),
            // What a choice among runs costs depends on more than its ε and δ.
            Work::Best(tuning) => {
                let task = tuning.first();
                let declared = task.opening.public_n?;
                if task.opening.adjacency != Adjacency::AddRemove {
                    return None;
                }
                let terms = task.terms(declared).ok()?;
                Some(self.work.prepare(terms, task.budget?).ok()?.ledger().clone())
            }
        }
    }

    /// Refuses what has nothing to trace, before there is a table: the exact solver has no noise, and
    /// of a choice among several runs only the best is released.
    ///
    /// # Errors
    /// If [`Ready::run_traced`] would refuse.
    pub fn check_traceable(&self) -> Result<(), Error> {
        self.work.traceable().map(|_| ())
    }

    /// The column that says whose row it is, if the schema declares one: its name, or its place in a
    /// file without a header, where names are anybody's choice.
    pub fn user_column(&self) -> Option<String> {
        self.work.task().objective.user_column()
    }

    /// Reads a table under the schema of the job, for several that are done on it.
    ///
    /// # Errors
    /// If the table cannot be read under the schema.
    pub fn load<'a>(&self, source: impl Into<Source<'a>>) -> Result<PrivateTable, Error> {
        source.into().load(&self.work.task().objective.schema)
    }

    /// Does the job. Every call spends the budget anew.
    ///
    /// # Errors
    /// If the table cannot be read under the schema, the budget does not allow it, or the numbers
    /// run away; [`Error::Spent`] says that the budget was spent nevertheless.
    pub fn fit<'a>(&self, source: impl Into<Source<'a>>) -> Result<Fitted, Error> {
        self.fit_watched(source, &mut unwatched)
    }

    /// The same under the eyes of who may stop it.
    ///
    /// # Errors
    /// As [`Job::fit`], and when `watch` stops it.
    pub fn fit_watched<'a>(
        &self,
        source: impl Into<Source<'a>>,
        watch: &mut Watch<'_>,
    ) -> Result<Fitted, Error> {
        self.open(source, watch)?.run(watch)
    }

    /// The same with a trace of it.
    ///
    /// # Errors
    /// As [`Job::fit_watched`], and as [`Ready::run_traced`].
    pub fn fit_traced<'a>(
        &self,
        source: impl Into<Source<'a>>,
        tracing: Tracing<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<(Fitted, Trace), Error> {
        self.open(source, watch)?.run_traced(tracing, watch)
    }

    /// Reads the table and calibrates the noise; nothing is asked about the table yet.
    ///
    /// # Errors
    /// If the table cannot be read under the schema, or the budget does not allow the run.
    ///
    /// # Examples
    ///
    /// What a run will cost, before anything is asked:
    ///
    /// ```
    /// use reticent::tables::{Dataset, Schema, Target};
    /// use reticent::{Budget, Fit, unwatched};
    ///
    /// # fn main() -> Result<(), reticent::Error> {
    /// let (x, y): (Vec<f64>, Vec<u32>) = (0..500).map(|i| (f64::from(i % 10), i % 2)).unzip();
    /// let schema = Schema::bounded(&[(0.0, 10.0)], Target::classes(["no", "yes"])?)?;
    /// let job = Fit::new(schema).budget(Budget::new(1.0, 1e-6)?).check()?;
    /// let table = Dataset::dense(&x, 500, 1)?.with_targets(&y)?;
    /// let ready = job.open(&table, &mut unwatched)?;
    /// assert!(ready.plan().is_some_and(|plan| plan.total_events() > 0));
    /// let fitted = ready.run(&mut unwatched)?;
    /// assert!(fitted.model.certificate().certified);
    /// # Ok(())
    /// # }
    /// ```
    pub fn open<'a>(
        &self,
        source: impl Into<Source<'a>>,
        watch: &mut Watch<'_>,
    ) -> Result<Ready<'_>, Error> {
        let task = self.work.task();
        enter(Stage::Reading, watch)?;
        let table = source.into().load(&task.objective.schema)?;
        task.check_owners(&table)?;
        let records = table.public_count(task.opening.unit, task.opening.adjacency);
        let mut gate = task.open(table, 0)?;
        let plan = match (task.noise, task.budget) {
            (Some(noise), budget) => {
                if noise == 0.0 {
                    gate.taint(Taint::RawRelease);
                }
                Some(CalibratedPlan::One(task.with_noise(*gate.terms(), noise, budget)?))
            }
            (None, Some(budget)) => {
                enter(Stage::Calibrating, watch)?;
                Some(self.work.prepare(*gate.terms(), budget)?)
            }
            (None, None) => None,
        };
        Ok(Ready { work: &self.work, gate, plan, records })
    }
}

impl Ready<'_> {
    /// What the books of the run will have, entry for entry; `None` for an algorithm without noise.
    pub fn plan(&self) -> Option<&Ledger> {
        self.plan.as_ref().map(CalibratedPlan::ledger)
    }

    /// What may be expected of the run; `None` for an algorithm without noise.
    pub fn outlook(&self) -> Option<UtilityForecast> {
        let task = self.work.task();
        let neighbours = (task.opening.adjacency, task.opening.unit);
        Some(UtilityForecast::new(self.plan.as_ref()?.public()?, task.budget?, neighbours))
    }

    /// Why the run would be no guarantee, as far as that is known before it.
    pub fn taints(&self) -> &[Taint] {
        self.gate.ledger().taints()
    }

    /// From here on, its passes over the table are shared with those of other runs on it.
    pub(crate) fn share_passes(&mut self, with: &SharedPasses) {
        self.gate.share_passes(with);
    }

    /// Notes that somebody looks at the table without paying, and may choose by it: no certificate
    /// covers what comes of that.
    pub(crate) fn read_freely(&mut self) {
        self.gate.taint(Taint::UnpaidRead);
    }

    /// Runs it.
    ///
    /// # Errors
    /// If the numbers run away; [`Error::Spent`] says that the budget was spent nevertheless, and
    /// any other error of a run with noise came before anything was asked.
    pub fn run(self, watch: &mut Watch<'_>) -> Result<Fitted, Error> {
        self.perform(watch, None)
    }

    /// The same with a trace of it.
    ///
    /// # Errors
    /// As [`Ready::run`], and if there is nothing to trace: the exact solver has no noise, and of a
    /// choice among several runs only the best is released.
    pub fn run_traced(
        self,
        tracing: Tracing<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<(Fitted, Trace), Error> {
        let budget = self.work.traceable()?;
        let plan = self.plan().cloned().ok_or_else(|| self.work.noiseless())?;
        let mut recorder = Recorder::new(tracing, budget.delta());
        let fitted = self.perform(watch, Some(&mut recorder))?;
        let certified = fitted.model.certificate().certified;
        Ok((fitted, recorder.finish(&plan, certified)))
    }

    fn perform(
        self,
        watch: &mut Watch<'_>,
        recorder: Option<&mut Recorder<'_>>,
    ) -> Result<Fitted, Error> {
        let Ready { work, gate, plan, records } = self;
        let terms = *gate.terms();
        enter(Stage::Running, watch)?;
        let done = match &plan {
            Some(plan) => work.execute(gate, plan, watch, recorder)?,
            None => work.task().fit_exact(gate)?,
        };
        let Done { task, parameter, iterations, graph, tuned, converged, .. } = done;
        let (ledger, choice, standard_errors) = (done.ledger, done.choice, done.standard_errors);
        let certificate = Certificate::new(task, &terms, ledger.clone())
            .map_err(|why| task.after(&ledger, why))?;
        let certificate = Certificate { choice, ..certificate };
        let extras = (graph.as_ref(), standard_errors.as_ref());
        let model = Model::new(task.entry.name, &task.objective, parameter, extras, certificate)
            .map_err(|why| task.after(&ledger, why))?;
        Ok(Fitted { model, records, iterations, tuned, converged })
    }
}

impl Work {
    /// The task, or the first of those to choose among: they have schema, budget and terms in
    /// common.
    pub fn task(&self) -> &Task {
        match self {
            Work::One(task) => task,
            Work::Best(tuning) => tuning.first(),
        }
    }

    /// The budget of what releases something iteration by iteration; others have no trace.
    fn traceable(&self) -> Result<Budget, Error> {
        match self {
            Work::One(task) => task.budget.ok_or_else(|| self.noiseless()),
            Work::Best(_) => {
                let why = "of a choice among several runs only the best is released; trace a fit without `tune`";
                Err(Error::value("trace", "a choice", why))
            }
        }
    }

    fn noiseless(&self) -> Error {
        let why = "it has no noise, and nothing is released iteration by iteration; choose another algorithm";
        Error::value("trace", self.task().entry.name, why)
    }

    /// The least noise within the budget on these terms, for which no gate is needed.
    pub fn prepare(&self, terms: Terms, budget: Budget) -> Result<CalibratedPlan, Error> {
        self.task().check_sample(terms.population())?;
        match self {
            Work::One(task) => Ok(CalibratedPlan::One(task.calibrate(terms, budget)?)),
            Work::Best(tuning) => Ok(CalibratedPlan::Best(tuning.prepare(terms, budget)?)),
        }
    }

    /// Does what was planned and nothing else.
    pub fn execute(
        &self,
        mut gate: Gate,
        plan: &CalibratedPlan,
        watch: &mut Watch<'_>,
        mut recorder: Option<&mut Recorder<'_>>,
    ) -> Result<Done<'_>, Error> {
        gate.bind(plan.ledger().clone());
        // Who stops by looking is charged the plan, whatever was used of it (proofs/filter.md).
        let mut whole = plan.ledger().clone();
        gate.ledger().taints().iter().for_each(|&taint| whole.taint(taint));
        let (task, outcome, tuned, transcript, ledger) =
            match (self, plan) {
                (Work::Best(tuning), CalibratedPlan::Best(prepared)) => {
                    let (task, outcome, tuned, ledger) =
                        tuning.run(gate, prepared).map_err(|why| self.task().after(&whole, why))?;
                    (task, outcome, Some(tuned), Vec::new(), ledger)
                }
                (Work::One(task), CalibratedPlan::One(Calibrated { public, noise, .. })) => {
                    if let Some(recorder) = &recorder {
                        recorder.follow(&mut gate);
                    }
                    let mut tell = |progress, at: &dyn Iterate| {
                        if let Some(recorder) = &mut recorder {
                            recorder.note(progress, at);
                        }
                        watch(Stage::Iteration(progress))
                    };
                    let outcome = task.perform(&mut gate, public, noise, &mut tell).map_err(
                        |why| match gate.ledger().total_events() {
                            0 => why,
                            _ => task.after(&whole, why),
                        },
                    )?;
                    let transcript = gate.take_transcript();
                    let ledger = gate.close().map_err(|why| task.after(&whole, why.into()))?;
                    (&**task, outcome, None, transcript, ledger)
                }
                // A plan is made by the work that it is for.
                _ => return Err(self.task().not_private()),
            };
        let RunOutcome { parameter, iterations, graph, choice, standard_errors, .. } = outcome;
        let converged = None;
        Ok(Done {
            task,
            parameter,
            iterations,
            graph,
            tuned,
            converged,
            transcript,
            ledger,
            choice,
            standard_errors,
        })
    }
}

impl Task {
    /// The gate on `table`. `number` tells runs with the same seed apart.
    pub fn open(&self, table: PrivateTable, number: u64) -> Result<Gate, Error> {
        let entropy = match self.seed {
            // Multiples of an odd number near 2⁶⁴/φ: runs of different small seeds never meet.
            Some(seed) => {
                Entropy::seeded(seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            }
            None => Entropy::secure().map_err(Refusal::from)?,
        };
        Ok(Gate::open(table, self.objective.loss.clone(), &self.opening, entropy)?)
    }

    /// What is said of a run that ended for this reason with these books: where something is
    /// entered, something was told.
    pub fn after(&self, books: &Ledger, why: Error) -> Error {
        match self.budget.filter(|_| books.total_events() > 0) {
            Some(budget) => budget.spent(why, Some(books)),
            None => why,
        }
    }

    fn fit_exact(&self, mut gate: Gate) -> Result<Done<'_>, Error> {
        let settings = ExactSettings::try_from(&self.settings)?;
        let ExactSolution { x, iterations, status, .. } =
            solve(&mut gate, &self.objective.regulariser, &settings)?;
        Ok(Done {
            task: self,
            parameter: x,
            iterations,
            graph: None,
            tuned: None,
            converged: Some(status == SolverStatus::Converged),
            transcript: Vec::new(),
            ledger: gate.close()?,
            choice: None,
            standard_errors: None,
        })
    }
}

impl CalibratedPlan {
    /// What the ledger will have.
    pub fn ledger(&self) -> &Ledger {
        match self {
            CalibratedPlan::One(calibrated) => &calibrated.plan,
            CalibratedPlan::Best(prepared) => &prepared.plan,
        }
    }

    /// What may be known, with what one run has of the budget.
    pub fn public(&self) -> Option<&ProblemFacts> {
        match self {
            CalibratedPlan::One(calibrated) => Some(&calibrated.public),
            CalibratedPlan::Best(prepared) => prepared.public(),
        }
    }
}
