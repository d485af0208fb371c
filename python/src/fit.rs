//! A fit, or a choice among fits, on a table of Python's, with or without a budget of its data set.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use reticent::accountant::Taint;
use reticent::{Error, Fitted, Job, Ready, Run, Tune, UtilityForecast};

use crate::error::Failure;
use crate::job::FitRequest;
use crate::model::PyModel;
use crate::payment::{JobBill, PayingBudget, Receipt, countable, perform, unpaid};
use crate::table::BorrowedTable;
use crate::threads::detached;
use crate::watch::Signals;

/// What a run came to iteration by iteration: columns by their names, empty cells as `None`.
pub type Columns = Vec<(String, Vec<Option<f64>>)>;

/// Why little is to be expected of a run, if that is so.
pub type Outlook = Option<String>;

/// The model, the number of iterations, whether an exact solver converged, the trace where one is
/// wanted, the outlook, and the receipt.
type Made = (PyModel, u64, Option<bool>, Option<Columns>, Outlook, Receipt);

/// The model, the iterations, the number of the winner, its noisy score, the expected number of
/// runs, the outlook, and the receipt.
type Chosen = (PyModel, u64, usize, f64, f64, Outlook, Receipt);

/// Fits, without holding the interpreter's lock.
#[pyfunction]
#[pyo3(signature = (request, x, *, names=None, y=None, groups=None, weights=None, budget=None))]
#[expect(clippy::too_many_arguments, reason = "the arguments of a function of Python")]
pub fn fit<'py>(
    py: Python<'py>,
    request: FitRequest,
    x: &Bound<'py, PyAny>,
    names: Option<Vec<String>>,
    y: Option<&Bound<'py, PyAny>>,
    groups: Option<&Bound<'py, PyAny>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    budget: Option<PayingBudget>,
) -> PyResult<Made> {
    let table = BorrowedTable::new(x, names, y, groups)?.weighted(weights);
    let dataset = table.dataset()?;
    let grouped = groups.is_some() && request.guarantee.protects_users();
    let done: Result<_, Failure> = detached(py, || {
        let job = request.fit()?.check()?;
        if request.of.trace {
            job.check_traceable()?;
        }
        let bill = JobBill { asked: request.guarantee.asked(), column: job.user_column(), grouped };
        let mut outlook = None;
        let done = perform(budget, bill, &dataset, request.of.trace, |run| {
            let ready = job.open(&dataset, run)?;
            outlook = expected(&ready);
            Ok(ready)
        })?;
        Ok((done, outlook))
    })?;
    let ((Fitted { model, iterations, converged, trace, .. }, receipt), outlook) = done?;
    let trace = trace.map(|trace| trace.columns());
    Ok((PyModel(model), iterations, converged, trace, outlook, receipt))
}

/// What the command line says before a run, of public numbers alone.
fn expected(ready: &Ready<'_>) -> Outlook {
    ready.outlook().as_ref().and_then(UtilityForecast::warning)
}

/// Refuses jobs that cannot be, and where they are to be `paid` those that no budget holds, before
/// any table is read or anything is paid.
#[pyfunction]
pub fn check(requests: Vec<FitRequest>, paid: bool) -> Result<(), Failure> {
    for request in &requests {
        let job = request.fit()?.check()?;
        if request.of.trace {
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
    budget: PayingBudget,
    names: Option<Vec<String>>,
    y: Option<&Bound<'py, PyAny>>,
    groups: Option<&Bound<'py, PyAny>>,
) -> PyResult<()> {
    let table = BorrowedTable::new(x, names, y, groups)?;
    let dataset = table.dataset()?;
    let grouped = groups.is_some() && request.guarantee.protects_users();
    let done: Result<(), Failure> = detached(py, || {
        let job = request.fit()?.check()?;
        let bill = JobBill { asked: request.guarantee.asked(), column: job.user_column(), grouped };
        let mut signals = Signals::new();
        let mut watch = |stage| signals.watch(stage);
        let ready = job.open(&dataset, &mut Run::watched(&mut watch))?;
        countable(&budget, &bill, &ready)
    })?;
    Ok(done?)
}

/// Refuses what is known to be no guarantee before there is a table.
fn payable(request: &FitRequest, job: &Job) -> Result<(), Failure> {
    if job.budget().is_none() {
        return Err(unpaid("it has no noise"));
    }
    if request.guarantee.seed.is_some() {
        return Err(unpaid(&Taint::SeededNoise.to_string()));
    }
    if request.of.settings()?.as_published == Some(true) {
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
    budget: Option<PayingBudget>,
) -> PyResult<Chosen> {
    let table = BorrowedTable::new(x, names, y, groups)?;
    let dataset = table.dataset()?;
    let grouped = groups.is_some() && requests.iter().any(|one| one.guarantee.protects_users());
    let done: Result<_, Failure> = detached(py, || {
        let mut tune = Tune::new();
        for (i, request) in requests.iter().enumerate() {
            tune = tune.point(i.to_string(), request.fit()?);
        }
        if let Some(runs) = runs {
            tune = tune.runs(runs);
        }
        let job = tune.check()?;
        let asked = requests.first().and_then(|one| one.guarantee.asked());
        let bill = JobBill { asked, column: job.user_column(), grouped };
        let mut outlook = None;
        let done = perform(budget, bill, &dataset, false, |run| {
            let ready = job.open(&dataset, run)?;
            outlook = expected(&ready);
            Ok(ready)
        })?;
        Ok((done, outlook))
    })?;
    let ((Fitted { model, iterations, tuned, .. }, receipt), outlook) = done?;
    let tuned = tuned.ok_or_else(|| Error::value("param_grid", "", "nothing was chosen"));
    let tuned = tuned.map_err(Failure::from)?;
    let winner = tuned.chosen.parse().unwrap_or_default();
    Ok((PyModel(model), iterations, winner, tuned.score, tuned.expected_runs, outlook, receipt))
}
