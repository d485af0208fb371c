//! Apache Parquet, without Arrow: all columns are read side by side, a batch of records at a time,
//! so that a record can be encoded and scaled as in any other format and only a page per column is
//! held beside the table.

mod batches;
mod column;
mod guard;
mod headers;
mod pages;

use super::delimited::place;
use super::{Depth, parallel, ready};
use crate::error::FileProblem;
use crate::filling::Filling;
use crate::{Cell, CellProblem, DataError, Purpose, Role, Schema, Table};
use batches::ParquetBatches;
use column::Meaning;
use guard::guarded;
use headers::Walked;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescPtr;

/// Records that a file may have, however small it is: columns of one value take hardly any bytes.
/// Above that, eight for each of its bytes.
const MOST_RECORDS: u64 = 1 << 28;

/// Reads a Parquet file; nulls are missing values. `file` is the name for messages.
pub fn parse_parquet<R: ChunkReader + 'static>(
    source: R,
    file: &str,
    schema: &Schema,
    purpose: Purpose,
) -> Result<Table, DataError> {
    ready(schema, purpose)?;
    let mut filling = Filling::new(schema, purpose);
    read_parquet(source, file, &mut filling, Depth::Values)?;
    Ok(filling.finish())
}

pub(super) fn read_parquet<R: ChunkReader + 'static>(
    source: R,
    file: &str,
    filling: &mut Filling<'_>,
    depth: Depth,
) -> Result<(), DataError> {
    sound(file, || {
        let schema = filling.schema;
        let source = ParquetFile::open(source, file)?;
        let names = source.names();
        let columns = place(
            &names.iter().map(String::as_bytes).collect::<Vec<_>>(),
            schema,
            &filling.encoder,
            file,
        )?;
        let leaves: Vec<usize> = columns.iter().map(|&(_, leaf)| leaf).collect();
        for &(slot, leaf) in &columns {
            source.readable(leaf, schema.columns()[slot].role()).map_err(|found| {
                let column = schema.columns()[slot].name().into();
                DataError::file(file, FileProblem::ColumnType { column, found })
            })?;
        }
        if depth == Depth::Header {
            return Ok(());
        }
        let mut batches = ParquetBatches::new(&source, &leaves);
        let next = || sound(file, || batches.next());
        parallel::encode(filling, file, next, |batch, part| {
            batch.each(|record, column, cell| {
                let slot = columns[column].0;
                let name = || schema.columns()[slot].name();
                let cell = cell.map_err(|p| DataError::cell(file, record, name(), p))?;
                part.put(slot, cell, file, record)?;
                if column + 1 == columns.len() { part.end(file) } else { Ok(()) }
            })
        })?;
        if batches.record == 0 {
            return Err(DataError::file(file, FileProblem::NoRecords));
        }
        Ok(())
    })
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
}

impl<'a> ParquetFile<'a> {
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
        Ok(Self { reader: Box::new(reader), file })
    }

    fn leaf(&self, i: usize) -> ColumnDescPtr {
        self.reader.metadata().file_metadata().schema_descr().column(i)
    }

    pub(super) fn names(&self) -> Vec<String> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().map(|c| c.path().string()).collect()
    }

    /// Whether a column of this type can have this role; otherwise the name of its type.
    pub(super) fn readable(&self, leaf: usize, role: &Role) -> Result<(), String> {
        let meaning = Meaning::of(&self.leaf(leaf))?;
        let number = matches!(role, Role::Numeric(_) | Role::Target(_));
        // A half-precision number is exact up to 2048 alone, too few for ids.
        let id = matches!(role, Role::User(_)) && meaning == Meaning::Half;
        if meaning.is_day() && number || id {
            let leaf = self.leaf(leaf);
            let logical = leaf.logical_type_ref().map(|l| format!(" ({l:?})")).unwrap_or_default();
            return Err(format!("{}{logical}", leaf.physical_type()));
        }
        Ok(())
    }

    /// What a column holds: a number, a day, text or a truth value; `None` for anything else.
    pub(super) fn shape(&self, leaf: usize) -> Option<ColumnShape> {
        use parquet::basic::Type;
        let column = self.leaf(leaf);
        Some(match (Meaning::of(&column).ok()?, column.physical_type()) {
            (meaning, _) if meaning.is_day() => ColumnShape::Day,
            (Meaning::Plain, Type::BOOLEAN) => ColumnShape::Truth,
            (Meaning::Plain, Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY) => ColumnShape::Text,
            _ => ColumnShape::Number,
        })
    }

    /// What a column holds that is to be handed on as it is; otherwise the name of its type. A
    /// point in time is not among them: only its day is read.
    pub(super) fn kind(&self, leaf: usize) -> Result<super::KeptKind, String> {
        use super::KeptKind as K;
        use parquet::basic::Type;
        let leaf = self.leaf(leaf);
        Ok(match (Meaning::of(&leaf)?, leaf.physical_type()) {
            (Meaning::Times(_), physical) => return Err(format!("{physical} (a point in time)")),
            (Meaning::Days, _) => K::Text,
            (Meaning::Decimal(_) | Meaning::Half, _) | (_, Type::FLOAT | Type::DOUBLE) => K::Number,
            (Meaning::Unsigned, _) => K::Unsigned,
            (Meaning::Plain, Type::BOOLEAN) => K::Flag,
            (Meaning::Plain, Type::INT32 | Type::INT64) => K::Whole,
            (Meaning::Plain, _) => K::Text,
        })
    }

    /// Hands every cell of the columns `leaves` to `f` as (record from 1, position in `leaves`,
    /// cell), record by record; returns the number of records.
    pub(super) fn each(
        &self,
        leaves: &[usize],
        mut f: impl FnMut(u64, usize, Result<Cell<'_>, CellProblem>) -> Result<(), DataError>,
    ) -> Result<u64, DataError> {
        let mut batches = ParquetBatches::new(self, leaves);
        while let Some(batch) = batches.next()? {
            batch.each(&mut f)?;
        }
        Ok(batches.record)
    }
}

/// What a column holds, as far as its type tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnShape {
    Number,
    Day,
    Text,
    Truth,
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
