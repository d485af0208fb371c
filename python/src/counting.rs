//! How many there are of each class, within a budget.

use pyo3::prelude::*;
use reticent::Fit;

use crate::asked::AskedTable;
use crate::certificate::PyCertificate;
use crate::error::Failure;
use crate::guarantee::GuardedRequest;
use crate::payment::{JobBill, PayingBudget, Receipt, perform};
use crate::schema::PySchema;
use crate::threads::detached;

/// What is to be counted.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct CountRequest {
    schema: PySchema,
}

/// Counts, without holding the interpreter's lock. Gives a number for each class, the deviation of the
/// noise, the certificate, and the receipt.
#[pyfunction]
#[pyo3(signature = (question, x, *, y=None, groups=None, budget=None))]
pub fn class_counts<'py>(
    py: Python<'py>,
    question: GuardedRequest<CountRequest>,
    x: &Bound<'py, PyAny>,
    y: Option<&Bound<'py, PyAny>>,
    groups: Option<&Bound<'py, PyAny>>,
    budget: Option<PayingBudget>,
) -> PyResult<(Vec<f64>, f64, PyCertificate, Receipt)> {
    let table = AskedTable::new(x, None, y, groups)?;
    let rows = table.rows()?;
    let grouped = groups.is_some();
    let done: Result<_, Failure> = detached(py, || {
        let fit = Fit::new(question.of.schema.0.clone()).guarantee(question.guarantee.read()?);
        let job = fit.count(true)?;
        let bill =
            JobBill { asked: question.guarantee.asked(), column: job.user_column(), grouped };
        perform(budget, bill, &rows, false, |run| job.open(&rows, run))
    })?;
    let (counted, receipt) = done?;
    let counts = counted.classes.into_iter().map(|(_, count)| count).collect();
    Ok((counts, counted.deviation, PyCertificate(counted.certificate), receipt))
}
