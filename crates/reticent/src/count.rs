//! How many there are, in all or of each class, with noise: the smallest thing that a budget is spent
//! on.
//!
//! A threshold between two classes asks how many have a class at or below it; the differences of
//! such answers are the classes. Under replace-one the number of all is public, and is not asked.

use reticent_accountant::{Adjacency, Ledger, Taint, calibrate};
use reticent_oracle::queries::Count;
use reticent_oracle::tables::TargetKind;
use reticent_oracle::{Gate, Oracle, RecordStatistic, Refusal, Rehearsal, Terms};

use crate::certificate::Certificate;
use crate::error::Error;
use crate::fit::Fit;
use crate::source::Source;
use crate::spec::Spec;
use crate::stage::{Stage, Watch, enter};
use crate::task::Task;

/// What a count divides by, which is nothing; a gate under add-remove wants a number.
const UNUSED: u64 = 1;

/// A checked count, made by [`Spec::count`] or [`Fit::count`].
#[derive(Debug)]
pub struct CountJob {
    task: Task,
    /// The names of the classes, where they are counted.
    classes: Option<Vec<String>>,
}

/// A count with its table read and its noise calibrated, before anything was asked.
#[derive(Debug)]
pub struct ReadyCount<'j> {
    job: &'j CountJob,
    gate: Gate,
    noise: f64,
    plan: Ledger,
}

/// What was counted, with noise: a number may be negative, and no whole one.
#[derive(Clone, Debug)]
pub struct Counted {
    /// All of them. Without noise under replace-one, which takes it as public.
    pub total: f64,
    /// Each class with its name, where they were asked for.
    pub classes: Vec<(String, f64)>,
    /// The standard deviation of the noise of one answer. A class that is the difference of two
    /// has √2 as much.
    pub deviation: f64,
    /// What is guaranteed.
    pub certificate: Certificate,
}

impl Spec {
    /// Checks a count of the records (or users) that this describes; of each class too, where that
    /// is said. The usual neighbours of a count of all are add-remove, for under replace-one the
    /// number is public.
    ///
    /// # Errors
    /// If something is missing or cannot be.
    pub fn count(&self, by_class: bool) -> Result<CountJob, Error> {
        let usual = if by_class { Adjacency::ReplaceOne } else { Adjacency::AddRemove };
        let adjacency = Some(self.adjacency.unwrap_or(usual));
        Spec { adjacency, ..self.clone() }.fit()?.count(by_class)
    }
}

impl Fit {
    /// Checks a count of the records (or users) of a table in place of a fit of it; of each class
    /// too, where that is said. What is to be minimised does not matter.
    ///
    /// # Errors
    /// If something is missing or cannot be: under replace-one the number of all is public, and there
    /// is nothing to ask but the classes.
    ///
    /// # Examples
    ///
    /// ```
    /// use reticent::tables::{Dataset, Schema, Target};
    /// use reticent::{Budget, Fit, unwatched};
    ///
    /// # fn main() -> Result<(), reticent::Error> {
    /// let (x, y): (Vec<f64>, Vec<u32>) = (0..400).map(|i| (0.0, u32::from(i % 4 == 0))).unzip();
    /// let schema = Schema::bounded(&[(0.0, 1.0)], Target::classes(["no", "yes"])?)?;
    /// let job = Fit::new(schema).budget(Budget::new(1.0, 1e-6)?).count(true)?;
    /// let table = Dataset::dense(&x, 400, 1)?.with_targets(&y)?;
    /// let counted = job.open(&table, &mut unwatched)?.run(&mut unwatched)?;
    /// assert!(counted.certificate.certified && counted.total == 400.0);
    /// assert_eq!(counted.classes[1].0, "yes");
    /// # Ok(())
    /// # }
    /// ```
    pub fn count(self, by_class: bool) -> Result<CountJob, Error> {
        let adjacency = self.adjacency;
        let task = Task::new(self.public_n(UNUSED), false)?;
        if adjacency == Adjacency::ReplaceOne && !by_class {
            let why = "the number of all is then public, and there is nothing to ask: count each class, or use add-remove";
            return Err(Error::value("adjacency", adjacency, why));
        }
        if task.budget.is_some_and(|budget| budget.delta() == 0.0) {
            let why = "a count has Gaussian noise, which has no guarantee without one; give a delta such as 1e-6";
            return Err(Error::value("delta", 0, why));
        }
        let names = match task.objective.schema.target().map(|(_, target)| target.kind()) {
            Some(TargetKind::Classes(labels)) => Some(labels.names().map(str::to_owned).collect()),
            _ => None,
        };
        let classes = match (by_class, names) {
            (true, None) => {
                let why = "the target is a number and has no classes to count; leave it out";
                return Err(Error::value("by_class", true, why));
            }
            (true, names) => names,
            (false, _) => None,
        };
        Ok(CountJob { task, classes })
    }
}

impl CountJob {
    /// Reads the table and calibrates the noise; nothing is asked about the table yet.
    ///
    /// # Errors
    /// If the table cannot be read under the schema, or the budget does not allow it.
    pub fn open<'a>(
        &self,
        source: impl Into<Source<'a>>,
        watch: &mut Watch<'_>,
    ) -> Result<ReadyCount<'_>, Error> {
        let task = &self.task;
        let budget = task.budget.ok_or_else(|| task.not_private())?;
        enter(Stage::Reading, watch)?;
        let table = source.into().load(&task.objective.schema)?;
        task.check_owners(&table)?;
        let gate = task.open(table, 0)?;
        enter(Stage::Calibrating, watch)?;
        let plan = |noise: f64| self.rehearse(*gate.terms(), noise);
        let noise = calibrate(budget.epsilon(), budget.delta(), plan)?.noise_multiplier;
        let plan = plan(noise)?;
        Ok(ReadyCount { job: self, gate, noise, plan })
    }

    /// What will be in the books, or costs the same.
    pub fn plan_beforehand(&self) -> Option<Ledger> {
        let budget = self.task.budget?;
        let plan = |noise: f64| self.rehearse(self.task.terms(UNUSED)?, noise);
        let noise = calibrate(budget.epsilon(), budget.delta(), plan).ok()?.noise_multiplier;
        plan(noise).ok()
    }

    /// The column that says whose row it is, if the schema declares one.
    pub fn user_column(&self) -> Option<String> {
        self.task.objective.user_column()
    }

    /// Who counts at or below which threshold: every class but the last, and all.
    fn thresholds(&self) -> Vec<f64> {
        let classes = self.classes.as_ref().map_or(0, Vec::len);
        // Two classes are −1 and 1, more are numbered from 0.
        let behind = |i: usize| if classes == 2 { 0.0 } else { i as f64 + 0.5 };
        let mut thresholds: Vec<f64> = (0..classes.saturating_sub(1)).map(behind).collect();
        if self.task.opening.adjacency == Adjacency::AddRemove {
            thresholds.push(f64::INFINITY);
        }
        thresholds
    }

    fn ask(&self, oracle: &mut dyn Oracle, noise_multiplier: f64) -> Result<Vec<f64>, Refusal> {
        let count =
            |&at_most: &f64| Count { of: RecordStatistic::Target, at_most, noise_multiplier };
        let asked = self.thresholds();
        asked.iter().map(|at| oracle.ask(&count(at)).map(|answer| *answer.get())).collect()
    }

    fn rehearse(&self, terms: Terms, noise: f64) -> Result<Ledger, Error> {
        let shape = self.task.objective.public(terms.population(), 0.0).shape;
        let mut rehearsal = Rehearsal::new(shape, terms);
        self.ask(&mut rehearsal, noise)?;
        Ok(rehearsal.into_plan())
    }
}

impl ReadyCount<'_> {
    /// What the books will have, entry for entry.
    pub fn plan(&self) -> &Ledger {
        &self.plan
    }

    /// Why it would be no guarantee, as far as that is known before.
    pub fn taints(&self) -> &[Taint] {
        self.gate.ledger().taints()
    }

    /// Counts.
    ///
    /// # Errors
    /// [`Error::Spent`] says that the budget was spent nevertheless, and any other error came before
    /// anything was asked.
    pub fn run(self, watch: &mut Watch<'_>) -> Result<Counted, Error> {
        let ReadyCount { job, mut gate, noise, plan } = self;
        let task = &job.task;
        let terms = *gate.terms();
        enter(Stage::Running, watch)?;
        gate.bind(plan.clone());
        let asked =
            job.ask(&mut gate, noise).map_err(|why| match gate.ledger().total_events() {
                0 => Error::from(why),
                _ => task.after(&plan, why.into()),
            })?;
        let ledger = gate.close().map_err(|why| task.after(&plan, why.into()))?;
        let certificate = job.certificate(&terms, ledger).map_err(|why| task.after(&plan, why))?;
        let half = match terms.adjacency() {
            Adjacency::ReplaceOne => 0.5,
            Adjacency::AddRemove => 1.0,
        };
        // Every answer is behind a threshold; the last is all of them.
        let mut below = asked;
        if terms.adjacency() == Adjacency::ReplaceOne {
            below.push(terms.population() as f64);
        }
        let total = below.last().copied().unwrap_or(0.0);
        let before = std::iter::once(0.0).chain(below.iter().copied());
        let each = before.zip(&below).map(|(before, upto)| upto - before);
        let classes = job.classes.iter().flatten().cloned().zip(each).collect();
        Ok(Counted { total, classes, deviation: noise * half, certificate })
    }
}

impl CountJob {
    fn certificate(&self, terms: &Terms, ledger: Ledger) -> Result<Certificate, Error> {
        let delta = self.task.budget.map_or(0.0, |budget| budget.delta());
        let mut certificate = Certificate::of("count", delta, terms, ledger)?;
        certificate.assumptions.extend(self.task.objective.assumptions(certificate.unit));
        certificate.sealed(None)
    }
}
