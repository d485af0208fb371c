//! The lines of a text, however they end, and none longer than the limit: what is not text at all,
//! or unpacks into one endless line, is refused before it fills the memory.

use super::ReadLimits;
use super::blocks::{FileBlock, Rest};
use crate::DataError;
use crate::error::{FileProblem, LineProblem};
use std::io::{ErrorKind, Read};

/// Bytes that are asked for at once.
const BLOCK: usize = 1 << 18;

pub(super) struct Lines<'a, R> {
    reader: R,
    file: &'a str,
    limit: usize,
    buffer: Vec<u8>,
    /// The part of the buffer that is filled and not yet a line.
    start: usize,
    end: usize,
    /// The last line, without its end.
    last: (usize, usize),
    number: u64,
    /// The last line ended in a carriage return, and a line feed may belong to it.
    after_return: bool,
    done: bool,
}

impl<'a> Lines<'a, Rest> {
    /// The lines of a block.
    pub(super) fn of(block: FileBlock, file: &'a str, limits: ReadLimits) -> Self {
        Self {
            done: block.rest.is_nothing(),
            reader: block.rest,
            file,
            limit: limits.line,
            start: 0,
            end: block.bytes.len(),
            buffer: block.bytes,
            last: (0, 0),
            number: block.before,
            after_return: false,
        }
    }
}

impl<'a, R: Read> Lines<'a, R> {
    pub(super) fn new(reader: R, file: &'a str, limits: ReadLimits) -> Self {
        Self {
            reader,
            file,
            limit: limits.line,
            buffer: vec![0; BLOCK],
            start: 0,
            end: 0,
            last: (0, 0),
            number: 0,
            after_return: false,
            done: false,
        }
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
        &self.buffer[self.last.0..self.last.1]
    }

    /// The next line without its end, `None` behind the last.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, DataError> {
        let mut seen = 0;
        loop {
            if std::mem::take(&mut self.after_return) {
                if self.start == self.end && !self.done {
                    self.fill()?;
                }
                if self.start < self.end && self.buffer[self.start] == b'\n' {
                    self.start += 1;
                }
            }
            let open = &self.buffer[self.start + seen..self.end];
            if let Some(at) = memchr::memchr2(b'\n', b'\r', open) {
                let stop = self.start + seen + at;
                self.after_return = self.buffer[stop] == b'\r';
                return self.line(stop, stop + 1).map(Some);
            }
            seen = self.end - self.start;
            if self.done {
                if seen == 0 {
                    return Ok(None);
                }
                return self.line(self.end, self.end).map(Some);
            }
            if seen > self.limit {
                return Err(DataError::line(
                    self.file,
                    self.number + 1,
                    LineProblem::TooLong(self.limit),
                ));
            }
            self.fill()?;
        }
    }

    fn line(&mut self, stop: usize, next: usize) -> Result<&[u8], DataError> {
        self.number += 1;
        if stop - self.start > self.limit {
            return Err(DataError::line(self.file, self.number, LineProblem::TooLong(self.limit)));
        }
        self.last = (self.start, stop);
        self.start = next;
        if self.number == 1 {
            let first = &self.buffer[self.last.0..self.last.1];
            if let Some(problem) = not_text(first) {
                return Err(DataError::file(self.file, problem));
            }
        }
        // Also within a file: files that begin with the mark are put one behind the other.
        if self.buffer[self.last.0..self.last.1].starts_with(&[0xef, 0xbb, 0xbf]) {
            self.last.0 += 3;
        }
        Ok(&self.buffer[self.last.0..self.last.1])
    }

    /// Reads more, behind what is not yet a line. The last line is forgotten.
    fn fill(&mut self) -> Result<(), DataError> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.buffer.len() {
            let (length, most) = (self.buffer.len(), self.limit + 2 * BLOCK);
            self.buffer.resize((2 * length).min(most).max(length + 1), 0);
        }
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.done = true,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => {
                    let problem = FileProblem::Read { line: self.number, reason: e.to_string() };
                    return Err(DataError::file(self.file, problem));
                }
            }
            return Ok(());
        }
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
