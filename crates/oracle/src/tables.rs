//! What is public about tables: schemas, formats and the errors of reading. Rows are not among them.

pub use reticent_data::{
    DataError, Draft, DraftOptions, Drafted, Format, Labels, Schema, SchemaError, Target, TargetKind, check,
    draft_from_public,
};
