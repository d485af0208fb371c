//! A fit, or a choice among fits, on a table of Python's, with or without a budget of its data set.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use reticent::accountant::Ledger;
use reticent::tables::Dataset;
use reticent::{Error, Fitted, Job, Tune};
use reticent_budget::{Relation, Request as Asked, Store, Table as Edition};

use crate::error::Failure;
use crate::job::Request;
use crate::model::Model;
use crate::table::Table;
use crate::watch::Signals;

/// What a table in memory is known as: every one of them is an edition of the data set that the
/// budget belongs to, so that whatever is asked of any of them adds up. A fold of a cross-validation
/// is one more edition, and no content could tell it from another table.
const IN_MEMORY: [u8; 32] = [0; 32];

/// What a budget calls the groups that are given beside a table.
const GROUPS: &str = "groups";

/// The budget that pays, and what the job is called in it.
#[derive(FromPyObject)]
pub struct Payer {
    #[pyo3(item("path"))]
    path: PathBuf,
    #[pyo3(item("label"))]
    label: String,
}

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
    let done = py.detach(|| {
        let job = request.fit()?.check()?;
        perform(&job, &request, &dataset, groups_named(grouped, &job), budget)
    });
    let (Fitted { model, iterations, converged, .. }, remark) = done?;
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
        perform(&job, &requests[0], &dataset, groups_named(grouped, &job), budget)
    });
    let (Fitted { model, iterations, tuned, .. }, remark) = done?;
    let tuned = tuned.ok_or_else(|| Error::value("param_grid", "", "nothing was chosen"));
    let tuned = tuned.map_err(Failure::from)?;
    let winner = tuned.chosen.parse().unwrap_or_default();
    Ok((Model(model), iterations, winner, tuned.score, tuned.expected_runs, remark))
}

/// What the budget calls the column that says whose row it is.
fn groups_named(given: bool, job: &Job) -> Option<String> {
    job.user_column().or_else(|| given.then(|| GROUPS.to_owned()))
}

fn perform(
    job: &Job,
    request: &Request,
    dataset: &Dataset<'_>,
    user: Option<String>,
    budget: Option<Payer>,
) -> Result<(Fitted, Option<String>), Failure> {
    let mut signals = Signals::new();
    let mut watch = |stage| signals.watch(stage);
    let Some(Payer { path, label }) = budget else {
        return Ok((job.fit_watched(dataset, &mut watch)?, None));
    };
    let mut store = open(&path)?;
    let ready = job.open(dataset, &mut watch)?;
    let unpaid = |why: &str| {
        Failure::NotCertified(format!(
            "no budget holds this fit: {why}; nothing was reserved, and nothing was asked"
        ))
    };
    let plan = ready.plan().ok_or_else(|| unpaid("it has no noise"))?;
    if let Some(taint) = ready.taints().first() {
        return Err(unpaid(&taint.to_string()));
    }
    let asked = request.epsilon.zip(request.delta).unwrap_or_default();
    let table = Edition { fingerprint: IN_MEMORY, relation: Relation::NewEdition };
    let asked = Asked { label: &label, asked, plan, table, user: user.as_deref() };
    let reservation = store.reserve(&asked).map_err(Failure::Budget)?;
    let number = reservation.job();
    let (done, closed) = match ready.run(&mut watch) {
        Ok(fitted) => {
            let closed = store.settle(&reservation, &fitted.model.certificate().ledger);
            (Ok(fitted), closed)
        }
        // Something was asked: the plan stays counted.
        Err(error @ Error::Spent { .. }) => {
            (Err(error), store.settle(&reservation, &Ledger::new()))
        }
        Err(error) => (Err(error), store.release(reservation)),
    };
    // A model that was paid for is handed out though its job could not be closed.
    let open =
        |error| format!("job {number} stays open in the budget, and counted in full: {error}");
    Ok((done?, closed.err().map(open)))
}

fn open(path: &Path) -> Result<Store, Failure> {
    Store::open(path).map_err(Failure::Budget)
}
