//! From the library's errors to Python's, in one `match`.

use pyo3::exceptions::{PyFileExistsError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use reticent::Error;
use reticent_budget::BudgetError;

/// What can go wrong on the way from Python to the library and back.
#[derive(Debug)]
pub enum Failure {
    /// The library refused, or a run ended.
    Library(Error),
    /// The budget of the data set refused.
    Budget(BudgetError),
    /// A fit that no budget can hold, and why.
    NotCertified(String),
    /// A unit that nobody named.
    Unnamed(String),
    /// A file that is there.
    Exists(String),
    /// Something that Python said.
    Python(PyErr),
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Library(error.into())
    }
}

/// The classes of `reticent.errors`, by name.
fn own(py: Python<'_>, name: &str) -> PyResult<Py<PyType>> {
    Ok(py.import("reticent.errors")?.getattr(name)?.cast_into::<PyType>()?.unbind())
}

/// An error of this class of `reticent.errors`.
fn raise(name: &str, message: String) -> PyErr {
    Python::attach(|py| match own(py, name) {
        Ok(class) => PyErr::from_type(class.into_bound(py), message),
        Err(error) => error,
    })
}

/// An error that says what it cost.
fn spent(name: &str, message: String, epsilon: f64, delta: f64) -> PyErr {
    Python::attach(|py| {
        let class = match own(py, name) {
            Ok(class) => class,
            Err(error) => return error,
        };
        match class.call1(py, (message, epsilon, delta)) {
            Ok(value) => PyErr::from_value(value.into_bound(py)),
            Err(error) => error,
        }
    })
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Python(error) => error,
            Failure::Unnamed(why) => PyValueError::new_err(why),
            Failure::Exists(why) => PyFileExistsError::new_err(why),
            Failure::NotCertified(why) => raise("NotCertified", why),
            Failure::Library(error) => library(&error),
            Failure::Budget(error) => store(&error),
        }
    }
}

fn library(error: &Error) -> PyErr {
    let message = in_words(error);
    match error {
        Error::Spent { epsilon, delta, .. } if error.is_stop() => {
            spent("FitStopped", message, *epsilon, *delta)
        }
        Error::Spent { epsilon, delta, .. } => spent("BudgetSpent", message, *epsilon, *delta),
        _ if error.is_stop() => spent("FitStopped", message, 0.0, 0.0),
        Error::Budget(_) => raise("BudgetExceeded", message),
        Error::Schema(_) => raise("SchemaError", message),
        Error::Data(_) => raise("DataError", message),
        Error::Read { .. } | Error::Write { .. } => PyOSError::new_err(message),
        Error::Exists { .. } => PyFileExistsError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

fn store(error: &BudgetError) -> PyErr {
    let message = error.to_string();
    match error {
        _ if error.is_refusal() => raise("BudgetExceeded", message),
        BudgetError::Value { .. } => PyValueError::new_err(message),
        BudgetError::Exists(_) => PyFileExistsError::new_err(message),
        _ => raise("BudgetError", message),
    }
}

/// What is wrong and what to do about it.
fn in_words(error: &Error) -> String {
    let (said, hint) = (error.to_string(), error.hint());
    match error {
        // The hint is in it already.
        Error::Missing { .. } | Error::Value(_) => said,
        _ => format!("{said}; {hint}"),
    }
}
