//! The file, and where its blocks lie.

use super::block;
use crate::Table;
use crate::error::system_words;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{PoisonError, RwLock};
use thiserror::Error;

/// Bytes of rows in memory that make a block, at least. Its bytes and its numbers stay in the second-level
/// cache of a processor from the read to the sum.
const BLOCK: usize = 512 << 10;

/// Bytes of a block for each column, so that sums over a block are worth what they take: 64 dense rows.
const FOR_EACH_COLUMN: usize = 512;

/// Bytes of a block of rows with many columns, at most.
const LARGEST: usize = 32 << 20;

/// Why a table in a file could not be written or read. Never says anything about the data.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheError {
    /// No file, or no room.
    #[error("the cache file cannot be written: {0}")]
    Write(String),
    /// The disk fails.
    #[error("the cache file cannot be read: {0}")]
    Read(String),
    /// The bytes are not those that were written.
    #[error("the cache file was cut short or changed: remove it if it was kept, and run again")]
    Changed,
    /// The table that it would be kept for is not the one that was read.
    #[error("the cache cannot be kept: a file of the table was written to while it was read")]
    TableChanged,
    /// A file that would have to be trusted.
    #[error("the cache cannot be kept: {0}")]
    NotKept(&'static str),
}

impl CacheError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Write(_) => {
                "give a folder that is there, may be written to and has room, as `cache`"
            }
            Self::Read(_) => "check the disk, or give a folder on another one as `cache`",
            Self::Changed => "nothing else may write to the file while it is in use",
            Self::TableChanged => "run again when nothing writes to the table any more",
            Self::NotKept(_) => {
                "give a folder of yours that nobody else may write to as `cache`, remove what is not yours there, or leave out \
                 `keep_cache`"
            }
        }
    }

    pub(super) fn written(error: &io::Error) -> Self {
        Self::Write(system_words(error))
    }
}

/// Where a block lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockPlace {
    pub(super) at: u64,
    pub(super) len: usize,
    pub(super) checksum: u32,
    /// The number of its first unit.
    pub(super) first: usize,
    /// How many units it has: rows, or persons with all of theirs.
    pub(super) units: usize,
}

/// Blocks of rows in a file without a name.
#[derive(Debug)]
pub struct CacheFile {
    /// Many read at once where a system reads at a place, and one at a time where it has to seek.
    file: RwLock<File>,
    places: Vec<BlockPlace>,
    units: usize,
}

/// A file that is being written.
#[derive(Debug)]
pub struct CacheWriter {
    file: File,
    at: u64,
    /// The places of blocks, by their numbers.
    places: Vec<(usize, BlockPlace)>,
    bytes: Vec<u8>,
}

impl CacheWriter {
    /// An empty file in `folder`.
    ///
    /// # Errors
    /// If there can be none.
    pub fn new(folder: &Path) -> Result<Self, CacheError> {
        let file = private_file(folder).map_err(|error| CacheError::written(&error))?;
        Ok(CacheWriter { file, at: 0, places: Vec::new(), bytes: Vec::new() })
    }

    /// Bytes of rows that make a block.
    pub(super) fn block_bytes(columns: usize) -> usize {
        (FOR_EACH_COLUMN * columns).clamp(BLOCK, LARGEST)
    }

    /// The file with the block of this number behind those that it has. Numbers may come in any
    /// order; `units` is how many it has.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&mut self, number: usize, table: &Table, units: usize) -> Result<(), CacheError> {
        let mut bytes = std::mem::take(&mut self.bytes);
        Self::pack(table, &mut bytes);
        let written = self.write_packed(number, &bytes, units);
        self.bytes = bytes;
        written
    }

    /// The bytes of a block, for [`CacheWriter::write_packed`].
    pub fn pack(table: &Table, bytes: &mut Vec<u8>) {
        bytes.clear();
        block::write(table, bytes);
    }

    /// As [`CacheWriter::write`], of a block that is packed.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_packed(
        &mut self,
        number: usize,
        bytes: &[u8],
        units: usize,
    ) -> Result<(), CacheError> {
        let Self { file, at, places, .. } = self;
        file.write_all(bytes).map_err(|error| CacheError::written(&error))?;
        let (len, checksum) = (bytes.len(), crc32fast::hash(bytes));
        places.push((number, BlockPlace { at: *at, len, checksum, first: 0, units }));
        *at += len as u64;
        Ok(())
    }

    /// How many blocks there are.
    pub(super) fn blocks(&self) -> usize {
        self.places.len()
    }

    /// The file, for reading.
    pub fn finish(mut self) -> CacheFile {
        self.places.sort_unstable_by_key(|(number, _)| *number);
        let mut units = 0;
        let places = self.places.into_iter().map(|(_, place)| {
            let place = BlockPlace { first: units, ..place };
            units += place.units;
            place
        });
        let places = places.collect();
        CacheFile { file: RwLock::new(self.file), places, units }
    }
}

impl CacheFile {
    pub(super) fn of(file: File, places: Vec<BlockPlace>, units: usize) -> Self {
        CacheFile { file: RwLock::new(file), places, units }
    }

    /// Writes `bytes` behind the blocks, and has `with` do something with the whole file, which is on
    /// the disk then.
    pub(super) fn finish_with(
        &self,
        bytes: &[u8],
        with: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<(), CacheError> {
        let mut file = self.file.write().unwrap_or_else(PoisonError::into_inner);
        let written = file.seek(SeekFrom::Start(self.bytes())).and_then(|_| file.write_all(bytes));
        let done = written.and_then(|()| file.sync_all()).and_then(|()| with(&file));
        done.map_err(|error| CacheError::written(&error))
    }

    /// How many units it has.
    pub fn units(&self) -> usize {
        self.units
    }

    /// How many blocks it has.
    pub fn blocks(&self) -> usize {
        self.places.len()
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.places.iter().map(|place| place.len as u64).sum()
    }

    pub(super) fn places(&self) -> &[BlockPlace] {
        &self.places
    }

    /// So many bytes from `at` on, into `bytes`.
    pub(super) fn fetch(&self, at: u64, len: usize, bytes: &mut Vec<u8>) -> Result<(), CacheError> {
        bytes.resize(len, 0);
        read_at(&self.file, at, bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => CacheError::Changed,
            _ => CacheError::Read(system_words(&error)),
        })
    }

    /// The block of these bytes, into `table`.
    pub(super) fn unpacked(
        place: &BlockPlace,
        bytes: &[u8],
        table: &mut Table,
    ) -> Result<(), CacheError> {
        if crc32fast::hash(bytes) != place.checksum {
            return Err(CacheError::Changed);
        }
        block::read(bytes, table).ok_or(CacheError::Changed)
    }

    /// The block of this number, into `table`.
    pub(super) fn read(
        &self,
        number: usize,
        bytes: &mut Vec<u8>,
        table: &mut Table,
    ) -> Result<(), CacheError> {
        let place = self.places.get(number).ok_or(CacheError::Changed)?;
        self.fetch(place.at, place.len, bytes)?;
        Self::unpacked(place, bytes, table)
    }
}

/// The bytes from `at` on, all of them.
#[cfg(unix)]
pub(crate) fn read_at(file: &RwLock<File>, at: u64, bytes: &mut [u8]) -> io::Result<()> {
    let file = file.read().unwrap_or_else(PoisonError::into_inner);
    std::os::unix::fs::FileExt::read_exact_at(&*file, bytes, at)
}

/// The bytes from `at` on, all of them.
#[cfg(not(unix))]
pub(crate) fn read_at(file: &RwLock<File>, at: u64, bytes: &mut [u8]) -> io::Result<()> {
    let mut file = file.write().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(at)).and_then(|_| io::Read::read_exact(&mut *file, bytes))
}

/// A file without a name that nobody else may open.
pub(super) fn private_file(folder: &Path) -> io::Result<File> {
    let file = tempfile::tempfile_in(folder)?;
    // A file that never had a name is made by the permissions of any other.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dense, Rows};
    use std::io::Read;

    fn table(from: usize) -> Table {
        let values: Vec<f64> = (from..from + 50).map(|i| i as f64 / 3.0).collect();
        let rows = Rows::Dense(Dense { rows: 25, columns: 2, values });
        Table { rows, targets: vec![1.0; 25], users: None, weights: None, names: Vec::new() }
    }

    fn file(folder: &Path) -> CacheFile {
        let mut writer = CacheWriter::new(folder).unwrap();
        for number in [1, 0, 2] {
            writer.write(number, &table(50 * number), 25).unwrap();
        }
        writer.finish()
    }

    fn read(file: &CacheFile, number: usize) -> Result<Table, CacheError> {
        let mut read = table(7);
        file.read(number, &mut Vec::new(), &mut read).map(|()| read)
    }

    #[test]
    fn blocks_have_their_numbers_however_they_came() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(folder.path());
        assert_eq!((file.units(), file.blocks()), (75, 3));
        for number in 0..3 {
            assert_eq!(read(&file, number).unwrap(), table(50 * number));
            assert_eq!(file.places()[number].first, 25 * number);
        }
    }

    /// Nothing is left of it whatever ends the program, and nobody else may open it.
    #[test]
    fn it_has_no_name_and_is_its_users_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(folder.path());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        #[cfg(unix)]
        {
            let found = file.file.write().unwrap().metadata().unwrap();
            assert_eq!(
                std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777,
                0o600
            );
        }
        let missing = CacheWriter::new(&folder.path().join("none"));
        assert!(matches!(missing, Err(CacheError::Write(_))));
        drop(file);
    }

    #[test]
    fn every_byte_that_is_changed_and_every_end_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(folder.path());
        let len = file.bytes();
        for at in 0..len {
            let mut byte = [0];
            let mut flip = || {
                let mut file = file.file.write().unwrap();
                file.seek(SeekFrom::Start(at)).unwrap();
                file.read_exact(&mut byte).unwrap();
                byte[0] ^= 1;
                file.seek(SeekFrom::Start(at)).unwrap();
                file.write_all(&byte).unwrap();
            };
            flip();
            let wrong = (0..3).filter(|&n| read(&file, n) == Err(CacheError::Changed)).count();
            assert_eq!(wrong, 1, "{at}");
            flip();
        }
        file.file.write().unwrap().set_len(len - 1).unwrap();
        let all: Vec<bool> = (0..3).map(|n| read(&file, n).is_ok()).collect();
        assert_eq!(all, [true, true, false]);
    }
}
