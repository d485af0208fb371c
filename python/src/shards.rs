//! A table in shards: a worker's rows, and a fit whose sums an engine of Python's brings.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use reticent::shards::{Refusal, Shard, ShardWorkers, Sharding, Shards};
use reticent::{Fitted, UtilityForecast};

use crate::error::Failure;
use crate::job::FitRequest;
use crate::model::PyModel;
use crate::payment::{JobBill, PayingBudget, Receipt, perform};
use crate::threads::detached;

/// How a table is dealt; every key is there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ShardingRequest {
    /// The files of each shard.
    files: Vec<Vec<PathBuf>>,
    /// Whether all read the same files and keep a part of them.
    split: bool,
    /// Whether what travels in a cluster is encrypted; `None` for processes of this machine.
    encrypted: Option<bool>,
    /// Of this run alone.
    key: [u8; 32],
    /// Stands for the file of this library.
    build: [u8; 32],
}

impl ShardingRequest {
    fn sharding(&self) -> Sharding {
        let own = (self.key, self.build);
        let mut sharding = match self.files.first().filter(|_| self.split) {
            Some(table) => Sharding::of_table(table, self.files.len(), own),
            None => Sharding::of_files(self.files.clone(), own),
        };
        if let Some(encrypted) = self.encrypted {
            sharding.workers = ShardWorkers::Cluster { encrypted };
        }
        sharding
    }
}

/// The rows of one shard, in the memory of a worker.
#[pyclass(name = "Shard", module = "reticent._reticent", frozen)]
pub struct PyShard(Mutex<Shard>);

#[pymethods]
impl PyShard {
    /// Reads the rows of this number.
    #[new]
    fn new(
        py: Python<'_>,
        request: FitRequest,
        sharding: ShardingRequest,
        number: usize,
    ) -> PyResult<Self> {
        let read: Result<Shard, Failure> =
            detached(py, || Ok(request.fit()?.check()?.shard(&sharding.sharding(), number)?))?;
        Ok(PyShard(Mutex::new(read?)))
    }

    /// The answer to a request of the driver.
    fn answer<'py>(&self, py: Python<'py>, request: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let said =
            detached(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).answer(request))?;
        // In the words of the gate, which say nothing about rows.
        let said = said.map_err(|why| PyValueError::new_err(why.to_string()))?;
        Ok(PyBytes::new(py, &said))
    }
}

/// An object of Python's with `ask([(shard, request), …]) -> [answer, …]`.
#[derive(Debug)]
struct PythonShards {
    engine: Py<PyAny>,
    count: usize,
}

impl PythonShards {
    fn carry(&self, py: Python<'_>, requests: &[(usize, &[u8])]) -> PyResult<Vec<Vec<u8>>> {
        let mut last: Option<(*const u8, Bound<'_, PyBytes>)> = None;
        let mut asked = Vec::with_capacity(requests.len());
        for &(shard, request) in requests {
            // One object for what all are asked alike.
            let bytes = match &last {
                Some((at, bytes)) if *at == request.as_ptr() => bytes.clone(),
                _ => PyBytes::new(py, request),
            };
            last = Some((request.as_ptr(), bytes.clone()));
            asked.push((shard, bytes));
        }
        let said = self.engine.bind(py).call_method1("ask", (PyList::new(py, asked)?,))?;
        let copied = |one: Bound<'_, PyAny>| Ok(one.cast::<PyBytes>()?.as_bytes().to_vec());
        said.try_iter()?.map(|one| copied(one?)).collect()
    }
}

impl Shards for PythonShards {
    fn count(&self) -> usize {
        self.count
    }

    fn ask(&self, requests: &[(usize, &[u8])]) -> Result<Vec<Vec<u8>>, Refusal> {
        Python::attach(|py| {
            self.carry(py, requests).map_err(|error| {
                match error.is_instance_of::<PyKeyboardInterrupt>(py) {
                    true => Refusal::Stopped,
                    // What it was is chained to the error by whoever has the engine.
                    false => {
                        let name = error.get_type(py).name().map(|name| name.to_string());
                        Refusal::ShardEngine(name.unwrap_or_default())
                    }
                }
            })
        })
    }
}

/// The model, the number of iterations, why little is to be expected of it, and the receipt.
type Made = (PyModel, u64, Option<String>, Receipt);

/// Refuses what cannot be fitted on shards, before any worker is started.
#[pyfunction]
pub fn check_shards(request: FitRequest) -> Result<(), Failure> {
    Ok(request.fit()?.check()?.check_sharded()?)
}

/// Fits a table in shards; `engine` brings the workers' sums.
#[pyfunction]
#[pyo3(signature = (request, sharding, engine, *, budget=None))]
pub fn fit_shards(
    py: Python<'_>,
    request: FitRequest,
    sharding: ShardingRequest,
    engine: Py<PyAny>,
    budget: Option<PayingBudget>,
) -> PyResult<Made> {
    let done: Result<_, Failure> = detached(py, || {
        let job = request.fit()?.check()?;
        let sharding = sharding.sharding();
        let (asked, column) = (request.guarantee.asked(), job.user_column());
        let bill = JobBill { asked, column, grouped: false };
        let (mut outlook, files) = (None, sharding.table());
        let engine = Box::new(PythonShards { engine, count: sharding.files.len() });
        let done = perform(budget, bill, &*files, false, |run| {
            let ready = job.open_sharded(engine, &sharding, run)?;
            outlook = ready.outlook().as_ref().and_then(UtilityForecast::warning);
            Ok(ready)
        })?;
        Ok((done, outlook))
    })?;
    let ((Fitted { model, iterations, .. }, receipt), outlook) = done?;
    Ok((PyModel(model), iterations, outlook, receipt))
}
