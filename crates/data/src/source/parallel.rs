//! Records encoded on all cores: one thread reads blocks of them, the others encode, and the parts
//! are put together in the order of the file. Beside the table there are a few blocks for each core.

use crate::DataError;
use crate::filling::Filling;

/// Blocks that are encoded at a time, for each core.
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
    let mut read = || {
        let mut blocks = Vec::with_capacity(EACH * cores);
        while blocks.len() < EACH * cores {
            match next() {
                Ok(Some(block)) => blocks.push(block),
                Ok(None) => return (blocks, Some(Ok(()))),
                Err(error) => return (blocks, Some(Err(error))),
            }
        }
        (blocks, None)
    };
    let (records, mut done) = (&records, Vec::new());
    let (mut blocks, mut end) = read();
    loop {
        let mut parts: Vec<_> = blocks.iter().map(|_| Ok(filling.part())).collect();
        let mut appended = Ok(());
        rayon::in_place_scope(|scope| {
            for (block, part) in blocks.drain(..).zip(&mut parts) {
                scope.spawn(move |_| {
                    if let Ok(filled) = part
                        && let Err(error) = records(block, filled)
                    {
                        *part = Err(error);
                    }
                });
            }
            appended = done.drain(..).try_for_each(|part| {
                filling.append(part?, file)?;
                filling.settle()
            });
            if end.is_none() && appended.is_ok() {
                (blocks, end) = read();
            }
        });
        appended?;
        done = parts;
        if done.is_empty() {
            return end.unwrap_or(Ok(()));
        }
    }
}
