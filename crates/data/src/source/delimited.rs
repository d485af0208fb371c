//! CSV, TSV and their kin.

use super::blocks::FileBlocks;
use super::records::{Record, Records};
use super::{Depth, ReadLimits, parallel, ready};
use crate::error::{FileProblem, LineProblem};
use crate::filling::Filling;
use crate::{Cell, DataError, Encoder, Purpose, Schema, Table, Undeclared};
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
    let mut filling = Filling::new(schema, purpose);
    read_csv(reader, file, &mut filling, delimiter, ReadLimits::default(), Depth::Values)?;
    Ok(filling.finish())
}

pub(super) fn read_csv<R: Read>(
    reader: R,
    file: &str,
    filling: &mut Filling<'_>,
    delimiter: u8,
    limits: ReadLimits,
    depth: Depth,
) -> Result<(), DataError> {
    let schema = filling.schema;
    let mut blocks = FileBlocks::new(reader, file, Some(delimiter), limits);
    let empty = || DataError::file(file, FileProblem::Empty);
    let mut records = Records::of(blocks.next()?.ok_or_else(empty)?, file, delimiter, limits);
    let mut record = Record::default();
    if !records.next(&mut record)? {
        return Err(empty());
    }
    let before = filling.records();
    let layout = if schema.header() {
        FieldLayout::from_header(&record, schema, &filling.encoder, file)?
    } else {
        FieldLayout::by_position(&record, filling, file, records.line())?
    };
    if depth == Depth::Header {
        return Ok(());
    }
    if !schema.header() {
        layout.put(&record, filling, file, records.line())?;
        filling.end(file)?;
    }
    layout.put_all(records, filling)?;
    let read = |block, part: &mut Filling<'_>| {
        layout.put_all(Records::of(block, file, delimiter, limits), part)
    };
    parallel::encode(filling, file, || blocks.next(), read)?;
    if filling.records() == before {
        return Err(DataError::file(file, FileProblem::NoRecords));
    }
    Ok(())
}

/// Which field of a record belongs to which schema column.
pub(super) struct FieldLayout {
    /// Fields per record.
    pub(super) fields: usize,
    /// (schema column, field), in schema order.
    pub(super) columns: Vec<(usize, usize)>,
}

impl FieldLayout {
    fn put_all<R: Read>(
        &self,
        mut records: Records<'_, R>,
        filling: &mut Filling<'_>,
    ) -> Result<(), DataError> {
        records.single = self.fields == 1;
        let mut record = Record::default();
        while records.next(&mut record)? {
            self.put(&record, filling, records.file(), records.line())?;
            filling.end(records.file())?;
        }
        Ok(())
    }

    /// The fields of a record that are read.
    pub(super) fn put(
        &self,
        record: &Record,
        filling: &mut Filling<'_>,
        file: &str,
        line: u64,
    ) -> Result<(), DataError> {
        self.check(record).map_err(|p| DataError::line(file, line, p))?;
        for &(slot, field) in &self.columns {
            filling.put(slot, Cell::Text(record.field(field)), file, line)?;
        }
        Ok(())
    }

    fn check(&self, record: &Record) -> Result<(), LineProblem> {
        let (found, expected) = (record.len(), self.fields);
        if found == expected { Ok(()) } else { Err(LineProblem::Ragged { found, expected }) }
    }

    /// What the schema calls the fields of a file without a header; empty where that cannot be
    /// told.
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
        record: &Record,
        schema: &Schema,
        encoder: &Encoder,
        file: &str,
    ) -> Result<Self, DataError> {
        let names: Vec<&[u8]> =
            record.fields().map(|n| if schema.trim() { n.trim_ascii() } else { n }).collect();
        let columns = place(&names, schema, encoder, file)?;
        Ok(Self { fields: names.len(), columns })
    }

    /// Without a header the schema lists the fields in order. A file for prediction may lack the
    /// columns that prediction does not read.
    pub(super) fn by_position(
        first: &Record,
        filling: &Filling<'_>,
        file: &str,
        line: u64,
    ) -> Result<Self, DataError> {
        let Filling { schema, encoder, purpose, .. } = filling;
        let all = schema.columns().len();
        let read: Vec<usize> = (0..all).filter(|&s| encoder.reads(s)).collect();
        if first.len() == all {
            return Ok(Self { fields: all, columns: read.into_iter().map(|s| (s, s)).collect() });
        }
        // Either every unread column is left out, or only the target and the user are.
        let kept: Vec<usize> = (0..all)
            .filter(|&s| {
                encoder.reads(s) || matches!(schema.columns()[s].role(), crate::Role::Ignored)
            })
            .collect();
        if *purpose == Purpose::Predict {
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
