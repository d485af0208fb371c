//! The runs of a sweep on one table, some at a time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use reticent_accountant::{Ledger, epsilon};
use reticent_noise::Hasher;
use reticent_oracle::{Digest, PrivateTable, Refusal, SharedPasses};

use super::grid::{Checked, GridRun, Sweep};
use super::journal::{Finished, Journal, Reserved, SweepKind};
use super::workers::{in_parallel, locked};
use crate::cached::in_memory_alone;
use crate::error::Error;
use crate::job::Ready;
use crate::model::Model;
use crate::outlook::UtilityForecast;
use crate::payable::Payable;
use crate::procedure::Procedure;
use crate::quality::Quality;
use crate::simulate::{CheckpointOptions, ReadySimulation, Simulated};
use crate::source::{Files, LoadedTable, Source};
use crate::stage::Run;
use crate::trace::PublicData;
use crate::training::Fitted;

/// How a sweep is run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SweepTerms<'a> {
    /// Number of runs at a time; by default as many as suits the machine. A kill loses no
    /// more than these.
    pub jobs: Option<usize>,
    /// Whether the table is public, or every model is paid for.
    pub kind: SweepKind,
    /// A public table to test every model on.
    pub test: Option<&'a Files>,
    /// Where every model is written to, in a folder of its own.
    pub models: Option<&'a Path>,
    /// Stands for a private table, under a key that stays with its budget: a digest without one would
    /// tell whoever guesses the table. A sweep goes on with the table that was paid for, and no other.
    pub mark: Digest,
}

impl<'a> SweepTerms<'a> {
    /// Runs on a public table, or runs that are paid for, and what a private table is known by.
    pub fn new(kind: SweepKind, mark: Digest) -> Self {
        SweepTerms { jobs: None, kind, test: None, models: None, mark }
    }

    /// These with some of them set.
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }
}

/// A sweep with its table read. Nothing was asked about it yet.
#[derive(Debug)]
pub struct ReadySweep<'s> {
    sweep: &'s Sweep,
    terms: SweepTerms<'s>,
    table: LoadedTable,
    test: Option<PrivateTable>,
    /// What each run will do, where it is paid for.
    plans: Vec<Ledger>,
    /// What is to be expected of these, each once.
    outlooks: Vec<UtilityForecast>,
    fingerprint: Digest,
    passes: SharedPasses,
}

/// Fits that go over the table together: more cost memory and gain nothing.
pub(super) const TOGETHER: usize = 64;

/// Is asked before a run begins, with its number, and keeps that it does where no copy of a journal
/// is, as `begin_part` of `reticent_budget` does; `false` says that the run was begun before.
pub type Register<'a> = dyn Fn(usize) -> Result<bool, Error> + Sync + 'a;

impl Sweep {
    /// Reads the table and the one to test on and, where its models are paid for, plans every run.
    ///
    /// # Errors
    /// If a table cannot be read under the schema, the noise comes from seeds where it is paid
    /// for, a budget does not allow a run, or what the runs cost together is not one sum.
    pub fn open<'s>(
        &'s self,
        data: &Files,
        terms: SweepTerms<'s>,
    ) -> Result<ReadySweep<'s>, Error> {
        let Some(first) = self.runs.first() else {
            return Err(no_runs());
        };
        if terms.kind == SweepKind::Paid && self.is_seeded() {
            let why = "noise that somebody knows is no noise, and nobody is protected by it; leave it out, or say that the \
                       table is public";
            return Err(Error::value("seed", "seeds", why));
        }
        let table = self.load(first, data, terms.kind)?;
        let (mut plans, mut outlooks) = (Vec::new(), Vec::new());
        if terms.kind == SweepKind::Paid {
            for run in &self.runs {
                let (plan, outlook) = run.job.plan(table.share())?;
                plans.push(plan);
                outlooks.extend(outlook.filter(|outlook| !outlooks.contains(outlook)));
            }
        }
        let fingerprint = match terms.kind {
            SweepKind::Paid => billed(&terms.mark, &plans)?,
            SweepKind::Experiment => contents(data)?,
        };
        // Also where the models read it themselves: what is wrong with it is said before they are
        // paid for.
        let test = terms.test.map(|files| first.job.load(Source::from(files))).transpose()?;
        let test = test.filter(|_| terms.kind == SweepKind::Experiment);
        let passes = SharedPasses::default();
        Ok(ReadySweep { sweep: self, terms, table, test, plans, outlooks, fingerprint, passes })
    }

    /// The table; in a cache file, if every run is a fit that can be done on one and nobody looks at
    /// the rows themselves.
    fn load(&self, first: &GridRun, data: &Files, kind: SweepKind) -> Result<LoadedTable, Error> {
        let Some(folder) = data.cache_folder()? else {
            return first.job.load(Source::from(data)).map(LoadedTable::Memory);
        };
        let fits = self.runs.iter().map(|run| match &run.job {
            Checked::Fit(job) if kind == SweepKind::Paid => Ok(job),
            _ => Err(in_memory_alone(folder.path)),
        });
        let fits: Result<Vec<_>, Error> = fits.collect();
        let fits = fits?;
        fits.iter().try_for_each(|job| job.procedure().check_cached())?;
        let schema = fits.first().map(|job| job.schema()).ok_or_else(no_runs)?;
        Source::from(data).load_anywhere(schema)
    }
}

impl ReadySweep<'_> {
    /// The ledger of all runs together: their plans, one behind the other. Empty for an experiment.
    pub fn plan(&self) -> Ledger {
        let mut whole = Ledger::new();
        for plan in &self.plans {
            for entry in plan.entries() {
                whole.append_many(entry.event().clone(), entry.count());
            }
            plan.taints().iter().for_each(|&taint| whole.taint(taint));
        }
        whole
    }

    /// ε of all runs together at this δ.
    ///
    /// # Errors
    /// If they do not make one sum: under different neighbours or units.
    pub fn bill(&self, delta: f64) -> Result<f64, Error> {
        Ok(epsilon(&self.plan(), delta)?.upper)
    }

    /// The expected utility of its runs, each different one once. Empty for an experiment, which spends
    /// nothing and shows it.
    pub fn outlooks(&self) -> &[UtilityForecast] {
        &self.outlooks
    }

    /// Begins the journal of this sweep; `reserved` is the job that pays for it, if any does.
    ///
    /// # Errors
    /// If there is one already. One that could not be begun counts as begun: it may be there, and
    /// somebody may go on with it.
    pub fn begin(&self, path: &Path, reserved: Option<&Reserved>) -> Result<Journal, Error> {
        let (digest, count, kind) = (self.sweep.digest(), self.sweep.len(), self.terms.kind);
        Journal::create(path, &digest, count, kind, &self.fingerprint, reserved).map_err(|why| {
            match why {
                Error::Exists { .. } => why,
                why => self.unfinished(why),
            }
        })
    }

    /// Goes on with the journal of this sweep.
    ///
    /// # Errors
    /// If it is of another sweep, table or bill.
    pub fn resume(&self, path: &Path) -> Result<Journal, Error> {
        let (digest, count) = (self.sweep.digest(), self.sweep.len());
        Journal::resume(path, &digest, count, self.terms.kind, &self.fingerprint)
    }

    /// Does all that is left; `told` hears how many runs are over, and of how many. What is paid for
    /// begins as `register` allows, and what it has begun before is lost (proofs/sweep.md).
    ///
    /// # Errors
    /// If the disk does not take what came of a run. A run that ended without a model is no error:
    /// the journal says why.
    pub fn run(
        &self,
        journal: &mut Journal,
        register: &Register<'_>,
        told: &mut dyn FnMut(usize, usize),
    ) -> Result<(), Error> {
        let left = journal.left();
        let journal = Mutex::new(journal);
        let (at_a_time, one) = (self.at_a_time(), |run| self.one(run, register, &journal));
        in_parallel(left, at_a_time, one, told).map_err(|why| self.unfinished(why))
    }

    /// What was asked for. Where nothing was: fits mostly wait for the pass that they share, and are
    /// more than there are cores.
    pub(super) fn at_a_time(&self) -> usize {
        // Scans of a file take turns, each on all cores. Runs that ask for gradients of all records share one; what
        // others take, images in learned coordinates and samples, is there once for each run at a time.
        if matches!(self.table, LoadedTable::Cached(_)) {
            return self.terms.jobs.unwrap_or(1);
        }
        let fits = self.sweep.runs.iter().all(|run| matches!(run.job, Checked::Fit(_)));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.terms.jobs.unwrap_or(if fits { TOGETHER } else { cores })
    }

    /// What is said of a sweep that ended on its way.
    fn unfinished(&self, why: Error) -> Error {
        if self.terms.kind == SweepKind::Experiment {
            return why;
        }
        let (epsilon, delta) = self.sweep.at_most().unwrap_or((f64::INFINITY, 1.0));
        Error::Unfinished { why: Box::new(why), epsilon, delta }
    }

    /// One run, from its beginning in the journal to what came of it.
    fn one(
        &self,
        number: usize,
        register: &Register<'_>,
        journal: &Mutex<&mut Journal>,
    ) -> Result<(), Error> {
        let run = &self.sweep.runs[number];
        let planned = self.plans.get(number);
        // First where no copy of the journal is: a kill in between loses the run.
        let begin = || {
            let paid = self.terms.kind == SweepKind::Paid;
            if paid && !register(number).map_err(Ended::Journal)? {
                return Err(Ended::Run(begun_before()));
            }
            locked(journal).start(number).map_err(Ended::Journal)
        };
        let came = match run.job.perform(self.table.share(), planned, &self.passes, begin) {
            Ok(came) => came,
            Err(Ended::Journal(error)) => return Err(error),
            Err(Ended::Run(error)) => {
                // What was refused before it began is noted all the same.
                if !locked(journal).has_begun(number) {
                    locked(journal).start(number)?;
                }
                let (iterations, metrics) = (0, BTreeMap::new());
                let (epsilon, unmeasured) = (f64::INFINITY, None);
                let failed = Some(error.to_string());
                let finished =
                    Finished { run: number, iterations, epsilon, metrics, unmeasured, failed };
                return locked(journal).finish(finished);
            }
        };
        let certificate = came.model.certificate();
        let counted = certificate.counted.or(certificate.claimed).unwrap_or(certificate.epsilon);
        // What is paid for is kept before anything else is done with it.
        if let Some(folder) = self.terms.models {
            let own = folder.join(format!("run-{number:05}"));
            came.model.write(&own)?;
        }
        let (metrics, unmeasured) = match self.measured(run, &came.model) {
            Ok(metrics) => (metrics, None),
            Err(error) => (BTreeMap::new(), Some(error.to_string())),
        };
        let (iterations, epsilon, failed) = (came.iterations, counted, None);
        let finished = Finished { run: number, iterations, epsilon, metrics, unmeasured, failed };
        locked(journal).finish(finished)
    }

    /// What a model is worth, as far as that may be measured.
    fn measured(&self, run: &GridRun, model: &Model) -> Result<BTreeMap<String, f64>, Error> {
        let mut metrics = BTreeMap::new();
        if self.terms.kind == SweepKind::Experiment {
            let LoadedTable::Memory(table) = &self.table else { return Ok(metrics) };
            let Ok(mut public) = run.job.public_data(table.share()) else { return Ok(metrics) };
            if let Some(test) = &self.test {
                public = public.with_test(test.share())?;
            }
            let names = public.metrics();
            let seen = public.without_optimum().examine_model(model)?;
            metrics.insert("objective".to_owned(), seen.objective);
            metrics.extend(names.iter().map(|name| format!("test_{name}")).zip(seen.test));
        } else if let Some(files) = self.terms.test {
            let files = Files::all(files.paths.clone()).with(|it| it.reading = files.reading);
            metrics.extend(named(&model.measure_files(&files, None)?.quality));
        }
        Ok(metrics)
    }
}

/// What a run came to.
struct Came {
    model: Model,
    iterations: u64,
}

/// Why a run came to nothing.
enum Ended {
    Journal(Error),
    Run(Error),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Ended::Run(error)
    }
}

impl Checked {
    fn load(&self, source: Source<'_>) -> Result<PrivateTable, Error> {
        match self {
            Checked::Fit(job) => job.load(source),
            Checked::Between(job) => job.load(source),
        }
    }

    fn public_data(&self, table: PrivateTable) -> Result<PublicData, Error> {
        match self {
            Checked::Fit(job) => PublicData::of_job(job, table),
            Checked::Between(job) => PublicData::of_simulation(job, table),
        }
    }

    /// What the run will do to one person, and what is to be expected of it.
    fn plan(&self, table: Source<'_>) -> Result<(Ledger, Option<UtilityForecast>), Error> {
        let (run, keep) = (&mut Run::default(), CheckpointOptions::default());
        match self {
            Checked::Fit(job) => {
                let ready = job.open(table, run)?;
                Ok((one_plan(&ready)?, ready.outlook()))
            }
            Checked::Between(job) => {
                let ready = job.open(table, keep, run)?;
                Ok((one_plan(&ready)?, ready.outlook()))
            }
        }
    }

    /// Does the run, which must be what was `planned`, if it is paid for: otherwise models are compared
    /// on the table itself, and none of them is certified. `begin` keeps that it was begun, and nothing
    /// is asked before it has.
    fn perform(
        &self,
        table: Source<'_>,
        planned: Option<&Ledger>,
        passes: &SharedPasses,
        begin: impl FnOnce() -> Result<(), Ended>,
    ) -> Result<Came, Ended> {
        let (run, keep) = (&mut Run::default(), CheckpointOptions::default());
        match self {
            Checked::Fit(job) => carry_out(job.open(table, run)?, planned, passes, begin),
            Checked::Between(job) => carry_out(job.open(table, keep, run)?, planned, passes, begin),
        }
    }
}

/// A run of a sweep that was opened, and has asked nothing yet.
trait OpenedRun: Payable {
    /// Its passes over the table are shared with those of other runs on it, where it makes any.
    fn share_passes(self, with: &SharedPasses) -> Self;

    /// Somebody looks at the table without paying.
    fn read_freely(&mut self);

    fn came(done: Self::Done) -> Came;
}

impl OpenedRun for Ready<'_> {
    fn share_passes(self, with: &SharedPasses) -> Self {
        Ready::share_passes(self, with)
    }

    fn read_freely(&mut self) {
        Ready::read_freely(self);
    }

    fn came(done: Fitted) -> Came {
        Came { model: done.model, iterations: done.iterations }
    }
}

impl OpenedRun for ReadySimulation<'_> {
    fn share_passes(self, _: &SharedPasses) -> Self {
        self
    }

    fn read_freely(&mut self) {
        ReadySimulation::read_freely(self);
    }

    fn came(done: Simulated) -> Came {
        Came { model: done.model, iterations: done.rounds.into() }
    }
}

/// The plan of a run, of which there must be one: those of many runs then have a sum.
fn one_plan<R: Payable>(ready: &R) -> Result<Ledger, Error> {
    let mut plans = ready.plans()?;
    let plan = plans.pop().ok_or_else(no_noise)?;
    if !plans.is_empty() {
        let why = "parties have different plans, and who is with whom differs from run to run, so that the runs have no \
                   one sum; sweep on public data, or run them one by one";
        return Err(Error::value("parties", "several plans", why));
    }
    Ok(plan)
}

fn carry_out<R: OpenedRun>(
    mut ready: R,
    planned: Option<&Ledger>,
    passes: &SharedPasses,
    begin: impl FnOnce() -> Result<(), Ended>,
) -> Result<Came, Ended> {
    match planned {
        Some(planned) if one_plan(&ready)?.entries() != planned.entries() => {
            let why = "the run is not what was planned".to_owned();
            return Err(Error::from(Refusal::BadQuery(why)).into());
        }
        Some(_) => (),
        None => ready.read_freely(),
    }
    let ready = ready.share_passes(passes);
    begin()?;
    Ok(R::came(ready.run(Run::default())?))
}

/// Why a run does not begin that was begun by another process, or by one that was killed.
fn begun_before() -> Error {
    Error::value("run", "one that was begun before", "it is spent, and is not begun again")
}

fn no_runs() -> Error {
    Error::Missing { what: "a run", todo: "give lists of values under [sweep]" }
}

fn no_noise() -> Error {
    let why =
        "it has no noise, and no budget holds it; leave it out, or say that the table is public";
    Error::value("algorithm", "exact", why)
}

/// The figures of a quality, by their names.
fn named(quality: &Quality) -> Vec<(String, f64)> {
    let all = match quality {
        Quality::Classes { accuracy, auc, log_loss, .. } => {
            [("test_accuracy", *accuracy), ("test_auc", *auc), ("test_log_loss", *log_loss)]
        }
        Quality::Range { rmse, mae, r2, .. } => {
            [("test_rmse", *rmse), ("test_mae", *mae), ("test_r2", *r2)]
        }
    };
    all.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// Stands for a private table and for what is paid for: the plan of every run.
fn billed(mark: &Digest, plans: &[Ledger]) -> Result<Digest, Error> {
    let mut hasher = Hasher::new("reticent paid sweep");
    hasher.field(mark);
    for plan in plans {
        let text = serde_json::to_string(plan).map_err(Error::no_digest)?;
        hasher.field(text.as_bytes());
    }
    Ok(hasher.finish())
}

/// Stands for what is in the files of a public table.
fn contents(data: &Files) -> Result<Digest, Error> {
    let mut hasher = Hasher::new("reticent public table");
    for path in &data.paths {
        let bytes = std::fs::read(path).map_err(|error| Error::read(path, "the table", &error))?;
        hasher.field(&bytes);
    }
    Ok(hasher.finish())
}
