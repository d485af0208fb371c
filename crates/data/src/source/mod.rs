//! Files to tables.

mod check;
mod delimited;
mod draft;
mod libsvm;
mod open;
#[cfg(feature = "parquet")]
mod parquet;
mod stream;

pub use check::check;
pub use delimited::parse_csv;
pub use draft::{Draft, DraftOptions, draft_from_public};
pub use libsvm::parse_libsvm;
#[cfg(feature = "parquet")]
pub use parquet::parse_parquet;
pub use stream::{Head, Kept, KeptKind, Visitor, visit};

use crate::encode::Builder;
use crate::error::FileProblem;
use crate::{DataError, Purpose, Schema, SchemaError, Table};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How a file is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Fields between commas, or the schema's delimiter.
    Csv,
    /// Fields between tabs, or the schema's delimiter.
    Tsv,
    /// `label index:value …`.
    Libsvm,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// Every format with its name on the command line.
    pub const ALL: [(&'static str, Format); 4] =
        [("csv", Self::Csv), ("tsv", Self::Tsv), ("libsvm", Self::Libsvm), ("parquet", Self::Parquet)];

    /// The format that the name of a file tells, `.gz` and `.xz` aside. The content is never looked at.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").or(name.strip_suffix(".xz")).unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "csv" | "data" => Some(Self::Csv),
            "tsv" => Some(Self::Tsv),
            "libsvm" | "svm" => Some(Self::Libsvm),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }

    /// The format to read `path` with: as told, by its name, or the only one that the schema allows.
    fn decide(path: &Path, told: Option<Self>, schema: &Schema) -> Result<Self, FileProblem> {
        let libsvm = schema.features().is_some();
        let format = match told.or_else(|| Self::of(path)) {
            Some(format) => format,
            None if libsvm => Self::Libsvm,
            None if schema.delimiter().is_some() => Self::Csv,
            None => return Err(FileProblem::UnknownFormat),
        };
        match (format == Self::Libsvm, libsvm) {
            (true, false) => {
                Err(FileProblem::WrongFormat("a LIBSVM file needs a schema with `features`, not columns"))
            }
            (false, true) => {
                Err(FileProblem::WrongFormat("a schema with `features` is for LIBSVM files only"))
            }
            _ => Ok(format),
        }
    }

    fn delimiter(self, schema: &Schema) -> u8 {
        schema.delimiter().unwrap_or(if self == Self::Tsv { b'\t' } else { b',' })
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        Self::ALL.iter().find(|(name, _)| *name == s).map(|&(_, format)| format).ok_or_else(|| {
            format!("unknown format `{s}`; allowed: {}", Self::ALL.map(|(name, _)| name).join(", "))
        })
    }
}

/// Reads a file for fitting or evaluating: features, targets, users. `target` and `user_column` choose the
/// roles as [`Schema::with_roles`] does.
pub fn load(
    path: &Path,
    format: Option<Format>,
    schema: &Schema,
    target: Option<&str>,
    user_column: Option<&str>,
) -> Result<Table, DataError> {
    read(path, format, &schema.with_roles(target, user_column)?, Purpose::Fit, Depth::Values)
}

/// Reads a file for predicting: features alone, encoded as [`load`] encodes them under the same schema. The
/// schema must have its roles settled (a model carries it so).
pub fn load_features(path: &Path, format: Option<Format>, schema: &Schema) -> Result<Table, DataError> {
    read(path, format, schema, Purpose::Predict, Depth::Values)
}

/// How far a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// The names and types of the columns.
    Header,
    /// Everything.
    Values,
}

fn read(
    path: &Path,
    format: Option<Format>,
    schema: &Schema,
    purpose: Purpose,
    depth: Depth,
) -> Result<Table, DataError> {
    let file = path.display().to_string();
    open::no_folder(path)?;
    let format = Format::decide(path, format, schema).map_err(|p| DataError::file(&file, p))?;
    match format {
        // A LIBSVM file has no header: that it opens is all there is to see.
        Format::Libsvm if depth == Depth::Header => {
            open::open(path)?;
            Ok(Builder::new(schema, purpose).finish())
        }
        Format::Libsvm => parse_libsvm(open::open(path)?, &file, schema, purpose),
        Format::Csv | Format::Tsv => {
            let records = delimited::Records::new(open::open(path)?, &file, format.delimiter(schema));
            delimited::read_csv(records, schema, purpose, depth)
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read_parquet(open::plain(path)?, &file, schema, purpose, depth),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(DataError::file(&file, FileProblem::NoParquet)),
    }
}

/// The schema must say what to predict before a file is read for fitting.
fn ready(schema: &Schema, purpose: Purpose) -> Result<(), SchemaError> {
    if purpose == Purpose::Fit && schema.target().is_none() {
        // With several, `with_roles` gives the message that lists them.
        schema.with_roles(None, None)?;
        return Err(SchemaError::NoTarget);
    }
    Ok(())
}
