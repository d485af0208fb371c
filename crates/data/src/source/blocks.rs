//! Text in blocks that end where a record ends, so that each can be read by itself. Where that is
//! depends on the quotes before it, so that one thread looks for it; most blocks hold no quote, and
//! then their last line end is found from behind.

use super::ReadLimits;
use super::records::FieldState;
use crate::DataError;
use crate::error::LineProblem;
use std::io::{self, Read};

/// Bytes of a block; one that holds no end of a record goes on until there is one.
const BLOCK: usize = 1 << 18;

/// Some records of a file.
pub(super) struct FileBlock {
    pub(super) bytes: Vec<u8>,
    /// Lines of the file before it.
    pub(super) before: u64,
    /// What ended the reading behind it.
    pub(super) failure: Option<io::Error>,
}

/// The blocks of a file.
pub(super) struct FileBlocks<'a, R> {
    reader: R,
    file: &'a str,
    limit: usize,
    /// What is between fields, which may be quoted; lines are records where there is none.
    delimiter: Option<u8>,
    /// What was read behind the last block.
    open: Vec<u8>,
    /// Lines before it.
    lines: u64,
    done: bool,
}

impl<'a, R: Read> FileBlocks<'a, R> {
    pub(super) fn new(reader: R, file: &'a str, delimiter: Option<u8>, limits: ReadLimits) -> Self {
        let limit = limits.line;
        Self { reader, file, limit, delimiter, open: Vec::new(), lines: 0, done: false }
    }

    /// The next block, `None` behind the last.
    pub(super) fn next(&mut self) -> Result<Option<FileBlock>, DataError> {
        if self.done {
            return Ok(None);
        }
        let mut bytes = std::mem::take(&mut self.open);
        let (mut failure, mut asked) = (None, false);
        let end = loop {
            match self.more(&mut bytes, asked) {
                Ok(true) => {}
                Ok(false) => self.done = true,
                Err(error) => (self.done, failure) = (true, Some(error)),
            }
            asked = true;
            if self.done {
                break bytes.len();
            }
            let end = without_blank(&bytes[..self.last_end(&bytes)]);
            if end > 0 {
                break end;
            }
            if bytes.len() > self.limit.max(BLOCK) {
                let blank = bytes.len() - bytes.trim_ascii_start().len();
                let line = self.lines + lines(&bytes[..blank]) + 1;
                return Err(DataError::line(self.file, line, LineProblem::TooLong(self.limit)));
            }
        };
        self.open = bytes.split_off(end);
        let before = self.lines;
        self.lines += lines(&bytes);
        Ok(Some(FileBlock { bytes, before, failure }))
    }

    /// Reads what is there, at most a block's worth, so that records are not kept waiting for those
    /// behind them. Where that was not enough, reads as much again; `false` at the end.
    fn more(&mut self, bytes: &mut Vec<u8>, again: bool) -> io::Result<bool> {
        let most = self.limit.max(BLOCK) + BLOCK;
        let wanted = BLOCK.max(2 * bytes.len()).min(most).max(bytes.len() + 1) - bytes.len();
        bytes.reserve_exact(wanted);
        if again {
            return Ok(self.reader.by_ref().take(wanted as u64).read_to_end(bytes)? == wanted);
        }
        let before = bytes.len();
        bytes.resize(before + wanted, 0);
        let count = loop {
            match self.reader.read(&mut bytes[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        bytes.truncate(before + *count.as_ref().unwrap_or(&0));
        Ok(count? > 0)
    }

    /// Behind the last record that is surely complete; 0 where there is none.
    fn last_end(&self, bytes: &[u8]) -> usize {
        let Some(delimiter) = self.delimiter else { return last_line_end(bytes) };
        let mut at = 0;
        while let Some(quote) = memchr::memchr(b'"', &bytes[at..]) {
            let start = at + last_line_end(&bytes[at..at + quote]);
            let mut state = FieldState::Start;
            let end = bytes[start..].iter().position(|&byte| {
                let is_end = matches!(byte, b'\n' | b'\r') && state != FieldState::Inside;
                // Whoever reads the record refuses what is behind a closed quote.
                state = state.next(byte, delimiter).unwrap_or(FieldState::Plain);
                is_end
            });
            match end.map(|end| start + end + 1) {
                Some(end) if bytes[end - 1] == b'\n' => at = end,
                Some(end) if end < bytes.len() => at = end + usize::from(bytes[end] == b'\n'),
                _ => return start,
            }
        }
        at + last_line_end(&bytes[at..])
    }
}

/// Behind the last end of a line; a carriage return at the end of `bytes` may be half of one.
fn last_line_end(bytes: &[u8]) -> usize {
    let whole = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    memchr::memrchr2(b'\n', b'\r', whole).map_or(0, |at| at + 1)
}

/// Where the blank lines begin that `bytes` end in: whether they are nothing is seen by what is
/// behind them.
fn without_blank(bytes: &[u8]) -> usize {
    let kept = bytes.trim_ascii_end().len();
    memchr::memchr2(b'\n', b'\r', &bytes[kept..]).map_or(0, |at| {
        let end = kept + at + 1;
        end + usize::from(bytes[end - 1] == b'\r' && bytes.get(end) == Some(&b'\n'))
    })
}

/// Ends of lines in `bytes`.
fn lines(bytes: &[u8]) -> u64 {
    let feeds = memchr::memchr_iter(b'\n', bytes).count();
    let returns = memchr::memchr_iter(b'\r', bytes);
    let alone = returns.filter(|&at| bytes.get(at + 1) != Some(&b'\n')).count();
    (feeds + alone) as u64
}
