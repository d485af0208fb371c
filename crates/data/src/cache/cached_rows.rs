//! A table in a file: read as one in memory is, and written block by block.

use super::file::{CacheError, CacheFile, CacheWriter};
use super::grouping::group;
use crate::filling::Filling;
use crate::source::read_files;
use crate::{DataError, Purpose, ReadOptions, Schema, SharedListener, Table};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Encoded rows with their targets, weights and owners, in a file.
#[derive(Debug)]
pub struct CachedRows {
    rows: Arc<CacheFile>,
    columns: usize,
    weighted: bool,
    people: Option<CachedPeople>,
    folder: PathBuf,
    /// Bytes of rows that make a block.
    block: usize,
    /// The same rows, those of each person together, once somebody has asked for that.
    grouped: Mutex<Option<Arc<CacheFile>>>,
    /// Whose turn it is to scan.
    turn: Mutex<()>,
}

/// The persons of a table in a file, by the numbers that its rows have: as they were met.
#[derive(Debug)]
pub(super) struct CachedPeople {
    /// The place of each in byte order of the ids.
    pub(super) places: Vec<u32>,
    /// How many rows each has.
    pub(super) rows: Vec<u32>,
}

/// Reads files as one table into a file in `folder`, as
/// [`load_and_compare`](crate::load_and_compare) reads them into memory.
///
/// # Errors
/// As there, and if the file cannot be written.
pub fn cache(
    paths: &[PathBuf],
    reading: impl Into<ReadOptions>,
    schema: &Schema,
    folder: &Path,
) -> Result<(CachedRows, bool), DataError> {
    cache_heard(paths, reading.into(), schema, folder, None)
}

/// The same; `listener` hears all bytes of every file, unpacked, while they are read.
///
/// # Errors
/// As [`cache`].
pub fn cache_and_tell(
    paths: &[PathBuf],
    reading: impl Into<ReadOptions>,
    schema: &Schema,
    folder: &Path,
    listener: &SharedListener,
) -> Result<(CachedRows, bool), DataError> {
    cache_heard(paths, reading.into(), schema, folder, Some(listener))
}

fn cache_heard(
    paths: &[PathBuf],
    reading: ReadOptions,
    schema: &Schema,
    folder: &Path,
    listener: Option<&SharedListener>,
) -> Result<(CachedRows, bool), DataError> {
    let block = CacheWriter::block_bytes(schema.width());
    let spill = CacheSpill { writer: CacheWriter::new(folder)?, rows: Vec::new(), block };
    let mut filling = Filling::new(schema, Purpose::Fit).spilling(spill);
    let drafted_from = read_files(paths, reading, &mut filling, listener)?;
    let (Some(spill), places) = filling.finish_spilling()? else {
        return Err(CacheError::Changed.into());
    };
    let people = schema.user().is_some().then_some(CachedPeople { places, rows: spill.rows });
    let (rows, weighted) = (spill.writer.finish(), schema.weight().is_some());
    let rows = CachedRows::of_file(rows, (schema.width(), block), weighted, people, folder);
    Ok((rows, drafted_from))
}

impl CachedRows {
    /// A table that was never a file, in blocks of so many bytes of rows: for simulations and tests.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn of_table(table: &Table, block: usize, folder: &Path) -> Result<Self, CacheError> {
        let mut spill = CacheSpill { writer: CacheWriter::new(folder)?, rows: Vec::new(), block };
        let mut rows = Table::default();
        for i in 0..table.len() {
            rows.push_row(table, i, None);
            if spill.take(&rows, i + 1 == table.len())? {
                rows.clear();
            }
        }
        let places = || (0..table.user_count() as u32).collect();
        let people =
            table.users.as_ref().map(|_| CachedPeople { places: places(), rows: spill.rows });
        let (rows, weighted) = (spill.writer.finish(), table.weights.is_some());
        Ok(Self::of_file(rows, (table.rows.columns(), block), weighted, people, folder))
    }

    pub(super) fn of_file(
        rows: CacheFile,
        (columns, block): (usize, usize),
        weighted: bool,
        people: Option<CachedPeople>,
        folder: &Path,
    ) -> Self {
        let (rows, folder) = (Arc::new(rows), folder.to_path_buf());
        let (grouped, turn) = (Mutex::new(None), Mutex::new(()));
        CachedRows { rows, columns, weighted, people, folder, block, grouped, turn }
    }

    pub(super) fn block_bytes(&self) -> usize {
        self.block
    }

    pub(super) fn people(&self) -> Option<&CachedPeople> {
        self.people.as_ref()
    }

    /// How many features a row has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many records there are.
    pub fn records(&self) -> usize {
        self.rows.units()
    }

    /// Whether it says whose each row is.
    pub fn has_owners(&self) -> bool {
        self.people.is_some()
    }

    /// Whether it says how much each row counts.
    pub fn is_weighted(&self) -> bool {
        self.weighted
    }

    /// Where its files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The turn of one scan of the table, for as long as it is held: a scan keeps all threads and the disk busy, and
    /// has the memory that a table may take.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows in the order of the table.
    pub fn by_record(&self) -> Arc<CacheFile> {
        Arc::clone(&self.rows)
    }

    /// The rows of each person together, persons in byte order of their ids, the rows of one in the
    /// order of the table; whose they are is numbered from 0 in each block. `None` for a table
    /// without persons. It takes as much room again, the first time.
    ///
    /// # Errors
    /// If the file cannot be written, or read.
    pub fn by_person(&self) -> Result<Option<Arc<CacheFile>>, CacheError> {
        let Some(people) = &self.people else { return Ok(None) };
        let mut grouped = self.grouped.lock().unwrap_or_else(PoisonError::into_inner);
        if grouped.is_none() {
            *grouped = Some(Arc::new(group(&self.rows, people, &self.folder, self.block)?));
        }
        Ok(grouped.clone())
    }
}

/// Where the rows of a table go that is read into a file.
#[derive(Debug)]
pub(crate) struct CacheSpill {
    writer: CacheWriter,
    /// How many rows each person has, by number as met.
    rows: Vec<u32>,
    /// Bytes of rows that make a block.
    block: usize,
}

impl CacheSpill {
    /// Takes the rows, if they are enough for a block or the last; whether it did.
    pub(crate) fn take(&mut self, table: &Table, last: bool) -> Result<bool, CacheError> {
        if table.is_empty() || !(last || table.stored() >= self.block) {
            return Ok(false);
        }
        for &user in table.users.iter().flatten() {
            let user = user as usize;
            if user >= self.rows.len() {
                self.rows.resize(user + 1, 0);
            }
            self.rows[user] += 1;
        }
        self.writer.write(self.writer.blocks(), table, table.len())?;
        Ok(true)
    }
}
