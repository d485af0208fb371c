//! Files to tables.

mod ask;
mod blocks;
mod check;
mod delimited;
mod draft;
mod halves;
mod libsvm;
mod lines;
mod open;
mod parallel;
#[cfg(feature = "parquet")]
mod parquet;
mod reading;
mod record_file;
mod records;
mod skeleton;
mod spread;
mod stream;
mod watch;
mod zip;

pub use check::{TableCheck, Thoroughness, check};
pub use delimited::parse_csv;
pub(crate) use delimited::place;
pub use draft::{DraftOptions, SchemaDraft, draft_from_public};
pub use halves::{SplitRule, split_file};
pub use libsvm::parse_libsvm;
pub use open::visit_bytes;
#[cfg(feature = "parquet")]
pub use parquet::parse_parquet;
use reading::ReadLimits;
pub use reading::ReadOptions;
use record_file::{LoadFile, with_described};
pub use skeleton::skeleton;
pub use stream::{Head, KeptCell, KeptKind, RecordVisitor, visit};

use crate::error::FileProblem;
use crate::filling::Filling;
use crate::{DataError, Purpose, Schema, SchemaError, Table};
use std::path::{Path, PathBuf};
use watch::Watch;
pub use watch::{ContentListener, SharedListener};

reticent_core::words! {
    /// How a file is laid out.
    #[derive(Eq)]
    pub enum Format = "format" {
        /// Fields between commas, or the schema's delimiter.
        Csv = "csv",
        /// Fields between tabs, or the schema's delimiter.
        Tsv = "tsv",
        /// LIBSVM text: lines of `label index:value …`.
        Libsvm = "libsvm",
        /// A file in the Apache Parquet format.
        Parquet = "parquet",
    }
}

impl Format {
    /// The format that the name of a file tells, packing aside. The content is never looked at.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let packed =
            [".gz", ".xz", ".bz2", ".zst", ".zip"].iter().find_map(|end| name.strip_suffix(end));
        let name = packed.unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "csv" | "data" => Some(Self::Csv),
            "tsv" => Some(Self::Tsv),
            "libsvm" | "svm" => Some(Self::Libsvm),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }

    /// The format to read `path` with: as told, by its name, or the only one that the schema
    /// allows. Standard input has no name, and text is what is piped.
    fn decide(path: &Path, told: Option<Self>, schema: &Schema) -> Result<Self, FileProblem> {
        let libsvm = schema.features().is_some();
        let format = match told.or_else(|| Self::of(path)) {
            Some(format) => format,
            None if libsvm => Self::Libsvm,
            None if schema.delimiter().is_some() || open::is_standard(path) => Self::Csv,
            None => return Err(FileProblem::UnknownFormat),
        };
        match (format == Self::Libsvm, libsvm) {
            (true, false) => Err(FileProblem::WrongFormat(
                "a LIBSVM file needs a schema with `features`, not columns",
            )),
            (false, true) => {
                Err(FileProblem::WrongFormat("a schema with `features` is for LIBSVM files only"))
            }
            (true, true) if schema.weight().is_some() => {
                Err(FileProblem::WrongFormat("a LIBSVM file has no column of weights"))
            }
            _ => Ok(format),
        }
    }

    fn usual_delimiter(self) -> u8 {
        if self == Self::Tsv { b'\t' } else { b',' }
    }

    /// What is between fields; refused where it is in the middle of numbers too.
    fn delimiter(self, schema: &Schema) -> Result<u8, SchemaError> {
        let delimiter = schema.delimiter().unwrap_or(self.usual_delimiter());
        if delimiter == b',' && schema.decimal_comma() {
            return Err(SchemaError::DecimalIsDelimiter);
        }
        Ok(delimiter)
    }
}

/// Reads a file for fitting or evaluating: features, targets, users. `target` and `user_column`
/// choose the roles as [`Schema::with_roles`] does.
pub fn load(
    path: &Path,
    reading: impl Into<ReadOptions>,
    schema: &Schema,
    target: Option<&str>,
    user_column: Option<&str>,
) -> Result<Table, DataError> {
    read(path, reading.into(), &schema.with_roles(target, user_column)?, Purpose::Fit)
}

/// Reads several files as one table, one behind the other; an owner is the same in all of them. The
/// schema must have its roles settled. The answer has whether one of them is the very file that the
/// schema was drafted from, unless its owner says that it is public, and the party of each row as 0, 1,
/// 2, … in byte order of the ids, where a column says it ([`Schema::with_parties`]).
pub fn load_and_compare(
    paths: &[PathBuf],
    reading: impl Into<ReadOptions>,
    schema: &Schema,
) -> Result<(Table, bool, Option<Vec<u32>>), DataError> {
    load_heard(paths, reading.into(), schema, None)
}

/// The same; `listener` hears all bytes of every file, unpacked, while they are read.
///
/// # Errors
/// As [`load_and_compare`].
pub fn load_and_tell(
    paths: &[PathBuf],
    reading: impl Into<ReadOptions>,
    schema: &Schema,
    listener: &SharedListener,
) -> Result<(Table, bool, Option<Vec<u32>>), DataError> {
    load_heard(paths, reading.into(), schema, Some(listener))
}

fn load_heard(
    paths: &[PathBuf],
    reading: ReadOptions,
    schema: &Schema,
    listener: Option<&SharedListener>,
) -> Result<(Table, bool, Option<Vec<u32>>), DataError> {
    let mut filling = Filling::new(schema, Purpose::Fit);
    let drafted_from = read_files(paths, reading, &mut filling, listener)?;
    let (table, parties) = filling.finish_dealt();
    Ok((table, drafted_from, parties))
}

/// Reads files one behind the other; whether one of them is the very file that the schema was drafted
/// from, and not public.
pub(crate) fn read_files(
    paths: &[PathBuf],
    reading: ReadOptions,
    filling: &mut Filling<'_>,
    listener: Option<&SharedListener>,
) -> Result<bool, DataError> {
    let mut drafted_from = false;
    for path in paths {
        let drafted = filling.schema.drafted().filter(|drafted| !drafted.public());
        let watch = Watch::new(drafted, listener);
        read_into(path, reading, filling, Depth::Values, watch.as_ref())?;
        drafted_from |= watch.is_some_and(Watch::end);
    }
    Ok(drafted_from)
}

/// Reads a file for predicting: features alone, encoded as [`load`] encodes them under the same
/// schema. The schema must have its roles settled (a model carries it so).
pub fn load_features(
    path: &Path,
    reading: impl Into<ReadOptions>,
    schema: &Schema,
) -> Result<Table, DataError> {
    read(path, reading.into(), schema, Purpose::Predict)
}

/// How far a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// The names and types of the columns.
    Header,
    /// Every value is read and checked.
    Values,
}

fn read(
    path: &Path,
    reading: ReadOptions,
    schema: &Schema,
    purpose: Purpose,
) -> Result<Table, DataError> {
    let mut filling = Filling::new(schema, purpose);
    read_into(path, reading, &mut filling, Depth::Values, None)?;
    Ok(filling.finish())
}

fn read_into(
    path: &Path,
    reading: ReadOptions,
    filling: &mut Filling<'_>,
    depth: Depth,
    watch: Option<&Watch<'_>>,
) -> Result<(), DataError> {
    let described = (filling.schema, filling.purpose);
    with_described(path, reading, described, watch, LoadFile { filling, depth })
}

/// The schema must say what to predict before a file is read for fitting.
pub(crate) fn ready(schema: &Schema, purpose: Purpose) -> Result<(), SchemaError> {
    if purpose == Purpose::Fit && schema.target().is_none() && schema.asked_of.is_none() {
        // With several, `with_roles` gives the message that lists them.
        schema.with_roles(None, None)?;
        return Err(SchemaError::NoTarget);
    }
    Ok(())
}
