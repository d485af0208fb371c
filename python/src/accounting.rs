//! Events, what they cost together, and budgets that are spent as one goes: the accountant, as
//! Python sees it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use reticent::accountant::{Adjacency, Event, Mechanism, Refused, Unit, View, gdp_mu};
use reticent::internal::accountant::{self, calibrate_rate, calibrate_steps, scope};
use reticent::{Error, Verdict};

use crate::error::Failure;

/// A list of events, and what they cost together.
#[pyclass(frozen, eq, skip_from_py_object, module = "reticent._reticent", name = "Ledger")]
#[derive(Clone, Debug, PartialEq)]
pub struct PyLedger(pub accountant::Ledger);

/// A lower and an upper end for each of what was asked.
type Ends = (Vec<f64>, Vec<f64>);

#[pymethods]
impl PyLedger {
    /// One event: a mechanism as ledgers have it in JSON, and between which neighbours, for whom
    /// and against whom.
    #[staticmethod]
    fn event(mechanism: &str, adjacency: &str, unit: &str, view: &str) -> Result<Self, Failure> {
        let mechanism: Mechanism =
            serde_json::from_str(mechanism).map_err(|error| refused("event", &error))?;
        let adjacency = Refused::read::<Adjacency>("adjacency", adjacency)?;
        let unit = Refused::read::<Unit>("unit", unit)?;
        let view = Refused::read::<View>("view", view)?;
        let event = Event::new(mechanism, adjacency, unit, view);
        let mut ledger = accountant::Ledger::new();
        ledger.append(event.map_err(|error| refused("event", &error))?);
        Ok(PyLedger(ledger))
    }

    /// All events of all of them.
    #[staticmethod]
    fn composed(parts: Vec<PyRef<'_, PyLedger>>) -> Result<Self, Failure> {
        let mut ledger = accountant::Ledger::new();
        parts.iter().try_for_each(|part| extend(&mut ledger, &part.0, 1))?;
        Ok(PyLedger(ledger))
    }

    /// Every event so many times.
    fn repeated(&self, count: u64) -> Result<Self, Failure> {
        let mut ledger = accountant::Ledger::new();
        extend(&mut ledger, &self.0, count)?;
        Ok(PyLedger(ledger))
    }

    /// The text of a ledger.
    #[staticmethod]
    fn from_json(text: &str) -> Result<Self, Failure> {
        let ledger = serde_json::from_str(text).map_err(|error| refused("ledger", &error))?;
        Ok(PyLedger(ledger))
    }

    /// As text.
    fn to_json(&self) -> Result<String, Failure> {
        Ok(serde_json::to_string(&self.0).map_err(|error| refused("ledger", &error))?)
    }

    /// The events in words, and how often each is there in a row.
    fn entries(&self) -> Vec<(String, u64)> {
        let entries = self.0.entries().iter();
        entries.map(|entry| (entry.event().to_string(), entry.count())).collect()
    }

    /// Between which neighbours, for whom and against whom; nothing where there is no event.
    #[getter]
    fn scope(&self) -> Option<(String, String, String)> {
        let (adjacency, unit, view) = scope(&self.0)?;
        Some((adjacency.to_string(), unit.to_string(), view.to_string()))
    }

    /// μ of Gaussian differential privacy, where it is exactly that.
    #[getter]
    fn mu(&self) -> Option<f64> {
        gdp_mu(&self.0)
    }

    /// ε at each δ.
    fn epsilons(&self, py: Python<'_>, deltas: Vec<f64>) -> Result<Ends, Failure> {
        let curve = py.detach(|| Verdict::curve(&self.0, &deltas))?;
        Ok(curve.into_iter().map(|(_, bound)| (bound.lower, bound.upper)).unzip())
    }

    /// δ at each ε.
    fn deltas(&self, py: Python<'_>, epsilons: Vec<f64>) -> Result<Ends, Failure> {
        py.detach(|| {
            let at = |&epsilon: &f64| {
                let bound = Verdict::delta_at(&self.0, epsilon)?;
                Ok((bound.lower, bound.upper))
            };
            epsilons.iter().map(at).collect()
        })
    }

    /// The least share of true changes that any test misses, at each share of false alarms.
    fn trade_off(&self, py: Python<'_>, levels: Vec<f64>) -> Result<Vec<f64>, Failure> {
        if !self.0.taints().is_empty() {
            return Ok(vec![0.0; levels.len()]);
        }
        let curve = py.detach(|| accountant::trade_off(&self.0, &levels))?;
        Ok(curve.into_iter().map(|(_, missed)| missed).collect())
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.0.total_events()).unwrap_or(usize::MAX)
    }
}

/// The least noise multiplier for which the ledger that `plan` makes of it is within the budget,
/// and the ε of that ledger.
#[pyfunction]
pub fn calibrate(epsilon: f64, delta: f64, plan: &Bound<'_, PyAny>) -> Result<(f64, f64), Failure> {
    asking(plan, |plan| {
        let found = accountant::calibrate(epsilon, delta, plan)?;
        Ok((found.noise_multiplier, found.epsilon.upper))
    })
}

/// The largest sampling rate, up to `largest`, for which the ledger that `plan` makes of it is
/// within the budget, and the ε of that ledger.
#[pyfunction]
pub fn calibrate_sampling(
    epsilon: f64,
    delta: f64,
    largest: f64,
    plan: &Bound<'_, PyAny>,
) -> Result<(f64, f64), Failure> {
    asking(plan, |plan| {
        let found = calibrate_rate(epsilon, delta, largest, plan)?;
        Ok((found.rate, found.epsilon.upper))
    })
}

/// How often the events of a ledger fit into a budget, up to `most` times, and the ε of that.
#[pyfunction]
pub fn calibrate_repetitions(
    py: Python<'_>,
    epsilon: f64,
    delta: f64,
    most: u64,
    ledger: &PyLedger,
) -> Result<(u64, f64), Failure> {
    py.detach(|| {
        let plan = |steps| {
            let mut many = accountant::Ledger::new();
            extend(&mut many, &ledger.0, steps).map(|()| many)
        };
        let found = calibrate_steps(epsilon, delta, most, plan).map_err(Error::from)?;
        Ok((found.steps, found.epsilon.upper))
    })
}

/// A budget that is spent as one goes, each step chosen after seeing the results of the others.
/// Threads that spend of the same one wait for each other.
#[pyclass(frozen, module = "reticent._reticent", name = "Filter")]
#[derive(Debug)]
pub struct PyFilter(Mutex<accountant::Filter>);

#[pymethods]
impl PyFilter {
    #[new]
    fn new(epsilon: f64, delta: f64) -> Result<Self, Failure> {
        let filter = accountant::Filter::new(epsilon, delta);
        Ok(PyFilter(Mutex::new(filter.map_err(|error| refused("budget", &error))?)))
    }

    /// Whether all events of a ledger fit into what is left.
    fn admits(&self, py: Python<'_>, ledger: &PyLedger) -> Result<bool, Failure> {
        Ok(py.detach(|| with(&self.lock(), ledger))?.is_some())
    }

    /// Spends the events of a ledger; says no, and spends nothing, where they do not all fit.
    fn spend(&self, py: Python<'_>, ledger: &PyLedger) -> Result<bool, Failure> {
        py.detach(|| {
            let mut filter = self.lock();
            let spent = with(&filter, ledger)?;
            let fits = spent.is_some();
            if let Some(spent) = spent {
                *filter = spent;
            }
            Ok(fits)
        })
    }

    /// What was spent.
    fn spent(&self, py: Python<'_>) -> PyLedger {
        py.detach(|| PyLedger(self.lock().spent().clone()))
    }

    /// What was spent so far, in ε at δ, at a step that may be chosen by looking.
    fn odometer(&self, py: Python<'_>, delta: f64) -> Result<(f64, f64), Failure> {
        let bound = py.detach(|| self.lock().odometer(delta))?;
        Ok((bound.lower, bound.upper))
    }
}

impl PyFilter {
    /// For this thread alone. Nobody waits here who holds the interpreter's lock, which the other may
    /// need; and what broke off left what was there.
    fn lock(&self) -> MutexGuard<'_, accountant::Filter> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The filter after a ledger; nothing where that does not fit.
fn with(
    filter: &accountant::Filter,
    ledger: &PyLedger,
) -> Result<Option<accountant::Filter>, Failure> {
    if let Some(taint) = ledger.0.taints().first() {
        return Err(refused("ledger", taint).into());
    }
    let mut filter = filter.clone();
    for entry in ledger.0.entries() {
        match filter.spend(entry.event().clone(), entry.count()) {
            Ok(()) => {}
            Err(accountant::FilterError::Exhausted { .. }) => return Ok(None),
            Err(error) => return Err(refused("ledger", &error).into()),
        }
    }
    Ok(Some(filter))
}

/// Appends the events of another ledger so many times, and what is wrong with it. What they cost
/// does not depend on their order.
fn extend(
    ledger: &mut accountant::Ledger,
    other: &accountant::Ledger,
    count: u64,
) -> Result<(), Error> {
    for entry in other.entries() {
        let many = entry.count().checked_mul(count).ok_or_else(|| {
            Error::value("count", count, "so many events cannot be counted; give fewer")
        })?;
        ledger.append_many(entry.event().clone(), many);
    }
    other.taints().iter().for_each(|&taint| ledger.taint(taint));
    Ok(())
}

/// Has Python make the ledgers that a search asks for. What Python raises is raised.
fn asking<T>(
    plan: &Bound<'_, PyAny>,
    search: impl FnOnce(
        &mut dyn FnMut(f64) -> Result<accountant::Ledger, String>,
    ) -> Result<T, accountant::CalibrationError>,
) -> Result<T, Failure> {
    let mut raised = None;
    let mut ask = |value: f64| -> Result<accountant::Ledger, String> {
        let made = plan.call1((value,)).and_then(|made| Ok(made.cast_into::<PyLedger>()?));
        match made {
            Ok(ledger) => Ok(ledger.get().0.clone()),
            Err(error) => {
                let words = error.to_string();
                raised.get_or_insert(error);
                Err(words)
            }
        }
    };
    let found = search(&mut ask);
    match raised {
        Some(error) => Err(Failure::Python(error)),
        None => Ok(found.map_err(Error::from)?),
    }
}

fn refused(name: &'static str, why: &impl std::fmt::Display) -> Error {
    Error::value(name, "what was given", why.to_string())
}
