//! Does this file fit this schema?

use super::{Depth, Format, read};
use crate::{DataError, Purpose, Schema};
use std::path::Path;

/// Checks a file against a schema and returns a summary of both for people. Only the header is read, unless
/// `values` asks for every record; either way nothing about the values is in the answer.
pub fn check(
    path: &Path,
    format: Option<Format>,
    schema: &Schema,
    values: bool,
) -> Result<String, DataError> {
    let purpose = if schema.target().is_some() { Purpose::Fit } else { Purpose::Predict };
    let depth = if values { Depth::Values } else { Depth::Header };
    read(path, format, schema, purpose, depth, None)?;
    let what = if values { "every record" } else { "the header" };
    Ok(format!("{}: {what} fits the schema.\n\n{}", path.display(), schema.summary()))
}
