//! LIBSVM: `label index:value …`, one record per line, indices from 1, `#` starts a comment.

use super::ready;
use crate::encode::Builder;
use crate::error::{FileProblem, LineProblem};
use crate::{Cell, DataError, Encoder, Purpose, Row, Schema, SchemaError, Table, number};
use std::io::{BufRead, BufReader, Read};

/// Reads LIBSVM text under a schema with `features`. `file` is the name for messages.
///
/// Indices need not ascend in the file. For prediction the label is not looked at and may be absent.
pub fn parse_libsvm<R: Read>(
    reader: R,
    file: &str,
    schema: &Schema,
    purpose: Purpose,
) -> Result<Table, DataError> {
    let mut builder = Builder::new(schema, purpose);
    each(reader, file, schema, purpose, |row| {
        builder.push(row);
        true
    })?;
    Ok(builder.finish())
}

/// Hands every record to `f` until it says `false`.
pub(super) fn each<R: Read>(
    reader: R,
    file: &str,
    schema: &Schema,
    purpose: Purpose,
    mut f: impl FnMut(&Row) -> bool,
) -> Result<(), DataError> {
    ready(schema, purpose)?;
    let features = schema.features().ok_or(SchemaError::NoFeatures)?;
    let mut encoder = Encoder::new(schema, purpose);
    let target = schema.columns().iter().position(|c| matches!(c.role(), crate::Role::Target(_)));
    let mut reader = BufReader::with_capacity(1 << 16, reader);
    let mut text = Vec::new();
    let mut row = Row::default();
    let mut pairs: Vec<(u32, f64)> = Vec::new();
    let mut line = 0_u64;
    let mut empty = true;
    loop {
        text.clear();
        let read = reader
            .read_until(b'\n', &mut text)
            .map_err(|e| DataError::file(file, FileProblem::Read { line, reason: e.to_string() }))?;
        if read == 0 {
            break;
        }
        line += 1;
        let record = text.split(|&b| b == b'#').next().unwrap_or_default();
        let mut items = record.split(u8::is_ascii_whitespace).filter(|i| !i.is_empty()).peekable();
        let Some(first) = items.peek() else { continue };
        row.clear();
        let unlabelled = purpose == Purpose::Predict && first.contains(&b':');
        if !unlabelled && let (Some(label), Some(slot)) = (items.next(), target) {
            encoder
                .put(slot, Cell::Text(label), &mut row)
                .map_err(|p| DataError::cell(file, line, schema.columns()[slot].name(), p))?;
        }
        pairs.clear();
        for (i, item) in items.enumerate() {
            pairs.push(pair(item, i + 1, features).map_err(|p| DataError::line(file, line, p))?);
        }
        if !pairs.is_sorted_by_key(|p| p.0) {
            pairs.sort_unstable_by_key(|p| p.0);
        }
        if pairs.windows(2).any(|w| w[0].0 == w[1].0) {
            return Err(DataError::line(file, line, LineProblem::IndexTwice));
        }
        for &(index, value) in &pairs {
            row.push(index, value);
        }
        encoder.finish(&mut row);
        empty = false;
        if !f(&row) {
            break;
        }
    }
    if empty { Err(DataError::file(file, FileProblem::Empty)) } else { Ok(()) }
}

/// `index:value` with the index brought to 0, 1, 2, ….
fn pair(item: &[u8], at: usize, features: u32) -> Result<(u32, f64), LineProblem> {
    let colon = item.iter().position(|&b| b == b':').ok_or(LineProblem::Pair(at))?;
    let (index, value) = (&item[..colon], &item[colon + 1..]);
    if index.is_empty() || !index.iter().all(u8::is_ascii_digit) {
        return Err(LineProblem::Pair(at));
    }
    // Saturating: an index of fifty digits is beyond every width, and must not wrap into one.
    let index = index.iter().fold(0_u64, |n, d| n.saturating_mul(10).saturating_add(u64::from(d - b'0')));
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
