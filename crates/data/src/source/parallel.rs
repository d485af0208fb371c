//! Records encoded on all cores: one thread reads blocks of them, the others encode, and the parts
//! are put together in the order of the file. Beside the table there are a few blocks for each core.

use crate::DataError;
use crate::error::FileProblem;
use crate::filling::Filling;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

/// Blocks that are encoded or wait for it at a time, for each core.
const EACH: usize = 2;

/// Encodes the blocks that `next` gives. The first error in the order of the file is the one that
/// is told.
pub(super) fn encode<'s, B: Send>(
    filling: &mut Filling<'s>,
    file: &str,
    mut next: impl FnMut() -> Result<Option<B>, DataError>,
    records: impl Fn(B, &mut Filling<'s>) -> Result<(), DataError> + Sync,
) -> Result<(), DataError> {
    let cores = rayon::current_num_threads();
    if cores == 1 || !filling.has_parts() {
        while let Some(block) = next()? {
            records(block, filling)?;
            filling.settle()?;
        }
        return Ok(());
    }
    let records = &records;
    rayon::in_place_scope(|scope| {
        let (mut parts, mut end) = (VecDeque::new(), None);
        loop {
            while end.is_none() && parts.len() < EACH * cores {
                match next() {
                    Ok(Some(block)) => {
                        let (done, part) = sync_channel(1);
                        let mut filled = filling.part();
                        scope.spawn(move |_| {
                            let encoded = records(block, &mut filled).map(|()| filled);
                            // Nobody waits for it behind an error.
                            let _ = done.send(encoded);
                        });
                        parts.push_back(part);
                    }
                    Ok(None) => end = Some(Ok(())),
                    Err(error) => end = Some(Err(error)),
                }
            }
            let Some(part) = parts.pop_front() else { return end.unwrap_or(Ok(())) };
            filling.append(encoded(&part, file)?, file)?;
            filling.settle()?;
        }
    })
}

/// A part, once it is there. Where this is a thread of the pool, it encodes others meanwhile.
fn encoded<'s>(
    part: &Receiver<Result<Filling<'s>, DataError>>,
    file: &str,
) -> Result<Filling<'s>, DataError> {
    // Whoever encodes it has panicked, which the scope tells: this is not seen.
    let lost = || {
        let reason = "a thread has ended".into();
        DataError::file(file, FileProblem::Read { line: 0, reason })
    };
    loop {
        match part.try_recv() {
            Ok(encoded) => return encoded,
            Err(TryRecvError::Disconnected) => return Err(lost()),
            Err(TryRecvError::Empty) => {}
        }
        if rayon::yield_now() != Some(rayon::Yield::Executed) {
            return part.recv().unwrap_or_else(|_| Err(lost()));
        }
    }
}
