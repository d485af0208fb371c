//! A table in a file: one sequential scan for every question.
//!
//! ```text
//! file ─► block of rows ─► Private (checked, norms) ─► what a table in memory adds up ─► integers
//! ```
//!
//! A block is a small table, and is opened as one each time it is read: what its clips rest on, that
//! its numbers are finite, how long its rows are, which targets and weights it has, is checked or
//! computed from the bytes that are summed. The arithmetic is that of [`TableHolder`]. A unit is in
//! one block. Proof: proofs/holders.md.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use reticent_accountant::Unit;
use reticent_data::{CacheBlock, CacheError, CacheFile, CacheWriter, CachedRows, Table};
use reticent_problem::Shape;
use reticent_problem::losses::Loss;

use crate::gate::{PrivacyModel, TellsHolders};
use crate::holder::{Holder, TableHolder};
use crate::queries::RecordSum;
use crate::refusal::Refusal;
use crate::sums::grid::MAX_RECORDS;
use crate::sums::{Pass, Private, TableError};

/// Bytes of images that are made at a time.
const IMAGES: usize = 4 << 20;

/// Bytes of the sums of all threads, at most where there are several: sums of matrices are large.
const SUMS: usize = 256 << 20;

/// Bytes that a thread has for each number of a sum: doubles and integers of a block, the sum of the
/// block, and that of all its blocks; one more for rows that become squares.
const PER_SUM: usize = 40;

/// A table in a file.
#[derive(Debug)]
pub struct FileHolder {
    cached: Arc<CachedRows>,
    /// The rows, each unit's together.
    rows: Arc<CacheFile>,
    unit: Unit,
    /// The constant behind the intercept; 0 when there is none.
    intercept: f64,
    /// What stands in for the rows: their images, which have no constant behind them.
    images: Option<CacheFile>,
}

/// What one thread adds up.
#[derive(Debug)]
struct FilePart {
    pass: Pass,
    total: Vec<i64>,
    /// The sum of a block, and who is drawn in it.
    own: Vec<i64>,
    drawn: Vec<u32>,
}

impl FileHolder {
    /// The table, opened for sums of this loss. All of it is read once: what is wrong with a row is
    /// refused before anything is asked.
    pub fn new(
        cached: Arc<CachedRows>,
        loss: &dyn Loss,
        opening: &PrivacyModel,
    ) -> Result<Self, Refusal> {
        if cached.records() > MAX_RECORDS {
            return Err(TableError::TooManyRecords { allowed: MAX_RECORDS }.into());
        }
        let PrivacyModel { unit, intercept, .. } = *opening;
        let rows = match unit {
            Unit::Record => cached.by_record(),
            Unit::User | Unit::Party => cached.by_person()?.ok_or(TableError::NoUsers)?,
        };
        let holder = FileHolder { cached, rows, unit, intercept, images: None };
        holder.rows.scan(
            &mut vec![(); holder.threads()],
            |_| true,
            |(), block| {
                let private = holder.opened_for(loss, block.table)?;
                // A file that was kept says so itself, and a sample goes by it.
                if private.units() != block.units.len() {
                    return Err(CacheError::Changed.into());
                }
                *block.table = table_of(private);
                Ok::<(), Refusal>(())
            },
        )?;
        Ok(holder)
    }

    /// How many threads scan it: a block is one thread's.
    fn threads(&self) -> usize {
        rayon::current_num_threads().clamp(1, self.rows.blocks().max(1))
    }

    /// How many of them have sums of so many numbers at a time.
    fn threads_for(&self, len: usize) -> usize {
        fewer(self.threads(), len)
    }

    /// What is scanned, and the constant behind its rows.
    fn seen(&self) -> (&CacheFile, f64) {
        match &self.images {
            Some(images) => (images, 0.0),
            None => (&self.rows, self.intercept),
        }
    }

    /// A block, opened as a table in memory is.
    fn opened(&self, table: Table, intercept: f64) -> Result<Private, TableError> {
        match self.unit {
            Unit::Record => Private::by_record(table, intercept),
            Unit::User | Unit::Party => Private::by_user(table, intercept),
        }
    }

    /// The same, of targets that the loss takes.
    fn opened_for(&self, loss: &dyn Loss, table: &mut Table) -> Result<Private, TableError> {
        let private = self.opened(std::mem::take(table), self.seen().1)?;
        private.check_targets(loss)?;
        Ok(private)
    }

    /// Writes the images of a block, in pieces: sparse rows have images that are dense.
    fn write_images(
        &self,
        block: CacheBlock<'_>,
        map: &[f64],
        (writer, bytes): (&Mutex<CacheWriter>, &mut Vec<u8>),
    ) -> Result<(), Refusal> {
        let rows = (IMAGES / (8 * self.native_width()).max(1)).max(1);
        let persons = self.unit.is_whole();
        for (piece, range) in pieces(block.table, persons, rows).into_iter().enumerate() {
            let mut table = Table::default();
            let first = block.table.users.as_ref().map(|users| users[range.start]);
            for i in range {
                let user = block.table.users.as_ref().zip(first);
                let user = user.filter(|_| persons).map(|(users, first)| users[i] - first);
                table.push_row(block.table, i, user);
            }
            let private = self.opened(table, self.intercept)?;
            let units = private.units();
            CacheWriter::pack(&private.into_images(map), bytes);
            let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
            writer.write_packed((block.number << 24) + piece, bytes, units)?;
        }
        Ok(())
    }
}

/// So many threads, or as many as have room for their sums.
fn fewer(threads: usize, len: usize) -> usize {
    threads.min(SUMS / len.saturating_mul(PER_SUM).max(1)).max(1)
}

/// The table that was opened, for its memory to be used again.
fn table_of(private: Private) -> Table {
    private.into_table().unwrap_or_default()
}

/// Where a block is cut into so many rows, or more where a person has more.
fn pieces(table: &Table, persons: bool, rows: usize) -> Vec<Range<usize>> {
    let mut starts = vec![0];
    let whole = |i: usize| match &table.users {
        Some(users) if persons => users[i] != users[i - 1],
        _ => true,
    };
    for i in 1..table.len() {
        if i - starts[starts.len() - 1] >= rows && whole(i) {
            starts.push(i);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([table.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Those of the chosen units that are in a block.
fn drawn<'c>(chosen: &'c [u32], units: &Range<usize>) -> &'c [u32] {
    let at = |unit: usize| chosen.partition_point(|&one| (one as usize) < unit);
    &chosen[at(units.start)..at(units.end)]
}

impl Holder for FileHolder {
    fn units(&self) -> usize {
        self.rows.units()
    }

    fn shape(&self, outputs: usize) -> Shape {
        match self.images {
            Some(_) => Shape { features: self.native_width(), outputs, intercept: false },
            None => {
                let intercept = self.intercept != 0.0;
                Shape { features: self.cached.columns(), outputs, intercept }
            }
        }
    }

    fn native_width(&self) -> usize {
        self.cached.columns() + usize::from(self.intercept != 0.0)
    }

    /// One scan, into a second file: a pass then reads the images as it would read the rows.
    fn set_basis(&mut self, images: Option<&[f64]>) -> Result<(), Refusal> {
        let Some(map) = images else {
            self.images = None;
            return Ok(());
        };
        let writer = Mutex::new(CacheWriter::new(self.cached.folder())?);
        let mut buffers = vec![Vec::new(); self.threads()];
        self.rows.scan(
            &mut buffers,
            |_| true,
            |bytes, block| self.write_images(block, map, (&writer, bytes)),
        )?;
        // Once all of them are there: what fails leaves the rows as they were.
        let writer = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.images = Some(writer.finish());
        Ok(())
    }

    fn sum(
        &mut self,
        what: &RecordSum<'_>,
        loss: &dyn Loss,
        chosen: Option<&[u32]>,
        out: &mut [i64],
    ) -> Result<(), Refusal> {
        // Samples are drawn in ascending order, and are as long as the table may be.
        let mut ascending = Vec::new();
        let chosen = match chosen {
            Some(all) if !all.is_sorted() => {
                ascending.extend_from_slice(all);
                ascending.sort_unstable();
                Some(&ascending[..])
            }
            sorted => sorted,
        };
        let part = || FilePart {
            pass: Pass::alone(),
            total: vec![0; out.len()],
            own: vec![0; out.len()],
            drawn: Vec::new(),
        };
        let threads = self.threads_for(out.len());
        let mut parts: Vec<FilePart> = (0..threads).map(|_| part()).collect();
        let wanted = |units: &Range<usize>| chosen.is_none_or(|all| !drawn(all, units).is_empty());
        self.seen().0.scan(&mut parts, wanted, |part, block| {
            let private = self.opened_for(loss, block.table)?;
            let mut table = TableHolder { private, pass: std::mem::take(&mut part.pass) };
            let own = chosen.map(|all| {
                let first = block.units.start as u32;
                part.drawn.clear();
                part.drawn.extend(drawn(all, &block.units).iter().map(|unit| unit - first));
                &*part.drawn
            });
            what.add_up(&mut table, loss, own, &mut part.own);
            part.total.iter_mut().zip(&part.own).for_each(|(sum, own)| *sum += own);
            part.pass = table.pass;
            *block.table = table_of(table.private);
            Ok::<(), Refusal>(())
        })?;
        out.fill(0);
        for part in &parts {
            out.iter_mut().zip(&part.total).for_each(|(sum, part)| *sum += part);
        }
        Ok(())
    }

    fn tells(&self) -> TellsHolders {
        TellsHolders::Nothing
    }

    fn is_weighted(&self) -> bool {
        self.cached.is_weighted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second moment of 1,000 columns by 16 threads took 40 MB of each of them.
    #[test]
    fn sums_of_matrices_have_fewer_threads() {
        for (threads, len, found) in
            [(16, 1000, 16), (16, 1_000_000, 6), (1, 1 << 40, 1), (4, 0, 4)]
        {
            assert_eq!(fewer(threads, len), found, "{threads} threads, {len} numbers");
        }
        for width in [10, 100, 1000, 2000] {
            let threads = fewer(64, width * width);
            assert!(threads == 1 || threads * width * width * PER_SUM <= SUMS);
        }
    }
}
