//! On what a job is done: files, or a table that the caller has.

use std::path::{Path, PathBuf};

use reticent_oracle::PrivateTable;
use reticent_oracle::tables::{Dataset, ReadOptions, Schema};

use crate::error::Error;

/// The files of one table, in order, and how they are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Files {
    /// The files; `-` is standard input.
    pub paths: Vec<PathBuf>,
    /// How they are read.
    pub reading: ReadOptions,
}

impl Files {
    /// One file, whose format is told by its name.
    pub fn one(path: impl Into<PathBuf>) -> Self {
        Files { paths: vec![path.into()], reading: ReadOptions::default() }
    }
}

/// On what a job is done. It is no part of the description of the job, so that the same job can be
/// checked before there is a table, and done on one that was never a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Source<'a> {
    /// Files, read one behind the other.
    Files(Files),
    /// A table in memory. It is read where it is, and the encoded table is the one copy.
    Memory(&'a Dataset<'a>),
    /// A table that is already behind the gate's door, encoded under the schema of the job.
    Table(PrivateTable),
}

impl Source<'_> {
    pub(crate) fn load(self, schema: &Schema) -> Result<PrivateTable, Error> {
        match self {
            Source::Files(Files { paths, .. }) if paths.is_empty() => Err(Error::Missing {
                what: "the table",
                todo: "give a CSV, LIBSVM or Parquet file, with `data` in a job file or by its name",
            }),
            Source::Files(Files { paths, reading }) => {
                Ok(PrivateTable::load_all(&paths, reading, schema)?)
            }
            Source::Memory(dataset) => Ok(PrivateTable::encode(dataset, schema)?),
            Source::Table(table) if table.is_under(schema) => Ok(table),
            Source::Table(_) => Err(Error::value(
                "data",
                "a table that was encoded before",
                "it is not encoded under the schema of the job; encode it with that one",
            )),
        }
    }
}

impl From<Files> for Source<'_> {
    fn from(files: Files) -> Self {
        Source::Files(files)
    }
}

impl From<&Files> for Source<'_> {
    fn from(files: &Files) -> Self {
        Source::Files(files.clone())
    }
}

impl From<&Path> for Source<'_> {
    fn from(path: &Path) -> Self {
        Source::Files(Files::one(path))
    }
}

impl<'a> From<&'a Dataset<'a>> for Source<'a> {
    fn from(dataset: &'a Dataset<'a>) -> Self {
        Source::Memory(dataset)
    }
}

impl From<PrivateTable> for Source<'_> {
    fn from(table: PrivateTable) -> Self {
        Source::Table(table)
    }
}
