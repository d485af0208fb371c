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
mod repeat;

use reticent_accountant::{Adjacency, Ledger, Taint, Unit, View};
use reticent_oracle::tables::{Schema, TargetKind};
use reticent_oracle::{Gate, Oracle, PrivacyModel};
use reticent_problem::LossTarget;
use serde::Serialize;

pub use classes::{PrivateClasses, Reliability};
pub use estimate::Estimate;
pub use numbers::PrivateNumbers;
pub use repeat::RepeatEvaluation;

use crate::budget::Budget;
use crate::certificate::{Certificate, origin, origin_of, told_apart};
use crate::error::Error;
use crate::map::{self, Drawn, MapCell, Procedure};
use crate::model::Model;
use crate::objective::{loss_for, user_column};
use crate::source::Source;
use crate::stage::{Stage, Watch, enter, unwatched};
use question::{Asking, EvaluationQuestion};

/// The name under which an evaluation stands in the map and in its certificate.
pub(crate) const NAME: &str = "evaluation";

/// What a certificate of an evaluation does not count.
const PUBLIC_MODEL: &str = "the model is public; what it shows of the people of this table, if it was trained on \
                            them, is counted by its own certificate, and both add up";

/// What is assumed where the model has no guarantee.
const UNBOUNDED_MODEL: &str = "the model is public and has no guarantee of its own: if it was trained on people of this \
                               table, nothing bounds what it shows of them, and so nothing bounds both together";

/// The confidence of the intervals where nothing is said.
const CONFIDENCE: f64 = 0.95;

/// How a model is to be evaluated, and at what price.
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
    budget: Budget,
    adjacency: Adjacency,
    unit: Option<Unit>,
    public_n: Option<u64>,
    threshold: Option<f64>,
    bins: Option<usize>,
    confidence: f64,
    seed: Option<u64>,
    draft: Option<Schema>,
}

/// What a model is worth, as far as the noise tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PrivateQuality {
    /// Of classes.
    Classes(PrivateClasses),
    /// Of a number.
    Range(PrivateNumbers),
}

/// An evaluation that was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluated {
    /// The figures.
    pub quality: PrivateQuality,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// What is guaranteed to the people of the table that was evaluated on.
    pub certificate: Certificate,
}

/// An evaluation with its table read and its noise calibrated, before anything was asked.
#[derive(Debug)]
pub struct ReadyEvaluation {
    question: EvaluationQuestion,
    asking: Asking,
    gate: Gate,
    /// What is taken as given of the model, and of ids where persons are protected.
    taken: Vec<String>,
}

impl Evaluation {
    /// An evaluation within this budget.
    pub fn new(budget: Budget) -> Self {
        Evaluation {
            budget,
            adjacency: Adjacency::default(),
            unit: None,
            public_n: None,
            threshold: None,
            bins: None,
            confidence: CONFIDENCE,
            seed: None,
            draft: None,
        }
    }

    /// Which tables are neighbours; one record replaced by another where nothing is said.
    pub fn adjacency(mut self, adjacency: Adjacency) -> Self {
        self.adjacency = adjacency;
        self
    }

    /// What is protected; a user where the model's schema declares whose row it is, otherwise a
    /// record. A user counts once in every figure, however many rows they have.
    pub fn unit(mut self, unit: Unit) -> Self {
        self.unit = Some(unit);
        self
    }

    /// A public estimate of the number of units, which add-remove needs.
    pub fn public_n(mut self, count: u64) -> Self {
        self.public_n = Some(count);
        self
    }

    /// With two classes: above which probability (or score, of a loss without probabilities) a
    /// record is taken for the second one.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// So many bins of scores, from 2 to 200; as many as suit the noise where nothing is said.
    pub fn bins(mut self, bins: usize) -> Self {
        self.bins = Some(bins);
        self
    }

    /// The confidence of the intervals; 0.95 where nothing is said.
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = confidence;
        self
    }

    /// Draws the noise from a seed, for tests: the result is then not private, and says so.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The schema of the model as it was drafted, which knows its file. A model does not: without
    /// the draft, the evaluation of a model whose schema was drafted from a file that is not
    /// public is no guarantee, since the table may be that very file.
    pub fn draft(mut self, schema: Schema) -> Self {
        self.draft = Some(schema);
        self
    }

    /// What may be spent.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Evaluates `model` on a table with targets. Every call spends the budget anew.
    ///
    /// # Errors
    /// If the table cannot be read under the schema of the model, or the budget does not allow it.
    pub fn run<'a>(self, model: &Model, source: impl Into<Source<'a>>) -> Result<Evaluated, Error> {
        self.open(model, source, &mut unwatched)?.run()
    }

    /// Reads the table and calibrates the noise; nothing is asked about the table yet.
    ///
    /// # Errors
    /// If something cannot be, the table cannot be read under the schema of the model, or the
    /// budget does not allow it.
    pub fn open<'a>(
        self,
        model: &Model,
        source: impl Into<Source<'a>>,
        watch: &mut Watch<'_>,
    ) -> Result<ReadyEvaluation, Error> {
        let question = self.of(model)?;
        enter(Stage::Reading, watch)?;
        let schema = question.evaluation.schema(model);
        let table = source.into().load(&schema)?;
        question.check_owners(&table)?;
        let mut gate = question.open(table, 0)?;
        let certificate = model.certificate();
        let origin = origin_of(certificate);
        // A model does not keep where its schema came from, but its books say if that was its table,
        // and its certificate if it was a file that may be this one.
        let compared = schema.drafted().is_some();
        let unknown = !compared && origin.is_some_and(|(_, private)| private);
        if unknown || certificate.ledger.taints().contains(&Taint::UnpaidRead) {
            gate.taint(Taint::UnpaidRead);
        }
        enter(Stage::Calibrating, watch)?;
        let asking = question.calibrate(gate.terms())?;
        let mut taken = taken_as_given(certificate);
        taken.extend(told_apart(model.preprocessing(), question.opening.unit));
        Ok(ReadyEvaluation { question, asking, gate, taken })
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

    /// Refuses what cannot be without reading a table.
    ///
    /// # Errors
    /// If something is missing, cannot be, or is not proven to be private in this combination.
    pub fn check(&self, model: &Model) -> Result<(), Error> {
        self.clone().of(model).map(drop)
    }

    /// The column that says whose row it is, for a budget that is kept for persons.
    pub fn user_column(model: &Model) -> Option<String> {
        user_column(model.preprocessing())
    }

    fn of(self, model: &Model) -> Result<EvaluationQuestion, Error> {
        self.check_draft(model)?;
        let schema = model.preprocessing();
        let [loss, ..] = model.problem();
        let loss = loss_for(loss, schema)?;
        let parameter = model.parameter();
        let linear = model.linear(&parameter);
        let opening = self.opening(schema, if linear.shape.intercept { 1.0 } else { 0.0 })?;
        let range = match model.target() {
            Some((_, TargetKind::Range { lower, upper })) => upper - lower,
            _ => 0.0,
        };
        let question = EvaluationQuestion {
            cut: model.cut(self.threshold)?,
            log_odds: model.has_probabilities(),
            loss,
            shape: linear.shape,
            opening,
            range,
            parameter,
            evaluation: self,
        };
        question.evaluation.offered(question.loss.target(), opening)?;
        Ok(question)
    }

    fn opening(&self, schema: &Schema, intercept: f64) -> Result<PrivacyModel, Error> {
        let public_n = self.public_n.or(schema.public_n());
        if self.adjacency == Adjacency::AddRemove && public_n.unwrap_or(0) == 0 {
            return Err(Error::Missing {
                what: "a public number of records",
                todo: "add-remove keeps the true number private: give an estimate that is not taken from \
                       the data with `public_n = N`, or public_n in the schema",
            });
        }
        Ok(PrivacyModel {
            adjacency: self.adjacency,
            unit: self.unit.unwrap_or(match schema.user() {
                Some(_) => Unit::User,
                None => Unit::Record,
            }),
            view: View::Central,
            public_n,
            intercept,
        })
    }

    /// Refuses what cannot be, and what has no row on the map.
    fn offered(&self, target: LossTarget, opening: PrivacyModel) -> Result<(), Error> {
        if self.budget.delta() == 0.0 {
            let why = "an evaluation has Gaussian noise, for which no epsilon holds without exception; give a delta such \
                       as 1e-5";
            return Err(Error::value("delta", 0, why));
        }
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            let why = "it must lie between 0 and 1, for example 0.95";
            return Err(Error::value("confidence", self.confidence, why));
        }
        match self.bins {
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
        map::offered(&MapCell {
            algorithm: NAME,
            form: if target == LossTarget::Real { "numbers" } else { "classes" },
            procedure: Procedure::Alone,
            view: opening.view,
            unit: opening.unit,
            adjacency: opening.adjacency,
            drawn: Drawn::Full,
        })
    }
}

impl ReadyEvaluation {
    /// What the books will have, entry for entry.
    pub fn plan(&self) -> &Ledger {
        &self.asking.plan
    }

    /// Why it would be no guarantee, as far as that is known.
    pub fn taints(&self) -> &[Taint] {
        self.gate.ledger().taints()
    }

    /// Asks, and computes the figures.
    ///
    /// # Errors
    /// If noise cannot be drawn. [`Error::Spent`] says that the budget was spent nevertheless.
    pub fn run(self) -> Result<Evaluated, Error> {
        let ReadyEvaluation { question, asking, mut gate, taken } = self;
        let Evaluation { budget, confidence, .. } = question.evaluation;
        let terms = *gate.terms();
        gate.bind(asking.plan.clone());
        let plan = asking.plan.clone();
        let spent = |why: Error| budget.spent(why, Some(&plan));
        let answer = match question.ask(&mut gate, &asking.edges, asking.noise) {
            Ok(answer) => answer.into_inner(),
            Err(why) if gate.ledger().total_events() == 0 => return Err(why.into()),
            Err(why) => return Err(spent(why.into())),
        };
        let ledger = gate.close().map_err(|why| spent(why.into()))?;
        let mut certificate =
            Certificate::of(NAME, budget.delta(), &terms, ledger).map_err(spent)?;
        certificate.assumptions.extend(taken);
        let certificate = certificate.sealed(None).map_err(spent)?;
        let quality = question.read(&asking, &terms, &answer);
        Ok(Evaluated { quality, confidence, certificate })
    }
}

/// What the certificate of an evaluation takes as given of the model: that it is public, and where
/// its schema was drafted.
fn taken_as_given(model: &Certificate) -> Vec<String> {
    let public = if model.certified { PUBLIC_MODEL } else { UNBOUNDED_MODEL };
    let origin = origin_of(model).map(|(line, _)| line);
    std::iter::once(public).chain(origin).map(str::to_owned).collect()
}
