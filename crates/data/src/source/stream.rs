//! A file record by record, for predicting and measuring: nothing is kept, so a table of any length takes the same
//! memory. Columns that no entry declares are not read here: the model has its features, and what else a table holds
//! changes no prediction. A caller may ask for columns to be handed on as they are, declared or not.

use super::delimited::{Layout, Records};
use super::{Format, libsvm, open, ready};
use crate::error::FileProblem;
use crate::{Cell, DataError, Encoder, Purpose, Row, Schema, Undeclared};
use csv::ByteRecord;
use std::io::Read;
use std::path::Path;

/// A cell that is handed on as it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kept {
    /// A null of a Parquet file; a text file has none, and an empty field is an empty text.
    Missing,
    /// Text.
    Text(Vec<u8>),
    /// A number.
    Number(f64),
    /// An integer.
    Whole(i128),
    /// A truth value.
    Flag(bool),
}

/// What a kept column holds.
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
    /// A record: its features, its target where the purpose is [`Purpose::Fit`], and the cells to hand on.
    fn record(&mut self, row: &Row, kept: &[Kept]) -> bool;
}

/// The name that stands for standard input.
const STANDARD_INPUT: &str = "-";

/// Reads a file, or standard input under the name `-`, and keeps nothing of it.
pub fn visit(
    path: &Path,
    format: Option<Format>,
    schema: &Schema,
    purpose: Purpose,
    keep: &[String],
    visitor: &mut dyn Visitor,
) -> Result<(), DataError> {
    let schema = &Schema { undeclared: Undeclared::Ignore, ..schema.clone() };
    ready(schema, purpose)?;
    let piped = path == Path::new(STANDARD_INPUT);
    let file = if piped { "standard input".to_owned() } else { path.display().to_string() };
    if !piped {
        open::no_folder(path)?;
    }
    // A stream has no name to tell its format; text is what is piped.
    let usual = if schema.features().is_some() { Format::Libsvm } else { Format::Csv };
    let format = Format::decide(path, format.or(piped.then_some(usual)), schema)
        .map_err(|p| DataError::file(&file, p))?;
    let text = || if piped { open::unpacked(std::io::stdin(), &file) } else { open::open(path) };
    match format {
        Format::Parquet if piped => Err(DataError::file(&file, FileProblem::PipedParquet)),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet(open::plain(path)?, &file, schema, purpose, keep, visitor),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(DataError::file(&file, FileProblem::NoParquet)),
        Format::Libsvm => {
            if let Some(name) = keep.first() {
                return Err(DataError::file(&file, FileProblem::NoSuchColumn(name.clone())));
            }
            if visitor.head(Head { kept: Vec::new(), unread: 0 }) {
                libsvm::each(text()?, &file, schema, purpose, |row| visitor.record(row, &[]))?;
            }
            Ok(())
        }
        Format::Csv | Format::Tsv => {
            let records = Records::new(text()?, &file, format.delimiter(schema));
            delimited(records, &file, schema, purpose, keep, visitor)
        }
    }
}

fn delimited<R: Read>(
    mut records: Records<'_, R>,
    file: &str,
    schema: &Schema,
    purpose: Purpose,
    keep: &[String],
    visitor: &mut dyn Visitor,
) -> Result<(), DataError> {
    let mut encoder = Encoder::new(schema, purpose);
    let mut record = ByteRecord::new();
    if !records.next(&mut record)? {
        return Err(DataError::file(file, FileProblem::Empty));
    }
    let (layout, names) = if schema.header() {
        let names = record.iter().map(|n| if schema.trim() { n.trim_ascii() } else { n }.to_vec()).collect();
        (Layout::from_header(&record, schema, &encoder, file)?, names)
    } else {
        let line = records.line(&record);
        let layout = Layout::by_position(&record, schema, purpose, &encoder, file, line)?;
        let names = layout.names(schema);
        (layout, names)
    };
    let fields = wanted(&names, keep, file)?;
    let mut pending = !schema.header();
    records.keep_blank_of_one(layout.fields);
    let head = Head {
        kept: vec![KeptKind::Text; keep.len()],
        unread: if schema.header() { unread(&names, schema, &fields) } else { 0 },
    };
    if !visitor.head(head) {
        return Ok(());
    }
    let mut row = Row::default();
    let mut kept = vec![Kept::Missing; keep.len()];
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
        for (cell, &field) in kept.iter_mut().zip(&fields) {
            put_text(cell, &record[field]);
        }
        empty = false;
        if !visitor.record(&row, &kept) {
            return Ok(());
        }
    }
    if empty { Err(DataError::file(file, FileProblem::NoRecords)) } else { Ok(()) }
}

/// Keeps the place in memory of the text before.
fn put_text(cell: &mut Kept, text: &[u8]) {
    match cell {
        Kept::Text(old) => {
            old.clear();
            old.extend_from_slice(text);
        }
        other => *other = Kept::Text(text.to_vec()),
    }
}

/// Where the columns are that a caller asked for.
fn wanted(names: &[Vec<u8>], keep: &[String], file: &str) -> Result<Vec<usize>, DataError> {
    let find = |name: &String| {
        let mut at = names.iter().enumerate().filter(|(_, there)| there.as_slice() == name.as_bytes());
        match (at.next(), at.next()) {
            (Some((field, _)), None) => Ok(field),
            (Some(_), Some(_)) => Err(DataError::file(file, FileProblem::DuplicateColumn(name.clone()))),
            (None, _) => Err(DataError::file(file, FileProblem::NoSuchColumn(name.clone()))),
        }
    };
    keep.iter().map(find).collect()
}

fn unread(names: &[Vec<u8>], schema: &Schema, wanted: &[usize]) -> usize {
    let declared: std::collections::HashSet<&[u8]> =
        schema.columns().iter().map(|column| column.name().as_bytes()).collect();
    let is_unread =
        |(field, name): &(usize, &Vec<u8>)| !declared.contains(name.as_slice()) && !wanted.contains(field);
    names.iter().enumerate().filter(is_unread).count()
}

#[cfg(feature = "parquet")]
fn parquet(
    source: std::fs::File,
    file: &str,
    schema: &Schema,
    purpose: Purpose,
    keep: &[String],
    visitor: &mut dyn Visitor,
) -> Result<(), DataError> {
    let source = super::parquet::Source::open(source, file)?;
    let mut encoder = Encoder::new(schema, purpose);
    let names: Vec<Vec<u8>> = source.names().into_iter().map(String::into_bytes).collect();
    let columns = super::delimited::place(
        &names.iter().map(Vec::as_slice).collect::<Vec<_>>(),
        schema,
        &encoder,
        file,
    )?;
    let fields = wanted(&names, keep, file)?;
    let named = columns.iter().map(|&(slot, leaf)| (schema.columns()[slot].name(), leaf));
    for (column, leaf) in named.chain(keep.iter().map(String::as_str).zip(fields.iter().copied())) {
        source.readable(leaf).map_err(|found| {
            DataError::file(file, FileProblem::ColumnType { column: column.into(), found })
        })?;
    }
    let head = Head {
        kept: fields.iter().map(|&leaf| source.kind(leaf)).collect(),
        unread: unread(&names, schema, &fields),
    };
    if !visitor.head(head) {
        return Ok(());
    }
    let leaves: Vec<usize> = columns.iter().map(|&(_, leaf)| leaf).chain(fields).collect();
    let mut row = Row::default();
    let mut kept = vec![Kept::Missing; keep.len()];
    let mut goes_on = true;
    let records = source.each(&leaves, |record, column, cell| {
        if !goes_on {
            return Err(DataError::file(file, FileProblem::Empty));
        }
        if let Some(&(slot, _)) = columns.get(column) {
            encoder
                .put(slot, cell, &mut row)
                .map_err(|p| DataError::cell(file, record, schema.columns()[slot].name(), p))?;
        } else {
            match cell {
                Cell::Text(text) => put_text(&mut kept[column - columns.len()], text),
                Cell::Missing => kept[column - columns.len()] = Kept::Missing,
                Cell::Number(x) => kept[column - columns.len()] = Kept::Number(x),
                Cell::Whole(n) => kept[column - columns.len()] = Kept::Whole(n),
                Cell::Flag(b) => kept[column - columns.len()] = Kept::Flag(b),
            }
        }
        if column + 1 == leaves.len() {
            encoder.finish(&mut row);
            goes_on = visitor.record(&row, &kept);
            row.clear();
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
