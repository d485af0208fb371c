//! What is public about tables: schemas, formats and the errors of reading. Rows are not among them.

pub use reticent_data::{
    Checked, ColumnCounts, Counts, DataError, Draft, DraftOptions, Drafted, Format, Labels, Reading, Schema,
    SchemaError, Target, TargetKind, Thoroughness, check, draft_from_public, read_text, skeleton,
};
