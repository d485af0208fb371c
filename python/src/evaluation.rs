//! What a model is worth on a table of Python's, within a budget.

use pyo3::prelude::*;
use reticent::{Budget, Error, Evaluation, Unit};

use crate::certificate::PyCertificate;
use crate::error::Failure;
use crate::model::PyModel;
use crate::payment::{JobBill, Payer, Receipt, perform};
use crate::table::BorrowedTable;
use crate::threads::detached;

/// How it is to be evaluated; every key is there, as `None` where nothing is said.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct EvaluationRequest {
    epsilon: f64,
    delta: f64,
    adjacency: String,
    unit: Option<String>,
    public_n: Option<u64>,
    threshold: Option<f64>,
    bins: Option<usize>,
    confidence: f64,
    seed: Option<u64>,
}

impl EvaluationRequest {
    fn evaluation(&self) -> Result<Evaluation, Error> {
        let mut evaluation = Evaluation::new(Budget::new(self.epsilon, self.delta)?)
            .adjacency(self.adjacency.parse()?)
            .confidence(self.confidence);
        if let Some(unit) = &self.unit {
            evaluation = evaluation.unit(unit.parse::<Unit>()?);
        }
        if let Some(count) = self.public_n {
            evaluation = evaluation.public_n(count);
        }
        if let Some(threshold) = self.threshold {
            evaluation = evaluation.threshold(threshold);
        }
        if let Some(bins) = self.bins {
            evaluation = evaluation.bins(bins);
        }
        Ok(match self.seed {
            Some(seed) => evaluation.seed(seed),
            None => evaluation,
        })
    }
}

/// Evaluates, without holding the interpreter's lock. Gives the figures as JSON, the certificate,
/// and the receipt.
#[pyfunction]
#[pyo3(signature = (question, model, x, *, names=None, y=None, groups=None, budget=None))]
#[allow(clippy::too_many_arguments)] // keywords of a private function of the package
pub fn evaluate<'py>(
    py: Python<'py>,
    question: EvaluationRequest,
    model: &PyModel,
    x: &Bound<'py, PyAny>,
    names: Option<Vec<String>>,
    y: Option<&Bound<'py, PyAny>>,
    groups: Option<&Bound<'py, PyAny>>,
    budget: Option<Payer>,
) -> PyResult<(String, PyCertificate, Receipt)> {
    let table = BorrowedTable::new(x, names, y, groups)?;
    let dataset = table.dataset()?;
    let grouped = groups.is_some() && question.unit.as_deref() != Some("record");
    let done: Result<_, Failure> = detached(py, || {
        let asked = Some((question.epsilon, question.delta));
        let bill = JobBill { asked, column: Evaluation::user_column(&model.0), grouped };
        let evaluation = question.evaluation()?;
        perform(budget, bill, &dataset, |watch| evaluation.open(&model.0, &dataset, watch))
    })?;
    let (evaluated, receipt) = done?;
    let figures = serde_json::to_string(&evaluated.quality)
        .map_err(|error| Failure::from(Error::value("figures", "", error.to_string())))?;
    Ok((figures, PyCertificate(evaluated.certificate), receipt))
}
