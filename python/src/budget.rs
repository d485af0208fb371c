//! The budget of a data set: a file that is opened anew for whatever is asked of it, so that a
//! handle may travel to any thread and process.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use reticent_budget::{self as budget, BudgetError, Promise, SpendingPoint};

use crate::error::Failure;

/// The file of a budget.
#[pyclass(frozen, module = "reticent._reticent", name = "Store")]
#[derive(Debug)]
pub struct PyStore {
    path: PathBuf,
}

#[pymethods]
impl PyStore {
    /// The budget in this file.
    #[new]
    fn new(path: PathBuf) -> Self {
        PyStore { path }
    }

    /// Makes the file.
    #[staticmethod]
    #[pyo3(signature = (path, *, dataset, epsilon, delta, adjacency, unit, rows_per_user=None))]
    #[allow(clippy::too_many_arguments)] // keywords of a private function of the package
    fn create(
        py: Python<'_>,
        path: PathBuf,
        dataset: &str,
        epsilon: f64,
        delta: f64,
        adjacency: &str,
        unit: &str,
        rows_per_user: Option<u64>,
    ) -> Result<Self, Failure> {
        let mut promise = Promise::new(dataset, epsilon, delta).map_err(Failure::Budget)?;
        promise.adjacency = adjacency.parse().map_err(reticent::Error::Value)?;
        promise.unit = unit.parse().map_err(reticent::Error::Value)?;
        promise.rows_per_user = rows_per_user;
        py.detach(|| budget::Store::create(&path, promise)).map_err(Failure::Budget)?;
        Ok(PyStore { path })
    }

    /// What it promises and what it comes to now.
    fn summary<'py>(&self, py: Python<'py>, check: bool) -> PyResult<Bound<'py, PyDict>> {
        let summary = py
            .detach(|| -> Result<_, BudgetError> {
                let store = budget::Store::open_to_read(&self.path)?;
                if check { store.check() } else { store.summary() }
            })
            .map_err(Failure::Budget)?;
        let all = PyDict::new(py);
        let promise = &summary.promise;
        all.set_item("dataset", &promise.dataset)?;
        all.set_item("epsilon", promise.epsilon)?;
        all.set_item("delta", promise.delta)?;
        all.set_item("adjacency", promise.adjacency.to_string())?;
        all.set_item("unit", promise.unit.to_string())?;
        all.set_item("kept", summary.kept)?;
        all.set_item("head", &summary.head)?;
        // Where there are several groups of people, what is said holds for each of them.
        let counted = summary.groups.iter().map(|group| group.counted).fold(0.0, f64::max);
        let left = summary.groups.iter().map(|group| group.left).fold(f64::INFINITY, f64::min);
        all.set_item("counted", counted)?;
        all.set_item("left", left)?;
        let jobs: PyResult<Vec<_>> = summary
            .jobs
            .iter()
            .map(|job| {
                let one = PyDict::new(py);
                one.set_item("number", job.number)?;
                one.set_item("label", &job.label)?;
                one.set_item("time", &job.time)?;
                one.set_item("epsilon", job.epsilon)?;
                one.set_item("delta", job.delta)?;
                one.set_item("status", job.status.name())?;
                one.set_item("people", job.people.clone())?;
                Ok(one)
            })
            .collect();
        all.set_item("jobs", jobs?)?;
        Ok(all)
    }

    /// When something changed, and what was counted then; at most so many moments. Where there are
    /// several groups of people, the most of them.
    fn course(&self, py: Python<'_>, at_most: usize) -> Result<Vec<(String, f64)>, Failure> {
        let course =
            py.detach(|| budget::Store::open_to_read(&self.path)?.spending_history(at_most));
        let most =
            |moment: SpendingPoint| (moment.time, moment.counted.into_iter().fold(0.0, f64::max));
        Ok(course.map_err(Failure::Budget)?.into_iter().map(most).collect())
    }

    /// Closes a job that never came back, as spent.
    fn forfeit(&self, py: Python<'_>, job: u64) -> Result<(), Failure> {
        py.detach(|| budget::Store::open(&self.path)?.forfeit(job)).map_err(Failure::Budget)
    }
}
