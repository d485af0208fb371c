//! What is minimised: the one place where schema, target, loss, penalty, constraint and intercept
//! are put together, for a fit, a choice among fits, a run between parties and an audit.

use std::fmt;
use std::sync::Arc;

use reticent_accountant::Unit;
use reticent_admm::ProblemFacts;
use reticent_noise::Hasher;
use reticent_oracle::tables::{IdForm, Schema, TargetKind};
use reticent_problem::{
    Constraint, Loss, LossTarget, Penalty, Regulariser, Shape, losses, penalties::NoPenalty,
};

use crate::certificate::{origin, told_apart};
use crate::error::Error;
use crate::problem_options::{CheckedOptions, ProblemOptions};

/// The constant behind the intercept, as a part of the declared row norm, which curves do not change: tables in
/// other units then give the same model in those units. Gradients are longer by √(1 + 0.3²), four in a hundred,
/// and the intercept moves a tenth as fast as a feature that fills a whole row would. The published intercept
/// is multiplied with it.
const INTERCEPT: f64 = 0.3;

/// The function to minimise, `(1/n) Σ loss(x; record) + penalty(A x)`, on tables of one schema.
/// Unchecked; [`Problem::check`] makes an [`Objective`] of it.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use reticent::tables::{Schema, Target};
/// use reticent::{Problem, losses::Logistic, problem::Loss};
///
/// # fn main() -> Result<(), reticent::Error> {
/// let schema = Schema::bounded(&[(0.0, 1.0)], Target::classes(["no", "yes"])?)?;
/// let objective = Problem::new(schema).loss(Arc::new(Logistic) as Arc<dyn Loss>).check()?;
/// assert_eq!(objective.loss().spec(), "logistic");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Problem {
    schema: Schema,
    loss: Option<Arc<dyn Loss>>,
    penalty: Arc<dyn Penalty>,
    constraint: Option<Constraint>,
    intercept: bool,
    pub(crate) options: ProblemOptions,
    assumptions: Vec<String>,
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { loss, penalty, constraint, intercept, .. } = self;
        f.debug_struct("Problem")
            .field("loss", loss)
            .field("penalty", penalty)
            .field("constraint", &constraint.as_ref().map(Constraint::spec))
            .field("intercept", intercept)
            .finish_non_exhaustive()
    }
}

impl Problem {
    /// The usual loss for the target of `schema`, no penalty, and an intercept.
    pub fn new(schema: Schema) -> Self {
        let penalty = Arc::new(NoPenalty);
        Problem {
            schema,
            loss: None,
            penalty,
            constraint: None,
            intercept: true,
            options: ProblemOptions::default(),
            assumptions: Vec::new(),
        }
    }

    /// Sets the loss.
    pub fn loss(mut self, loss: impl Into<Arc<dyn Loss>>) -> Self {
        self.loss = Some(loss.into());
        self
    }

    /// Sets the penalty.
    pub fn penalty(mut self, penalty: impl Into<Arc<dyn Penalty>>) -> Self {
        self.penalty = penalty.into();
        self
    }

    /// Sets the constraint between the parameter and what is penalised.
    pub fn constraint(mut self, constraint: Constraint) -> Self {
        self.constraint = Some(constraint);
        self
    }

    /// Sets whether there is an intercept.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.intercept = intercept;
        self
    }

    /// Takes something as given that the caller knows and nobody checks, such as that what was read
    /// off a table is public anyway. It stands in the certificate, among what that relies on.
    pub fn assuming(mut self, what: impl Into<String>) -> Self {
        self.assumptions.push(what.into());
        self
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The same on tables of another schema.
    pub(crate) fn with_schema(
        mut self,
        make: impl FnOnce(Schema) -> Result<Schema, Error>,
    ) -> Result<Self, Error> {
        self.schema = make(self.schema)?;
        Ok(self)
    }

    /// Writes what it is into a digest, by what its parts are called.
    pub(crate) fn write(&self, hasher: &mut Hasher) {
        // Named one by one: what is left out of a digest has noise repeated for it.
        let Problem { schema, loss, penalty, constraint, intercept, .. } = self;
        let Problem { options, assumptions, .. } = self;
        let name = loss.as_ref().map(|loss| loss.spec()).unwrap_or_default();
        let constraint = constraint.as_ref().map(Constraint::spec).unwrap_or_default();
        for text in [schema.to_toml(), name, penalty.spec(), constraint.to_string()] {
            hasher.field(text.as_bytes());
        }
        hasher.number(u64::from(*intercept));
        options.write(loss.as_deref(), hasher);
        for assumption in assumptions {
            hasher.field(assumption.as_bytes());
        }
    }

    pub(crate) fn is_constrained(&self) -> bool {
        self.constraint.is_some()
    }

    /// Checks loss, penalty and constraint against the schema.
    ///
    /// # Errors
    /// If the schema has no target, or the loss or the constraint does not fit it.
    pub fn check(self) -> Result<Objective, Error> {
        let options = self.options.check(target_kind(&self.schema)?)?;
        let Problem { schema, loss, penalty, constraint, intercept, assumptions, .. } = self;
        let kind = target_kind(&schema)?;
        let loss = match loss {
            Some(loss) => fitting(&loss.spec(), Arc::clone(&loss), kind)?,
            None => losses::parse(usual_loss(kind).0, class_count(kind))?.into(),
        };
        let loss = options.apply(loss)?;
        let shape = Shape { features: schema.width(), outputs: loss.outputs(), intercept };
        let constraint = constraint.unwrap_or_else(|| Constraint::identity(shape.features));
        let regulariser = Arc::new(Regulariser::new(penalty, constraint, shape)?);
        let constant = if intercept { INTERCEPT * schema.line_norm() } else { 0.0 };
        Ok(Objective { schema, loss, regulariser, constant, options, assumptions })
    }
}

/// The parts of a problem, for whatever has one in its field `problem`: a fit, a run between
/// parties.
macro_rules! parts_of_problem {
    () => {
        /// Sets the loss, one of [`losses`](crate::losses); the gate shows them
        /// every score and target, so no other can be written.
        pub fn loss(mut self, loss: impl reticent_problem::Loss + 'static) -> Self {
            let loss: std::sync::Arc<dyn reticent_problem::Loss> = std::sync::Arc::new(loss);
            self.problem = self.problem.loss(loss);
            self
        }

        /// Sets the penalty, one of [`penalties`](crate::penalties) or one of your own: it
        /// sees what was released and nothing else. Where a guarantee counts on what is not
        /// released, one of your own is refused.
        pub fn penalty(mut self, penalty: impl reticent_problem::Penalty + 'static) -> Self {
            let penalty: std::sync::Arc<dyn reticent_problem::Penalty> =
                std::sync::Arc::new(penalty);
            self.problem = self.problem.penalty(penalty);
            self
        }

        /// Sets the constraint between the parameter and what is penalised.
        pub fn constraint(mut self, constraint: reticent_problem::Constraint) -> Self {
            self.problem = self.problem.constraint(constraint);
            self
        }

        /// Sets whether there is an intercept; by default there is.
        pub fn intercept(mut self, intercept: bool) -> Self {
            self.problem = self.problem.intercept(intercept);
            self
        }
    };
}
pub(crate) use parts_of_problem;

/// A checked [`Problem`].
#[derive(Clone, Debug)]
pub struct Objective {
    pub(crate) schema: Schema,
    pub(crate) loss: Arc<dyn Loss>,
    pub(crate) regulariser: Arc<Regulariser>,
    /// The constant behind the intercept; 0 where there is none.
    pub(crate) constant: f64,
    /// What was said beside these.
    pub(crate) options: CheckedOptions,
    /// What the caller takes as given.
    assumptions: Vec<String>,
}

impl Objective {
    /// The column that says whose row it is, if the schema declares one: its name, or its place in a
    /// file without a header, where names are anybody's choice.
    pub(crate) fn user_column(&self) -> Option<String> {
        user_column(&self.schema)
    }

    /// What a guarantee relies on beyond what every one does: where a drafted schema came from, that
    /// what its options say is public, how persons are told apart where they are `unit`, and
    /// what the caller takes as given.
    pub(crate) fn assumptions(&self, unit: Unit) -> impl Iterator<Item = String> {
        let options = self.options.assumptions(&*self.loss);
        let own = self.assumptions.iter().cloned();
        origin(&self.schema)
            .into_iter()
            .chain(options)
            .chain(told_apart(&self.schema, unit))
            .chain(own)
    }

    /// The loss of a record.
    pub fn loss(&self) -> &Arc<dyn Loss> {
        &self.loss
    }

    /// The penalty and its constraint.
    pub fn regulariser(&self) -> &Arc<Regulariser> {
        &self.regulariser
    }

    /// The constant behind the intercept; 0 where there is none.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// The public facts of the problem, for a number of units and the noise with which one answer
    /// spends the budget.
    pub fn public(&self, population: u64, whole_budget: f64) -> ProblemFacts {
        ProblemFacts {
            shape: self.regulariser.shape(),
            population,
            row_norm: self.schema.row_norm().hypot(self.constant),
            constant: self.constant,
            numeric: self.loss.target() == LossTarget::Real,
            logistic: self.loss.name() == "logistic" && self.loss.weights().is_empty(),
            lipschitz: self.loss.lipschitz(),
            smoothness: self.loss.smoothness(),
            whole_budget,
        }
    }
}

/// The column of a schema that says whose row it is, as a budget knows it: spellings that are one person in
/// one form are several in another.
pub(crate) fn user_column(schema: &Schema) -> Option<String> {
    let column = known_column(schema, schema.user()?)?;
    Some(match (schema.user_form(), schema.trim()) {
        (Some(IdForm::Text), true) => format!("{column}, as text"),
        (Some(IdForm::Text), false) => format!("{column}, as text with its spaces"),
        _ => column,
    })
}

/// A column as a budget knows it: by its place where the file has no names.
pub(crate) fn known_column(schema: &Schema, name: &str) -> Option<String> {
    if schema.header() {
        return Some(name.to_owned());
    }
    let place = schema.columns().iter().position(|column| column.name() == name)?;
    Some(format!("column {} of a file without a header", place + 1))
}

fn target_kind(schema: &Schema) -> Result<&TargetKind, Error> {
    schema.target().map(|(_, target)| target.kind()).ok_or(Error::Missing {
        what: "the target",
        todo: "name the column to predict with `target`, or give one column of the schema kind = \"target\"",
    })
}

/// The number of classes of a target; none for a number.
fn class_count(kind: &TargetKind) -> Option<usize> {
    match kind {
        TargetKind::Classes(labels) => Some(labels.len()),
        _ => None,
    }
}

/// The usual loss of a target, and what losses call it.
fn usual_loss(kind: &TargetKind) -> (&'static str, LossTarget) {
    match class_count(kind) {
        None => ("squared", LossTarget::Real),
        Some(2) => ("logistic", LossTarget::Binary),
        Some(classes) => ("multinomial", LossTarget::Classes(classes)),
    }
}

/// Reads a loss for the target of `schema`.
pub(crate) fn loss_for(text: &str, schema: &Schema) -> Result<Arc<dyn Loss>, Error> {
    let kind = target_kind(schema)?;
    fitting(text, losses::parse(text, class_count(kind))?.into(), kind)
}

/// The loss, which was given as `text`, if it predicts what the target is.
fn fitting(text: &str, loss: Arc<dyn Loss>, kind: &TargetKind) -> Result<Arc<dyn Loss>, Error> {
    let (usual, given) = usual_loss(kind);
    if loss.target() == given {
        return Ok(loss);
    }
    let words = |target| match target {
        LossTarget::Binary => "two classes".to_owned(),
        LossTarget::Classes(2) => "more than two classes".to_owned(),
        LossTarget::Classes(k) => format!("{k} classes"),
        LossTarget::Real => "a number".to_owned(),
    };
    let (predicts, is) = (words(loss.target()), words(given));
    let allowed = format!("it predicts {predicts}, the target is {is}; use {usual}");
    Err(Error::value("loss", text, allowed))
}
