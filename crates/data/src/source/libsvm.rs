//! LIBSVM: `label index:value …`, one record per line, indices from 1, `#` starts a comment.

use super::blocks::{FileBlock, FileBlocks};
use super::lines::TextLines;
use super::ready;
use super::record_file::{CellConsumer, FileHead, RecordBlock, RecordFile, TextLayout, parsed};
use crate::error::{FileProblem, LineProblem};
use crate::{Cell, CellProblem, DataError, Purpose, Schema, SchemaError, Table, number};
use std::io::Read;

/// Reads LIBSVM text under a schema with `features`. `file` is the name for messages.
///
/// Indices must ascend, as the format says. For prediction the label is not looked at and may be
/// absent.
pub fn parse_libsvm<R: Read>(
    reader: R,
    file: &str,
    schema: &Schema,
    purpose: Purpose,
) -> Result<Table, DataError> {
    ready(schema, purpose)?;
    schema.features().ok_or(SchemaError::NoFeatures)?;
    if schema.weight().is_some() {
        return Err(SchemaError::WeightInLibsvm.into());
    }
    let layout = TextLayout::with(b' ', schema, purpose);
    parsed(LibsvmFile::open(reader, file, &layout), file, schema, purpose)
}

/// A file of labels and pairs.
pub(super) struct LibsvmFile<'a, R> {
    blocks: FileBlocks<'a, R>,
    layout: &'a TextLayout,
    file: &'a str,
    /// There was a record in what is read.
    begun: bool,
}

/// Some lines of such a file.
pub(super) struct LibsvmBlock<'a> {
    block: FileBlock,
    layout: &'a TextLayout,
    file: &'a str,
    begun: bool,
}

impl<'a, R: Read> LibsvmFile<'a, R> {
    pub(super) fn open(reader: R, file: &'a str, layout: &'a TextLayout) -> Self {
        let blocks = FileBlocks::new(reader, file, None, layout.limits);
        Self { blocks, layout, file, begun: false }
    }
}

impl<'a, R: Read> RecordFile for LibsvmFile<'a, R> {
    type Block = LibsvmBlock<'a>;

    fn head(&self) -> &FileHead {
        &FileHead::Pairs
    }

    fn no_records(&self) -> FileProblem {
        FileProblem::Empty
    }

    fn next(&mut self, _: &[usize]) -> Result<Option<Self::Block>, DataError> {
        let Some(block) = self.blocks.next()? else { return Ok(None) };
        let begun = self.begun;
        self.begun = begun || has_record(&block.bytes);
        Ok(Some(LibsvmBlock { block, layout: self.layout, file: self.file, begun }))
    }
}

/// Whether a line is neither blank nor a comment alone.
fn has_record(text: &[u8]) -> bool {
    text.split(|byte| matches!(byte, b'\n' | b'\r')).any(|line| {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii_start();
        line.first().is_some_and(|&first| first != b'#')
    })
}

impl RecordBlock for LibsvmBlock<'_> {
    fn each(self, columns: &[usize], consumer: &mut impl CellConsumer) -> Result<bool, DataError> {
        let LibsvmBlock { block, layout, file, mut begun } = self;
        let mut lines = TextLines::of(block, file, layout.limits);
        let mut pairs: Vec<(u32, f64)> = Vec::new();
        let mut number = lines.number();
        while let Some(text) = lines.next()? {
            number += 1;
            let refuse = |problem| DataError::line(file, number, problem);
            if !text.is_ascii() && std::str::from_utf8(text).is_err() {
                return Err(refuse(LineProblem::NotUtf8));
            }
            let record = without_comment(text, begun).map_err(refuse)?;
            let mut items =
                record.split(u8::is_ascii_whitespace).filter(|i| !i.is_empty()).peekable();
            let Some(first) = items.peek() else { continue };
            let unlabelled = layout.unlabelled && first.contains(&b':');
            if !unlabelled
                && let Some(label) = items.next()
                && !columns.is_empty()
            {
                consumer.cell(number, 0, Ok(Cell::Text(label))).map_err(of_label)?;
            }
            pairs.clear();
            for (i, item) in items.enumerate() {
                pairs.push(pair(item, i + 1, layout.features).map_err(refuse)?);
            }
            if pairs.windows(2).any(|w| w[0].0 == w[1].0) {
                return Err(refuse(LineProblem::IndexTwice));
            }
            // Two records that have run into one, `…:0.5\n-1 1:…` by `…:0.5e-1 1:…`, are seen by this
            // alone.
            if let Some(at) = pairs.windows(2).position(|w| w[0].0 > w[1].0) {
                return Err(refuse(LineProblem::Descending(at + 2)));
            }
            pairs.iter().for_each(|&(index, value)| consumer.pair(index, value));
            begun = true;
            if !consumer.end()? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Says of a class that it is a label.
fn of_label(error: DataError) -> DataError {
    match error {
        DataError::Cell { place, problem: CellProblem::OutsideClasses(allowed) } => {
            DataError::Cell { place, problem: CellProblem::OutsideLabels(allowed) }
        }
        other => other,
    }
}

/// A line up to its comment. One damaged byte can make a comment of a record or of its end, and
/// what it holds would be lost; so a comment may not look like items, must stand apart, and has no
/// line of its own behind the first record.
fn without_comment(line: &[u8], begun: bool) -> Result<&[u8], LineProblem> {
    let Some(at) = memchr::memchr(b'#', line) else { return Ok(line) };
    let (record, comment) = line.split_at(at);
    let is_item = |word: &[u8]| {
        let colon = word.iter().position(|&b| b == b':');
        colon.is_some_and(|colon| number::parse(&word[colon + 1..]).is_some())
    };
    let alone = record.trim_ascii().is_empty();
    let apart = record.last().is_none_or(u8::is_ascii_whitespace);
    if (alone && begun) || !apart || comment.split(u8::is_ascii_whitespace).any(is_item) {
        return Err(LineProblem::Comment);
    }
    Ok(record)
}

/// `index:value` with the index brought to 0, 1, 2, ….
fn pair(item: &[u8], at: usize, features: u32) -> Result<(u32, f64), LineProblem> {
    let colon = item.iter().position(|&b| b == b':').ok_or(LineProblem::Pair(at))?;
    let (index, value) = (&item[..colon], &item[colon + 1..]);
    if index.is_empty() || !index.iter().all(u8::is_ascii_digit) {
        return Err(LineProblem::Pair(at));
    }
    // Saturating: an index of fifty digits is beyond every width, and must not wrap into one.
    let index =
        index.iter().fold(0_u64, |n, d| n.saturating_mul(10).saturating_add(u64::from(d - b'0')));
    if index == 0 {
        return Err(LineProblem::IndexZero(at));
    }
    if index > u64::from(features) {
        return Err(LineProblem::IndexBeyond { item: at, features });
    }
    let value = number::parse(value).ok_or(LineProblem::NotNumber(at))?;
    if !value.is_finite() {
        return Err(LineProblem::NotFinite(at));
    }
    Ok((index as u32 - 1, value))
}
