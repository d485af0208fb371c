//! From keyword arguments to a job of the library.

use pyo3::prelude::*;
use reticent::internal::problem::catalogue::CatalogueEntry;
use reticent::internal::problem::{ParseError, losses, penalties};
use reticent::problem::{Edge, SparseMatrix};
use reticent::tables::TargetKind;
use reticent::{
    ClassWeights, Constraint, Error, Fit, Graph, PrivateGraph, Problem, Settings, Solver,
};

use crate::guarantee::GuardedRequest;
use crate::schema::PySchema;
use crate::setting::GivenSetting;

/// What an estimator asks for.
pub type FitRequest = GuardedRequest<PythonJob>;

/// Every key is there that all estimators have, as `None` where it is left at its default.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PythonJob {
    pub schema: PySchema,
    pub loss: Option<Named>,
    pub penalty: Named,
    pub constraint: Option<Tie>,
    pub intercept: bool,
    pub algorithm: String,
    pub settings: Vec<(String, GivenSetting)>,
    /// What the caller takes as given.
    pub assumptions: Vec<String>,
    /// How much a record of each class counts, and the public shares of the classes, by name.
    #[pyo3(default)]
    pub class_weight: Option<Weights>,
    #[pyo3(default)]
    pub class_prior: Option<Vec<(String, f64)>>,
    /// The share of the budget that standard errors get.
    pub standard_errors: Option<f64>,
    /// The share that a recalibration gets.
    pub calibrate: Option<f64>,
    /// Whether the run is traced.
    pub trace: bool,
}

/// A loss or a penalty: its name, and the numbers of its parameters.
pub type Named = (String, Vec<f64>);

/// The constructor of a loss or a penalty from its numbers.
type Make<T> = fn(&[f64]) -> Result<T, ParseError>;

/// Builds what is named with as many numbers as it has parameters; of other numbers of them `read`
/// says what is missing.
fn built<T>(
    (name, numbers): &Named,
    table: &[CatalogueEntry<Make<T>>],
    read: impl FnOnce(&str) -> Result<T, ParseError>,
) -> Result<T, ParseError> {
    let fits = |entry: &&CatalogueEntry<_>| {
        entry.name == name && entry.parameters.len() == numbers.len() && !numbers.is_empty()
    };
    match table.iter().find(fits) {
        Some(entry) => (entry.build)(numbers),
        None => read(name),
    }
}

/// Rows, columns and numbers of a matrix, or the ends and weights of edges.
pub type Triplets = (Vec<usize>, Vec<usize>, Vec<f64>);

/// How much a record of each class counts.
#[derive(FromPyObject)]
pub enum Weights {
    /// So much.
    #[pyo3(transparent)]
    Given(Vec<(String, f64)>),
    /// As a word says.
    #[pyo3(transparent)]
    Word(String),
}

/// What ties coefficients together.
#[derive(FromPyObject)]
pub enum Tie {
    /// A matrix of so many rows, by its entries that are not 0.
    #[pyo3(transparent)]
    Matrix((String, usize, Triplets)),
    /// The edges of a graph.
    #[pyo3(transparent)]
    Graph((String, Triplets)),
    /// A graph that is learned within the budget.
    #[pyo3(transparent)]
    Private((String, f64)),
}

impl PythonJob {
    /// What is minimised; a graph that is learned is not in it.
    pub fn problem(&self) -> Result<Problem, Error> {
        let schema = &self.schema.0;
        let mut problem = Problem::new(schema.clone())
            .penalty(built(&self.penalty, penalties::CATALOGUE, penalties::parse)?)
            .intercept(self.intercept);
        for assumption in &self.assumptions {
            problem = problem.assuming(assumption);
        }
        if let Some(loss) = &self.loss {
            let classes = schema.target().and_then(|(_, target)| match target.kind() {
                TargetKind::Classes(labels) => Some(labels.len()),
                _ => None,
            });
            let read = |name: &str| losses::parse(name, classes);
            problem = problem.loss(built(loss, losses::CATALOGUE, read)?);
        }
        problem = match &self.class_weight {
            None => problem,
            Some(Weights::Given(all)) => problem.class_weights(ClassWeights::Given(all.clone())),
            Some(Weights::Word(word)) => problem.class_weights(word.parse()?),
        };
        if let Some(shares) = &self.class_prior {
            problem = problem.class_prior(shares.clone());
        }
        let width = schema.width();
        match &self.constraint {
            None | Some(Tie::Private(_)) => {}
            Some(Tie::Matrix((_, rows, (at, column, value)))) => {
                let entries = at.iter().zip(column).zip(value);
                let entries: Vec<_> = entries.map(|((&i, &j), &v)| (i, j, v)).collect();
                if entries.iter().any(|&(i, j, v)| i >= *rows || j >= width || !v.is_finite()) {
                    let why = format!("a matrix of finite numbers with {width} columns is needed");
                    return Err(Error::value("A", "the matrix", why));
                }
                let matrix = SparseMatrix::from_triplets(*rows, width, &entries);
                problem = problem.constraint(Constraint::from_matrix(matrix));
            }
            Some(Tie::Graph((_, (from, to, weight)))) => {
                let edges = from.iter().zip(to).zip(weight);
                let edge = |((&from, &to), &weight)| Edge { from, to, weight };
                let graph = Graph::new(width, edges.map(edge).collect())?;
                problem = problem.constraint(Constraint::graph(&graph));
            }
        }
        Ok(problem)
    }

    /// The settings of the algorithm.
    pub fn settings(&self) -> Result<Settings, Error> {
        let mut settings = Settings::default();
        for (name, given) in &self.settings {
            if !settings.give(name, given)? {
                let names: Vec<_> = Settings::ALL.iter().map(|setting| setting.name).collect();
                let why = format!("there is no such setting; there are {}", names.join(", "));
                return Err(Error::value("settings", name, why));
            }
        }
        Ok(settings)
    }
}

impl FitRequest {
    /// The fit that is asked for.
    pub fn fit(&self) -> Result<Fit, Error> {
        let job = &self.of;
        let solver = Solver::named(&job.algorithm)?.with(job.settings()?)?;
        let mut fit = Fit::of(job.problem()?).solver(solver).guarantee(self.guarantee.read()?);
        if let Some(Tie::Private((_, lambda))) = &job.constraint {
            fit = fit.learn_graph(PrivateGraph::new(*lambda)?);
        }
        if let Some(share) = job.standard_errors {
            fit = fit.standard_errors(share);
        }
        Ok(match job.calibrate {
            Some(share) => fit.recalibrate(share),
            None => fit,
        })
    }
}
