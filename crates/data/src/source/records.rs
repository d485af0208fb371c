//! The records of delimited text, one at a time.
//!
//! Most lines of most files hold no quote: such a line is cut at its delimiters where it lies in
//! the buffer. A line with a quote in it is read byte by byte into a buffer of its own. Nothing is
//! lost without a word: a quote that is never closed, or that is closed in the middle of a field
//! because another one is missing, would swallow records and is refused; so is text that is not
//! UTF-8, and a record longer than the limit.

use super::ReadLimits;
use super::blocks::FileBlock;
use super::lines::TextLines;
use crate::DataError;
use crate::error::LineProblem;

/// Bytes that are cut at a time.
const CUT: usize = 64;

/// The fields of one record.
#[derive(Debug, Default)]
pub(super) struct Record {
    bytes: Vec<u8>,
    /// Where each field ends in `bytes`; one delimiter lies between two fields of a line without
    /// quotes.
    ends: Vec<usize>,
    gap: usize,
}

impl Record {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn field(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] + self.gap };
        &self.bytes[start..self.ends[i]]
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|i| self.field(i))
    }

    fn is_blank(&self) -> bool {
        self.len() == 1 && self.gap == 1 && self.field(0).trim_ascii().is_empty()
    }

    /// A line without quotes, cut at `delimiter`.
    fn cut(&mut self, line: &[u8], delimiter: u8) {
        self.bytes.clear();
        self.bytes.extend_from_slice(line);
        self.ends.clear();
        self.gap = 1;
        // No branch for each byte: where short fields end cannot be foreseen. Every place is written
        // down, and stays where there is a delimiter.
        let mut found = [0; CUT];
        for (block, bytes) in line.chunks(CUT).enumerate() {
            let mut n = 0;
            for (at, &byte) in bytes.iter().enumerate() {
                found[n] = block * CUT + at;
                n += usize::from(byte == delimiter);
            }
            self.ends.extend_from_slice(&found[..n]);
        }
        self.ends.push(line.len());
    }
}

/// The records of a file, blank lines left out where a record has more than one field.
pub(super) struct Records<'a> {
    lines: TextLines<'a>,
    delimiter: u8,
    /// No byte of them is a quote, a zero or outside of ASCII: nothing has to be looked for line by line.
    plain: bool,
    /// The line where the last record starts.
    line: u64,
    /// A record has one field, so that an empty line might be one.
    pub(super) single: bool,
}

impl<'a> Records<'a> {
    /// The records of a block.
    pub(super) fn of(block: FileBlock, file: &'a str, delimiter: u8, limits: ReadLimits) -> Self {
        let plain = memchr::memchr2(b'"', 0, &block.bytes).is_none() && block.bytes.is_ascii();
        Self { lines: TextLines::of(block, file, limits), delimiter, plain, line: 0, single: false }
    }

    pub(super) fn file(&self) -> &'a str {
        self.lines.file()
    }

    /// The line where the last record starts, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Reads the next record; `false` at the end.
    pub(super) fn next(&mut self, record: &mut Record) -> Result<bool, DataError> {
        let mut blank = None;
        loop {
            let Some(line) = self.lines.next()? else { return Ok(false) };
            let plain = self.plain || memchr::memchr(b'"', line).is_none();
            if plain {
                record.cut(line, self.delimiter);
            }
            self.line = self.lines.number();
            if !plain {
                self.quoted(record)?;
            }
            if !record.is_blank() {
                break;
            }
            blank = blank.or(Some(self.line));
        }
        // An empty line at the end of a file is nothing; between the records of a single column it
        // may be one.
        if let Some(line) = blank.filter(|_| self.single) {
            return Err(self.refuse(line, LineProblem::Blank));
        }
        if self.plain {
            return Ok(true);
        }
        if memchr::memchr(0, &record.bytes).is_some() {
            return Err(self.refuse(self.line, LineProblem::ZeroBytes));
        }
        let ascii = record.bytes.is_ascii();
        if !ascii && record.fields().any(|field| std::str::from_utf8(field).is_err()) {
            return Err(self.refuse(self.line, LineProblem::NotUtf8));
        }
        Ok(true)
    }

    /// The record that starts with the line just read, quotes taken off; it may go on over further
    /// lines.
    fn quoted(&mut self, record: &mut Record) -> Result<(), DataError> {
        record.bytes.clear();
        record.ends.clear();
        record.gap = 0;
        let (mut state, mut length) = (FieldState::Start, 0);
        loop {
            let line = self.lines.last();
            length += line.len() + 1;
            for &byte in line {
                let next = state
                    .next(byte, self.delimiter)
                    .ok_or_else(|| self.refuse(self.line, LineProblem::BehindQuote))?;
                match (state, next) {
                    (_, FieldState::Plain)
                    | (FieldState::Inside | FieldState::Closed, FieldState::Inside) => {
                        record.bytes.push(byte);
                    }
                    (_, FieldState::Start) => record.ends.push(record.bytes.len()),
                    // A quote that opens or closes.
                    (_, FieldState::Inside | FieldState::Closed) => {}
                }
                state = next;
            }
            if state != FieldState::Inside {
                record.ends.push(record.bytes.len());
                return Ok(());
            }
            record.bytes.push(b'\n');
            if length > self.lines.limit() {
                return Err(self.refuse(self.line, LineProblem::TooLong(self.lines.limit())));
            }
            if self.lines.next()?.is_none() {
                return Err(self.refuse(self.line, LineProblem::Unclosed));
            }
        }
    }

    fn refuse(&self, line: u64, problem: LineProblem) -> DataError {
        DataError::line(self.file(), line, problem)
    }
}

/// Where in a field.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum FieldState {
    Start,
    Plain,
    Inside,
    /// Behind a quote that closes the field, or is the first of two.
    Closed,
}

impl FieldState {
    /// Behind `byte`; `None` where it may not stand. Two quotes inside a quoted field are one.
    pub(super) fn next(self, byte: u8, delimiter: u8) -> Option<Self> {
        Some(match self {
            Self::Start if byte == b'"' => Self::Inside,
            Self::Start | Self::Plain | Self::Closed if byte == delimiter => Self::Start,
            Self::Start | Self::Plain => Self::Plain,
            Self::Inside if byte == b'"' => Self::Closed,
            Self::Inside => Self::Inside,
            Self::Closed if byte == b'"' => Self::Inside,
            Self::Closed => return None,
        })
    }
}
