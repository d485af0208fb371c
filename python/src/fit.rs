//! A fit, or a choice among fits, on a table of Python's, with or without a budget of its data set.

use pyo3::prelude::*;
use reticent::{Error, Fitted, Fitting, Tune};

use crate::error::Failure;
use crate::job::Request;
use crate::model::Model;
use crate::payment::{Bill, Payer, perform};
use crate::table::Table;

/// Fits, without holding the interpreter's lock. Gives the model, the number of iterations, whether
/// an exact solver converged, and what must not be overlooked about the budget.
#[pyfunction]
#[pyo3(signature = (request, x, *, names=None, y=None, groups=None, budget=None))]
pub fn fit<'py>(
    py: Python<'py>,
    request: Request,
    x: &Bound<'py, PyAny>,
    names: Option<Vec<String>>,
    y: Option<&Bound<'py, PyAny>>,
    groups: Option<&Bound<'py, PyAny>>,
    budget: Option<Payer>,
) -> PyResult<(Model, u64, Option<bool>, Option<String>)> {
    let table = Table::new(x, names, y, groups)?;
    let dataset = table.dataset()?;
    let grouped = groups.is_some();
    let done: Result<_, Failure> = py.detach(|| {
        let job = request.fit()?.check()?;
        let bill = Bill::new(request.asked(), job.user_column(), grouped);
        perform(budget, bill, |watch| Ok(Fitting(job.open(&dataset, watch)?, None)))
    });
    let ((Fitted { model, iterations, converged, .. }, _), remark) = done?;
    Ok((Model(model), iterations, converged, remark))
}

/// Chooses among fits within one budget. Gives the model, the iterations, the number of the winner,
/// its noisy score, the expected number of runs, and what must not be overlooked about the budget.
#[pyfunction]
#[pyo3(signature = (requests, runs, x, *, names=None, y=None, groups=None, budget=None))]
#[allow(clippy::too_many_arguments)] // keywords of a private function of the package
pub fn tune<'py>(
    py: Python<'py>,
    requests: Vec<Request>,
    runs: Option<u64>,
    x: &Bound<'py, PyAny>,
    names: Option<Vec<String>>,
    y: Option<&Bound<'py, PyAny>>,
    groups: Option<&Bound<'py, PyAny>>,
    budget: Option<Payer>,
) -> PyResult<(Model, u64, usize, f64, f64, Option<String>)> {
    let table = Table::new(x, names, y, groups)?;
    let dataset = table.dataset()?;
    let grouped = groups.is_some();
    let done: Result<_, Failure> = py.detach(|| {
        let mut tune = Tune::new();
        for (i, request) in requests.iter().enumerate() {
            tune = tune.point(i.to_string(), request.fit()?);
        }
        if let Some(runs) = runs {
            tune = tune.runs(runs);
        }
        let job = tune.check()?;
        let asked = requests.first().and_then(Request::asked);
        let bill = Bill::new(asked, job.user_column(), grouped);
        perform(budget, bill, |watch| Ok(Fitting(job.open(&dataset, watch)?, None)))
    });
    let ((Fitted { model, iterations, tuned, .. }, _), remark) = done?;
    let tuned = tuned.ok_or_else(|| Error::value("param_grid", "", "nothing was chosen"));
    let tuned = tuned.map_err(Failure::from)?;
    let winner = tuned.chosen.parse().unwrap_or_default();
    Ok((Model(model), iterations, winner, tuned.score, tuned.expected_runs, remark))
}
