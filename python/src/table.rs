//! The tables of Python: NumPy and SciPy are read where they are, Arrow through its C interface.

use arrow_array::RecordBatch;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_pyarrow::FromPyArrow;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use reticent::tables::{Dataset, Indices, Owner, Owners, Targets};

use crate::error::Failure;

/// Columns, what is predicted, whose each row is and how much it counts, borrowed from Python for as long as this lives.
pub struct BorrowedTable<'py> {
    columns: BorrowedColumns<'py>,
    names: Option<Vec<String>>,
    targets: Option<Numbers<'py>>,
    owners: Option<Ids<'py>>,
    parties: Option<Ids<'py>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
}

enum BorrowedColumns<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Csr {
        indptr: Whole<'py>,
        indices: Whole<'py>,
        values: PyReadonlyArray1<'py, f64>,
        columns: usize,
    },
    Arrow(Vec<RecordBatch>),
}

/// Numbers, or places among classes.
#[derive(FromPyObject)]
enum Numbers<'py> {
    Reals(PyReadonlyArray1<'py, f64>),
    Classes(PyReadonlyArray1<'py, u32>),
}

/// Whose each row is: integers, floating-point numbers, or anything else as its place among labels.
#[derive(FromPyObject)]
enum Ids<'py> {
    Signed(PyReadonlyArray1<'py, i64>),
    Unsigned(PyReadonlyArray1<'py, u64>),
    Reals(PyReadonlyArray1<'py, f64>),
    Coded(Vec<Label>, PyReadonlyArray1<'py, u32>),
}

/// A label that is no array's element: which spellings are one person is for the library to say.
#[derive(FromPyObject)]
enum Label {
    Text(String),
    Real(f64),
}

/// The integers that SciPy has its places in.
#[derive(FromPyObject)]
enum Whole<'py> {
    I32(PyReadonlyArray1<'py, i32>),
    I64(PyReadonlyArray1<'py, i64>),
}

impl<'py> BorrowedTable<'py> {
    /// `x` is a matrix, the four parts of a sparse one, or whatever speaks Arrow.
    pub fn new(
        x: &Bound<'py, PyAny>,
        names: Option<Vec<String>>,
        y: Option<&Bound<'py, PyAny>>,
        groups: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        Ok(BorrowedTable {
            columns: BorrowedColumns::new(x)?,
            names,
            targets: y.map(|y| y.extract()).transpose()?,
            owners: groups.map(|groups| groups.extract()).transpose()?,
            parties: None,
            weights: None,
        })
    }

    /// The same with the party that each row is with.
    pub fn placed(self, parties: Option<&Bound<'py, PyAny>>) -> PyResult<Self> {
        let parties = parties.map(|parties| parties.extract()).transpose()?;
        Ok(BorrowedTable { parties, ..self })
    }

    /// The same with how much each row counts.
    pub fn weighted(self, weights: Option<PyReadonlyArray1<'py, f64>>) -> Self {
        BorrowedTable { weights, ..self }
    }

    /// The same for the library, which reads it where it is.
    pub fn dataset(&self) -> Result<Dataset<'_>, Failure> {
        let scattered = || {
            let error =
                PyValueError::new_err("an array is not contiguous: use np.ascontiguousarray");
            Failure::Python(error)
        };
        let mut dataset = match &self.columns {
            BorrowedColumns::Dense(x) => {
                let (rows, columns) = (x.shape()[0], x.shape()[1]);
                let values = x.as_slice().map_err(|_| scattered())?;
                match x.is_c_contiguous() {
                    true => Dataset::dense(values, rows, columns)?,
                    false => Dataset::dense_by_column(values, rows, columns)?,
                }
            }
            BorrowedColumns::Csr { indptr, indices, values, columns } => {
                let (indptr, indices) = (indptr.indices(), indices.indices());
                let (Some(indptr), Some(indices)) = (indptr, indices) else {
                    return Err(scattered());
                };
                let values = values.as_slice().map_err(|_| scattered())?;
                Dataset::csr(indptr, indices, values, *columns)?
            }
            BorrowedColumns::Arrow(batches) => Dataset::arrow(batches.as_slice())?,
        };
        if let Some(names) = &self.names {
            dataset = dataset.with_names(names)?;
        }
        dataset = match &self.targets {
            None => dataset,
            Some(Numbers::Reals(y)) => {
                dataset.with_targets(Targets::from(y.as_slice().map_err(|_| scattered())?))?
            }
            Some(Numbers::Classes(y)) => {
                dataset.with_targets(Targets::from(y.as_slice().map_err(|_| scattered())?))?
            }
        };
        if let Some(weights) = &self.weights {
            dataset = dataset.with_weights(weights.as_slice().map_err(|_| scattered())?)?;
        }
        if let Some(ids) = &self.parties {
            dataset = dataset.with_parties(ids.owners().ok_or_else(scattered)?)?;
        }
        Ok(match &self.owners {
            None => dataset,
            Some(ids) => dataset.with_owners(ids.owners().ok_or_else(scattered)?)?,
        })
    }
}

impl<'py> BorrowedColumns<'py> {
    fn new(x: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(dense) = x.extract() {
            return Ok(BorrowedColumns::Dense(dense));
        }
        if let Ok((indptr, indices, values, columns)) = x.extract() {
            return Ok(BorrowedColumns::Csr { indptr, indices, values, columns });
        }
        if !x.hasattr("__arrow_c_stream__")? {
            return Err(PyTypeError::new_err(
                "X is neither a matrix of float64, nor sparse rows, nor a table that speaks Arrow",
            ));
        }
        let reader = RecordBatchStreamReader::from_pyarrow_bound(x)?;
        let batches: Result<Vec<_>, _> = reader.collect();
        // An Arrow error may show a value.
        let failed = |_| PyValueError::new_err("the Arrow table cannot be read");
        Ok(BorrowedColumns::Arrow(batches.map_err(failed)?))
    }
}

impl Ids<'_> {
    fn owners(&self) -> Option<Owners<'_>> {
        Some(match self {
            Ids::Signed(all) => all.as_slice().ok()?.into(),
            Ids::Unsigned(all) => all.as_slice().ok()?.into(),
            Ids::Reals(all) => all.as_slice().ok()?.into(),
            Ids::Coded(labels, places) => {
                let owner = |label: &'_ Label| match label {
                    Label::Text(text) => Owner::Name(text.clone().into()),
                    Label::Real(x) => Owner::Real(*x),
                };
                Owners::Coded(labels.iter().map(owner).collect(), places.as_slice().ok()?.into())
            }
        })
    }
}

impl Whole<'_> {
    fn indices(&self) -> Option<Indices<'_>> {
        match self {
            Whole::I32(all) => Some(all.as_slice().ok()?.into()),
            Whole::I64(all) => Some(all.as_slice().ok()?.into()),
        }
    }
}
