//! How many there are, in all or of each class, with noise: the smallest thing that a budget is spent
//! on.
//!
//! A threshold between two classes asks how many have a class at or below it; the differences of
//! such answers are the classes. Under replace-one the number of all is public, and is not asked.

use reticent_accountant::Adjacency;
use reticent_oracle::queries::Count;
use reticent_oracle::tables::TargetKind;
use reticent_oracle::{Oracle, RecordStatistic, Refusal, Terms};
use reticent_problem::Shape;

use crate::certificate::Certificate;
use crate::error::Error;
use crate::fit::Fit;
use crate::guarantee::{Guarantee, Protection};
use crate::job::Job;
use crate::map::{self, MapCell};
use crate::objective::{Objective, Problem};
use crate::procedure::{Asking, Ground, Question, RunFindings};
use crate::spec::Spec;

/// The number that a count divides by, which is unused; a gate under add-remove wants one.
const UNUSED: u64 = 1;

/// A checked count, made by [`Spec::count`] or [`Fit::count`].
pub type CountJob = Job<Counting>;

/// A count of records or users.
#[derive(Debug)]
pub struct Counting {
    objective: Objective,
    protection: Protection,
    /// The names of the classes, where they are counted.
    classes: Vec<String>,
}

/// A count with noise: its numbers may be negative, and no whole ones.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Counted {
    /// The number of records or users. Without noise under replace-one, which takes it as public.
    pub total: f64,
    /// Each class with its name, where they were asked for.
    pub classes: Vec<(String, f64)>,
    /// The standard deviation of the noise of one answer. A class that is the difference of two
    /// has √2 as much.
    pub deviation: f64,
    /// The certificate.
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
        let adjacency = self.guarantee.adjacency.unwrap_or(usual);
        self.fit()?.adjacency(adjacency).count(by_class)
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
    /// use reticent::{Budget, Fit, Run};
    ///
    /// # fn main() -> Result<(), reticent::Error> {
    /// let (x, y): (Vec<f64>, Vec<u32>) = (0..400).map(|i| (0.0, u32::from(i % 4 == 0))).unzip();
    /// let schema = Schema::bounded(&[(0.0, 1.0)], Target::classes(["no", "yes"])?)?;
    /// let job = Fit::new(schema).budget(Budget::new(1.0, 1e-6)?).count(true)?;
    /// let table = Dataset::dense(&x, 400, 1)?.with_targets(&y)?;
    /// let counted = job.run(&table, Run::default())?;
    /// assert!(counted.certificate.certified && counted.total == 400.0);
    /// assert_eq!(counted.classes[1].0, "yes");
    /// # Ok(())
    /// # }
    /// ```
    pub fn count(self, by_class: bool) -> Result<CountJob, Error> {
        Counting::check(self.problem, self.guarantee, by_class).map(Job::new)
    }
}

impl Counting {
    fn check(problem: Problem, guarantee: Guarantee, by_class: bool) -> Result<Self, Error> {
        if let Some(count) = guarantee.public_n {
            let why = "a count divides by nothing, and needs no number beforehand; leave it out";
            return Err(Error::value("public_n", count, why));
        }
        let objective = problem.check()?;
        let guarantee = Guarantee { public_n: Some(UNUSED), ..guarantee };
        let protection = guarantee.check(&objective.schema, objective.constant, true)?;
        let adjacency = protection.opening.adjacency;
        if adjacency == Adjacency::ReplaceOne && !by_class {
            let why = "the number of all is then public, and there is nothing to ask: count each class, or use add-remove";
            return Err(Error::value("adjacency", adjacency, why));
        }
        if protection.budget.is_some_and(|budget| budget.delta() == 0.0) {
            let why = "a count has Gaussian noise, which has no guarantee without one; give a delta such as 1e-6";
            return Err(Error::value("delta", 0, why));
        }
        let form = if by_class { "classes" } else { "all" };
        map::offered(&MapCell::of_question("count", form, &protection.opening))?;
        let classes = match objective.schema.target().map(|(_, target)| target.kind()) {
            _ if !by_class => Vec::new(),
            Some(TargetKind::Classes(labels)) => labels.names().map(str::to_owned).collect(),
            _ => {
                let why = "the target is a number and has no classes to count; leave it out";
                return Err(Error::value("by_class", true, why));
            }
        };
        Ok(Counting { objective, protection, classes })
    }

    /// Who counts at or below which threshold: every class but the last, and all.
    fn thresholds(&self) -> Vec<f64> {
        let classes = self.classes.len();
        // Two classes are −1 and 1, more are numbered from 0.
        let behind = |i: usize| if classes == 2 { 0.0 } else { i as f64 + 0.5 };
        let mut thresholds: Vec<f64> = (0..classes.saturating_sub(1)).map(behind).collect();
        if self.protection.opening.adjacency == Adjacency::AddRemove {
            thresholds.push(f64::INFINITY);
        }
        thresholds
    }
}

impl Question for Counting {
    const NAME: &'static str = "count";
    type Layout = ();
    type Answer = Vec<f64>;
    type Output = Counted;

    fn ground(&self) -> Ground<'_> {
        let Objective { schema, loss, .. } = &self.objective;
        Ground { schema, loss, protection: &self.protection }
    }

    fn shape(&self) -> Shape {
        self.objective.regulariser.shape()
    }

    fn form(&self) -> &'static str {
        if self.classes.is_empty() { "all" } else { "classes" }
    }

    fn assumptions(&self) -> Vec<String> {
        self.objective.assumptions(self.protection.opening.unit).collect()
    }

    fn layout(&self, _: f64, _: &Terms) {}

    fn ask(&self, oracle: &mut dyn Oracle, noise: &Asking<()>) -> Result<Vec<f64>, Refusal> {
        let noise_multiplier = noise.multiplier;
        let count = |at_most| Count { of: RecordStatistic::Target, at_most, noise_multiplier };
        let asked = self.thresholds().into_iter();
        asked.map(|at| oracle.ask(&count(at)).map(|answer| *answer.get())).collect()
    }

    fn read(&self, found: RunFindings<'_, Asking<()>, Vec<f64>>) -> Counted {
        // Every answer is behind a threshold; the last is all of them.
        let RunFindings { answer: mut below, noise, terms, certificate, .. } = found;
        let half = match terms.adjacency() {
            Adjacency::ReplaceOne => 0.5,
            Adjacency::AddRemove => 1.0,
        };
        if terms.adjacency() == Adjacency::ReplaceOne {
            below.push(terms.population() as f64);
        }
        let total = below.last().copied().unwrap_or(0.0);
        let before = std::iter::once(0.0).chain(below.iter().copied());
        let each = before.zip(&below).map(|(before, upto)| upto - before);
        let classes = self.classes.iter().cloned().zip(each).collect();
        Counted { total, classes, deviation: noise.multiplier * half, certificate }
    }

    fn certificate(counted: &Counted) -> &Certificate {
        &counted.certificate
    }
}
