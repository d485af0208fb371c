//! A trained model: predictions, coefficients and files.

use std::path::{Path, PathBuf};

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use reticent::{Coefficient, CoefficientEstimate, Error, ExportFormat, SqlNames, StandardErrors};

use crate::certificate::PyCertificate;
use crate::error::Failure;
use crate::schema::PySchema;
use crate::table::BorrowedTable;
use crate::threads::detached;

/// A trained model with its certificate inside.
#[pyclass(frozen, eq, skip_from_py_object, module = "reticent._reticent", name = "Model")]
#[derive(Clone, Debug, PartialEq)]
pub struct PyModel(pub reticent::Model);

/// Classes (places among them) and numbers, row by row.
type Predictions<'py> = (Bound<'py, PyArray1<usize>>, Bound<'py, PyArray2<f64>>);

/// Names of encoded columns, weights with a row for each output, intercepts.
type Weights<'py> = (Vec<String>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// Name, estimate, standard error, 95 % interval, what a category is compared with, and whether it is
/// about the encoded column.
type OneError = (String, f64, f64, (f64, f64), Option<String>, bool);

/// What is explained, why nothing is said of it, and what is said.
type Errors = (String, Option<String>, Vec<OneError>);

#[pymethods]
impl PyModel {
    /// A model file: `model.json`, or the folder that it is in.
    #[staticmethod]
    fn read(path: PathBuf) -> Result<Self, Failure> {
        let file = if path.is_dir() { path.join("model.json") } else { path };
        Ok(PyModel(reticent::Model::read(&file)?))
    }

    /// The text of a model file.
    #[staticmethod]
    fn from_json(text: &str) -> Result<Self, Failure> {
        Ok(PyModel(reticent::Model::from_json(text)?))
    }

    /// As the model file.
    fn to_json(&self) -> Result<String, Failure> {
        Ok(self.0.to_json()?)
    }

    /// Writes `model.json` and `certificate.json` to a folder. Where another model is, only if it is
    /// to be written over.
    fn write(&self, folder: PathBuf, overwrite: bool) -> Result<PathBuf, Failure> {
        reticent::internal::check_results(&folder, overwrite)?;
        let file = folder.join("model.json");
        if !overwrite && file.exists() && !self.is_in(&file)? {
            return Err(Failure::Exists(format!(
                "{} is another model: if it was seen by anybody, what both reveal adds up. Choose another folder, or say \
                 overwrite=True",
                file.display()
            )));
        }
        Ok(self.0.write(&folder)?)
    }

    /// The model in a format of other tools, as the bytes of a file.
    fn export(&self, format: &str, table: String, keep: Vec<String>) -> Result<Vec<u8>, Failure> {
        let format: ExportFormat = format.parse().map_err(Error::Value)?;
        Ok(self.0.export(format, &SqlNames::new(table, keep))?)
    }

    /// What of its certificate does not hold for it.
    fn problems(&self, py: Python<'_>) -> Result<Vec<String>, Failure> {
        let verification = py.detach(|| self.0.verify(None))?;
        Ok(verification.failures().map(|check| check.said.clone()).collect())
    }

    /// What was guaranteed when it was trained.
    #[getter]
    fn certificate(&self) -> PyCertificate {
        PyCertificate(self.0.certificate().clone())
    }

    /// What is known of the columns that it reads.
    #[getter]
    fn schema(&self) -> PySchema {
        PySchema(self.0.preprocessing().clone())
    }

    /// The loss, the penalty and the constraint.
    #[getter]
    fn problem(&self) -> [String; 3] {
        self.0.problem().map(str::to_owned)
    }

    /// The classes, in order; `None` for a model of a number.
    #[getter]
    fn classes(&self) -> Option<Vec<String>> {
        Some(self.0.classes()?.into_iter().map(str::to_owned).collect())
    }

    /// The edges of a graph that was learned.
    #[getter]
    fn graph(&self) -> Option<Vec<(String, String, f64)>> {
        self.0.graph().map(<[_]>::to_vec)
    }

    /// Estimates of the coefficients of the population, where a share of the budget was spent on
    /// them.
    #[getter]
    fn standard_errors(&self) -> Option<Errors> {
        let StandardErrors { of, hidden, estimates, .. } = self.0.standard_errors()?.clone();
        let told = |one: CoefficientEstimate| {
            let ends = one.interval();
            (one.name, one.estimate, one.standard_error, ends, one.against, one.encoded)
        };
        Some((of, hidden, estimates.into_iter().map(told).collect()))
    }

    /// The curves of columns that are bent, as JSON, the widest range first.
    fn curves(&self) -> Result<String, Failure> {
        let text = serde_json::to_string(&self.0.curves());
        Ok(text.map_err(|error| Error::value("curves", "of the model", error.to_string()))?)
    }

    /// What the columns of pairs do together, as JSON, the pair that moves most first.
    fn surfaces(&self) -> Result<String, Failure> {
        let text = serde_json::to_string(&self.0.surfaces());
        Ok(text.map_err(|error| Error::value("pairs", "of the model", error.to_string()))?)
    }

    /// The slope and the shift of a recalibration, which the weights have in them.
    #[getter]
    fn recalibration(&self) -> Option<(f64, f64)> {
        self.0.recalibration().map(|line| (line.slope, line.shift))
    }

    /// Whether there are probabilities.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.0.has_probabilities()
    }

    /// The weights in the units of the columns, or of the encoded columns.
    fn weights<'py>(&self, py: Python<'py>, encoded: bool) -> PyResult<Weights<'py>> {
        let units = self.0.units();
        let (coefficients, intercept): (&[Coefficient], Vec<f64>) = match encoded {
            true => (self.0.coefficients(), self.0.intercept().to_vec()),
            false => (&units.coefficients, units.intercept.clone()),
        };
        let outputs = self.0.outputs().len();
        let values: Vec<f64> = (0..outputs)
            .flat_map(|output| coefficients.iter().map(move |weight| weight.values[output]))
            .collect();
        let names = coefficients.iter().map(|weight| weight.name.clone()).collect();
        let weights = values.into_pyarray(py).reshape([outputs, coefficients.len()])?;
        Ok((names, weights, intercept.into_pyarray(py)))
    }

    /// What is predicted of a record of zeros, for each output.
    fn offsets<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.at_zero().into_pyarray(py)
    }

    /// The raw scores, a row for each record and a column for each output.
    #[pyo3(signature = (x, *, names=None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        names: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let table = BorrowedTable::new(x, names, None, None)?;
        let dataset = table.dataset()?;
        let scores = detached(py, || self.0.score_dataset(&dataset))?.map_err(Failure::from)?;
        let outputs = self.0.outputs().len();
        let records = scores.len() / outputs;
        scores.into_pyarray(py).reshape([records, outputs])
    }

    /// The class of each record, and the numbers that belong to it: probabilities, a score, or the
    /// predicted number.
    #[pyo3(signature = (x, *, names=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        names: Option<Vec<String>>,
    ) -> PyResult<Predictions<'py>> {
        let table = BorrowedTable::new(x, names, None, None)?;
        let dataset = table.dataset()?;
        let predicted = detached(py, || self.0.predict_whole(&dataset))?.map_err(Failure::from)?;
        let (columns, records) = (predicted.numbers.len(), predicted.records);
        let numbers: Vec<f64> = predicted.numbers.concat();
        // Column by column, as the library has them.
        let numbers = numbers.into_pyarray(py).reshape([columns, records])?;
        Ok((predicted.classes.into_pyarray(py), numbers.transpose()?))
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String,))> {
        let made = py.get_type::<Self>().getattr("from_json")?.unbind();
        Ok((made, (self.to_json()?,)))
    }
}

impl PyModel {
    /// Whether a file is of this model.
    fn is_in(&self, file: &Path) -> Result<bool, Failure> {
        let own = self.0.to_json()?;
        Ok(std::fs::read(file).is_ok_and(|bytes| bytes == own.as_bytes()))
    }
}
