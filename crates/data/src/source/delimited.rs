//! CSV, TSV and their kin.

use super::blocks::FileBlocks;
use super::ready;
use super::record_file::{
    CellConsumer, FileHead, PlacedColumns, RecordBlock, RecordFile, TextLayout, parsed,
};
use super::records::{Record, Records};
use crate::error::{FileProblem, LineProblem};
use crate::filling::Filling;
use crate::{DataError, Encoder, Purpose, Role, Schema, Table, Undeclared};
use std::collections::HashMap;
use std::io::Read;

/// Reads delimited text. `file` is the name for messages.
pub fn parse_csv<R: Read>(
    reader: R,
    file: &str,
    schema: &Schema,
    delimiter: u8,
    purpose: Purpose,
) -> Result<Table, DataError> {
    ready(schema, purpose)?;
    let layout = TextLayout::with(delimiter, schema, purpose);
    parsed(DelimitedFile::open(reader, file, &layout)?, file, schema, purpose)
}

/// A file of fields between delimiters.
pub(super) struct DelimitedFile<'a, R> {
    blocks: FileBlocks<'a, R>,
    layout: &'a TextLayout,
    file: &'a str,
    head: FileHead,
    /// Fields of every record.
    fields: usize,
    /// What is left of the first block.
    first: Option<DelimitedBlock<'a>>,
}

/// Some records of such a file.
pub(super) struct DelimitedBlock<'a> {
    records: Records<'a>,
    /// One that was read already.
    read: Option<Record>,
    fields: usize,
}

impl<'a, R: Read> DelimitedFile<'a, R> {
    pub(super) fn open(
        reader: R,
        file: &'a str,
        layout: &'a TextLayout,
    ) -> Result<Self, DataError> {
        let TextLayout { delimiter, limits, .. } = *layout;
        let mut blocks = FileBlocks::new(reader, file, Some(delimiter), limits);
        let empty = || DataError::file(file, FileProblem::Empty);
        let mut records = Records::of(blocks.next()?.ok_or_else(empty)?, file, delimiter, limits);
        let mut record = Record::default();
        if !records.next(&mut record)? {
            return Err(empty());
        }
        let fields = record.len();
        records.single = fields == 1;
        let trimmed = |name: &[u8]| if layout.trim { name.trim_ascii() } else { name }.to_vec();
        let first = record.fields().map(trimmed).collect();
        let (head, read) = match layout.header {
            true => (FileHead::Names(first), None),
            false => (FileHead::Fields { first, line: records.line() }, Some(record)),
        };
        let first = Some(DelimitedBlock { records, read, fields });
        Ok(Self { blocks, layout, file, head, fields, first })
    }
}

impl<'a, R: Read> RecordFile for DelimitedFile<'a, R> {
    type Block = DelimitedBlock<'a>;

    fn head(&self) -> &FileHead {
        &self.head
    }

    fn next(&mut self, _: &[usize]) -> Result<Option<Self::Block>, DataError> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let TextLayout { delimiter, limits, .. } = *self.layout;
        let (file, fields) = (self.file, self.fields);
        Ok(self.blocks.next()?.map(|block| {
            let mut records = Records::of(block, file, delimiter, limits);
            records.single = fields == 1;
            DelimitedBlock { records, read: None, fields }
        }))
    }
}

impl RecordBlock for DelimitedBlock<'_> {
    fn each(
        mut self,
        columns: &[usize],
        consumer: &mut impl CellConsumer,
    ) -> Result<bool, DataError> {
        let mut is_read = self.read.is_some();
        let mut record = self.read.unwrap_or_default();
        while std::mem::take(&mut is_read) || self.records.next(&mut record)? {
            let line = self.records.line();
            let (found, expected) = (record.len(), self.fields);
            if found != expected {
                let problem = LineProblem::Ragged { found, expected };
                return Err(DataError::line(self.records.file(), line, problem));
            }
            for (column, &field) in columns.iter().enumerate() {
                consumer.text(line, column, record.field(field))?;
            }
            if !consumer.end()? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Without a header the schema lists the fields in order. A file for prediction may lack the columns
/// that prediction does not read. A name is empty where it cannot be told.
pub(super) fn by_position(
    count: usize,
    line: u64,
    filling: &Filling<'_>,
    file: &str,
) -> Result<PlacedColumns, DataError> {
    let Filling { schema, encoder, purpose, .. } = filling;
    let all = schema.columns();
    let read: Vec<usize> = (0..all.len()).filter(|&s| encoder.reads(s)).collect();
    // Either every unread column is left out, or only the target and the user are.
    let is_kept = |s: &usize| encoder.reads(*s) || matches!(all[*s].role(), Role::Ignored);
    let kept: Vec<usize> = (0..all.len()).filter(is_kept).collect();
    let mut known = vec![(0..all.len()).collect()];
    if *purpose == Purpose::Predict {
        known.extend([kept, read]);
    }
    let Some(present) = known.into_iter().find(|slots: &Vec<usize>| slots.len() == count) else {
        let problem = LineProblem::Ragged { found: count, expected: all.len() };
        return Err(DataError::line(file, line, problem));
    };
    let named = |&slot: &usize| match encoder.reads(slot) || count == all.len() {
        true => all[slot].name().as_bytes().to_vec(),
        false => Vec::new(),
    };
    let names = present.iter().map(named).collect();
    let fields = present.into_iter().enumerate().filter(|&(_, slot)| encoder.reads(slot));
    Ok((fields.map(|(field, slot)| (slot, field)).collect(), names))
}

/// (schema column, file column) for the columns that are read, in schema order; `names` are the
/// file's.
pub(crate) fn place(
    names: &[&[u8]],
    schema: &Schema,
    encoder: &Encoder,
    file: &str,
) -> Result<Vec<(usize, usize)>, DataError> {
    let slots: HashMap<&[u8], usize> =
        schema.columns().iter().enumerate().map(|(slot, c)| (c.name().as_bytes(), slot)).collect();
    let mut at: Vec<Option<usize>> = vec![None; schema.columns().len()];
    let mut undeclared = None;
    for (field, name) in names.iter().enumerate() {
        match slots.get(name) {
            Some(&slot) if at[slot].is_some() => {
                let name = schema.columns()[slot].name().into();
                return Err(DataError::file(file, FileProblem::DuplicateColumn(name)));
            }
            Some(&slot) => at[slot] = Some(field),
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
