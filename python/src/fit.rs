//! A fit, or a choice among fits, on a table of Python's, with or without a budget of its data set.

use pyo3::prelude::*;
use reticent::accountant::Taint;
use reticent::trace::Tracing;
use reticent::{Error, Fitted, Fitting, Job, Tune};

use crate::error::Failure;
use crate::job::FitRequest;
use crate::model::PyModel;
use crate::payment::{JobBill, Payer, Receipt, countable, perform, unpaid};
use crate::table::BorrowedTable;
use crate::threads::detached;
use crate::watch::Signals;

/// What a run came to iteration by iteration: columns by their names, empty cells as `None`.
pub type Columns = Vec<(String, Vec<Option<f64>>)>;

/// The model, the number of iterations, whether an exact solver converged, the trace where one is
/// wanted, and the receipt.
type Made = (PyModel, u64, Option<bool>, Option<Columns>, Receipt);

/// The model, the iterations, the number of the winner, its noisy score, the expected number of
/// runs, and the receipt.
type Chosen = (PyModel, u64, usize, f64, f64, Receipt);

/// Fits, without holding the interpreter's lock.
#[pyfunction]
#[pyo3(signature = (request, x, *, names=None, y=None, groups=None, budget=None))]
pub fn fit<'py>(
    py: Python<'py>,
    request: FitRequest,
    x: &Bound<'py, PyAny>,
    names: Option<Vec<String>>,
    y: Option<&Bound<'py, PyAny>>,
    groups: Option<&Bound<'py, PyAny>>,
    budget: Option<Payer>,
) -> PyResult<Made> {
    let table = BorrowedTable::new(x, names, y, groups)?;
    let dataset = table.dataset()?;
    let grouped = groups.is_some() && request.protects_users();
    let done: Result<_, Failure> = detached(py, || {
        let job = request.fit()?.check()?;
        if request.trace {
            job.check_traceable()?;
        }
        let bill = JobBill { asked: request.asked(), column: job.user_column(), grouped };
        let tracing = request.trace.then(Tracing::default);
        perform(budget, bill, &dataset, |watch| Ok(Fitting(job.open(&dataset, watch)?, tracing)))
    })?;
    let ((Fitted { model, iterations, converged, .. }, trace), receipt) = done?;
    Ok((PyModel(model), iterations, converged, trace.map(|trace| trace.columns()), receipt))
}

/// Refuses jobs that cannot be, and where they are to be `paid` those that no budget holds, before
/// any table is read or anything is paid.
#[pyfunction]
pub fn check(requests: Vec<FitRequest>, paid: bool) -> Result<(), Failure> {
    for request in &requests {
        let job = request.fit()?.check()?;
        if request.trace {
            job.check_traceable()?;
        }
        if paid {
            payable(request, &job)?;
        }
    }
    Ok(())
}

/// Refuses a job that its budget cannot count, before anything is paid: its plan depends on the table,
/// which is read, but of which nothing is asked.
#[pyfunction]
#[pyo3(signature = (request, x, *, budget, names=None, y=None, groups=None))]
pub fn check_budget<'py>(
    py: Python<'py>,
    request: FitRequest,
    x: &Bound<'py, PyAny>,
    budget: Payer,
    names: Option<Vec<String>>,
    y: Option<&Bound<'py, PyAny>>,
    groups: Option<&Bound<'py, PyAny>>,
) -> PyResult<()> {
    let table = BorrowedTable::new(x, names, y, groups)?;
    let dataset = table.dataset()?;
    let grouped = groups.is_some() && request.protects_users();
    let done: Result<(), Failure> = detached(py, || {
        let job = request.fit()?.check()?;
        let bill = JobBill { asked: request.asked(), column: job.user_column(), grouped };
        let mut signals = Signals::new();
        let ready = job.open(&dataset, &mut |stage| signals.watch(stage))?;
        countable(&budget, &bill, &Fitting(ready, None))
    })?;
    Ok(done?)
}

/// Refuses what is known to be no guarantee before there is a table.
fn payable(request: &FitRequest, job: &Job) -> Result<(), Failure> {
    if job.budget().is_none() {
        return Err(unpaid("it has no noise"));
    }
    if request.seed.is_some() {
        return Err(unpaid(&Taint::SeededNoise.to_string()));
    }
    if request.settings()?.as_published == Some(true) {
        return Err(unpaid("`as_published` is a paper's version, whose claim does not hold"));
    }
    Ok(())
}

/// Chooses among fits within one budget.
#[pyfunction]
#[pyo3(signature = (requests, runs, x, *, names=None, y=None, groups=None, budget=None))]
#[allow(clippy::too_many_arguments)] // keywords of a private function of the package
pub fn tune<'py>(
    py: Python<'py>,
    requests: Vec<FitRequest>,
    runs: Option<u64>,
    x: &Bound<'py, PyAny>,
    names: Option<Vec<String>>,
    y: Option<&Bound<'py, PyAny>>,
    groups: Option<&Bound<'py, PyAny>>,
    budget: Option<Payer>,
) -> PyResult<Chosen> {
    let table = BorrowedTable::new(x, names, y, groups)?;
    let dataset = table.dataset()?;
    let grouped = groups.is_some() && requests.iter().any(FitRequest::protects_users);
    let done: Result<_, Failure> = detached(py, || {
        let mut tune = Tune::new();
        for (i, request) in requests.iter().enumerate() {
            tune = tune.point(i.to_string(), request.fit()?);
        }
        if let Some(runs) = runs {
            tune = tune.runs(runs);
        }
        let job = tune.check()?;
        let asked = requests.first().and_then(FitRequest::asked);
        let bill = JobBill { asked, column: job.user_column(), grouped };
        perform(budget, bill, &dataset, |watch| Ok(Fitting(job.open(&dataset, watch)?, None)))
    })?;
    let ((Fitted { model, iterations, tuned, .. }, _), receipt) = done?;
    let tuned = tuned.ok_or_else(|| Error::value("param_grid", "", "nothing was chosen"));
    let tuned = tuned.map_err(Failure::from)?;
    let winner = tuned.chosen.parse().unwrap_or_default();
    Ok((PyModel(model), iterations, winner, tuned.score, tuned.expected_runs, receipt))
}
