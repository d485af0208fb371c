//! A run between parties, on a table of Python's that is dealt to them.

use std::collections::{BTreeMap, HashMap};

use pyo3::prelude::*;
use reticent::simulate::{CheckpointOptions, Failures, PartyBooks, Simulated, Simulation};
use reticent::{Error, UtilityForecast};

use crate::certificate::PyCertificate;
use crate::error::Failure;
use crate::fit::{Columns, Outlook};
use crate::job::{FitRequest, Tie};
use crate::model::PyModel;
use crate::payment::{JobBill, PayingBudget, Receipt, perform};
use crate::schema::PySchema;
use crate::table::BorrowedTable;
use crate::threads::detached;

/// Who takes part; every key is there, as `None` for the default.
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
    /// `placed` where each row has a party beside its owner.
    fn simulation(&self, request: &FitRequest, placed: bool) -> Result<Simulation, Error> {
        if let Some(Tie::Private(_)) = request.of.constraint {
            let why = "no graph is learned between parties: give a public one";
            return Err(Error::value("graph", "private", why));
        }
        if let Some(share) = request.of.calibrate {
            let why = "there is none between parties; use PrivateCalibrator, or leave it out";
            return Err(Error::value("calibrate", share, why));
        }
        let failures: Failures = serde_json::from_str(&self.failures)
            .map_err(|error| Error::value("failures", "the dict", error.to_string()))?;
        let mut simulation = Simulation::of(request.of.problem()?);
        // The default of an estimator is that of a simulation, which may be another for persons, and have no
        // standard errors.
        if request.of.algorithm != "auto" || request.of.standard_errors.is_some() {
            simulation = simulation.algorithm(&request.of.algorithm)?;
        }
        simulation = simulation
            .settings(request.of.settings()?)
            .public_seed(self.public_seed)
            .guarantee(request.guarantee.read()?)
            .failures(failures);
        simulation = match self.split {
            Some(count) => simulation.parties(u32::try_from(count).map_err(|_| {
                Error::value("parties", count, "so many are not run in one process; give fewer")
            })?),
            None if placed => simulation.parties_beside(),
            None => simulation.party_per_owner(),
        };
        if let Some(share) = request.of.standard_errors {
            simulation = simulation.standard_errors(share);
        }
        if let Some(skew) = &self.skew {
            simulation = simulation.skew(skew.parse()?);
        }
        if let Some(trust) = &self.trust {
            simulation = simulation.trust(trust.parse()?);
        }
        if let Some(graph) = &self.topology {
            simulation = simulation.topology(graph);
        }
        for &(party, epsilon) in &self.epsilons {
            simulation = simulation.party_epsilon(party, epsilon);
        }
        Ok(simulation)
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
/// rejected messages by their reason, the trace where one is wanted, the outlook, and the receipt.
type Ran = (
    PyModel,
    Vec<Py<PyCertificate>>,
    u32,
    Option<(u64, u64)>,
    BTreeMap<String, u64>,
    Option<Columns>,
    Outlook,
    Receipt,
);

/// Runs, without holding the interpreter's lock.
#[pyfunction]
#[pyo3(signature = (request, parties, x, *, names=None, y=None, owners=None, placed=None, budget=None))]
#[allow(clippy::too_many_arguments)] // keywords of a private function of the package
pub fn simulate<'py>(
    py: Python<'py>,
    request: FitRequest,
    parties: PartiesRequest,
    x: &Bound<'py, PyAny>,
    names: Option<Vec<String>>,
    y: Option<&Bound<'py, PyAny>>,
    owners: Option<&Bound<'py, PyAny>>,
    placed: Option<&Bound<'py, PyAny>>,
    budget: Option<PayingBudget>,
) -> PyResult<Ran> {
    let beside = placed.is_some();
    let table = BorrowedTable::new(x, names, y, owners)?.placed(placed)?;
    let dataset = table.dataset()?;
    let grouped = owners.is_some() && request.guarantee.protects_users();
    let done: Result<_, Failure> = detached(py, || {
        let job = parties.simulation(&request, beside).and_then(Simulation::check);
        let job = job.map_err(as_parties)?;
        let bill = JobBill { asked: request.guarantee.asked(), column: job.user_column(), grouped };
        let mut outlook = None;
        let done = perform(budget, bill, &dataset, request.of.trace, |run| {
            let ready = job.open(&dataset, CheckpointOptions::default(), run);
            let ready = ready.map_err(as_parties)?;
            outlook = ready.outlook().as_ref().and_then(UtilityForecast::warning);
            Ok(ready)
        })?;
        Ok((done, outlook))
    })?;
    let ((simulated, receipt), outlook) = done?;
    let Simulated { model, parties, rounds, traffic, rejections, trace, .. } = simulated;
    let traffic = traffic.map(|traffic| (traffic.messages, traffic.bytes));
    let trace = trace.map(|trace| trace.columns());
    let own = certificates(py, &parties)?;
    Ok((PyModel(model), own, rounds, traffic, rejections, trace, outlook, receipt))
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
