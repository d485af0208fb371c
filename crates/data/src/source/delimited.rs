//! CSV, TSV and their kin.

use super::{Depth, ready};
use crate::encode::Builder;
use crate::error::{FileProblem, LineProblem};
use crate::{Cell, DataError, Encoder, Purpose, Row, Schema, Table, Undeclared};
use csv::{ByteRecord, ReaderBuilder};
use std::io::Read;

/// Reads delimited text. `file` is the name for messages.
pub fn parse_csv<R: Read>(
    reader: R,
    file: &str,
    schema: &Schema,
    delimiter: u8,
    purpose: Purpose,
) -> Result<Table, DataError> {
    read_csv(Records::new(reader, file, delimiter), schema, purpose, Depth::Values)
}

/// The records of a file, blank lines left out where a record has more than one field.
pub(super) struct Records<'a, R> {
    reader: csv::Reader<R>,
    file: &'a str,
    skip_blank: bool,
    /// The reader's line before the last record, and 1 if it counts behind because lines end in CR LF.
    before: u64,
    lag: Option<u64>,
}

impl<'a, R: Read> Records<'a, R> {
    pub(super) fn new(reader: R, file: &'a str, delimiter: u8) -> Self {
        // Every length is let through here and checked by the caller, whose message knows what is expected.
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .buffer_capacity(1 << 16)
            .from_reader(reader);
        Self { reader, file, skip_blank: true, before: 1, lag: None }
    }

    /// Reads the next record; `false` at the end.
    pub(super) fn next(&mut self, record: &mut ByteRecord) -> Result<bool, DataError> {
        loop {
            let first = self.reader.position().byte() == 0;
            self.before = self.reader.position().line() + self.lag.unwrap_or(0);
            let more = self.reader.read_byte_record(record).map_err(|e| {
                let reason = match e.into_kind() {
                    csv::ErrorKind::Io(e) => e.to_string(),
                    _ => "not readable as delimited text".into(),
                };
                DataError::file(self.file, FileProblem::Read { line: self.before - 1, reason })
            })?;
            if !more {
                return Ok(false);
            }
            if first {
                self.lag = Some(u64::from(self.reader.position().line() == 1 + breaks(record)));
            }
            let blank = record.len() == 1 && record[0].trim_ascii().is_empty();
            if !(blank && self.skip_blank) {
                return Ok(true);
            }
        }
    }

    /// A blank line is a record where a record has one field.
    pub(super) fn keep_blank_of_one(&mut self, fields: usize) {
        self.skip_blank = fields > 1;
    }

    /// The line where the last record starts. The reader knows where it was before the record, which is too
    /// early when blank lines were skipped, and where it is now, which is a record's length too late.
    pub(super) fn line(&self, record: &ByteRecord) -> u64 {
        let after = self.reader.position().line() + self.lag.unwrap_or(0);
        after.saturating_sub(breaks(record) + 1).max(self.before)
    }
}

/// Line breaks inside quoted fields.
fn breaks(record: &ByteRecord) -> u64 {
    record.as_slice().iter().filter(|&&b| b == b'\n').count() as u64
}

pub(super) fn read_csv<R: Read>(
    mut records: Records<'_, R>,
    schema: &Schema,
    purpose: Purpose,
    depth: Depth,
) -> Result<Table, DataError> {
    ready(schema, purpose)?;
    let file = records.file;
    let mut encoder = Encoder::new(schema, purpose);
    let mut builder = Builder::new(schema, purpose);
    let mut record = ByteRecord::new();
    if !records.next(&mut record)? {
        return Err(DataError::file(file, FileProblem::Empty));
    }
    let (layout, mut pending) = if schema.header() {
        (Layout::from_header(&record, schema, &encoder, file)?, false)
    } else {
        (Layout::by_position(&record, schema, purpose, &encoder, file, records.line(&record))?, true)
    };
    records.keep_blank_of_one(layout.fields);
    if depth == Depth::Header {
        return Ok(builder.finish());
    }
    let mut row = Row::default();
    let mut empty = true;
    loop {
        if !std::mem::take(&mut pending) && !records.next(&mut record)? {
            break;
        }
        layout.check(&record).map_err(|p| DataError::line(file, records.line(&record), p))?;
        row.clear();
        for &(slot, field) in &layout.columns {
            encoder.put(slot, Cell::Text(&record[field]), &mut row).map_err(|p| {
                DataError::cell(file, records.line(&record), schema.columns()[slot].name(), p)
            })?;
        }
        encoder.finish(&mut row);
        builder.push(&row);
        empty = false;
    }
    if empty {
        return Err(DataError::file(file, FileProblem::NoRecords));
    }
    Ok(builder.finish())
}

/// Which field of a record belongs to which schema column.
pub(super) struct Layout {
    /// Fields per record.
    pub(super) fields: usize,
    /// (schema column, field), in schema order.
    pub(super) columns: Vec<(usize, usize)>,
}

impl Layout {
    pub(super) fn check(&self, record: &ByteRecord) -> Result<(), LineProblem> {
        let (found, expected) = (record.len(), self.fields);
        if found == expected { Ok(()) } else { Err(LineProblem::Ragged { found, expected }) }
    }

    /// What the schema calls the fields of a file without a header; empty where that cannot be told.
    pub(super) fn names(&self, schema: &Schema) -> Vec<Vec<u8>> {
        let all = schema.columns().iter().map(|column| column.name().as_bytes().to_vec());
        if self.fields == schema.columns().len() {
            return all.collect();
        }
        let mut names = vec![Vec::new(); self.fields];
        for &(slot, field) in &self.columns {
            names[field] = schema.columns()[slot].name().as_bytes().to_vec();
        }
        names
    }

    pub(super) fn from_header(
        record: &ByteRecord,
        schema: &Schema,
        encoder: &Encoder,
        file: &str,
    ) -> Result<Self, DataError> {
        let names: Vec<&[u8]> =
            record.iter().map(|n| if schema.trim() { n.trim_ascii() } else { n }).collect();
        let columns = place(&names, schema, encoder, file)?;
        Ok(Self { fields: names.len(), columns })
    }

    /// Without a header the schema lists the fields in order. A file for prediction may lack the columns that
    /// prediction does not read.
    pub(super) fn by_position(
        first: &ByteRecord,
        schema: &Schema,
        purpose: Purpose,
        encoder: &Encoder,
        file: &str,
        line: u64,
    ) -> Result<Self, DataError> {
        let all = schema.columns().len();
        let read: Vec<usize> = (0..all).filter(|&s| encoder.reads(s)).collect();
        if first.len() == all {
            return Ok(Self { fields: all, columns: read.into_iter().map(|s| (s, s)).collect() });
        }
        // Either every unread column is left out, or only the target and the user are.
        let kept: Vec<usize> = (0..all)
            .filter(|&s| encoder.reads(s) || matches!(schema.columns()[s].role(), crate::Role::Ignored))
            .collect();
        if purpose == Purpose::Predict {
            for present in [kept, read] {
                if first.len() == present.len() {
                    let columns = present.iter().enumerate().filter(|&(_, &s)| encoder.reads(s));
                    return Ok(Self {
                        fields: present.len(),
                        columns: columns.map(|(f, &s)| (s, f)).collect(),
                    });
                }
            }
        }
        Err(DataError::line(file, line, LineProblem::Ragged { found: first.len(), expected: all }))
    }
}

/// (schema column, file column) for the columns that are read, in schema order; `names` are the file's.
pub(super) fn place(
    names: &[&[u8]],
    schema: &Schema,
    encoder: &Encoder,
    file: &str,
) -> Result<Vec<(usize, usize)>, DataError> {
    let mut at: Vec<Option<usize>> = vec![None; schema.columns().len()];
    let mut undeclared = None;
    for (field, name) in names.iter().enumerate() {
        match schema.columns().iter().position(|c| c.name().as_bytes() == *name) {
            Some(slot) if at[slot].is_some() => {
                let name = schema.columns()[slot].name().into();
                return Err(DataError::file(file, FileProblem::DuplicateColumn(name)));
            }
            Some(slot) => at[slot] = Some(field),
            None => undeclared = undeclared.or(Some(field + 1)),
        }
    }
    let mut columns = Vec::new();
    for (slot, found) in at.into_iter().enumerate() {
        match found {
            Some(field) if encoder.reads(slot) => columns.push((slot, field)),
            None if encoder.reads(slot) => {
                let name = schema.columns()[slot].name().into();
                return Err(DataError::file(file, FileProblem::MissingColumn(name)));
            }
            _ => {}
        }
    }
    if let Some(position) = undeclared.filter(|_| schema.undeclared() == Undeclared::Refuse) {
        let declared = schema.declared();
        return Err(DataError::file(file, FileProblem::UndeclaredColumn { position, declared }));
    }
    Ok(columns)
}
