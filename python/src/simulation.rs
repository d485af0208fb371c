//! A run between parties, on a table of Python's that is dealt to them.

use std::collections::{BTreeMap, HashMap};

use pyo3::prelude::*;
use reticent::simulate::{CheckpointOptions, Failures, PartyBooks, Simulated, Simulation};
use reticent::trace::Tracing;
use reticent::{Adjacency, Between, Error, Unit};

use crate::certificate::PyCertificate;
use crate::error::Failure;
use crate::fit::Columns;
use crate::job::{FitRequest, Tie};
use crate::model::PyModel;
use crate::payment::{JobBill, Payer, Receipt, perform};
use crate::schema::PySchema;
use crate::table::BorrowedTable;
use crate::threads::detached;

/// Who takes part; every key is there, as `None` where nothing is said.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PartiesRequest {
    /// So many, to which the records are dealt; one for each owner without it.
    split: Option<u64>,
    skew: Option<String>,
    trust: Option<String>,
    topology: Option<String>,
    public_seed: u64,
    /// The chances of misfortunes, as JSON.
    failures: String,
    /// Smaller ε of single parties.
    epsilons: Vec<(u32, f64)>,
}

impl PartiesRequest {
    fn simulation(&self, request: &FitRequest) -> Result<Simulation, Error> {
        if let Some(Tie::Private(_)) = request.constraint {
            let why = "no graph is learned between parties: give a public one";
            return Err(Error::value("graph", "private", why));
        }
        if request.adjacency()? != Adjacency::ReplaceOne {
            let why = "who takes part is known to those it talks to, so nothing hides that a party \
                       is there; use replace-one";
            return Err(Error::value("adjacency", &request.adjacency, why));
        }
        if let Some(share) = request.standard_errors {
            let why = "there are none between parties; leave them out";
            return Err(Error::value("standard_errors", share, why));
        }
        let failures: Failures = serde_json::from_str(&self.failures)
            .map_err(|error| Error::value("failures", "the dict", error.to_string()))?;
        let mut simulation = Simulation::of(request.problem()?)
            .algorithm(&request.algorithm)?
            .settings(request.settings()?)
            .public_seed(self.public_seed)
            .failures(failures);
        simulation = match self.split {
            Some(count) => simulation.parties(u32::try_from(count).map_err(|_| {
                Error::value("parties", count, "so many are not run in one process; give fewer")
            })?),
            None => simulation.party_per_owner(),
        };
        if let Some(skew) = &self.skew {
            simulation = simulation.skew(skew.parse()?);
        }
        if let Some(trust) = &self.trust {
            simulation = simulation.trust(trust.parse()?);
        }
        if let Some(graph) = &self.topology {
            simulation = simulation.topology(graph);
        }
        if let Some(budget) = request.budget()? {
            simulation = simulation.budget(budget);
        }
        if let Some(unit) = &request.unit {
            simulation = simulation.unit(unit.parse::<Unit>()?);
        }
        for &(party, epsilon) in &self.epsilons {
            simulation = simulation.party_epsilon(party, epsilon);
        }
        Ok(match request.seed {
            Some(seed) => simulation.seed(seed),
            None => simulation,
        })
    }
}

/// The first row of each holder, in the order in which the parties are numbered.
#[pyfunction]
pub fn holders<'py>(
    py: Python<'py>,
    schema: PySchema,
    x: &Bound<'py, PyAny>,
    owners: &Bound<'py, PyAny>,
) -> PyResult<Vec<usize>> {
    let table = BorrowedTable::new(x, None, None, Some(owners))?;
    let dataset = table.dataset()?;
    Ok(detached(py, || dataset.owners_in_order(&schema.0))?.map_err(Failure::from)?)
}

/// The model, every party's certificate, rounds, messages and bytes where they may be told,
/// rejected messages by their reason, the trace where one is wanted, and the receipt.
type Ran = (
    PyModel,
    Vec<Py<PyCertificate>>,
    u32,
    Option<(u64, u64)>,
    BTreeMap<String, u64>,
    Option<Columns>,
    Receipt,
);

/// Runs, without holding the interpreter's lock.
#[pyfunction]
#[pyo3(signature = (request, parties, x, *, names=None, y=None, owners=None, budget=None))]
#[allow(clippy::too_many_arguments)] // keywords of a private function of the package
pub fn simulate<'py>(
    py: Python<'py>,
    request: FitRequest,
    parties: PartiesRequest,
    x: &Bound<'py, PyAny>,
    names: Option<Vec<String>>,
    y: Option<&Bound<'py, PyAny>>,
    owners: Option<&Bound<'py, PyAny>>,
    budget: Option<Payer>,
) -> PyResult<Ran> {
    let table = BorrowedTable::new(x, names, y, owners)?;
    let dataset = table.dataset()?;
    let grouped = owners.is_some() && request.protects_users();
    let done: Result<_, Failure> = detached(py, || {
        let job = parties.simulation(&request).and_then(Simulation::check).map_err(as_parties)?;
        let bill = JobBill { asked: request.asked(), column: job.user_column(), grouped };
        let keep = CheckpointOptions::default();
        let tracing = request.trace.then(Tracing::default);
        perform(budget, bill, &dataset, |watch| {
            let ready = job.open(&dataset, keep, watch).map_err(as_parties)?;
            Ok(Between(ready, keep, tracing))
        })
    })?;
    let ((Simulated { model, parties, rounds, traffic, rejections, .. }, trace), receipt) = done?;
    let traffic = traffic.map(|traffic| (traffic.messages, traffic.bytes));
    let trace = trace.map(|trace| trace.columns());
    Ok((PyModel(model), certificates(py, &parties)?, rounds, traffic, rejections, trace, receipt))
}

/// What the library calls `split` is called `parties` here, and a view is whom one trusts.
fn as_parties(error: Error) -> Error {
    let Error::Value(refused) = error else { return error };
    let name = match refused.name {
        "split" => "parties",
        "view" => "trust",
        other => other,
    };
    Error::value(name, refused.given, refused.allowed)
}

/// Every party's; those that are the same are one object.
fn certificates(py: Python<'_>, books: &PartyBooks) -> PyResult<Vec<Py<PyCertificate>>> {
    let mut known: HashMap<*const reticent::Certificate, Py<PyCertificate>> = HashMap::new();
    let mut all = Vec::with_capacity(books.len());
    for own in (0..books.len()).filter_map(|party| books.party(party)) {
        let place = std::ptr::from_ref(own);
        let made = match known.get(&place) {
            Some(made) => made.clone_ref(py),
            None => Py::new(py, PyCertificate(own.clone()))?,
        };
        known.entry(place).or_insert_with(|| made.clone_ref(py));
        all.push(made);
    }
    Ok(all)
}
