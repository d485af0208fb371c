//! A table that is not in memory: encoded rows in blocks in a private file, read in one sequential
//! scan after the other.
//!
//! ```text
//! file, blocks of records ─► Filling ─► block ─► pack ─► CacheFile ─► scan: read ─► unpack ─► whoever asked
//! ```
//!
//! The file has no name from the moment it exists, so that nothing of it is left whatever ends the
//! program, and only its user may open it; one that is kept gets its name when it is whole. Where its blocks
//! lie, and their checksums, are in memory: what was changed or cut off is noticed when it is read.

mod block;
mod bytes;
mod cached_rows;
mod encoding;
mod file;
mod grouping;
mod kept;
mod narrow;
mod scan;

pub(crate) use cached_rows::CacheSpill;
pub use cached_rows::{CachedRows, cache, cache_and_tell};
pub use encoding::encoding_digest;
#[cfg(feature = "parquet")]
pub(crate) use file::read_at;
pub use file::{CacheError, CacheFile, CacheWriter};
pub use kept::{KeptLabel, is_kept_name, kept_name};
pub use scan::CacheBlock;
