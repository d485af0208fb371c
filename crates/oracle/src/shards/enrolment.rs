//! What is checked before a row is asked for: who the workers are, that no record and no person is with two of
//! them, and that there are not too many.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use reticent_data::{DataError, ReadOptions, Schema};
use reticent_noise::Digest;

use super::message::{ShardHello, ShardReply, read_answer};
use super::{CHANGED, refused};
use crate::cached_table::CachedTable;
use crate::refusal::Refusal;
use crate::sums::TableError;
use crate::sums::grid::MAX_RECORDS;

/// What a worker enrols with.
pub(super) fn greeted(
    k: usize,
    asked: &[u8],
    answer: &[u8],
) -> Result<(Digest, ShardHello), Refusal> {
    let found = read_answer(asked, answer).ok_or_else(|| refused(k, CHANGED))?;
    match found.reply {
        ShardReply::Hello(hello) if hello.identity()? == found.identity => {
            Ok((found.identity, *hello))
        }
        _ => Err(refused(k, CHANGED)),
    }
}

/// Refuses more rows than sums are exact for, and shards of one table that do not add up to it.
pub(super) fn check_sizes(hellos: &[ShardHello]) -> Result<(), Refusal> {
    let total = |size: fn(&ShardHello) -> u64| {
        hellos.iter().fold(0_u64, |sum, hello| sum.saturating_add(size(hello)))
    };
    if total(|hello| hello.records).max(total(|hello| hello.units)) > MAX_RECORDS as u64 {
        return Err(TableError::TooManyRecords { allowed: MAX_RECORDS }.into());
    }
    for (k, hello) in hellos.iter().enumerate() {
        if hello.seat.split && hello.whole != total(|hello| hello.units) {
            return Err(refused(
                k,
                "has a part of the table that does not go together with the others'",
            ));
        }
    }
    Ok(())
}

/// Refuses parts of different tables, and a file that two shards have.
pub(super) fn check_files(hellos: &[ShardHello]) -> Result<(), Refusal> {
    let mut met = HashSet::new();
    for (k, hello) in hellos.iter().enumerate() {
        if hello.seat.split {
            if hello.files != hellos[0].files {
                return Err(refused(
                    k,
                    "has read other files than the first shard; all split one table",
                ));
            }
            // All have read the same: the first stands for all.
            if k > 0 {
                continue;
            }
        }
        if !hello.files.iter().all(|file| met.insert(file)) {
            let why = "has a file that it or another shard has too: its records would count twice";
            return Err(refused(k, why));
        }
    }
    Ok(())
}

/// How many persons files have as one table, and what each file holds under `key`. Shards of these files
/// have as many together, or a person is with two of them. The table goes through a cache file in
/// `folder`, not through memory.
///
/// # Errors
/// If the files cannot be read, or say of nobody whose a row is.
pub fn count_persons(
    paths: &[PathBuf],
    reading: ReadOptions,
    schema: &Schema,
    (folder, key): (&Path, &[u8; 32]),
) -> Result<Result<(usize, Vec<Digest>), Refusal>, DataError> {
    let (table, files) = CachedTable::load_known(paths, reading, schema, folder, key)?;
    let counted =
        || Ok((table.into_rows().by_person()?.ok_or(TableError::NoUsers)?.units(), files));
    Ok(counted())
}
