//! What is public about tables: schemas, formats and the errors of reading. Rows are not among
//! them.

pub use crate::fingerprint::{content, contents, fingerprint, fingerprint_unpacked, stamps};
pub use reticent_data::{
    Categorical, CategoryOrder, CoarseBasis, Column, ColumnCounts, Curve, DataError, Dataset,
    DraftOptions, Drafted, Format, HAT, Hats, Head, IdForm, Indices, KeptCell, KeptKind, Labels,
    Numeric, Owner, Owners, PairPlace, ReadCounts, ReadOptions, RecordWeight, Role, Scale, Schema,
    SchemaDraft, SchemaError, SplitRule, TableCheck, Target, TargetKind, Targets, Thoroughness,
    Unknown, check, day_text, draft_from_public, is_kept_name, read_text, skeleton, split_file,
};
