//! A table that is said to be public, and what a parameter is worth on it. Nothing here is private.

use reticent_accountant::View;
use reticent_admm::exact::{ExactSettings, SolverStatus, solve};
use reticent_oracle::tables::TargetKind;
use reticent_oracle::without_privacy::{ExactOracle, known_scores};
use reticent_oracle::{Entropy, Gate, PrivacyModel, PrivateTable, Refusal};

use super::norm;
use crate::error::Error;
use crate::job::Job;
use crate::model::Model;
use crate::objective::Objective;
use crate::quality::{Quality, of_scores};
use crate::record_weights;
use crate::simulate::SimulationJob;
use crate::source::Source;

/// A table whose owner says that it is public, behind a gate of its own, whose books say that it is
/// read freely. It is for experiments: the objective, the exact optimum, metrics on a test table.
pub struct PublicData {
    objective: Objective,
    /// What the mean loss is multiplied by (`loss_weight` of peers).
    weight: f64,
    opening: PrivacyModel,
    gate: Gate,
    /// The exact optimum and the objective at it.
    optimum: Option<(Vec<f64>, f64)>,
    wants_optimum: bool,
    test: Option<Gate>,
}

impl std::fmt::Debug for PublicData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PublicData").field("opening", &self.opening).finish_non_exhaustive()
    }
}

/// The quality of a parameter on a public table. Not private.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Examined {
    /// The mean loss and the penalty; beside `loss_weight` the mean loss times that.
    pub objective: f64,
    /// The objective less that of the exact optimum.
    pub gap: Option<f64>,
    /// The distance from the exact optimum.
    pub distance: Option<f64>,
    /// The metrics on the test table, in the order of [`PublicData::metrics`].
    pub test: Vec<f64>,
}

/// What is measured on a test table.
const CLASSES: &[&str] = &["accuracy", "auc", "log_loss"];
const NUMBERS: &[&str] = &["rmse", "mae", "r2"];

impl PublicData {
    /// The table of this job, which is public: to give it is to say so.
    ///
    /// # Errors
    /// If the table cannot be read under the schema, or the job has no one objective to measure by:
    /// a choice among several, or a graph that is learned.
    pub fn of_job<'a>(job: &Job, source: impl Into<Source<'a>>) -> Result<Self, Error> {
        let task = job.procedure().first();
        if job.procedure().choice.is_some() {
            return Err(no_objective("tune", "several fits"));
        }
        if task.graph.is_some() {
            return Err(no_objective("graph", "private"));
        }
        Self::open(&task.objective, task.protection.opening, source.into())
    }

    /// The table of this run between parties, which is public: the objective is the mean over all
    /// records, or over the users where those are protected, times `loss_weight`, and the penalty.
    /// Beside a weight other than 1 there is no exact optimum, and so no gap and no distance.
    ///
    /// # Errors
    /// If the table cannot be read under the schema.
    pub fn of_simulation<'a>(
        job: &SimulationJob,
        source: impl Into<Source<'a>>,
    ) -> Result<Self, Error> {
        let (objective, opening) = job.objective();
        let opening = PrivacyModel { view: View::Central, ..opening };
        let weight = job.loss_weight();
        let public = Self::open(objective, opening, source.into())?;
        Ok(PublicData { weight, wants_optimum: weight == 1.0, ..public })
    }

    fn open(
        objective: &Objective,
        opening: PrivacyModel,
        source: Source<'_>,
    ) -> Result<Self, Error> {
        let why =
            "what a model is worth on public data is a mean in which every record counts once";
        record_weights::check_alike(&objective.schema, why)?;
        let table = source.load(&objective.schema)?;
        let gate = free(objective, &opening, table)?;
        Ok(PublicData {
            objective: objective.clone(),
            weight: 1.0,
            opening,
            gate,
            optimum: None,
            wants_optimum: true,
            test: None,
        })
    }

    /// With a test table, public as well, of the same schema.
    ///
    /// # Errors
    /// If it cannot be read under the schema.
    pub fn with_test<'a>(mut self, source: impl Into<Source<'a>>) -> Result<Self, Error> {
        let table = source.into().load(&self.objective.schema)?;
        self.test = Some(free(&self.objective, &self.opening, table)?);
        Ok(self)
    }

    /// Without the exact optimum, whose computation takes its time: there is then no gap and no
    /// distance.
    pub fn without_optimum(mut self) -> Self {
        self.wants_optimum = false;
        self
    }

    /// The names of the metrics; empty without a test table.
    pub fn metrics(&self) -> &'static [&'static str] {
        match (&self.test, self.objective.schema.target()) {
            (None, _) | (_, None) => &[],
            (_, Some((_, target))) => match target.kind() {
                TargetKind::Classes(_) => CLASSES,
                _ => NUMBERS,
            },
        }
    }

    /// The exact optimum and the objective at it; `None` if there is none, or it was not found.
    ///
    /// # Errors
    /// If the solver is refused.
    pub fn optimum(&mut self) -> Result<Option<&(Vec<f64>, f64)>, Error> {
        if self.wants_optimum && self.optimum.is_none() {
            let regulariser = &self.objective.regulariser;
            let found = solve(&mut self.gate, regulariser, &ExactSettings::default())?;
            if found.status == SolverStatus::Converged {
                let value = self.value(&found.x)?;
                self.optimum = Some((found.x, value));
            }
            self.wants_optimum = self.optimum.is_some();
        }
        Ok(self.optimum.as_ref())
    }

    /// The mean loss and the penalty.
    fn value(&mut self, at: &[f64]) -> Result<f64, Error> {
        Ok(self.weight * self.gate.loss(at)? + self.objective.regulariser.value_at(at))
    }

    /// The quality of a parameter.
    ///
    /// # Errors
    /// If it is none of this problem, or not finite.
    pub fn examine(&mut self, at: &[f64]) -> Result<Examined, Error> {
        let objective = self.value(at)?;
        let best = self.optimum()?;
        let gap = best.map(|(_, value)| objective - value);
        let distance =
            best.map(|(x, _)| norm(&x.iter().zip(at).map(|(x, at)| x - at).collect::<Vec<_>>()));
        Ok(Examined { objective, gap, distance, test: self.tested(at)? })
    }

    /// The quality of a model of this problem.
    ///
    /// # Errors
    /// If it is not finite.
    pub(crate) fn examine_model(&mut self, model: &Model) -> Result<Examined, Error> {
        let mut at = model.parameter();
        // What is behind the intercept of a model is 1.
        let last = at.len() - model.intercept().len();
        at[last..].iter_mut().for_each(|b| *b /= self.objective.constant);
        self.examine(&at)
    }

    fn tested(&mut self, at: &[f64]) -> Result<Vec<f64>, Error> {
        let Some(gate) = &mut self.test else { return Ok(Vec::new()) };
        let Some((_, target)) = self.objective.schema.target() else { return Ok(Vec::new()) };
        let scored = known_scores(gate, at)?;
        let quality = of_scores(target.kind(), &self.objective.loss.spec(), scored)?;
        Ok(match quality {
            Quality::Classes { accuracy, auc, log_loss, .. } => vec![accuracy, auc, log_loss],
            Quality::Range { rmse, mae, r2, .. } => vec![rmse, mae, r2],
        })
    }
}

/// A gate that is read freely: its noise is never drawn.
fn free(objective: &Objective, opening: &PrivacyModel, table: PrivateTable) -> Result<Gate, Error> {
    let entropy = Entropy::secure().map_err(Refusal::from)?;
    Ok(Gate::open(table, objective.loss.clone(), opening, entropy)?)
}

fn no_objective(name: &'static str, given: &str) -> Error {
    let why = "what is minimised is not known before the run, so that a trace has nothing to measure by; trace it \
               without public data";
    Error::value(name, given, why)
}
