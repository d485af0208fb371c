//! What is public about a table, as Python hands it over.

use std::path::PathBuf;

use pyo3::prelude::*;
use reticent::Curves;
use reticent::internal::tables;
use reticent::tables::{Role, SchemaError, Target, TargetKind};
use serde_json::{Value, json};

use crate::error::Failure;
use crate::guarantee::GuaranteeArguments;

/// A checked schema.
#[pyclass(frozen, eq, from_py_object, module = "reticent._reticent", name = "Schema")]
#[derive(Clone, Debug, PartialEq)]
pub struct PySchema(pub tables::Schema);

/// Classes, or a range: one of the two.
fn target(
    classes: Option<Vec<String>>,
    range: Option<(f64, f64)>,
) -> Result<TargetKind, SchemaError> {
    match (classes, range) {
        (Some(classes), _) => Target::classes(classes),
        (None, Some((lower, upper))) => Target::range(lower, upper),
        (None, None) => Target::classes(["0", "1"]),
    }
}

#[pymethods]
impl PySchema {
    /// A matrix whose columns have these bounds.
    #[staticmethod]
    #[pyo3(signature = (bounds, *, classes=None, range=None))]
    fn bounded(
        bounds: Vec<(f64, f64)>,
        classes: Option<Vec<String>>,
        range: Option<(f64, f64)>,
    ) -> Result<Self, Failure> {
        Ok(PySchema(tables::Schema::bounded(&bounds, target(classes, range)?)?))
    }

    /// A dense matrix whose rows are scaled into a norm.
    #[staticmethod]
    #[pyo3(signature = (columns, row_norm, *, classes=None, range=None))]
    fn of_norm(
        columns: usize,
        row_norm: f64,
        classes: Option<Vec<String>>,
        range: Option<(f64, f64)>,
    ) -> Result<Self, Failure> {
        Ok(PySchema(tables::Schema::of_norm(columns, row_norm, target(classes, range)?)?))
    }

    /// A sparse matrix whose rows are scaled into a norm.
    #[staticmethod]
    #[pyo3(signature = (columns, row_norm, *, classes=None, range=None))]
    fn sparse(
        columns: u32,
        row_norm: f64,
        classes: Option<Vec<String>>,
        range: Option<(f64, f64)>,
    ) -> Result<Self, Failure> {
        Ok(PySchema(tables::Schema::libsvm(columns, row_norm, target(classes, range)?)?))
    }

    /// A schema file.
    #[staticmethod]
    fn read(path: PathBuf) -> Result<Self, Failure> {
        Ok(PySchema(tables::Schema::read(&path)?))
    }

    /// The text of a schema file.
    #[staticmethod]
    fn from_toml(text: &str) -> Result<Self, Failure> {
        Ok(PySchema(text.parse::<tables::Schema>()?))
    }

    /// The same keys as JSON.
    #[staticmethod]
    fn from_json(text: &str) -> Result<Self, Failure> {
        let schema = serde_json::from_str(text);
        Ok(PySchema(schema.map_err(|error| SchemaError::Syntax(error.to_string()))?))
    }

    /// As a schema file.
    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    /// The same with a target of this name; what was a target before is none.
    #[pyo3(signature = (name, *, classes=None, range=None))]
    fn with_target(
        &self,
        name: &str,
        classes: Option<Vec<String>>,
        range: Option<(f64, f64)>,
    ) -> Result<Self, Failure> {
        let mut value = self.value()?;
        let target = match (classes, range) {
            (Some(classes), _) => json!({ "name": name, "kind": "target", "classes": classes }),
            (None, Some((lower, upper))) => {
                json!({ "name": name, "kind": "target", "lower": lower, "upper": upper })
            }
            (None, None) => return Ok(PySchema(self.0.with_roles(Some(name), None)?)),
        };
        if let Some(Value::Array(columns)) = value.get_mut("column") {
            columns.retain(|column| column["kind"] != "target" && column["name"] != name);
            columns.push(target);
        }
        Self::from_json(&value.to_string())
    }

    /// The same with these names for its features.
    fn named(&self, names: Vec<String>) -> Result<Self, Failure> {
        Ok(PySchema(self.0.clone().named(names)?))
    }

    /// The same with these names for its features, if there are any, and this for its target.
    fn renamed(&self, names: Option<Vec<String>>, target: &str) -> Result<Self, Failure> {
        let schema = match names {
            None => self.0.clone(),
            // No column is called so, and until it has its own name the target is in nobody's way.
            Some(names) => self.0.clone().with_target_named("\u{a0}target")?.named(names)?,
        };
        Ok(PySchema(schema.with_target_named(target)?))
    }

    /// The same with another row norm.
    fn with_row_norm(&self, row_norm: f64) -> Result<Self, Failure> {
        Ok(PySchema(self.0.clone().with_row_norm(row_norm)?))
    }

    /// The same of records that have weights up to this one, given beside the columns.
    fn with_weight(&self, largest: f64) -> Result<Self, Failure> {
        Ok(PySchema(self.0.clone().with_weight("sample_weight", largest)?))
    }

    /// The column that says how much a record counts, if one is declared.
    #[getter]
    fn weight(&self) -> Option<String> {
        self.0.weight().map(|(name, _)| name.to_owned())
    }

    /// The same with curves as a job has them: `curves` is a word, `guarantee` who is protected and by
    /// how much, and `records` the number of records of the table.
    fn bent(
        &self,
        curves: &str,
        guarantee: GuaranteeArguments,
        records: Option<u64>,
        intercept: bool,
    ) -> Result<Self, Failure> {
        let curves: Curves = curves.parse()?;
        let schema = curves.bend(self.0.clone(), &guarantee.read()?, records, intercept)?;
        Ok(PySchema(schema))
    }

    /// The norm that rows are scaled into, hats of curves left out.
    #[getter]
    fn row_norm(&self) -> f64 {
        self.0.line_norm()
    }

    /// The public number of records, if one is declared.
    #[getter]
    fn public_n(&self) -> Option<u64> {
        self.0.public_n()
    }

    /// The name of the target, once there is one.
    #[getter]
    fn target(&self) -> Option<String> {
        self.0.target().map(|(name, _)| name.to_owned())
    }

    /// The classes of the target.
    #[getter]
    fn classes(&self) -> Option<Vec<String>> {
        match self.0.target()?.1.kind() {
            TargetKind::Classes(labels) => Some(labels.names().map(str::to_owned).collect()),
            _ => None,
        }
    }

    /// The range of the target.
    #[getter]
    fn range(&self) -> Option<(f64, f64)> {
        match self.0.target()?.1.kind() {
            TargetKind::Range { lower, upper } => Some((*lower, *upper)),
            _ => None,
        }
    }

    /// The column that says whose row it is.
    #[getter]
    fn user(&self) -> Option<String> {
        self.0.user().map(str::to_owned)
    }

    /// The columns that are read, in order.
    #[getter]
    fn features(&self) -> Vec<String> {
        let is_feature =
            |role: &Role| matches!(role, Role::Numeric(_) | Role::Date(_) | Role::Categorical(_));
        let columns = self.0.columns().iter().filter(|column| is_feature(column.role()));
        columns.map(|column| column.name().to_owned()).collect()
    }

    /// Whether every column that is read is a number.
    #[getter]
    fn numeric(&self) -> bool {
        let other = |role: &Role| matches!(role, Role::Date(_) | Role::Categorical(_));
        !self.0.columns().iter().any(|column| other(column.role()))
    }

    /// The names of the encoded columns.
    #[getter]
    fn encoded_names(&self) -> Vec<String> {
        self.0.encoded_names()
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String,))> {
        let made = py.get_type::<Self>().getattr("from_toml")?.unbind();
        Ok((made, (self.to_toml(),)))
    }

    fn __repr__(&self) -> String {
        format!("Schema({} columns, row_norm={})", self.0.columns().len(), self.0.line_norm())
    }
}

impl PySchema {
    fn value(&self) -> Result<Value, Failure> {
        let value = serde_json::to_value(&self.0);
        Ok(value.map_err(|error| SchemaError::Syntax(error.to_string()))?)
    }
}
