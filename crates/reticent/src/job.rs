//! The life of a job, whatever it does: load, owners, entropy, taints, calibrate; then bind, ask,
//! "spent" on error, close, certificate. Each step is written here, once.
//!
//! ```text
//! check ─► Job ─► open: load, owners, entropy, taints, calibrate ─► Ready ─► run: bind, ask, close, certify ─► Output
//!                                                                    │
//!                                              plan ─► reserved by whoever keeps a budget
//! ```

use std::sync::{Arc, OnceLock};

use reticent_accountant::{Adjacency, Ledger, Taint, Unit, gdp_mu};
use reticent_oracle::tables::Schema;
use reticent_oracle::{
    CachedTable, Entropy, Gate, HeldRows, NoiseKey, Oracle, PrivacyModel, PrivateTable,
    SharedPasses, Terms,
};

use crate::budget::Budget;
use crate::certificate::Certificate;
use crate::error::Error;
use crate::objective::user_column;
use crate::payable::Payable;
use crate::procedure::{
    Concluded, EndedRun, Ground, Hearers, PlannedNoise, Procedure, RunFindings,
};
use crate::simulate::PartyBooks;
use crate::source::{LoadedTable, Source};
use crate::stage::{Run, Stage};
use crate::trace::Recorder;
use crate::training::Training;

/// Units while there is no table yet and no public number.
pub(crate) const SOME: u64 = 1_000;

/// What was planned before there was a table, and on which terms; `None` where that does not follow.
type Beforehand<P> = Option<(Terms, Arc<PlannedNoise<<P as Procedure>::Noise>>)>;

/// A checked job, made by [`Fit::check`](crate::Fit::check), [`Tune::check`](crate::Tune::check),
/// [`Spec::check`](crate::Spec::check) and the like. Everything that could be refused without a
/// table has been.
#[derive(Debug)]
pub struct Job<P: Procedure = Training> {
    procedure: P,
    /// What was planned before there was a table, and on which terms.
    beforehand: OnceLock<Beforehand<P>>,
}

/// A job with its table read and its noise calibrated, before anything about the table was asked.
/// Whoever keeps books of several runs reserves what [`Ready::plan`] says, runs, and settles.
#[derive(Debug)]
pub struct Ready<'j, P: Procedure = Training> {
    job: &'j Job<P>,
    gate: Gate,
    planned: Arc<PlannedNoise<P::Noise>>,
    records: Option<u64>,
    held: Option<HeldBy>,
    /// What the guarantee relies on where workers of the owner hold the rows.
    trusted: Vec<String>,
}

/// By whom the rows are held that a job is done on, where that is not one table.
#[derive(Clone, Debug)]
pub(crate) struct HeldBy {
    /// The number of parties.
    pub parties: u32,
    /// The assumptions about the parties.
    pub trusted: Vec<String>,
}

impl<P: Procedure> Job<P> {
    pub(crate) fn new(procedure: P) -> Self {
        Job { procedure, beforehand: OnceLock::new() }
    }

    pub(crate) fn procedure(&self) -> &P {
        &self.procedure
    }

    pub(crate) fn schema(&self) -> &Schema {
        self.procedure.ground().schema
    }

    /// The budget; `None` for a job without noise.
    pub fn budget(&self) -> Option<Budget> {
        self.procedure.ground().protection.budget
    }

    /// The column that says whose row it is, if the schema declares one: its name, or its place in a
    /// file without a header, where names are anybody's choice.
    pub fn user_column(&self) -> Option<String> {
        user_column(self.schema())
    }

    /// Refuses what has nothing to trace, before there is a table.
    ///
    /// # Errors
    /// If nothing is released iteration by iteration.
    pub fn check_traceable(&self) -> Result<(), Error> {
        self.procedure.check_traceable()
    }

    /// The planned ledger of the run, or one of the same cost, where that follows before there
    /// is a table; `None` where it does not, and for a job without noise. Whoever keeps a budget
    /// refuses by it what does not fit before a table is opened. [`Ready::plan`] is the plan itself.
    ///
    /// Under add-remove the number of units is declared. Under replace-one it is that of the table,
    /// and the plan is known where it does not matter: with Gaussian noise on all records a plan
    /// within (ε, δ) comes to the same μ whatever it divides by.
    pub fn plan_beforehand(&self) -> Option<Ledger> {
        let (_, planned) = self.beforehand.get_or_init(|| self.plan_without_table()).as_ref()?;
        planned.plan.clone()
    }

    fn plan_without_table(&self) -> Beforehand<P> {
        let protection = self.procedure.ground().protection;
        let (_, opening) = (protection.budget?, protection.opening);
        let counted = opening.adjacency == Adjacency::AddRemove;
        let population = if counted { opening.public_n? } else { SOME };
        let terms = protection.terms(population).ok()?;
        if !self.procedure.is_known_beforehand(terms) {
            return None;
        }
        let planned = self.procedure.calibrate(terms).ok()?;
        let known = counted || planned.plan.as_ref().is_some_and(|plan| gdp_mu(plan).is_some());
        known.then(|| (terms, Arc::new(planned)))
    }

    /// Reads a table under the schema of the job, for several that are done on it.
    ///
    /// # Errors
    /// If the table cannot be read under the schema.
    pub fn load<'a>(&self, source: impl Into<Source<'a>>) -> Result<PrivateTable, Error> {
        source.into().load(self.schema())
    }

    /// Runs the job. Every call spends the budget anew.
    ///
    /// # Errors
    /// As [`Job::open`] and [`Ready::run`].
    pub fn run<'a>(
        &self,
        source: impl Into<Source<'a>>,
        mut run: Run<'_>,
    ) -> Result<P::Output, Error> {
        self.open(source, &mut run)?.run(run)
    }

    /// Reads the table and calibrates the noise; nothing is asked about the table yet.
    ///
    /// # Errors
    /// If the table cannot be read under the schema, or the budget does not allow the job.
    ///
    /// # Examples
    ///
    /// What a run will cost, before anything is asked:
    ///
    /// ```
    /// use reticent::tables::{Dataset, Schema, Target};
    /// use reticent::{Budget, Fit, Run};
    ///
    /// # fn main() -> Result<(), reticent::Error> {
    /// let (x, y): (Vec<f64>, Vec<u32>) = (0..500).map(|i| (f64::from(i % 10), i % 2)).unzip();
    /// let schema = Schema::bounded(&[(0.0, 10.0)], Target::classes(["no", "yes"])?)?;
    /// let job = Fit::new(schema).budget(Budget::new(1.0, 1e-6)?).check()?;
    /// let table = Dataset::dense(&x, 500, 1)?.with_targets(&y)?;
    /// let ready = job.open(&table, &mut Run::default())?;
    /// assert!(ready.plan().is_some_and(|plan| plan.total_events() > 0));
    /// let fitted = ready.run(Run::default())?;
    /// assert!(fitted.model.certificate().certified);
    /// # Ok(())
    /// # }
    /// ```
    pub fn open<'a>(
        &self,
        source: impl Into<Source<'a>>,
        run: &mut Run<'_>,
    ) -> Result<Ready<'_, P>, Error> {
        let source = source.into();
        self.procedure.ground().protection.of_one_table()?;
        if source.is_cached() {
            self.procedure.check_cached()?;
        }
        run.enter(Stage::Reading)?;
        let PrivacyModel { unit, adjacency: by, .. } = self.procedure.ground().protection.opening;
        let (records, gate) = match run.load_anywhere(source, self.schema())? {
            LoadedTable::Memory(table) => (table.public_count(unit, by), self.gate(table, 0)?),
            LoadedTable::Cached(table) => (table.public_count(unit, by), self.cached_gate(table)?),
        };
        run.enter(Stage::Calibrating)?;
        let planned = self.planned(*gate.terms())?;
        Ok(Ready { job: self, gate, planned, records, held: None, trusted: Vec::new() })
    }

    /// The same on rows that others hold, with this entropy or that of the job; nothing is asked
    /// about them yet.
    pub(crate) fn open_held(
        &self,
        rows: HeldRows,
        by: HeldBy,
        entropy: Option<Entropy>,
        run: &mut Run<'_>,
    ) -> Result<Ready<'_, P>, Error> {
        let Ground { loss, protection, .. } = self.procedure.ground();
        let mut gate = protection.open_held(rows, Arc::clone(loss), entropy)?;
        self.procedure.taints().into_iter().for_each(|taint| gate.taint(taint));
        run.enter(Stage::Calibrating)?;
        let terms = *gate.terms();
        let public = (terms.unit(), terms.adjacency()) == (Unit::Record, Adjacency::ReplaceOne);
        let records = public.then(|| terms.population());
        let (planned, trusted) = (self.planned(terms)?, Vec::new());
        Ok(Ready { job: self, gate, planned, records, held: Some(by), trusted })
    }

    /// The same on a gate whose rows are in shards.
    pub(crate) fn ready_sharded(
        &self,
        mut gate: Gate,
        records: Option<u64>,
        trusted: Vec<String>,
    ) -> Result<Ready<'_, P>, Error> {
        self.procedure.taints().into_iter().for_each(|taint| gate.taint(taint));
        let planned = self.planned(*gate.terms())?;
        Ok(Ready { job: self, gate, planned, records, held: None, trusted })
    }

    /// The gate on a table: owners, entropy, taints. `number` tells runs with the same seed apart.
    pub(crate) fn gate(&self, table: PrivateTable, number: u64) -> Result<Gate, Error> {
        let Ground { loss, protection, .. } = self.procedure.ground();
        let mut gate = protection.open(table, Arc::clone(loss), number)?;
        self.procedure.taints().into_iter().for_each(|taint| gate.taint(taint));
        Ok(gate)
    }

    /// The same on a table in a file.
    fn cached_gate(&self, table: CachedTable) -> Result<Gate, Error> {
        let Ground { loss, protection, .. } = self.procedure.ground();
        let mut gate = protection.open_cached(table, Arc::clone(loss))?;
        self.procedure.taints().into_iter().for_each(|taint| gate.taint(taint));
        Ok(gate)
    }

    /// The noise on these terms, calibrated once.
    pub(crate) fn planned(&self, terms: Terms) -> Result<Arc<PlannedNoise<P::Noise>>, Error> {
        match self.beforehand.get().and_then(Option::as_ref) {
            Some((known, planned)) if *known == terms => Ok(Arc::clone(planned)),
            _ => self.procedure.calibrate(terms).map(Arc::new),
        }
    }

    /// Binds the gate to the plan, asks what it has and nothing else, and closes it. Gives the books
    /// that count for whatever goes wrong from here on beside what was concluded.
    pub(crate) fn conclude(
        &self,
        mut gate: Gate,
        planned: &PlannedNoise<P::Noise>,
        hearers: Hearers<'_, '_>,
    ) -> Result<(Concluded<P::Answer>, Ledger), Error> {
        // Who stops by looking is charged the plan, whatever was used of it (proofs/filter.md).
        let mut whole = Ledger::new();
        if let Some(plan) = &planned.plan {
            whole = plan.clone();
            gate.bind(plan.clone());
        }
        gate.ledger().taints().iter().for_each(|&taint| whole.taint(taint));
        match self.procedure.perform(gate, &planned.noise, hearers) {
            Ok(concluded) => Ok((concluded, whole)),
            Err(EndedRun { why, asked: false }) => Err(why),
            Err(EndedRun { why, asked: true }) => {
                Err(self.procedure.ground().protection.spent(&whole, why))
            }
        }
    }
}

impl<P: Procedure> Ready<'_, P> {
    /// The planned ledger of the run, entry for entry; `None` for a job without noise.
    pub fn plan(&self) -> Option<&Ledger> {
        self.planned.plan.as_ref()
    }

    /// Why the run would be no guarantee, as far as that is known before it.
    pub fn taints(&self) -> &[Taint] {
        self.gate.ledger().taints()
    }

    pub(crate) fn procedure(&self) -> &P {
        &self.job.procedure
    }

    pub(crate) fn noise(&self) -> &P::Noise {
        &self.planned.noise
    }

    /// From here on, its passes over the table are shared with those of other runs on it.
    pub(crate) fn share_passes(self, with: &SharedPasses) -> Self {
        Ready { gate: self.gate.share_passes(with), ..self }
    }

    /// From here on, noise follows from `key` and from what is asked, for a run that may be done again
    /// after a crash.
    pub(crate) fn repeat(&mut self, key: NoiseKey) {
        self.gate.repeat(key);
    }

    /// Notes that somebody looks at the table without paying, and may choose by it: no certificate
    /// covers what comes of that.
    pub(crate) fn read_freely(&mut self) {
        self.gate.taint(Taint::UnpaidRead);
    }

    /// Runs the job.
    ///
    /// # Errors
    /// If it ends on its way, or has nothing to trace that is to be traced; [`Error::Spent`] says
    /// that the budget was spent nevertheless, and any other error of a run with noise came before
    /// anything was asked.
    pub fn run(self, mut run: Run<'_>) -> Result<P::Output, Error> {
        let Ready { job, gate, planned, records, held, trusted } = self;
        let (procedure, terms) = (&job.procedure, *gate.terms());
        let protection = procedure.ground().protection;
        if run.trace.is_some() {
            procedure.check_traceable()?;
        }
        let delta = protection.budget.map_or(0.0, |budget| budget.delta());
        let mut recorder = run.trace.take().map(|tracing| Recorder::new(tracing, delta));
        run.enter(Stage::Running)?;
        let hearers = Hearers { run: &mut run, recorder: recorder.as_mut() };
        let (Concluded { answer, ledger, .. }, whole) = job.conclude(gate, &planned, hearers)?;
        let finish = || {
            let (name, mut relied) = procedure.statement(&answer);
            relied.extend(held.iter().flat_map(|by| by.trusted.clone()).chain(trusted));
            let statement = (name, relied);
            let own = Certificate::of_run(statement, protection.budget, &terms, ledger)?;
            // What is released is of all rows, and counts for each who holds some.
            let certificate = match &held {
                Some(by) => PartyBooks::alike(own, by.parties).run()?.sealed(None)?,
                None => own,
            };
            let plan = planned.plan.as_ref();
            let trace = recorder.zip(plan).map(|(it, plan)| it.finish(plan, certificate.certified));
            let noise = &planned.noise;
            procedure.finish(RunFindings { answer, noise, terms, records, certificate, trace })
        };
        finish().map_err(|why| protection.spent(&whole, why))
    }
}

impl<P: Procedure> Payable for Ready<'_, P> {
    type Done = P::Output;

    fn plans(&self) -> Result<Vec<Ledger>, Error> {
        let mut plans: Vec<Ledger> = self.plan().cloned().into_iter().collect();
        for plan in &mut plans {
            self.taints().iter().for_each(|&taint| plan.taint(taint));
        }
        Ok(plans)
    }

    fn run(self, run: Run<'_>) -> Result<P::Output, Error> {
        Ready::run(self, run)
    }

    fn ledgers(done: &P::Output) -> Vec<&Ledger> {
        vec![&P::certificate(done).ledger]
    }

    fn digest(done: &P::Output) -> Option<&str> {
        P::certificate(done).digest.as_deref()
    }
}
