//! From the words of a [`Spec`] to typed parts: schema, loss, penalty, constraint, budget.

use std::path::Path;
use std::sync::Arc;

use reticent_accountant::Unit;
use reticent_oracle::tables::{self, Schema, TargetKind};
use reticent_problem::{Penalty, constraints, penalties};

use crate::error::{Error, plain};
use crate::fit::Fit;
use crate::graph::is_private_graph;
use crate::job::Job;
use crate::objective::{Problem, loss_for};
use crate::problem_options::ProblemOptions;
use crate::solver::Solver;
use crate::spec::Spec;

impl Spec {
    /// Checks everything that can be checked without a table.
    ///
    /// # Errors
    /// If something is missing, cannot be, or is not proven to be private in this combination.
    pub fn check(&self) -> Result<Job, Error> {
        match self.tune()? {
            Some(tune) => tune.check(),
            None => self.fit()?.check(),
        }
    }

    /// The fit that it describes, its schema and the file of its constraint read. What is to be
    /// tuned is no part of it.
    ///
    /// # Errors
    /// If a word cannot be read, or the schema.
    pub fn fit(&self) -> Result<Fit, Error> {
        let mut solver = Solver::default();
        if let Some(name) = &self.algorithm {
            solver = Solver::named(name)?;
        }
        // Before the schema is read, so that what is missing is named first.
        self.guarantee.budget(solver.is_private() && self.noise != Some(0.0))?;
        let problem = self.problem()?;
        if self.guarantee.unit == Some(Unit::User) && problem.schema().user().is_none() {
            let why = "it needs a column that says whose record each row is: give `user_column = NAME`, or a column of \
                       kind = \"user\" in the schema";
            return Err(Error::value("unit", Unit::User, why));
        }
        let graph = self.graph()?;
        Ok(Fit {
            problem,
            solver: Solver { settings: self.settings.clone(), ..solver },
            graph,
            standard_errors: self.standard_errors,
            calibrate: self.calibrate,
            guarantee: self.guarantee,
            noise: self.noise,
        })
    }

    /// The problem to minimise, with its schema and the file of its constraint read.
    ///
    /// # Errors
    /// If a word cannot be read, or the schema.
    pub fn problem(&self) -> Result<Problem, Error> {
        let schema = self.schema()?;
        let loss = self.loss.as_deref().map(|text| loss_for(text, &schema)).transpose()?;
        let penalty: Arc<dyn Penalty> =
            penalties::parse(self.penalty.as_deref().unwrap_or("none"))?.into();
        let names = schema.encoded_names();
        let context = constraints::ConstraintContext {
            features: &names,
            read: &|file| {
                tables::read_text(Path::new(file))
                    .map_err(|error| std::io::Error::new(error.kind(), plain(&error)))
            },
        };
        let public_graph = self.graph.as_ref().filter(|text| !is_private_graph(text));
        let graph = public_graph.map(|file| format!("graph:{file}"));
        let constraint = graph.as_deref().or(self.constraint.as_deref());
        let mut problem = Problem::new(schema).penalty(penalty);
        if let Some(text) = constraint {
            problem = problem.constraint(constraints::parse(text, &context)?);
        }
        if let Some(loss) = loss {
            problem = problem.loss(loss);
        }
        problem.options = ProblemOptions::typed(self)?;
        Ok(problem.intercept(self.intercept.unwrap_or(true)))
    }

    /// The schema with the roles of this job and its curves.
    pub(crate) fn schema(&self) -> Result<Schema, Error> {
        let schema = match (&self.schema, self.features) {
            (Some(path), _) => {
                self.no_second_schema()?;
                Schema::read(path)?
            }
            (None, Some(features)) => self.schema_of_features(features)?,
            (None, None) => {
                return Err(Error::Missing {
                    what: "the schema",
                    todo: "nothing about private data is guessed: write a schema (docs/schema.md), or draft one \
                           from public data with `reticent schema init FILE`, and give it with `schema`; for \
                           LIBSVM `features = N` with `row_norm = R` is enough",
                });
            }
        };
        let schema = schema.with_roles(self.target.as_deref(), self.user_column.as_deref())?;
        match self.curves {
            None => Ok(schema),
            Some(curves) => {
                curves.bend(schema, &self.guarantee, None, self.intercept.unwrap_or(true))
            }
        }
    }

    /// Refuses what stands for a schema where there is one.
    fn no_second_schema(&self) -> Result<(), Error> {
        let without = [
            ("features", self.features.map(|features| features.to_string())),
            ("row_norm", self.row_norm.map(|norm| norm.to_string())),
            ("classes", self.classes.as_ref().map(|classes| classes.join(","))),
            ("target_range", self.target_range.map(|[low, high]| format!("{low},{high}"))),
        ];
        match without.into_iter().find_map(|(name, given)| Some((name, given?))) {
            None => Ok(()),
            Some((name, given)) => {
                let why = format!(
                    "it is for LIBSVM without a schema, and there is one: leave out `{name}` or `schema`"
                );
                Err(Error::value(name, given, why))
            }
        }
    }

    /// The schema of a table of which the number of features and the row norm are known.
    fn schema_of_features(&self, features: u32) -> Result<Schema, Error> {
        let row_norm = self.row_norm.ok_or(Error::Missing {
            what: "the row norm",
            todo: "give `row_norm = R` beside `features`: rows are scaled into it",
        })?;
        let target = match (&self.classes, self.target_range) {
            (Some(_), Some(_)) => {
                let why = "a target has either classes or a range";
                return Err(Error::value("target_range", "both classes and target-range", why));
            }
            (Some(classes), None) => tables::Target::classes(classes.iter().cloned())?,
            (None, Some([lower, upper])) => TargetKind::Range { lower, upper },
            (None, None) => tables::Target::classes(["-1", "+1"])?,
        };
        Ok(Schema::libsvm(features, row_norm, target)?)
    }
}
