//! One sequential scan of a file: each thread reads a run of blocks at once, unpacks one after the other and
//! works on it while its numbers are still in the cache of its processor. Meanwhile the others read, and the
//! system reads ahead. No thread waits for another.
//! Which of them gets a run is left to chance, so what is made of the blocks must not depend on
//! their order: sums of integers do not.

use super::file::{BlockPlace, CacheError, CacheFile};
use crate::Table;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a run. Reads as long as this keep a disk at work whatever the system reads ahead on its own, and
/// two threads with short reads are no sequence that it would know.
const RUN: usize = 2 << 20;

/// Runs for each thread, at least where the file has the blocks: the last of them end at about the same time.
const RUNS_EACH: u64 = 8;

/// A block that is worked on.
#[derive(Debug)]
pub struct CacheBlock<'a> {
    /// Its number, in the order of the file.
    pub number: usize,
    /// The numbers of its units.
    pub units: Range<usize>,
    /// Its rows. Whoever takes them may leave others, whose memory is used again.
    pub table: &'a mut Table,
}

impl CacheFile {
    /// Reads all blocks, and has each worked on by one of as many threads as `states` are, with its
    /// state. Blocks without a unit that `wants` are read, so that a scan is the same for whoever
    /// sees the disk, and not unpacked.
    ///
    /// # Errors
    /// If the file cannot be read, or `work` fails.
    pub fn scan<S: Send, E: From<CacheError> + Send>(
        &self,
        states: &mut [S],
        wants: impl Fn(&Range<usize>) -> bool + Sync,
        work: impl Fn(&mut S, CacheBlock<'_>) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let runs = self.runs(states.len());
        let turn = ScanTurn { runs: &runs, next: AtomicUsize::new(0) };
        let (turn, wants, work) = (&turn, &wants, &work);
        if let [state] = states {
            return self.work(state, turn, wants, work);
        }
        std::thread::scope(|scope| {
            let each = |state| scope.spawn(move || self.work(state, turn, wants, work));
            let workers: Vec<_> = states.iter_mut().map(each).collect();
            let mut found = Ok(());
            for worker in workers {
                match worker.join() {
                    Ok(worked) => found = found.and(worked),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            found
        })
    }

    /// The blocks in the order in which they lie, in runs of adjoining ones for so many threads.
    fn runs(&self, threads: usize) -> Vec<Vec<usize>> {
        let each = self.bytes() / (RUNS_EACH * threads.max(1) as u64);
        let enough = each.min(RUN as u64) as usize;
        let mut order: Vec<usize> = (0..self.blocks()).collect();
        order.sort_by_key(|&number| self.places()[number].at);
        let mut runs: Vec<Vec<usize>> = Vec::new();
        let (mut len, mut end) = (0, 0);
        for number in order {
            let place = &self.places()[number];
            match runs.last_mut() {
                Some(run) if len < enough && place.at == end => run.push(number),
                _ => {
                    runs.push(vec![number]);
                    len = 0;
                }
            }
            len += place.len;
            end = place.at + place.len as u64;
        }
        runs
    }

    /// Run after run, as they are free.
    fn work<S, E: From<CacheError>>(
        &self,
        state: &mut S,
        turn: &ScanTurn<'_>,
        wants: &impl Fn(&Range<usize>) -> bool,
        work: &impl Fn(&mut S, CacheBlock<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut bytes, mut table) = (Vec::new(), Table::default());
        let mut one = |run: &[usize]| -> Result<(), E> {
            let place = |number: usize| &self.places()[number];
            let len = run.iter().map(|&number| place(number).len).sum();
            self.fetch(run.first().map_or(0, |&number| place(number).at), len, &mut bytes)?;
            let mut left = &bytes[..];
            for &number in run {
                let BlockPlace { len, first, units, .. } = *place(number);
                let own = left.split_off(..len).ok_or(CacheError::Changed)?;
                let units = first..first + units;
                if wants(&units) {
                    Self::unpacked(place(number), own, &mut table)?;
                    work(state, CacheBlock { number, units, table: &mut table })?;
                }
            }
            Ok(())
        };
        loop {
            let number = turn.next.fetch_add(1, Ordering::Relaxed);
            let Some(run) = turn.runs.get(number) else { return Ok(()) };
            one(run).inspect_err(|_| turn.end())?;
        }
    }
}

/// Whose turn a run is.
struct ScanTurn<'r> {
    runs: &'r [Vec<usize>],
    next: AtomicUsize,
}

impl ScanTurn<'_> {
    /// Nobody begins another run.
    fn end(&self) {
        self.next.store(usize::MAX / 2, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::CacheWriter;
    use crate::{Dense, Rows};

    fn file(blocks: usize) -> (tempfile::TempDir, CacheFile) {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = CacheWriter::new(folder.path()).unwrap();
        for number in 0..blocks {
            let rows = Rows::Dense(Dense { rows: 1, columns: 1, values: vec![number as f64] });
            let targets = Vec::new();
            let table = Table { rows, targets, users: None, weights: None, names: Vec::new() };
            writer.write(number, &table, 1).unwrap();
        }
        (folder, writer.finish())
    }

    #[test]
    fn every_block_is_worked_on_once_by_any_number_of_threads() {
        let (_folder, file) = file(100);
        for threads in [1, 2, 7] {
            let mut seen: Vec<Vec<(usize, f64)>> = vec![Vec::new(); threads];
            let work = |seen: &mut Vec<(usize, f64)>, block: CacheBlock<'_>| {
                assert_eq!(block.units, block.number..block.number + 1);
                seen.push((block.number, block.table.rows.dense_row(0)[0]));
                Ok::<(), CacheError>(())
            };
            file.scan(&mut seen, |units| units.start % 3 == 0, work).unwrap();
            let mut all = seen.concat();
            all.sort_by_key(|(number, _)| *number);
            let wanted: Vec<_> = (0..100).step_by(3).map(|n| (n, n as f64)).collect();
            assert_eq!(all, wanted, "{threads}");
        }
    }

    /// Blocks of as many bytes, one at a place of its own, in runs that are read as one.
    #[test]
    fn runs_are_adjoining_blocks_as_they_lie_and_enough_for_all_threads() {
        let place = |at| BlockPlace { at, len: 1 << 10, checksum: 0, first: 0, units: 1 };
        let mut places: Vec<BlockPlace> = (0..10_000).map(|n| place(n << 10)).collect();
        places.swap(0, 9_999);
        places.push(place(1 << 40));
        let file = CacheFile::of(tempfile::tempfile().unwrap(), places, 10_001);
        for threads in [1, 2, 7] {
            let runs = file.runs(threads);
            let order = runs.concat();
            assert!(order.is_sorted_by_key(|&number| file.places()[number].at));
            assert_eq!((order.len(), order[0], order[10_000]), (10_001, 9_999, 10_000));
            assert_eq!(runs.last().unwrap(), &[10_000], "it lies elsewhere");
            assert!(runs.len() > 8 * threads, "{threads}");
            assert!(runs.iter().all(|run| run.len() << 10 <= RUN + (1 << 10)));
        }
        assert!(file.runs(1)[0].len() << 10 > RUN / 2);
    }

    #[test]
    fn an_error_ends_the_scan_and_is_told() {
        let (_folder, file) = file(100);
        let work = |(): &mut (), block: CacheBlock<'_>| match block.number {
            7 => Err(CacheError::Read("no".to_owned())),
            _ => Ok(()),
        };
        for threads in [1, 3] {
            let found = file.scan(&mut vec![(); threads], |_| true, work);
            assert_eq!(found, Err(CacheError::Read("no".to_owned())));
        }
    }

    #[test]
    #[should_panic(expected = "at work")]
    fn a_panic_is_no_endless_wait() {
        let (_folder, file) = file(100);
        let work = |(): &mut (), _: CacheBlock<'_>| -> Result<(), CacheError> { panic!("at work") };
        let _ = file.scan(&mut [(), ()], |_| true, work);
    }
}
