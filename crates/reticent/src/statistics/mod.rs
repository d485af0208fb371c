//! Statistics of single columns, within a budget: means, histograms and quantiles.
//!
//! ```text
//! schema, columns, (ε, δ) ─► check ─► Job ─► load ─► calibrate ─► ask ─► figures, intervals, certificate
//! ```
//!
//! Figures are in the units of the table, and intervals are about the noise alone: they hold the
//! figure that this table has without noise. A value outside the bounds of the schema counts as the
//! nearer bound, a missing one as what the schema says; a user counts once, by the mean or the
//! shares of its records.

/// What the questions about columns have in common, for the result that holds the certificate.
macro_rules! of_columns {
    ($output:ty) => {
        type Layout = ();
        type Answer = Vec<f64>;
        type Output = $output;

        fn ground(&self) -> crate::procedure::Ground<'_> {
            self.columns.ground()
        }

        fn shape(&self) -> reticent_problem::Shape {
            self.columns.shape()
        }

        fn assumptions(&self) -> Vec<String> {
            self.columns.assumptions()
        }

        fn layout(&self, _: f64, _: &Terms) {}

        fn certificate(output: &Self::Output) -> &Certificate {
            &output.certificate
        }
    };
}

mod column;
mod histogram;
mod mean;
mod quantile;

use std::sync::Arc;

use reticent_accountant::Adjacency;
use reticent_oracle::tables::Schema;
use reticent_problem::losses::Squared;
use reticent_problem::{Loss, Shape};

pub use column::Value;
pub use histogram::{BinCount, Binning, ColumnHistogram, HistogramJob, Histograms, Partition};
pub use mean::{Averaging, ColumnMean, ColumnMeans, Divisor, MeanJob};
pub use quantile::{ColumnQuantiles, QuantileJob, QuantileValue, Quantiles, Ranking};

use crate::certificate::{origin, told_apart};
use crate::error::Error;
use crate::guarantee::{Guarantee, Protection, parts_of_guarantee};
use crate::map::{self, MapCell};
use crate::procedure::Ground;

/// The confidence of the intervals by default.
const CONFIDENCE: f64 = 0.95;

/// The number of units for a gate that divides by none; under add-remove it wants one.
const UNUSED: u64 = 1;

/// Statistics of columns of tables of one schema. Unchecked: [`Statistics::mean`],
/// [`Statistics::histogram`] and [`Statistics::quantiles`] make a [`Job`](crate::Job) of it.
///
/// # Examples
/// ```
/// use reticent::tables::{Dataset, Schema, Target};
/// use reticent::{Budget, Run, Statistics};
///
/// # fn main() -> Result<(), reticent::Error> {
/// let ages: Vec<f64> = (0..4_000).map(|i| (i * 37 % 90) as f64).collect();
/// let schema = Schema::bounded(&[(0.0, 100.0)], Target::classes(["no", "yes"])?)?.named(["age"])?;
/// let table = Dataset::dense(&ages, 4_000, 1)?;
///
/// let asked = Statistics::new(schema).budget(Budget::new(0.5, 1e-6)?);
/// let means = asked.mean(["age"])?.run(&table, Run::default())?;
/// assert!(means.certificate.certified && means.certificate.epsilon <= 0.5);
/// println!("{:?} in {:?}", means.columns[0].value, means.columns[0].interval);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Statistics {
    schema: Schema,
    user: Option<String>,
    guarantee: Guarantee,
    confidence: f64,
}

impl Statistics {
    /// Statistics of tables of this schema, which needs no target.
    pub fn new(schema: Schema) -> Self {
        let guarantee = Guarantee::default();
        Statistics { schema, user: None, guarantee, confidence: CONFIDENCE }
    }

    parts_of_guarantee!();

    /// The column that says whose row it is, in place of the schema's.
    pub fn user_column(mut self, name: impl Into<String>) -> Self {
        self.user = Some(name.into());
        self
    }

    /// The confidence of the intervals, 0.95 by default.
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = confidence;
        self
    }

    /// The number of units that was given: the schema's is one of records.
    fn given_n(&self, schema: &Schema) -> Option<u64> {
        let users = match self.guarantee.unit {
            Some(unit) => unit.is_whole(),
            None => schema.user().is_some(),
        };
        self.guarantee.public_n.or(self.schema.public_n().filter(|_| !users))
    }

    /// Checks what all statistics have in common. Without a public number of units a question that
    /// does not `divide` by one is asked all the same.
    fn check(
        &self,
        algorithm: &'static str,
        names: &[String],
        divides: bool,
    ) -> Result<Columns, Error> {
        if names.is_empty() {
            let todo = "name a column of the schema with `column`";
            return Err(Error::Missing { what: "the column", todo });
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let schema = self.schema.asking_about(&names, self.user.as_deref())?;
        let given_n = self.given_n(&schema);
        let public_n = if divides { given_n } else { given_n.or(Some(UNUSED)) };
        let guarantee = Guarantee { public_n, ..self.guarantee };
        let protection = guarantee.check(&schema, 0.0, true)?;
        if protection.budget.is_some_and(|budget| budget.delta() == 0.0) {
            let why = "statistics have Gaussian noise, for which no epsilon holds without exception; give a delta such \
                       as 1e-6";
            return Err(Error::value("delta", 0, why));
        }
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            let why = "it must lie between 0 and 1, for example 0.95";
            return Err(Error::value("confidence", self.confidence, why));
        }
        map::offered(&MapCell::of_question(algorithm, "", &protection.opening))?;
        let confidence = self.confidence;
        Ok(Columns { schema, loss: Arc::new(Squared), protection, confidence, given_n })
    }
}

/// What all statistics have, checked.
#[derive(Debug)]
struct Columns {
    /// The schema of the question: its features are the columns that are asked about.
    schema: Schema,
    /// A gate wants a loss, of which nothing is asked.
    loss: Arc<dyn Loss>,
    protection: Protection,
    confidence: f64,
    /// The public number of units under add-remove, if there is one.
    given_n: Option<u64>,
}

impl Columns {
    fn ground(&self) -> Ground<'_> {
        Ground { schema: &self.schema, loss: &self.loss, protection: &self.protection }
    }

    fn shape(&self) -> Shape {
        Shape { features: self.schema.width(), outputs: 1, intercept: false }
    }

    fn assumptions(&self) -> Vec<String> {
        let persons = told_apart(&self.schema, self.protection.opening.unit);
        origin(&self.schema).into_iter().chain(persons).collect()
    }

    fn adjacency(&self) -> Adjacency {
        self.protection.opening.adjacency
    }
}
