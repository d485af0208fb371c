//! What a question is about: rows of Python's, or files.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use reticent::tables::Dataset;
use reticent::{Files, Source};

use crate::error::Failure;
use crate::files::FilesRequest;
use crate::payment::PaidRows;
use crate::table::BorrowedTable;

/// A table as Python gives it.
pub enum AskedTable<'py> {
    Rows(BorrowedTable<'py>),
    Files(FilesRequest),
}

/// The same as the library takes it.
pub enum AskedRows<'a> {
    Memory(Dataset<'a>),
    Files(Files),
}

impl<'py> AskedTable<'py> {
    /// `x` is what [`BorrowedTable::new`] takes, or the dict of a [`FilesRequest`].
    pub fn new(
        x: &Bound<'py, PyAny>,
        names: Option<Vec<String>>,
        y: Option<&Bound<'py, PyAny>>,
        groups: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        Ok(match x.is_instance_of::<PyDict>() {
            true => AskedTable::Files(x.extract()?),
            false => AskedTable::Rows(BorrowedTable::new(x, names, y, groups)?),
        })
    }

    /// The rows where they are, or the files by name; no file is read.
    pub fn rows(&self) -> Result<AskedRows<'_>, Failure> {
        Ok(match self {
            AskedTable::Rows(table) => AskedRows::Memory(table.dataset()?),
            AskedTable::Files(files) => AskedRows::Files(files.files()?),
        })
    }
}

impl<'a> From<&'a AskedRows<'a>> for Source<'a> {
    fn from(rows: &'a AskedRows<'a>) -> Self {
        match rows {
            AskedRows::Memory(rows) => rows.into(),
            AskedRows::Files(files) => files.into(),
        }
    }
}

impl<'a> From<&'a AskedRows<'a>> for PaidRows<'a> {
    fn from(rows: &'a AskedRows<'a>) -> Self {
        match rows {
            AskedRows::Memory(rows) => rows.into(),
            AskedRows::Files(files) => files.paths[..].into(),
        }
    }
}
