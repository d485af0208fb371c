//! One sequential scan of a file: each thread reads a block, unpacks it and works on it, while the bytes are
//! still in the cache of its processor, and the system reads ahead. No thread waits for another.
//! Which of them gets a block is left to chance, so what is made of the blocks must not depend on
//! their order: sums of integers do not.

use super::file::{BlockPlace, CacheError, CacheFile};
use crate::Table;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Blocks that the system reads ahead for each thread.
const AHEAD: usize = 4;

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
        let turn = ScanTurn { next: AtomicUsize::new(0), ahead: AHEAD * states.len() };
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

    /// Block after block, as they are free.
    fn work<S, E: From<CacheError>>(
        &self,
        state: &mut S,
        turn: &ScanTurn,
        wants: &impl Fn(&Range<usize>) -> bool,
        work: &impl Fn(&mut S, CacheBlock<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut bytes, mut table) = (Vec::new(), Table::default());
        let mut one = |number: usize, place: &BlockPlace| -> Result<(), E> {
            self.announce(number + turn.ahead);
            self.fetch(place, &mut bytes)?;
            let units = place.first..place.first + place.units;
            if wants(&units) {
                Self::unpacked(place, &bytes, &mut table)?;
                work(state, CacheBlock { number, units, table: &mut table })?;
            }
            Ok(())
        };
        loop {
            let number = turn.next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = self.places().get(number) else { return Ok(()) };
            one(number, place).inspect_err(|_| turn.end())?;
        }
    }
}

/// Whose turn a block is.
struct ScanTurn {
    next: AtomicUsize,
    /// How many blocks later one is that the system is told of.
    ahead: usize,
}

impl ScanTurn {
    /// Nobody begins another block.
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
