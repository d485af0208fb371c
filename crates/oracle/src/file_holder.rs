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

use crate::gate::{LaneHolder, LaneRows, PrivacyModel, TellsHolders};
use crate::holder::{Holder, TableHolder};
use crate::queries::RecordSum;
use crate::refusal::Refusal;
use crate::sums::grid::MAX_RECORDS;
use crate::sums::{LaneQuery, Pass, Private, TableError, together};

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

/// What one thread adds up for several gradients.
#[derive(Debug)]
struct LanePart {
    pass: Pass,
    totals: Vec<Vec<i64>>,
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
        let turn = holder.cached.turn();
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
        drop(turn);
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
        let turn = self.cached.turn();
        self.rows.scan(
            &mut buffers,
            |_| true,
            |bytes, block| self.write_images(block, map, (&writer, bytes)),
        )?;
        drop(turn);
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
        let turn = self.cached.turn();
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
        drop(turn);
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

    fn lanes(&self) -> Option<&dyn LaneHolder> {
        let alike = self.unit == Unit::Record && !self.is_weighted();
        (alike && self.images.is_none()).then_some(self)
    }
}

impl LaneHolder for FileHolder {
    fn holds(&self) -> LaneRows {
        LaneRows::File(Arc::clone(&self.rows), self.intercept.to_bits())
    }

    /// One scan for all of them.
    fn gradients(&self, loss: &dyn Loss, asked: &[LaneQuery]) -> Result<Vec<Vec<i64>>, Refusal> {
        let nothing = || asked.iter().map(|one| vec![0; one.at.len()]).collect::<Vec<_>>();
        let threads = self.threads_for(asked.iter().map(|one| one.at.len()).sum());
        let part = |_| LanePart { pass: Pass::alone(), totals: nothing() };
        let mut parts: Vec<LanePart> = (0..threads).map(part).collect();
        let turn = self.cached.turn();
        self.rows.scan(
            &mut parts,
            |_| true,
            |part, block| {
                let private = self.opened_for(loss, block.table)?;
                add(&mut part.totals, &together(&mut part.pass, &private, loss, asked));
                *block.table = table_of(private);
                Ok::<(), Refusal>(())
            },
        )?;
        drop(turn);
        let mut sums = nothing();
        parts.iter().for_each(|part| add(&mut sums, &part.totals));
        Ok(sums)
    }
}

/// Adds sums to sums.
fn add(sums: &mut [Vec<i64>], more: &[Vec<i64>]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::lanes::tests::tables;
    use proptest::prelude::*;
    use reticent_accountant::{Adjacency, View};
    use reticent_problem::losses;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        /// However many are asked for, in blocks of a row or of all: what the table in memory says, to the bit.
        #[test]
        fn gradients_of_one_scan_are_those_of_the_table_in_memory(
            (n, d, many, seed) in (1..90_usize, 1..20_usize, 1..40_usize, any::<u64>()),
            loss in prop_oneof![Just("logistic"), Just("hinge"), Just("squared")],
            intercept in prop_oneof![Just(0.0), Just(0.5)],
            block in prop_oneof![Just(1), Just(700), Just(1 << 20)],
        ) {
            let loss = losses::parse(loss, None).unwrap();
            let opening = PrivacyModel {
                adjacency: Adjacency::ReplaceOne,
                unit: Unit::Record,
                view: View::Central,
                public_n: None,
                intercept,
            };
            for table in tables(n, d, seed) {
                let folder = tempfile::tempdir().unwrap();
                let cached = CachedRows::of_table(&table, block, folder.path()).unwrap();
                let file = FileHolder::new(Arc::new(cached), &*loss, &opening).unwrap();
                let mut memory = TableHolder::new(Private::by_record(table, intercept).unwrap());
                let len = file.native_width();
                let at = |k| (0..len).map(|j| ((j * 7 + k * 3) % 11) as f64 - 4.3).collect();
                let asked: Vec<LaneQuery> = (0..many)
                    .map(|k| LaneQuery { at: at(k), clip: 0.1 + k as f64 })
                    .collect();
                let sums = file.gradients(&*loss, &asked).unwrap();
                for (one, sum) in asked.iter().zip(&sums) {
                    let what = RecordSum::Gradient { at: (&one.at[..]).into(), clip: one.clip };
                    let mut alone = vec![0; len];
                    memory.sum(&what, &*loss, None, &mut alone).unwrap();
                    prop_assert_eq!(sum, &alone);
                }
            }
        }
    }

    /// Two scans of one table at a time had twice the memory, and the disk between them.
    #[test]
    fn a_scan_waits_for_its_turn() {
        let [table, _] = tables(50, 3, 1);
        let folder = tempfile::tempdir().unwrap();
        let cached = Arc::new(CachedRows::of_table(&table, 1, folder.path()).unwrap());
        let turn = cached.turn();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let loss = losses::parse("squared", None).unwrap();
                let opening = PrivacyModel {
                    adjacency: Adjacency::ReplaceOne,
                    unit: Unit::Record,
                    view: View::Central,
                    public_n: None,
                    intercept: 0.0,
                };
                FileHolder::new(Arc::clone(&cached), &*loss, &opening).unwrap();
                done.store(true, std::sync::atomic::Ordering::SeqCst);
            });
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(!done.load(std::sync::atomic::Ordering::SeqCst));
            drop(turn);
        });
        assert!(done.into_inner());
    }

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
