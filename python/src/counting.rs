//! How many there are of each class, within a budget.

use pyo3::prelude::*;
use reticent::{Budget, Error, Fit, Unit};

use crate::certificate::PyCertificate;
use crate::error::Failure;
use crate::payment::{JobBill, Payer, Receipt, perform};
use crate::schema::PySchema;
use crate::table::BorrowedTable;
use crate::threads::detached;

/// What is to be counted; every key is there, as `None` where nothing is said.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct CountRequest {
    schema: PySchema,
    epsilon: f64,
    delta: f64,
    adjacency: String,
    unit: String,
    seed: Option<u64>,
}

impl CountRequest {
    fn fit(&self) -> Result<Fit, Error> {
        let fit = Fit::new(self.schema.0.clone())
            .budget(Budget::new(self.epsilon, self.delta)?)
            .adjacency(self.adjacency.parse()?)
            .unit(self.unit.parse::<Unit>()?);
        Ok(match self.seed {
            Some(seed) => fit.seed(seed),
            None => fit,
        })
    }
}

/// Counts, without holding the interpreter's lock. Gives a number for each class, the deviation of the
/// noise, the certificate, and the receipt.
#[pyfunction]
#[pyo3(signature = (question, x, *, y=None, groups=None, budget=None))]
pub fn class_counts<'py>(
    py: Python<'py>,
    question: CountRequest,
    x: &Bound<'py, PyAny>,
    y: Option<&Bound<'py, PyAny>>,
    groups: Option<&Bound<'py, PyAny>>,
    budget: Option<Payer>,
) -> PyResult<(Vec<f64>, f64, PyCertificate, Receipt)> {
    let table = BorrowedTable::new(x, None, y, groups)?;
    let dataset = table.dataset()?;
    let grouped = groups.is_some();
    let done: Result<_, Failure> = detached(py, || {
        let job = question.fit()?.count(true)?;
        let asked = Some((question.epsilon, question.delta));
        let bill = JobBill { asked, column: job.user_column(), grouped };
        perform(budget, bill, &dataset, |watch| job.open(&dataset, watch))
    })?;
    let (counted, receipt) = done?;
    let counts = counted.classes.into_iter().map(|(_, count)| count).collect();
    Ok((counts, counted.deviation, PyCertificate(counted.certificate), receipt))
}
