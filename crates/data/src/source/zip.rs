//! The one member of a `.zip` archive, its length and checksum checked at the end.
//!
//! The list of members at the end of the file counts, as the format says; what lies before it is
//! only looked at through that list. Archives of 4 GB and more have another list, and are refused.

use crate::DataError;
use crate::error::FileProblem;
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use std::fs::File;
use std::io::{BufReader, Error, ErrorKind, Read, Result, Seek, SeekFrom, Take};

/// How an archive starts.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

/// Bytes of the record at the end, and of the longest comment behind it.
const END: u64 = 22;
const COMMENT: u64 = 65_535;

/// Opens the one member of an archive.
pub(super) fn member(mut file: File, name: &str) -> std::result::Result<Box<dyn Read>, DataError> {
    let refuse = |e: Error| match e.kind() {
        ErrorKind::Unsupported => DataError::file(name, FileProblem::Zip(e.to_string())),
        _ => DataError::file(
            name,
            FileProblem::Read { line: 0, reason: "the archive is damaged".into() },
        ),
    };
    let entry = ZipEntry::find(&mut file).map_err(refuse)?;
    let packed = entry.packed(file).map_err(refuse)?;
    Ok(match entry.method {
        0 => Box::new(CheckedBytes::new(packed, &entry)),
        _ => Box::new(CheckedBytes::new(DeflateDecoder::new(BufReader::new(packed)), &entry)),
    })
}

struct ZipEntry {
    method: u16,
    checksum: u32,
    packed: u32,
    unpacked: u32,
    offset: u32,
}

impl ZipEntry {
    fn find(file: &mut File) -> Result<Self> {
        let length = file.seek(SeekFrom::End(0))?;
        let tail = length.min(END + COMMENT);
        file.seek(SeekFrom::End(-(tail as i64)))?;
        let mut bytes = Vec::new();
        file.take(tail).read_to_end(&mut bytes)?;
        // The comment ends where the file does; a signature inside a comment does not.
        let at = (0..=bytes.len().saturating_sub(END as usize))
            .rev()
            .find(|&i| {
                bytes[i..].starts_with(b"PK\x05\x06")
                    && word(&bytes, i + 20)
                        .is_ok_and(|n| i + END as usize + n as usize == bytes.len())
            })
            .ok_or_else(damaged)?;
        if word(&bytes, at + 10)? != 1 {
            return Err(unsupported("it holds more than one file, or none"));
        }
        let list = long(&bytes, at + 16)?;
        file.seek(SeekFrom::Start(u64::from(list)))?;
        let mut head = [0; 46];
        file.read_exact(&mut head)?;
        if !head.starts_with(b"PK\x01\x02") {
            return Err(damaged());
        }
        if word(&head, 8)? & 1 != 0 {
            return Err(unsupported("it is encrypted"));
        }
        let entry = Self {
            method: word(&head, 10)?,
            checksum: long(&head, 16)?,
            packed: long(&head, 20)?,
            unpacked: long(&head, 24)?,
            offset: long(&head, 42)?,
        };
        if [entry.packed, entry.unpacked, entry.offset, list].contains(&u32::MAX) {
            return Err(unsupported("it has 4 GB or more"));
        }
        if ![0, 8].contains(&entry.method) {
            return Err(unsupported("it is packed by another method than deflate"));
        }
        Ok(entry)
    }

    /// What lies behind the member's own head.
    fn packed(&self, mut file: File) -> Result<Take<File>> {
        file.seek(SeekFrom::Start(u64::from(self.offset)))?;
        let mut head = [0; 30];
        file.read_exact(&mut head)?;
        if !head.starts_with(MAGIC) {
            return Err(damaged());
        }
        let skip = i64::from(word(&head, 26)?) + i64::from(word(&head, 28)?);
        file.seek(SeekFrom::Current(skip))?;
        Ok(file.take(u64::from(self.packed)))
    }
}

fn word(bytes: &[u8], at: usize) -> Result<u16> {
    bytes
        .get(at..at + 2)
        .and_then(|b| b.try_into().ok())
        .map(u16::from_le_bytes)
        .ok_or_else(damaged)
}

fn long(bytes: &[u8], at: usize) -> Result<u32> {
    bytes
        .get(at..at + 4)
        .and_then(|b| b.try_into().ok())
        .map(u32::from_le_bytes)
        .ok_or_else(damaged)
}

fn damaged() -> Error {
    Error::new(ErrorKind::InvalidData, "the archive is damaged")
}

fn unsupported(why: &str) -> Error {
    Error::new(ErrorKind::Unsupported, why)
}

/// Bytes whose number and checksum are known.
struct CheckedBytes<R> {
    reader: R,
    sum: Crc,
    checksum: u32,
    length: u32,
}

impl<R: Read> CheckedBytes<R> {
    fn new(reader: R, entry: &ZipEntry) -> Self {
        Self { reader, sum: Crc::new(), checksum: entry.checksum, length: entry.unpacked }
    }
}

impl<R: Read> Read for CheckedBytes<R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let n = self.reader.read(out)?;
        self.sum.update(&out[..n]);
        if n == 0
            && !out.is_empty()
            && (self.sum.sum(), self.sum.amount()) != (self.checksum, self.length)
        {
            return Err(damaged());
        }
        Ok(n)
    }
}
