//! A file record by record, for predicting and measuring: nothing is kept, so a table of any length
//! takes the same memory. Columns that no entry declares are not read here: the model has its
//! features, and what else a table holds changes no prediction. A caller may ask for columns to be
//! handed on as they are, declared or not.

use super::delimited::FieldLayout;
use super::lines::Lines;
use super::records::{Record, Records};
use super::{Format, ReadOptions, libsvm, open, ready};
use crate::error::FileProblem;
use crate::filling::Filling;
#[cfg(feature = "parquet")]
use crate::{Cell, day};
use crate::{DataError, EncodedRow, Purpose, Schema, Undeclared};
use std::io::Read;
use std::path::Path;

/// A cell that is handed on as it is.
#[derive(Debug, Clone, PartialEq)]
pub enum KeptCell {
    /// A null of a Parquet file; a text file has none, and an empty field is an empty text.
    Missing,
    /// A field of text, as bytes.
    Text(Vec<u8>),
    /// A floating-point number.
    Number(f64),
    /// A whole number, exactly.
    Whole(i128),
    /// A field that is true or false.
    Flag(bool),
}

/// The type of the fields of a kept column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptKind {
    /// Text: every column of a text file.
    Text,
    /// Numbers.
    Number,
    /// Integers of up to 64 bits.
    Whole,
    /// Integers of up to 64 bits that are not negative.
    Unsigned,
    /// Truth values.
    Flag,
}

/// What is known before the first record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// What the columns that were asked for hold, in that order.
    pub kept: Vec<KeptKind>,
    /// Columns of the file that nobody declared and nobody asked for.
    pub unread: usize,
}

/// Who is told. `false` ends the reading.
pub trait Visitor {
    /// Before the first record.
    fn head(&mut self, head: Head) -> bool;
    /// A record: its features, its target where the purpose is [`Purpose::Fit`], and the cells to
    /// hand on.
    fn record(&mut self, row: &EncodedRow, kept: &[KeptCell]) -> bool;
}

/// Reads a file, or standard input under the name `-`, and keeps nothing of it.
pub fn visit(
    path: &Path,
    reading: impl Into<ReadOptions>,
    schema: &Schema,
    purpose: Purpose,
    keep: &[String],
    visitor: &mut dyn Visitor,
) -> Result<(), DataError> {
    let schema = &Schema { undeclared: Undeclared::Ignore, ..schema.clone() };
    ready(schema, purpose)?;
    let (file, piped) = (open::name(path), open::is_standard(path));
    open::no_folder(path)?;
    let reading = reading.into();
    let format =
        Format::decide(path, reading.format, schema).map_err(|p| DataError::file(&file, p))?;
    let mut filling = Filling::new(schema, purpose);
    match format {
        Format::Parquet if piped => {
            Err(DataError::file(&file, FileProblem::NotFromStandardInput("a Parquet file")))
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => {
            let source = open::plain(path)?;
            super::parquet::sound(&file, || parquet(source, &file, &mut filling, keep, visitor))
        }
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(DataError::file(&file, FileProblem::NoParquet)),
        Format::Libsvm => {
            if let Some(name) = keep.first() {
                return Err(DataError::file(&file, FileProblem::NoSuchColumn(name.clone())));
            }
            let lines = Lines::new(open::open(path)?, &file, reading.limits());
            if visitor.head(Head { kept: Vec::new(), unread: 0 }) {
                let end =
                    |filling: &mut Filling<'_>| Ok(filling.hand_on(|row| visitor.record(row, &[])));
                libsvm::each(lines, &mut filling, false, end)?;
                if filling.records() == 0 {
                    return Err(DataError::file(&file, FileProblem::Empty));
                }
            }
            Ok(())
        }
        Format::Csv | Format::Tsv => {
            let delimiter = format.delimiter(schema)?;
            let records = Records::new(open::open(path)?, &file, delimiter, reading.limits());
            delimited(records, &mut filling, keep, visitor)
        }
    }
}

fn delimited<R: Read>(
    mut records: Records<'_, R>,
    filling: &mut Filling<'_>,
    keep: &[String],
    visitor: &mut dyn Visitor,
) -> Result<(), DataError> {
    let (schema, file) = (filling.schema, records.file());
    let mut record = Record::default();
    if !records.next(&mut record)? {
        return Err(DataError::file(file, FileProblem::Empty));
    }
    let (layout, names) = if schema.header() {
        let names = record
            .fields()
            .map(|n| if schema.trim() { n.trim_ascii() } else { n }.to_vec())
            .collect();
        (FieldLayout::from_header(&record, schema, &filling.encoder, file)?, names)
    } else {
        let layout = FieldLayout::by_position(&record, filling, file, records.line())?;
        let names = layout.names(schema);
        (layout, names)
    };
    let fields = wanted(&names, keep, file)?;
    let mut pending = !schema.header();
    records.single = layout.fields == 1;
    let head = Head {
        kept: vec![KeptKind::Text; keep.len()],
        unread: if schema.header() { unread(&names, schema, &fields) } else { 0 },
    };
    if !visitor.head(head) {
        return Ok(());
    }
    let mut kept = vec![KeptCell::Missing; keep.len()];
    loop {
        if !std::mem::take(&mut pending) && !records.next(&mut record)? {
            break;
        }
        layout.put(&record, filling, file, records.line())?;
        for (cell, &field) in kept.iter_mut().zip(&fields) {
            put_text(cell, record.field(field));
        }
        if !filling.hand_on(|row| visitor.record(row, &kept)) {
            return Ok(());
        }
    }
    if filling.records() == 0 { Err(DataError::file(file, FileProblem::NoRecords)) } else { Ok(()) }
}

/// Keeps the place in memory of the text before.
fn put_text(cell: &mut KeptCell, text: &[u8]) {
    match cell {
        KeptCell::Text(old) => {
            old.clear();
            old.extend_from_slice(text);
        }
        other => *other = KeptCell::Text(text.to_vec()),
    }
}

/// Where the columns are that a caller asked for.
fn wanted(names: &[Vec<u8>], keep: &[String], file: &str) -> Result<Vec<usize>, DataError> {
    let find = |name: &String| {
        let mut at =
            names.iter().enumerate().filter(|(_, there)| there.as_slice() == name.as_bytes());
        match (at.next(), at.next()) {
            (Some((field, _)), None) => Ok(field),
            (Some(_), Some(_)) => {
                Err(DataError::file(file, FileProblem::DuplicateColumn(name.clone())))
            }
            (None, _) => Err(DataError::file(file, FileProblem::NoSuchColumn(name.clone()))),
        }
    };
    keep.iter().map(find).collect()
}

fn unread(names: &[Vec<u8>], schema: &Schema, wanted: &[usize]) -> usize {
    let declared: std::collections::HashSet<&[u8]> =
        schema.columns().iter().map(|column| column.name().as_bytes()).collect();
    let is_unread = |(field, name): &(usize, &Vec<u8>)| {
        !declared.contains(name.as_slice()) && !wanted.contains(field)
    };
    names.iter().enumerate().filter(is_unread).count()
}

#[cfg(feature = "parquet")]
fn parquet(
    source: std::fs::File,
    file: &str,
    filling: &mut Filling<'_>,
    keep: &[String],
    visitor: &mut dyn Visitor,
) -> Result<(), DataError> {
    let schema = filling.schema;
    let source = super::parquet::ParquetFile::open(source, file)?;
    let names: Vec<Vec<u8>> = source.names().into_iter().map(String::into_bytes).collect();
    let heads: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
    let columns = super::delimited::place(&heads, schema, &filling.encoder, file)?;
    let fields = wanted(&names, keep, file)?;
    let unreadable = |column: &str, found| {
        DataError::file(file, FileProblem::ColumnType { column: column.into(), found })
    };
    for &(slot, leaf) in &columns {
        let column = &schema.columns()[slot];
        source.readable(leaf, column.role()).map_err(|found| unreadable(column.name(), found))?;
    }
    let kinds = keep
        .iter()
        .zip(&fields)
        .map(|(name, &leaf)| source.kind(leaf).map_err(|found| unreadable(name, found)));
    let kinds = kinds.collect::<Result<Vec<_>, _>>()?;
    let head = Head { kept: kinds.clone(), unread: unread(&names, schema, &fields) };
    if !visitor.head(head) {
        return Ok(());
    }
    let leaves: Vec<usize> = columns.iter().map(|&(_, leaf)| leaf).chain(fields).collect();
    let mut kept = vec![KeptCell::Missing; keep.len()];
    let mut goes_on = true;
    let records = source.each(&leaves, |record, column, cell| {
        if !goes_on {
            return Err(DataError::file(file, FileProblem::Empty));
        }
        let slot = columns.get(column).map(|&(slot, _)| slot);
        let name = || match slot {
            Some(slot) => schema.columns()[slot].name(),
            None => &keep[column - columns.len()],
        };
        let cell = cell.map_err(|p| DataError::cell(file, record, name(), p))?;
        match slot {
            Some(slot) => filling.put(slot, cell, file, record)?,
            None => kept[column - columns.len()].put(cell, kinds[column - columns.len()]),
        }
        if column + 1 == leaves.len() {
            goes_on = filling.hand_on(|row| visitor.record(row, &kept));
        }
        Ok(())
    });
    match records {
        // Whoever was told has had enough.
        Err(_) if !goes_on => Ok(()),
        Err(error) => Err(error),
        Ok(0) => Err(DataError::file(file, FileProblem::NoRecords)),
        Ok(_) => Ok(()),
    }
}

#[cfg(feature = "parquet")]
impl KeptCell {
    fn put(&mut self, cell: Cell<'_>, kind: KeptKind) {
        match cell {
            // One of a column with decimal places that has none.
            Cell::Whole(n) if kind == KeptKind::Number => *self = KeptCell::Number(n as f64),
            Cell::Text(text) => put_text(self, text),
            Cell::Day(at) | Cell::Moment(at) => {
                put_text(self, day::text(at.clamp(day::FIRST, day::LAST)).as_bytes())
            }
            Cell::Missing => *self = KeptCell::Missing,
            Cell::Number(x) | Cell::Rounded(x) => *self = KeptCell::Number(x),
            Cell::Single(x) => *self = KeptCell::Number(f64::from(x)),
            Cell::Whole(n) => *self = KeptCell::Whole(n),
            Cell::Flag(b) => *self = KeptCell::Flag(b),
        }
    }
}
