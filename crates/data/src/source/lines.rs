//! The lines of a text, however they end, and none longer than the limit: what is not text at all,
//! or unpacks into one endless line, is refused before it fills the memory.

use super::ReadLimits;
use super::blocks::FileBlock;
use crate::DataError;
use crate::error::{FileProblem, LineProblem};
use std::io;

/// The lines of a block.
pub(super) struct TextLines<'a> {
    file: &'a str,
    limit: usize,
    bytes: Vec<u8>,
    /// The part that is not yet a line begins here.
    start: usize,
    /// The last line, without its end.
    last: (usize, usize),
    number: u64,
    /// What ended the reading behind the block.
    failure: Option<io::Error>,
}

impl<'a> TextLines<'a> {
    pub(super) fn of(block: FileBlock, file: &'a str, limits: ReadLimits) -> Self {
        let FileBlock { bytes, before, failure } = block;
        Self { file, limit: limits.line, bytes, start: 0, last: (0, 0), number: before, failure }
    }

    pub(super) fn file(&self) -> &'a str {
        self.file
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The number of the last line, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The last line.
    pub(super) fn last(&self) -> &[u8] {
        &self.bytes[self.last.0..self.last.1]
    }

    /// The next line without its end, `None` behind the last.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, DataError> {
        let open = &self.bytes[self.start..];
        let length = match memchr::memchr2(b'\n', b'\r', open) {
            Some(at) => at,
            None => {
                if let Some(error) = self.failure.take() {
                    let (line, reason) = (self.number, error.to_string());
                    return Err(DataError::file(self.file, FileProblem::Read { line, reason }));
                }
                if open.is_empty() {
                    return Ok(None);
                }
                open.len()
            }
        };
        let end = if open[length..].starts_with(b"\r\n") { 2 } else { 1 };
        self.number += 1;
        if length > self.limit {
            return Err(DataError::line(self.file, self.number, LineProblem::TooLong(self.limit)));
        }
        self.last = (self.start, self.start + length);
        self.start = (self.last.1 + end).min(self.bytes.len());
        if self.number == 1
            && let Some(problem) = not_text(self.last())
        {
            return Err(DataError::file(self.file, problem));
        }
        // Also within a file: files that begin with the mark are put one behind the other.
        if self.last().starts_with(&[0xef, 0xbb, 0xbf]) {
            self.last.0 += 3;
        }
        Ok(Some(self.last()))
    }
}

/// Whether the first line is that of a file which only another program can read as text.
fn not_text(line: &[u8]) -> Option<FileProblem> {
    match line {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some(FileProblem::Utf32),
        // A letter in UTF-32 has three zeros beside it.
        [0, 0, 0, letter, ..] | [letter, 0, 0, 0, ..] if *letter != 0 => Some(FileProblem::Utf32),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(FileProblem::Utf16),
        // A letter in UTF-16 has a zero beside it.
        [0, letter, 0, _, ..] | [letter, 0, _, 0, ..] if *letter != 0 => Some(FileProblem::Utf16),
        _ if memchr::memchr(0, line).is_some() => Some(FileProblem::NotText),
        _ => None,
    }
}
