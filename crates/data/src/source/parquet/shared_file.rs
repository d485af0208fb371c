//! A file that several threads read, each at a place of its own: the clones of a [`File`] share one.

use crate::cache::read_at;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::{Arc, RwLock};

#[derive(Clone)]
pub(in crate::source) struct SharedFile {
    file: Arc<RwLock<File>>,
    length: u64,
}

impl SharedFile {
    pub(in crate::source) fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(RwLock::new(file)), length })
    }

    /// How many bytes there are from `start` on, of so many.
    fn left(&self, start: u64, wanted: usize) -> usize {
        let left = self.length.saturating_sub(start);
        usize::try_from(left).map_or(wanted, |left| left.min(wanted))
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<FileFrom>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(FileFrom { file: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // A damaged header may claim any length.
        let left = self.left(start, length);
        if left < length {
            let what = format!("Expected to read {length} bytes, read only {left}");
            return Err(ParquetError::EOF(what));
        }
        let mut bytes = vec![0; length];
        read_at(&self.file, start, &mut bytes)?;
        Ok(bytes.into())
    }
}

/// The bytes of a file from a place on.
pub(in crate::source) struct FileFrom {
    file: SharedFile,
    at: u64,
}

impl Read for FileFrom {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.file.left(self.at, bytes.len());
        read_at(&self.file.file, self.at, &mut bytes[..count])?;
        self.at += count as u64;
        Ok(count)
    }
}
