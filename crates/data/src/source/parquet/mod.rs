//! Apache Parquet, without Arrow: all columns are read side by side, a batch of records at a time,
//! so that a record can be encoded and scaled as in any other format and only a page per column is
//! held beside the table.

mod column;
mod guard;
mod pages;

use super::delimited::place;
use super::{Depth, ready};
use crate::error::FileProblem;
use crate::filling::Filling;
use crate::{Cell, CellProblem, DataError, Purpose, Role, Schema, Table};
use column::{Batch, Meaning};
use guard::guarded;
use parquet::column::reader::get_column_reader;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescPtr;

const BATCH: usize = 1024;

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
        let source = Source::open(source, file)?;
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
        let records = source.each(&leaves, |record, column, cell| {
            let slot = columns[column].0;
            let cell =
                cell.map_err(|p| DataError::cell(file, record, schema.columns()[slot].name(), p))?;
            filling.put(slot, cell, file, record)?;
            if column + 1 == columns.len() {
                filling.end(file)?;
            }
            Ok(())
        })?;
        if records == 0 {
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
pub(super) struct Source<'a> {
    reader: Box<dyn FileReader>,
    file: &'a str,
}

impl<'a> Source<'a> {
    pub(super) fn open<R: ChunkReader + 'static>(
        source: R,
        file: &'a str,
    ) -> Result<Self, DataError> {
        if source.len() == 0 {
            return Err(DataError::file(file, FileProblem::Empty));
        }
        let reader = SerializedFileReader::new(source).map_err(|e| broken(file, 0, &e))?;
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
        if meaning.is_day() && number {
            let leaf = self.leaf(leaf);
            let logical = leaf.logical_type_ref().map(|l| format!(" ({l:?})")).unwrap_or_default();
            return Err(format!("{}{logical}", leaf.physical_type()));
        }
        Ok(())
    }

    /// What a column holds: a number, a day, text or a truth value; `None` for anything else.
    pub(super) fn shape(&self, leaf: usize) -> Option<Shape> {
        use parquet::basic::Type;
        let column = self.leaf(leaf);
        Some(match (Meaning::of(&column).ok()?, column.physical_type()) {
            (meaning, _) if meaning.is_day() => Shape::Day,
            (Meaning::Plain, Type::BOOLEAN) => Shape::Truth,
            (Meaning::Plain, Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY) => Shape::Text,
            _ => Shape::Number,
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
        let mut record = 0_u64;
        let damaged =
            |record, what: &str| broken(self.file, record, &ParquetError::General(what.into()));
        for group in 0..self.reader.num_row_groups() {
            let group =
                self.reader.get_row_group(group).map_err(|e| broken(self.file, record, &e))?;
            let rows = group.metadata().num_rows();
            let mut left = usize::try_from(rows)
                .map_err(|_| damaged(record, "a group has less than no records"))?;
            let mut batches = Vec::with_capacity(leaves.len());
            for &leaf in leaves {
                // Without nesting a column has a value, or a null, for each record.
                if group.metadata().column(leaf).num_values() != rows {
                    return Err(damaged(
                        record,
                        "a column does not have as many values as there are records",
                    ));
                }
                let pages = group
                    .get_column_page_reader(leaf)
                    .map_err(|e| broken(self.file, record, &e))?;
                let pages = Box::new(pages::Checked::new(pages, rows as u64));
                let column = self.leaf(leaf);
                let meaning = Meaning::of(&column).map_err(|what| damaged(record, &what))?;
                batches.push(Batch::new(
                    get_column_reader(column.clone(), pages),
                    &column,
                    meaning,
                ));
            }
            while left > 0 {
                let size = left.min(BATCH);
                for batch in &mut batches {
                    batch.fill(size).map_err(|e| broken(self.file, record, &e))?;
                }
                for _ in 0..size {
                    record += 1;
                    for (i, batch) in batches.iter_mut().enumerate() {
                        f(record, i, batch.next())?;
                    }
                }
                left -= size;
            }
            for batch in &mut batches {
                if !batch.is_done().map_err(|e| broken(self.file, record, &e))? {
                    return Err(damaged(record, "a column has more records than the file says"));
                }
            }
        }
        if i64::try_from(record).ok() != Some(self.reader.metadata().file_metadata().num_rows()) {
            return Err(damaged(record, "the file does not have as many records as it says"));
        }
        Ok(record)
    }
}

/// What a column holds, as far as its type tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Number,
    Day,
    Text,
    Truth,
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
