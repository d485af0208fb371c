//! What a model is worth on a table, within a budget: one noisy answer, and figures with intervals
//! that are computed from it.
//!
//! ```text
//! model, table, (ε, δ) ─► load ─► calibrate ─► one question ─► figures, intervals, certificate
//! ```
//!
//! The certificate is about the table that is evaluated on, and about what this evaluation shows of
//! it. Where its people are those that the model was trained on, what both show adds up.

mod classes;
mod estimate;
mod numbers;
mod question;

use reticent_accountant::Taint;
use reticent_oracle::tables::{Schema, TargetKind};
use reticent_problem::LossTarget;
use serde::Serialize;

pub use classes::{PrivateClasses, Reliability};
pub use estimate::Estimate;
pub use numbers::PrivateNumbers;
pub use question::Evaluating;

use crate::budget::Budget;
use crate::certificate::{Certificate, origin, origin_of, told_apart};
use crate::error::Error;
use crate::guarantee::{Guarantee, parts_of_guarantee};
use crate::job::Job;
use crate::map::{self, MapCell};
use crate::model::Model;
use crate::objective::{Objective, Problem, loss_for};
use crate::procedure::Question;
use crate::source::Source;
use crate::stage::Run;

/// The name under which an evaluation stands in the map and in its certificate.
pub(crate) const NAME: &str = "evaluation";

/// What a certificate of an evaluation does not count.
const PUBLIC_MODEL: &str = "the model is public; what it shows of the people of this table, if it was trained on \
                            them, is counted by its own certificate, and both add up";

/// What is assumed where the model has no guarantee.
const UNBOUNDED_MODEL: &str = "the model is public and has no guarantee of its own: if it was trained on people of this \
                               table, nothing bounds what it shows of them, and so nothing bounds both together";

/// The default confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// The description of an evaluation of a model, with its budget.
///
/// # Examples
/// ```
/// use reticent::tables::{Dataset, Schema, Target};
/// use reticent::{Budget, Evaluation, Fit, PrivateQuality};
///
/// # fn main() -> Result<(), reticent::Error> {
/// let x: Vec<f64> = (0..4_000).map(|i| (i * 37 % 90) as f64).collect();
/// let y: Vec<u32> = x.iter().map(|x| u32::from(*x > 45.0)).collect();
/// let table = Dataset::dense(&x, 4_000, 1)?.with_targets(&y)?;
/// let schema = Schema::bounded(&[(0.0, 90.0)], Target::classes(["well", "ill"])?)?;
/// let model = Fit::new(schema).budget(Budget::new(1.0, 1e-6)?).check()?.fit(&table)?.model;
///
/// let evaluated = Evaluation::new(Budget::new(1.0, 1e-6)?).run(&model, &table)?;
/// assert!(evaluated.certificate.certified && evaluated.certificate.epsilon <= 1.0);
/// let PrivateQuality::Classes(quality) = evaluated.quality else { unreachable!() };
/// println!("accuracy {:?} in {:?}", quality.accuracy.value, quality.accuracy.interval);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Evaluation {
    guarantee: Guarantee,
    threshold: Option<f64>,
    bins: Option<usize>,
    confidence: f64,
    draft: Option<Schema>,
}

/// Private estimates of the quality of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PrivateQuality {
    /// Of classes.
    Classes(PrivateClasses),
    /// Of a number.
    Range(PrivateNumbers),
}

/// An evaluation that was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Evaluated {
    /// The figures of quality.
    pub quality: PrivateQuality,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// The guarantee to the people of the table that was evaluated on.
    pub certificate: Certificate,
}

/// A checked evaluation of one model, made by [`Evaluation::check`].
pub type EvaluationJob = Job<Evaluating>;

impl Evaluation {
    /// An evaluation within this budget.
    pub fn new(budget: Budget) -> Self {
        Evaluation::of(budget.into())
    }

    /// An evaluation with this guarantee.
    pub fn of(guarantee: Guarantee) -> Self {
        Evaluation { guarantee, threshold: None, bins: None, confidence: CONFIDENCE, draft: None }
    }

    parts_of_guarantee!();

    /// With two classes: above which probability (or score, of a loss without probabilities) a
    /// record is taken for the second one.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Sets the number of bins of scores, from 2 to 200; by default as many as suit the noise.
    pub fn bins(mut self, bins: usize) -> Self {
        self.bins = Some(bins);
        self
    }

    /// The confidence of the intervals; 0.95 by default.
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = confidence;
        self
    }

    /// The schema of the model as it was drafted, which knows its file. A model does not: without
    /// the draft, the evaluation of a model whose schema was drafted from a file that is not
    /// public is no guarantee, since the table may be that very file.
    pub fn draft(mut self, schema: Schema) -> Self {
        self.draft = Some(schema);
        self
    }

    /// Evaluates `model` on a table with targets. Every call spends the budget anew.
    ///
    /// # Errors
    /// If the table cannot be read under the schema of the model, or the budget does not allow it.
    pub fn run<'a>(self, model: &Model, source: impl Into<Source<'a>>) -> Result<Evaluated, Error> {
        self.check(model)?.run(source, Run::default())
    }

    /// The schema of the model, drafted from the file of the draft.
    fn schema(&self, model: &Model) -> Schema {
        let schema = model.preprocessing().clone();
        match &self.draft {
            Some(draft) => schema.with_origin_of(draft),
            None => schema,
        }
    }

    /// Refuses a draft that the schema of the model was not made from, as far as that is known.
    fn check_draft(&self, model: &Model) -> Result<(), Error> {
        let Some(draft) = &self.draft else { return Ok(()) };
        let known = origin_of(model.certificate()).map(|(line, _)| line);
        // A file of the same name may be another, whose draft has other bounds.
        if origin(draft).as_deref() == known
            && known.is_some()
            && model.preprocessing().encodes_as(draft)
        {
            return Ok(());
        }
        let why = "the certificate of the model names no such draft; give the schema that it was fitted under, with its \
                   [drafted] part";
        Err(Error::value("schema", "a draft", why))
    }

    /// Checks everything that can be checked without a table.
    ///
    /// # Errors
    /// If something is missing, cannot be, or is not proven to be private in this combination.
    pub fn check(self, model: &Model) -> Result<EvaluationJob, Error> {
        self.check_draft(model)?;
        let schema = self.schema(model);
        let [loss, ..] = model.problem();
        let loss = loss_for(loss, &schema)?;
        let parameter = model.parameter();
        let shape = model.linear(&parameter).shape;
        let constant = if shape.intercept { 1.0 } else { 0.0 };
        let range = match model.target() {
            Some((_, TargetKind::Range { lower, upper })) => upper - lower,
            _ => 0.0,
        };
        let protection = self.guarantee.check(&schema, constant, true)?;
        let certificate = model.certificate();
        let mut taken = taken_as_given(certificate);
        taken.extend(told_apart(&schema, protection.opening.unit));
        // A model does not keep where its schema came from, but its books say if that was its table,
        // and its certificate if it was a file that may be this one.
        let compared = schema.drafted().is_some();
        let unknown = !compared && origin_of(certificate).is_some_and(|(_, private)| private);
        Evaluating {
            cut: model.cut(self.threshold)?,
            log_odds: model.has_probabilities(),
            unpaid: unknown || certificate.ledger.taints().contains(&Taint::UnpaidRead),
            taken,
            schema,
            loss,
            shape,
            protection,
            range,
            parameter,
            evaluation: self,
        }
        .check()
    }

    /// The job that evaluates `parameter`, which solves `problem`: for audits.
    ///
    /// # Errors
    /// If something cannot be.
    pub fn of_parameter(
        self,
        problem: Problem,
        parameter: Vec<f64>,
    ) -> Result<EvaluationJob, Error> {
        let objective = problem.check()?;
        let protection = self.guarantee.check(&objective.schema, objective.constant, true)?;
        // Where a parameter comes from nobody says.
        let mut taken = vec![UNBOUNDED_MODEL.to_owned()];
        taken.extend(objective.assumptions(protection.opening.unit));
        let Objective { schema, loss, regulariser, .. } = objective;
        Evaluating {
            protection,
            schema,
            loss,
            shape: regulariser.shape(),
            parameter,
            log_odds: true,
            cut: 0.0,
            range: 2.0,
            unpaid: false,
            taken,
            evaluation: self,
        }
        .check()
    }
}

impl Evaluating {
    /// Refuses what cannot be, and what has no row on the map.
    fn check(self) -> Result<EvaluationJob, Error> {
        let Evaluation { confidence, bins, .. } = self.evaluation;
        let (target, opening) = (self.loss.target(), self.protection.opening);
        if self.protection.budget.is_some_and(|budget| budget.delta() == 0.0) {
            let why = "an evaluation has Gaussian noise, for which no epsilon holds without exception; give a delta such \
                       as 1e-5";
            return Err(Error::value("delta", 0, why));
        }
        if !(confidence > 0.0 && confidence < 1.0) {
            let why = "it must lie between 0 and 1, for example 0.95";
            return Err(Error::value("confidence", confidence, why));
        }
        match bins {
            Some(_) if target == LossTarget::Real => {
                return Err(Error::value(
                    "bins",
                    "given",
                    "a model of a number needs none; leave it out",
                ));
            }
            Some(bins) if !(2..=200).contains(&bins) => {
                return Err(Error::value("bins", bins, "it must be from 2 to 200"));
            }
            _ => {}
        }
        map::offered(&MapCell::of_question(NAME, self.form(), &opening))?;
        Ok(Job::new(self))
    }
}

/// What the certificate of an evaluation takes as given of the model: that it is public, and where
/// its schema was drafted.
fn taken_as_given(model: &Certificate) -> Vec<String> {
    let public = if model.certified { PUBLIC_MODEL } else { UNBOUNDED_MODEL };
    let origin = origin_of(model).map(|(line, _)| line);
    std::iter::once(public).chain(origin).map(str::to_owned).collect()
}
