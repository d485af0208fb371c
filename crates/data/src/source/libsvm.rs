//! LIBSVM: `label index:value …`, one record per line, indices from 1, `#` starts a comment.

use super::blocks::FileBlocks;
use super::lines::Lines;
use super::{ReadLimits, parallel, ready};
use crate::error::{FileProblem, LineProblem};
use crate::filling::Filling;
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
    let mut filling = Filling::new(schema, purpose);
    read_libsvm(reader, file, &mut filling, ReadLimits::default())?;
    Ok(filling.finish())
}

pub(super) fn read_libsvm<R: Read>(
    reader: R,
    file: &str,
    filling: &mut Filling<'_>,
    limits: ReadLimits,
) -> Result<(), DataError> {
    let mut blocks = FileBlocks::new(reader, file, None, limits);
    let before = filling.records();
    let read = |block, part: &mut Filling<'_>, begun| {
        let keep = |part: &mut Filling<'_>| part.end(file).map(|()| true);
        each(Lines::of(block, file, limits), part, begun, keep)
    };
    // A comment may have a line of its own before the first record.
    while filling.records() == before {
        let Some(block) = blocks.next()? else {
            return Err(DataError::file(file, FileProblem::Empty));
        };
        read(block, filling, false)?;
    }
    parallel::encode(filling, file, || blocks.next(), |block, part| read(block, part, true))
}

/// Tells `end` of every record that is complete, until it says `false`. `begun` is whether there
/// were records before these lines.
pub(super) fn each<R: Read>(
    mut lines: Lines<'_, R>,
    filling: &mut Filling<'_>,
    begun: bool,
    mut end: impl FnMut(&mut Filling<'_>) -> Result<bool, DataError>,
) -> Result<(), DataError> {
    let (schema, file) = (filling.schema, lines.file());
    let features = schema.features().ok_or(SchemaError::NoFeatures)?;
    let target = schema.columns().iter().position(|c| matches!(c.role(), crate::Role::Target(_)));
    let before = filling.records();
    let mut pairs: Vec<(u32, f64)> = Vec::new();
    let mut number = lines.number();
    while let Some(text) = lines.next()? {
        number += 1;
        let refuse = |problem| DataError::line(file, number, problem);
        if !text.is_ascii() && std::str::from_utf8(text).is_err() {
            return Err(refuse(LineProblem::NotUtf8));
        }
        let record = without_comment(text, begun || filling.records() > before).map_err(refuse)?;
        let mut items = record.split(u8::is_ascii_whitespace).filter(|i| !i.is_empty()).peekable();
        let Some(first) = items.peek() else { continue };
        let unlabelled = filling.purpose == Purpose::Predict && first.contains(&b':');
        if !unlabelled && let (Some(label), Some(slot)) = (items.next(), target) {
            filling.put(slot, Cell::Text(label), file, number).map_err(|error| match error {
                DataError::Cell { place, problem: CellProblem::OutsideClasses(allowed) } => {
                    DataError::Cell { place, problem: CellProblem::OutsideLabels(allowed) }
                }
                other => other,
            })?;
        }
        pairs.clear();
        for (i, item) in items.enumerate() {
            pairs.push(pair(item, i + 1, features).map_err(refuse)?);
        }
        if pairs.windows(2).any(|w| w[0].0 == w[1].0) {
            return Err(refuse(LineProblem::IndexTwice));
        }
        // Two records that have run into one, `…:0.5\n-1 1:…` by `…:0.5e-1 1:…`, are seen by this
        // alone.
        if let Some(at) = pairs.windows(2).position(|w| w[0].0 > w[1].0) {
            return Err(refuse(LineProblem::Descending(at + 2)));
        }
        for &(index, value) in &pairs {
            filling.push(index, value);
        }
        if !end(filling)? {
            return Ok(());
        }
    }
    Ok(())
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
