//! Tables with a schema: CSV, LIBSVM and Parquet files into dense or sparse rows, nothing inferred.
//!
//! Every number that shapes the table (bounds, categories, classes, width, row norm) comes from a
//! [`Schema`] that a person wrote or that was drafted from public data. A file is read in one pass,
//! straight into the final arrays; every row leaves with Euclidean norm at most
//! [`Schema::row_norm`], rounding included.
//!
//! ```
//! use reticent_data::{Purpose, Schema, parse_csv};
//! let schema: Schema = "
//!     row_norm = 1
//!     [[column]]
//!     name = 'age'
//!     kind = 'numeric'
//!     lower = 0
//!     upper = 100
//!     [[column]]
//!     name = 'ill'
//!     kind = 'target'
//!     classes = ['no', 'yes']
//! ".parse()?;
//! let table = parse_csv("age,ill\n25,yes\n".as_bytes(), "people.csv", &schema, b',', Purpose::Fit)?;
//! assert_eq!(table.rows.dense_row(0), [-0.5]);
//! assert_eq!(table.targets, [1.0]);
//! # Ok::<(), reticent_data::DataError>(())
//! ```

mod cache;
mod counts;
mod dataset;
mod day;
mod dense;
mod encode;
mod error;
mod filling;
mod labels;
mod missing;
mod norm;
mod number;
mod people;
mod person_id;
mod schema;
mod slot;
mod source;
mod spare_memory;
mod sparse;
mod split;
mod table;
mod text;

pub use cache::{
    CacheBlock, CacheError, CacheFile, CacheWriter, CachedRows, KeptLabel, cache, cache_and_tell,
    encoding_digest, is_kept_name, kept_name,
};
pub use counts::{ColumnCounts, ReadCounts};
pub use dataset::{
    Dataset, Indices, Owner, Owners, Targets, encode, encode_dealt, visit_content, visit_dataset,
};
pub use dense::Dense;
pub use encode::{Cell, EncodedRow, Encoder, Purpose};
pub use error::{CellPlace, CellProblem, DataError, FileProblem, LineProblem};
pub use labels::Labels;
pub use norm::shrink_into;
pub use person_id::IdForm;
pub use reticent_core::calendar::day_text;
pub use schema::{
    Categorical, CategoryOrder, CoarseBasis, Column, Curve, Drafted, HAT, Hats, MissingNumber,
    Numeric, PairPlace, RecordWeight, Role, Scale, Schema, SchemaError, Target, TargetKind,
    Undeclared, Unknown,
};
#[cfg(feature = "parquet")]
pub use source::parse_parquet;
pub use source::{
    ContentListener, DraftOptions, Format, Head, KeptCell, KeptKind, ReadOptions, RecordVisitor,
    SchemaDraft, SharedListener, SplitRule, TableCheck, Thoroughness, check, draft_from_public,
    load, load_and_compare, load_and_tell, load_features, parse_csv, parse_libsvm, skeleton,
    split_file, visit, visit_bytes,
};
pub use spare_memory::spare_memory;
pub use sparse::Csr;
pub use split::Skew;
pub use table::{Rows, Table};
pub use text::read_text;
