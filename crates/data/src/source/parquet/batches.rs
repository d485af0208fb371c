//! The records of a file, some at a time.

use super::column::{ColumnCells, Meaning, ParquetColumn};
use super::{ParquetFile, broken};
use crate::{Cell, CellProblem, DataError};
use parquet::column::reader::get_column_reader;
use parquet::errors::ParquetError;

/// Cells of a batch, and the most records of one.
const CELLS: usize = 1 << 16;
const MOST: usize = 4096;

/// Some records, side by side the columns that are read.
pub(super) struct Batch {
    /// Records of the file before these.
    before: u64,
    records: usize,
    columns: Vec<ColumnCells>,
}

impl Batch {
    /// Hands every cell to `f` as (record from 1, position of its column, cell), record by record.
    pub(super) fn each(
        mut self,
        mut f: impl FnMut(u64, usize, Result<Cell<'_>, CellProblem>) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        for record in 1..=self.records as u64 {
            for (i, cells) in self.columns.iter_mut().enumerate() {
                f(self.before + record, i, cells.next())?;
            }
        }
        Ok(())
    }
}

/// The batches of a file.
pub(super) struct ParquetBatches<'a> {
    source: &'a ParquetFile<'a>,
    leaves: &'a [usize],
    /// Records that were read.
    pub(super) record: u64,
    /// The group of records that comes next.
    group: usize,
    /// Of the group that is being read: its columns, and the records that are left.
    columns: Vec<ParquetColumn>,
    left: usize,
}

impl<'a> ParquetBatches<'a> {
    pub(super) fn new(source: &'a ParquetFile<'a>, leaves: &'a [usize]) -> Self {
        Self { source, leaves, record: 0, group: 0, columns: Vec::new(), left: 0 }
    }

    /// The next records, `None` behind the last.
    pub(super) fn next(&mut self) -> Result<Option<Batch>, DataError> {
        while self.left == 0 {
            self.close()?;
            if self.group == self.source.reader.num_row_groups() {
                return Ok(None);
            }
            self.open()?;
            self.group += 1;
        }
        let size = self.left.min((CELLS / self.leaves.len().max(1)).clamp(1, MOST));
        let columns = self.columns.iter_mut().map(|column| column.read(size));
        let columns = columns.collect::<Result<_, _>>().map_err(|e| self.broken(&e))?;
        let before = self.record;
        self.record += size as u64;
        self.left -= size;
        Ok(Some(Batch { before, records: size, columns }))
    }

    fn open(&mut self) -> Result<(), DataError> {
        let group = self.source.reader.get_row_group(self.group).map_err(|e| self.broken(&e))?;
        let rows = group.metadata().num_rows();
        self.left =
            usize::try_from(rows).map_err(|_| self.damaged("a group has less than no records"))?;
        for &leaf in self.leaves {
            // Without nesting a column has a value, or a null, for each record.
            if group.metadata().column(leaf).num_values() != rows {
                return Err(
                    self.damaged("a column does not have as many values as there are records")
                );
            }
            let pages = group.get_column_page_reader(leaf).map_err(|e| self.broken(&e))?;
            let pages = Box::new(super::pages::CheckedPages::new(pages, rows as u64));
            let leaf = self.source.leaf(leaf);
            let meaning = Meaning::of(&leaf).map_err(|what| self.damaged(&what))?;
            let column = ParquetColumn::new(get_column_reader(leaf.clone(), pages), &leaf, meaning);
            self.columns.push(column);
        }
        Ok(())
    }

    /// The group must be at its end.
    fn close(&mut self) -> Result<(), DataError> {
        for mut column in std::mem::take(&mut self.columns) {
            if !column.is_done().map_err(|e| self.broken(&e))? {
                return Err(self.damaged("a column has more records than the file says"));
            }
        }
        Ok(())
    }

    fn damaged(&self, what: &str) -> DataError {
        super::damaged(self.source.file, self.record, what)
    }

    fn broken(&self, error: &ParquetError) -> DataError {
        broken(self.source.file, self.record, error)
    }
}
