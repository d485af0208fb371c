//! One sequential scan of a file: a thread reads ahead, and others unpack blocks and work on them.
//! Which of them gets a block is left to chance, so what is made of the blocks must not depend on
//! their order: sums of integers do not.

use super::file::{CacheError, CacheFile};
use crate::{Dense, Rows, Table};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Blocks that are read ahead for each thread.
const AHEAD: usize = 2;

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

/// Bytes on their way, and the number of their block.
type ReadAhead = (usize, Vec<u8>);

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
        let failed = AtomicBool::new(false);
        let (send, receive) = sync_channel::<ReadAhead>(AHEAD * states.len());
        let (give_back, used) = channel::<Vec<u8>>();
        // Of the threads alone: when all are gone, whoever reads is told.
        let receive = Arc::new(Mutex::new(receive));
        let (wants, work, failed) = (&wants, &work, &failed);
        std::thread::scope(|scope| {
            let workers: Vec<_> = states
                .iter_mut()
                .map(|state| {
                    let (receive, give_back) = (Arc::clone(&receive), give_back.clone());
                    scope.spawn(move || {
                        self.work(state, (&receive, &give_back), wants, work, failed)
                    })
                })
                .collect();
            drop((receive, give_back));
            let mut read = Ok(());
            for (number, place) in self.places().iter().enumerate() {
                let mut bytes = used.try_recv().unwrap_or_default();
                if failed.load(Ordering::Relaxed) {
                    break;
                }
                read = self.fetch(place, &mut bytes);
                if read.is_err() || send.send((number, bytes)).is_err() {
                    break;
                }
            }
            drop(send);
            let mut found = read.map_err(E::from);
            for worker in workers {
                match worker.join() {
                    Ok(worked) => found = found.and(worked),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            found
        })
    }

    fn work<S, E: From<CacheError>>(
        &self,
        state: &mut S,
        (receive, give_back): (&Mutex<Receiver<ReadAhead>>, &Sender<Vec<u8>>),
        wants: &(impl Fn(&Range<usize>) -> bool + Sync),
        work: &(impl Fn(&mut S, CacheBlock<'_>) -> Result<(), E> + Sync),
        failed: &AtomicBool,
    ) -> Result<(), E> {
        let mut table = Table {
            rows: Rows::Dense(Dense::default()),
            targets: Vec::new(),
            users: None,
            weights: None,
            names: Vec::new(),
        };
        let mut found = Ok(());
        loop {
            let next = receive.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((number, bytes)) = next else { return found };
            let place = &self.places()[number];
            let units = place.first..place.first + place.units;
            if found.is_ok() && wants(&units) {
                found = Self::unpacked(place, &bytes, &mut table)
                    .map_err(E::from)
                    .and_then(|()| work(state, CacheBlock { number, units, table: &mut table }));
                if found.is_err() {
                    failed.store(true, Ordering::Relaxed);
                }
            }
            // Nobody may be left to use it again.
            let _ = give_back.send(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::CacheWriter;

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
        let _ = file.scan(&mut [()], |_| true, work);
    }
}
