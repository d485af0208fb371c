//! Apache Parquet, without Arrow: all columns are read side by side, a batch of records at a time,
//! so that a record can be encoded and scaled as in any other format and only a page per column is
//! held beside the table.

mod batches;
mod column;
mod guard;
mod headers;
mod pages;
mod shared_file;

use super::ready;
use super::record_file::{FileHead, parsed};
use crate::error::FileProblem;
use crate::{DataError, Purpose, Schema, Table};
use batches::FileProgress;
use bytes::Bytes;
use guard::guarded;
use headers::Walked;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescPtr;
pub(super) use shared_file::SharedFile;

/// Records that a file may have, however small it is: columns of one value take hardly any bytes.
/// Above that, eight for each of its bytes.
const MOST_RECORDS: u64 = 1 << 28;

/// Reads a Parquet file in memory; nulls are missing values. `file` is the name for messages.
pub fn parse_parquet(
    source: Bytes,
    file: &str,
    schema: &Schema,
    purpose: Purpose,
) -> Result<Table, DataError> {
    ready(schema, purpose)?;
    sound(file, || parsed(ParquetFile::open(source, file)?, file, schema, purpose))
}

/// The answer of `f`, which reads a file that may be damaged.
pub(super) fn sound<T>(
    file: &str,
    f: impl FnOnce() -> Result<T, DataError>,
) -> Result<T, DataError> {
    guarded(f).unwrap_or_else(|| {
        let reason = "the file is damaged".into();
        Err(DataError::file(file, FileProblem::Read { line: 0, reason }))
    })
}

/// An opened file.
pub(super) struct ParquetFile<'a> {
    reader: Box<dyn FileReader>,
    file: &'a str,
    head: FileHead,
    at: FileProgress,
}

impl<'a> ParquetFile<'a> {
    /// Opens a source that several threads may read at once, as they may no [`std::fs::File`].
    pub(super) fn open<R: ChunkReader + 'static>(
        source: R,
        file: &'a str,
    ) -> Result<Self, DataError> {
        if source.len() == 0 {
            return Err(DataError::file(file, FileProblem::Empty));
        }
        let most = source.len().saturating_mul(8).max(MOST_RECORDS);
        let reader = Walked::new(source).and_then(SerializedFileReader::new);
        let reader = reader.map_err(|e| broken(file, 0, &e))?;
        let groups = reader.metadata().row_groups().iter();
        let records = groups.fold(0_i64, |sum, group| sum.saturating_add(group.num_rows().max(0)));
        if records != reader.metadata().file_metadata().num_rows() {
            return Err(damaged(file, 0, "the file does not have as many records as it says"));
        }
        if records as u64 > most {
            let what = format!("it says that it has {records} records, too many for its size");
            return Err(damaged(file, 0, &what));
        }
        let columns = reader.metadata().file_metadata().schema_descr().columns().iter();
        let names = columns.map(|column| column.path().string().into_bytes()).collect();
        let (head, at) = (FileHead::Names(names), FileProgress::default());
        Ok(Self { reader: Box::new(reader), file, head, at })
    }

    fn leaf(&self, i: usize) -> ColumnDescPtr {
        self.reader.metadata().file_metadata().schema_descr().column(i)
    }
}

fn damaged(file: &str, line: u64, what: &str) -> DataError {
    broken(file, line, &ParquetError::General(what.into()))
}

fn broken(file: &str, line: u64, error: &ParquetError) -> DataError {
    // The library's text is about pages and offsets; it quotes no values. Its kind prefix helps
    // nobody.
    let reason = match error {
        ParquetError::General(s) | ParquetError::NYI(s) | ParquetError::EOF(s) => s.clone(),
        other => other.to_string(),
    };
    DataError::file(file, FileProblem::Read { line, reason })
}
