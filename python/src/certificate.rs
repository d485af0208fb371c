//! What is guaranteed, as Python sees it.

use pyo3::prelude::*;
use reticent::accountant::Ledger;
use reticent::internal::accountant;
use reticent::{Scope, Verdict};

use crate::error::Failure;

/// The certificate of one run.
#[pyclass(frozen, eq, skip_from_py_object, module = "reticent._reticent", name = "Certificate")]
#[derive(Clone, Debug, PartialEq)]
pub struct PyCertificate(pub reticent::Certificate);

#[pymethods]
impl PyCertificate {
    /// A certificate file's text.
    #[staticmethod]
    fn from_json(text: &str) -> Result<Self, Failure> {
        let read = serde_json::from_str(text);
        let refuse = |error: serde_json::Error| {
            reticent::Error::value("certificate", "the text", error.to_string())
        };
        Ok(PyCertificate(read.map_err(refuse)?))
    }

    /// As the file.
    fn to_json(&self) -> Result<String, Failure> {
        Ok(self.0.to_json()?)
    }

    /// ε at each δ, as the ledger has it; infinite where there is no guarantee.
    fn epsilons(&self, py: Python<'_>, deltas: Vec<f64>) -> Result<Vec<f64>, Failure> {
        let ledger = self.ledger()?;
        let curve = py.detach(|| Verdict::curve(ledger, &deltas))?;
        Ok(curve.into_iter().map(|(_, bound)| bound.upper).collect())
    }

    /// δ at each ε; 1 where there is no guarantee.
    fn deltas(&self, py: Python<'_>, epsilons: Vec<f64>) -> Result<Vec<f64>, Failure> {
        let ledger = self.ledger()?;
        py.detach(|| {
            let at = |&epsilon| Ok(Verdict::delta_at(ledger, epsilon)?.upper);
            epsilons.iter().map(at).collect()
        })
    }

    /// The least share of true changes that any test misses, at each share of false alarms; 0 where
    /// there is no guarantee.
    fn trade_off(&self, py: Python<'_>, levels: Vec<f64>) -> Result<Vec<f64>, Failure> {
        let ledger = self.ledger()?;
        if !self.0.certified {
            return Ok(vec![0.0; levels.len()]);
        }
        let curve = py.detach(|| accountant::trade_off(ledger, &levels))?;
        Ok(curve.into_iter().map(|(_, missed)| missed).collect())
    }

    /// What of it does not follow from its ledger, or was changed since.
    fn problems(&self, py: Python<'_>) -> Result<Vec<String>, Failure> {
        let verification = py.detach(|| self.0.verify(None))?;
        Ok(verification.failures().map(|check| check.said.clone()).collect())
    }

    /// Why the guarantee is worth little, though it holds.
    #[getter]
    fn weaknesses(&self) -> Vec<String> {
        self.0.weaknesses()
    }

    /// Whether the numbers are a guarantee.
    #[getter]
    fn certified(&self) -> bool {
        self.0.certified
    }

    /// Why they are not.
    #[getter]
    fn reasons(&self) -> Vec<String> {
        self.0.reasons.clone()
    }

    /// ε at δ.
    #[getter]
    fn epsilon(&self) -> f64 {
        self.0.epsilon
    }

    /// δ.
    #[getter]
    fn delta(&self) -> f64 {
        self.0.delta
    }

    /// Which tables are neighbours.
    #[getter]
    fn adjacency(&self) -> String {
        self.0.adjacency.to_string()
    }

    /// Whether a record or a user is protected.
    #[getter]
    fn unit(&self) -> String {
        self.0.unit.to_string()
    }

    /// Against whom.
    #[getter]
    fn view(&self) -> String {
        self.0.view.to_string()
    }

    /// What the numbers mean, in a sentence.
    #[getter]
    fn meaning(&self) -> String {
        self.0.meaning.clone()
    }

    /// Where the noise came from.
    #[getter]
    fn noise(&self) -> String {
        self.0.noise.clone()
    }

    /// The algorithm that was asked for.
    #[getter]
    fn algorithm(&self) -> String {
        self.0.algorithm.clone()
    }

    /// How ε was computed.
    #[getter]
    fn accountant(&self) -> String {
        self.0.accountant.clone()
    }

    /// The public number of records or users.
    #[getter]
    fn population(&self) -> u64 {
        self.0.population
    }

    /// What the guarantee relies on.
    #[getter]
    fn assumptions(&self) -> Vec<String> {
        self.0.assumptions.clone()
    }
}

impl PyCertificate {
    /// The books, whose events go together.
    fn ledger(&self) -> Result<&Ledger, Failure> {
        let reticent::Certificate { adjacency, unit, view, delta, ref ledger, .. } = self.0;
        Verdict::of(ledger, delta, Scope { adjacency, unit, view })?;
        Ok(ledger)
    }
}
