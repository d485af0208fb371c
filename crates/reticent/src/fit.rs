//! A fit, put together part by part in Rust.

use reticent_oracle::tables::Schema;
use reticent_problem::{Constraint, Graph};

use crate::error::Error;
use crate::graph::PrivateGraph;
use crate::guarantee::{Guarantee, parts_of_guarantee};
use crate::job::Job;
use crate::objective::{Problem, parts_of_problem};
use crate::solver::Solver;
use crate::task::Task;
use crate::training::Training;

/// The description of a fit, with its budget and without its data, which are a
/// [`Source`](crate::Source). Unchecked: [`Fit::check`] makes a [`Job`] of it, without reading any table.
///
/// # Examples
///
/// ```
/// use reticent::tables::{Schema, Target};
/// use reticent::{Budget, Fit, losses::Huber, penalties::L1};
///
/// # fn main() -> Result<(), reticent::Error> {
/// let schema = Schema::bounded(&[(0.0, 120.0), (0.0, 1.0)], Target::range(0.0, 50.0)?)?;
/// let job = Fit::new(schema)
///     .loss(Huber::new(0.5)?)
///     .penalty(L1::new(1e-3)?)
///     .budget(Budget::new(1.0, 1e-6)?)
///     .check()?;
/// assert_eq!(job.budget().map(|budget| budget.epsilon()), Some(1.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Fit {
    pub(crate) problem: Problem,
    pub(crate) solver: Solver,
    pub(crate) graph: Option<PrivateGraph>,
    pub(crate) standard_errors: Option<f64>,
    pub(crate) calibrate: Option<f64>,
    pub(crate) guarantee: Guarantee,
    pub(crate) noise: Option<f64>,
}

impl Fit {
    /// A fit of tables of this schema: by `auto`, with the usual loss for the target, no penalty
    /// and an intercept.
    pub fn new(schema: Schema) -> Self {
        Fit::of(Problem::new(schema))
    }

    /// A fit of this problem.
    pub fn of(problem: Problem) -> Self {
        Fit {
            problem,
            solver: Solver::default(),
            graph: None,
            standard_errors: None,
            calibrate: None,
            guarantee: Guarantee::default(),
            noise: None,
        }
    }

    parts_of_problem!();

    /// A graph of the features that is learned within the budget and fused along.
    pub fn learn_graph(mut self, graph: PrivateGraph) -> Self {
        self.graph = Some(graph);
        self
    }

    /// Estimates of the coefficients of the population with their standard errors, for this share
    /// of the budget (docs/uncertainty.md).
    pub fn standard_errors(mut self, share: f64) -> Self {
        self.standard_errors = Some(share);
        self
    }

    /// Probabilities that are brought in line with what happens, for this share of the budget
    /// (docs/calibration.md).
    pub fn recalibrate(mut self, share: f64) -> Self {
        self.calibrate = Some(share);
        self
    }

    /// Sets the solver; [`Solver::auto`] by default.
    pub fn solver(mut self, solver: Solver) -> Self {
        self.solver = solver;
        self
    }

    parts_of_guarantee!();

    /// Sets the noise, in clips, in place of the least that the budget allows: the budget is then a limit
    /// that the run is refused beyond. At 0 there is no noise, no privacy and no need of a budget;
    /// the model says that it is not certified. Beside `precondition` it is the noise of the
    /// gradients, and that of the second moment follows from it and the share.
    pub fn noise(mut self, noise_multiplier: f64) -> Self {
        self.noise = Some(noise_multiplier);
        self
    }

    /// Checks everything that can be checked without a table.
    ///
    /// # Errors
    /// If something is missing, cannot be, or is not proven to be private in this combination.
    pub fn check(self) -> Result<Job, Error> {
        Ok(Job::new(Training::one(Task::new(self, false)?)))
    }

    /// The stand-in for a graph that is not known yet.
    pub(crate) fn with_path(mut self) -> Result<Self, Error> {
        if self.graph.is_some() {
            if self.problem.is_constrained() {
                let why = "a graph is a constraint, and there is one already; give one of the two";
                return Err(Error::value("graph", "private", why));
            }
            let features = self.problem.schema().width();
            PrivateGraph::check_size(features)?;
            self.problem = self.problem.constraint(Constraint::graph(&Graph::path(features)));
        }
        Ok(self)
    }
}
