//! Means, histograms and quantiles of columns of a table of Python's or of files, within a budget.

use pyo3::prelude::*;
use reticent::{Budget, Certificate as Sealed, Error, Partition, Statistics, Unit};
use serde::Serialize;
use serde_json::Value;

use crate::asked::AskedTable;
use crate::certificate::PyCertificate;
use crate::error::Failure;
use crate::payment::{JobBill, PayingBudget, Receipt, perform};
use crate::schema::PySchema;
use crate::threads::detached;

/// What is asked; every key is there, as `None` where it has its default.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct StatisticsQuestion {
    kind: String,
    schema: PySchema,
    columns: Vec<String>,
    bins: Option<usize>,
    edges: Option<Vec<f64>>,
    at: Vec<f64>,
    resolution: Option<f64>,
    epsilon: f64,
    delta: f64,
    adjacency: String,
    unit: Option<String>,
    public_n: Option<u64>,
    confidence: f64,
    seed: Option<u64>,
}

impl StatisticsQuestion {
    fn statistics(&self) -> Result<Statistics, Error> {
        let mut asked = Statistics::new(self.schema.0.clone())
            .budget(Budget::new(self.epsilon, self.delta)?)
            .adjacency(self.adjacency.parse()?)
            .confidence(self.confidence);
        if let Some(unit) = &self.unit {
            asked = asked.unit(unit.parse::<Unit>()?);
        }
        if let Some(count) = self.public_n {
            asked = asked.public_n(count);
        }
        Ok(match self.seed {
            Some(seed) => asked.seed(seed),
            None => asked,
        })
    }

    fn partition(&self) -> Partition {
        match (&self.edges, self.bins) {
            (Some(edges), _) => Partition::At(edges.clone()),
            (None, Some(bins)) => Partition::Equal(bins),
            (None, None) => Partition::Usual,
        }
    }
}

/// The figures as JSON and their certificate, which stands beside them.
fn said(figures: &impl Serialize, certificate: Sealed) -> Result<(String, PyCertificate), Failure> {
    let wrong = |error: serde_json::Error| Error::value("figures", "", error.to_string());
    let mut value = serde_json::to_value(figures).map_err(wrong)?;
    if let Value::Object(members) = &mut value {
        members.remove("certificate");
    }
    Ok((value.to_string(), PyCertificate(certificate)))
}

/// Asks, without holding the interpreter's lock. Gives the figures as JSON, the certificate, and the
/// receipt.
#[pyfunction]
#[pyo3(signature = (question, x, *, names=None, groups=None, budget=None))]
pub fn statistics<'py>(
    py: Python<'py>,
    question: StatisticsQuestion,
    x: &Bound<'py, PyAny>,
    names: Option<Vec<String>>,
    groups: Option<&Bound<'py, PyAny>>,
    budget: Option<PayingBudget>,
) -> PyResult<(String, PyCertificate, Receipt)> {
    let table = AskedTable::new(x, names, None, groups)?;
    let rows = table.rows()?;
    let grouped = groups.is_some() && question.unit.as_deref() != Some("record");
    let asked = Some((question.epsilon, question.delta));
    let done: Result<_, Failure> = detached(py, || {
        let (asked_of, columns) = (question.statistics()?, &question.columns);
        let bill = |column| JobBill { asked, column, grouped };
        match question.kind.as_str() {
            "mean" => {
                let job = asked_of.mean(columns)?;
                let bill = bill(job.user_column());
                let (done, paid) = perform(budget, bill, &rows, false, |run| job.open(&rows, run))?;
                said(&done, done.certificate.clone()).map(|said| (said, paid))
            }
            "histogram" => {
                let job = asked_of.histogram(columns, &question.partition())?;
                let bill = bill(job.user_column());
                let (done, paid) = perform(budget, bill, &rows, false, |run| job.open(&rows, run))?;
                said(&done, done.certificate.clone()).map(|said| (said, paid))
            }
            _ => {
                let job = asked_of.quantiles(columns, &question.at, question.resolution)?;
                let bill = bill(job.user_column());
                let (done, paid) = perform(budget, bill, &rows, false, |run| job.open(&rows, run))?;
                said(&done, done.certificate.clone()).map(|said| (said, paid))
            }
        }
    })?;
    let ((figures, certificate), receipt) = done?;
    Ok((figures, certificate, receipt))
}
