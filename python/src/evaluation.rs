//! What a model is worth on a table of Python's or of files, within a budget.

use pyo3::prelude::*;
use reticent::{Error, Evaluation};

use crate::asked::AskedTable;
use crate::certificate::PyCertificate;
use crate::error::Failure;
use crate::guarantee::GuardedRequest;
use crate::model::PyModel;
use crate::payment::{JobBill, PayingBudget, Receipt, perform};
use crate::threads::detached;

/// How it is to be evaluated; every key is there, as `None` for the default.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct EvaluationRequest {
    threshold: Option<f64>,
    bins: Option<usize>,
    confidence: f64,
}

impl GuardedRequest<EvaluationRequest> {
    fn evaluation(&self) -> Result<Evaluation, Error> {
        let EvaluationRequest { threshold, bins, confidence } = self.of;
        let mut evaluation = Evaluation::of(self.guarantee.read()?).confidence(confidence);
        if let Some(threshold) = threshold {
            evaluation = evaluation.threshold(threshold);
        }
        Ok(match bins {
            Some(bins) => evaluation.bins(bins),
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
    question: GuardedRequest<EvaluationRequest>,
    model: &PyModel,
    x: &Bound<'py, PyAny>,
    names: Option<Vec<String>>,
    y: Option<&Bound<'py, PyAny>>,
    groups: Option<&Bound<'py, PyAny>>,
    budget: Option<PayingBudget>,
) -> PyResult<(String, PyCertificate, Receipt)> {
    let table = AskedTable::new(x, names, y, groups)?;
    let rows = table.rows()?;
    let grouped = groups.is_some() && question.guarantee.protects_users();
    let done: Result<_, Failure> = detached(py, || {
        let job = question.evaluation()?.check(&model.0)?;
        let bill =
            JobBill { asked: question.guarantee.asked(), column: job.user_column(), grouped };
        perform(budget, bill, &rows, false, |run| job.open(&rows, run))
    })?;
    let (evaluated, receipt) = done?;
    let figures = serde_json::to_string(&evaluated.quality)
        .map_err(|error| Failure::from(Error::value("figures", "", error.to_string())))?;
    Ok((figures, PyCertificate(evaluated.certificate), receipt))
}
