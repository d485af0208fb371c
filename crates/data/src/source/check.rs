//! Does this file fit this schema?

use super::{Depth, ReadOptions, read_into};
use crate::filling::Filling;
use crate::{DataError, Purpose, ReadCounts, Role, Schema, Unknown};
use std::path::Path;

/// What a check of a table against its schema found.
#[derive(Debug, Clone)]
pub struct TableCheck {
    /// A summary of file and schema, for people. Nothing about the values is in it but their
    /// number.
    pub summary: String,
    /// Whether a fit would take it; a table that cannot even be read is an error.
    pub fits: bool,
    /// Records in the file, where they were read.
    pub records: Option<u64>,
    /// What was met, where it was asked for. NOT PRIVATE.
    pub counts: Option<ReadCounts>,
}

/// How far a file is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thoroughness {
    /// The header alone is looked at.
    Header,
    /// Every record can be read.
    Values,
    /// And what is met is counted, which is NOT PRIVATE.
    Counts,
}

/// Checks a file against a schema. A category that is not in the list is counted, where counts are
/// asked for, even if it is an error otherwise: whoever counts wants to know of all of them.
pub fn check(
    path: &Path,
    reading: impl Into<ReadOptions>,
    schema: &Schema,
    params: Thoroughness,
) -> Result<TableCheck, DataError> {
    let purpose = if schema.target().is_some() { Purpose::Fit } else { Purpose::Predict };
    let depth = if params == Thoroughness::Header { Depth::Header } else { Depth::Values };
    let mut filling = Filling::new(schema, purpose).checking(params == Thoroughness::Counts);
    read_into(path, reading.into(), &mut filling, depth, None)?;
    let records = (depth == Depth::Values).then_some(filling.records());
    let counts = filling.encoder.counts();
    let refused = counts.as_ref().map(|counts| refused(schema, counts)).unwrap_or_default();
    let what = match records {
        Some(n) if !refused.is_empty() => format!(
            "{n} records were read, and a fit refuses them: values outside the categories of {}, where the \
             schema has unknown = \"error\"",
            refused.join(", ")
        ),
        Some(1) => "its one record fits the schema".to_string(),
        Some(n) => format!("every record fits the schema; {n} records were read"),
        None => "the header fits the schema".into(),
    };
    let summary = format!("{}: {what}.\n\n{}", super::open::name(path), schema.summary());
    Ok(TableCheck { summary, fits: refused.is_empty(), records, counts })
}

/// The columns whose counts show what is an error where nobody counts.
fn refused(schema: &Schema, counts: &ReadCounts) -> Vec<String> {
    let columns = schema.columns().iter().zip(&counts.columns);
    let refused = columns.filter(|(column, count)| match column.role() {
        Role::Categorical(c) => c.unknown == Unknown::Refuse && count.unknown > Some(0),
        _ => false,
    });
    refused.map(|(column, _)| format!("`{}`", column.name())).collect()
}
