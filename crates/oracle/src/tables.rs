//! What is public about tables: schemas, formats and the errors of reading. Rows are not among them.

pub use reticent_data::{
    Categorical, DataError, Draft, DraftOptions, Format, Head, Kept, KeptKind, Labels, Numeric, Role, Scale,
    Schema, SchemaError, Target, TargetKind, check, draft_from_public,
};
