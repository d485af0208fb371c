//! What is public about tables: schemas, formats and the errors of reading. Rows are not among
//! them.

pub use crate::fingerprint::{content, contents, fingerprint, fingerprint_unpacked, stamps};
pub use reticent_data::{
    Categorical, Checked, Column, ColumnCounts, Counts, DataError, Dataset, Draft, DraftOptions,
    Drafted, Format, Head, IdForm, Indices, Kept, KeptKind, Labels, Numeric, Owner, Owners,
    Reading, Role, Scale, Schema, SchemaError, Target, TargetKind, Targets, Thoroughness, Unknown,
    check, day_text, draft_from_public, read_text, skeleton,
};
