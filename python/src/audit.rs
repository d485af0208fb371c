//! Attacks on the product, from Python.

use pyo3::prelude::*;
use reticent::Error;
use reticent_audit::{AuditSpec, audit_map, run_told};

use crate::error::Failure;
use crate::watch::{attended, unless};

/// What is attacked, and how hard; every key is there, as `None` where nothing is said.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Attack {
    algorithm: String,
    epsilon: f64,
    delta: f64,
    adjacency: String,
    sampling: String,
    iterations: u64,
    runs: u64,
    method: String,
    confidence: f64,
    as_published: bool,
    step: Option<String>,
    penalty: Option<String>,
    constraint: Option<String>,
    records: Option<usize>,
    trust: Option<String>,
    unit: Option<String>,
    parties: u32,
    walk: Option<String>,
    release: Option<String>,
    seed: Option<u64>,
}

impl Attack {
    fn spec(self) -> Result<AuditSpec, Error> {
        Ok(AuditSpec {
            algorithm: self.algorithm,
            epsilon: self.epsilon,
            delta: self.delta,
            adjacency: self.adjacency.parse()?,
            sampling: self.sampling.parse()?,
            iterations: self.iterations,
            runs: self.runs,
            method: self.method.parse()?,
            confidence: self.confidence,
            as_published: self.as_published,
            step: self.step.map(|step| step.parse()).transpose()?,
            penalty: self.penalty,
            constraint: self.constraint,
            records: self.records,
            trust: self.trust.map(|view| view.parse()).transpose()?,
            unit: self.unit.map(|unit| unit.parse()).transpose()?,
            parties: self.parties,
            walk: self.walk.map(|walk| walk.parse()).transpose()?,
            release: self.release.map(|release| release.parse()).transpose()?,
            seed: self.seed,
            ..AuditSpec::default()
        })
    }
}

/// Attacks one algorithm. Gives the report as JSON.
#[pyfunction]
pub fn audit(py: Python<'_>, attack: Attack) -> PyResult<String> {
    let spec = attack.spec().map_err(Failure::from)?;
    let report = attended(py, |stop| run_told(&spec, &|_, _| unless(stop)))?;
    let report = report.map_err(Failure::from)?;
    text(&report)
}

/// Attacks every combination of these algorithms that is offered; of all, where none is named. Gives
/// the reports as JSON.
#[pyfunction]
pub fn audit_all(
    py: Python<'_>,
    only: Vec<String>,
    runs: u64,
    seed: Option<u64>,
) -> PyResult<String> {
    let reports = attended(py, |stop| {
        let wanted = |cell: &reticent::map::MapCell| {
            only.is_empty() || only.iter().any(|name| name == cell.algorithm)
        };
        audit_map(runs, seed, wanted, &|_, _| unless(stop))
    })?;
    text(&reports.map_err(Failure::from)?)
}

fn text(report: &impl serde::Serialize) -> PyResult<String> {
    let text = serde_json::to_string(report);
    Ok(text.map_err(|error| Failure::from(Error::value("report", "", error.to_string())))?)
}
