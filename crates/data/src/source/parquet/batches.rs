//! The records of a file, some at a time: each column decodes its part of the next batches by itself, on
//! all cores.

use super::super::record_file::{CellConsumer, ColumnShape, FileHead, RecordBlock, RecordFile};
use super::super::stream::KeptKind;
use super::column::{ColumnCells, Meaning, ParquetColumn};
use super::{ParquetFile, broken, sound};
use crate::{DataError, Role};
use parquet::basic::Type;
use parquet::column::reader::get_column_reader;
use parquet::errors::ParquetError;
use rayon::prelude::*;
use std::collections::VecDeque;

/// Cells of a batch, and the most records of one.
const CELLS: usize = 1 << 16;
const MOST: usize = 4096;

/// Batches that are decoded at a time, at most: one for each core.
const AHEAD: usize = 8;

/// Some records, side by side the columns that are read.
pub(in crate::source) struct Batch {
    /// Records of the file before these.
    before: u64,
    records: usize,
    columns: Vec<ColumnCells>,
}

impl RecordBlock for Batch {
    fn each(mut self, _: &[usize], consumer: &mut impl CellConsumer) -> Result<bool, DataError> {
        for record in 1..=self.records as u64 {
            for (i, cells) in self.columns.iter_mut().enumerate() {
                consumer.cell(self.before + record, i, cells.next())?;
            }
            if !consumer.end()? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// How far a file is read.
#[derive(Default)]
pub(super) struct FileProgress {
    /// Records that were decoded.
    record: u64,
    /// The group of records that comes next.
    group: usize,
    /// Of the group that is being read: its columns, and the records that are left.
    columns: Vec<ParquetColumn>,
    left: usize,
    /// Batches that nobody has asked for yet, and what ended the decoding behind them.
    ready: VecDeque<Result<Batch, DataError>>,
}

impl RecordFile for ParquetFile<'_> {
    type Block = Batch;

    fn head(&self) -> &FileHead {
        &self.head
    }

    fn shape(&self, leaf: usize) -> ColumnShape {
        let leaf = self.leaf(leaf);
        match (Meaning::of(&leaf), leaf.physical_type()) {
            (Err(_), _) => ColumnShape::Unreadable,
            (Ok(meaning), _) if meaning.is_day() => ColumnShape::Day,
            (Ok(Meaning::Plain), Type::BOOLEAN) => ColumnShape::Truth,
            (Ok(Meaning::Plain), Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY) => {
                ColumnShape::Text
            }
            _ => ColumnShape::Number,
        }
    }

    fn readable(&self, leaf: usize, role: &Role) -> Result<(), String> {
        let leaf = self.leaf(leaf);
        let meaning = Meaning::of(&leaf)?;
        let number = matches!(role, Role::Numeric(_) | Role::Target(_) | Role::Weight(_));
        // A half-precision number is exact up to 2048 alone, too few for ids.
        let id = matches!(role, Role::User(_)) && meaning == Meaning::Half;
        if meaning.is_day() && number || id {
            let logical = leaf.logical_type_ref().map(|l| format!(" ({l:?})")).unwrap_or_default();
            return Err(format!("{}{logical}", leaf.physical_type()));
        }
        Ok(())
    }

    /// A point in time is not handed on: only its day is read.
    fn kind(&self, leaf: usize) -> Result<KeptKind, String> {
        use KeptKind as K;
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

    fn next(&mut self, leaves: &[usize]) -> Result<Option<Batch>, DataError> {
        if self.at.ready.is_empty() {
            sound(self.file, || self.decode(leaves))?;
        }
        self.at.ready.pop_front().transpose()
    }
}

/// What a column has for some batches: as many as there are, or an error behind fewer.
type DecodedColumn = std::vec::IntoIter<Result<ColumnCells, DataError>>;

impl ParquetFile<'_> {
    /// Makes the next batches ready, all of one group; none behind the last.
    fn decode(&mut self, leaves: &[usize]) -> Result<(), DataError> {
        while self.at.left == 0 {
            self.close()?;
            if self.at.group == self.reader.num_row_groups() {
                return Ok(());
            }
            self.open_group(leaves)?;
            self.at.group += 1;
        }
        let most = (CELLS / leaves.len().max(1)).clamp(1, MOST);
        let ahead = rayon::current_num_threads().clamp(1, AHEAD);
        let mut batches = Vec::with_capacity(ahead);
        while batches.len() < ahead && self.at.left > 0 {
            let size = self.at.left.min(most);
            batches.push((self.at.record, size));
            self.at.record += size as u64;
            self.at.left -= size;
        }
        let (file, columns) = (self.file, &mut self.at.columns);
        let read = |column: &mut ParquetColumn| read_ahead(column, &batches, file);
        let mut columns: Vec<DecodedColumn> = match ahead {
            1 => columns.iter_mut().map(read).collect(),
            _ => columns.par_iter_mut().map(read).collect(),
        };
        // What is told is the first error in the order of the file, as if all were decoded in it.
        for (before, records) in batches {
            let cells = columns.iter_mut().filter_map(Iterator::next).collect::<Result<_, _>>();
            let failed = cells.is_err();
            let batch = cells.map(|columns| Batch { before, records, columns });
            self.at.ready.push_back(batch);
            if failed {
                break;
            }
        }
        Ok(())
    }

    fn open_group(&mut self, leaves: &[usize]) -> Result<(), DataError> {
        let group = self.reader.get_row_group(self.at.group).map_err(|e| self.broken(&e))?;
        let rows = group.metadata().num_rows();
        self.at.left =
            usize::try_from(rows).map_err(|_| self.damaged("a group has less than no records"))?;
        for &leaf in leaves {
            // Without nesting a column has a value, or a null, for each record.
            if group.metadata().column(leaf).num_values() != rows {
                return Err(
                    self.damaged("a column does not have as many values as there are records")
                );
            }
            let pages = group.get_column_page_reader(leaf).map_err(|e| self.broken(&e))?;
            let pages = Box::new(super::pages::CheckedPages::new(pages, rows as u64));
            let leaf = self.leaf(leaf);
            let meaning = Meaning::of(&leaf).map_err(|what| self.damaged(&what))?;
            let column = ParquetColumn::new(get_column_reader(leaf.clone(), pages), &leaf, meaning);
            self.at.columns.push(column);
        }
        Ok(())
    }

    /// The group must be at its end.
    fn close(&mut self) -> Result<(), DataError> {
        for mut column in std::mem::take(&mut self.at.columns) {
            if !column.is_done().map_err(|e| self.broken(&e))? {
                return Err(self.damaged("a column has more records than the file says"));
            }
        }
        Ok(())
    }

    fn damaged(&self, what: &str) -> DataError {
        super::damaged(self.file, self.at.record, what)
    }

    fn broken(&self, error: &ParquetError) -> DataError {
        broken(self.file, self.at.record, error)
    }
}

/// Batches of one column, by the records before each and their number.
fn read_ahead(column: &mut ParquetColumn, batches: &[(u64, usize)], file: &str) -> DecodedColumn {
    let mut all = Vec::with_capacity(batches.len());
    for &(before, size) in batches {
        let cells = sound(file, || column.read(size).map_err(|e| broken(file, before, &e)));
        let failed = cells.is_err();
        all.push(cells);
        if failed {
            break;
        }
    }
    all.into_iter()
}
