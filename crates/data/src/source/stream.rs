//! A file record by record, for predicting and measuring: nothing is kept, so a table of any length
//! takes the same memory. Columns that no entry declares are not read here: the model has its
//! features, and what else a table holds changes no prediction. A caller may ask for columns to be
//! handed on as they are, declared or not.

use super::record_file::{
    Feed, FileConsumer, FileHead, RecordBlock, RecordFile, placed, unreadable, with_described,
};
use super::{ReadOptions, ready};
use crate::error::FileProblem;
use crate::filling::Filling;
use crate::{Cell, DataError, EncodedRow, Purpose, Schema, Undeclared, day};
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
#[non_exhaustive]
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
pub trait RecordVisitor {
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
    visitor: &mut dyn RecordVisitor,
) -> Result<(), DataError> {
    let schema = &Schema { undeclared: Undeclared::Ignore, ..schema.clone() };
    ready(schema, purpose)?;
    let filling = Filling::new(schema, purpose);
    let visit = VisitFile { filling, keep, visitor };
    with_described(path, reading.into(), (schema, purpose), None, visit)
}

/// Who is told of the records of a file, one by one.
struct VisitFile<'v, 's> {
    filling: Filling<'s>,
    keep: &'v [String],
    visitor: &'v mut dyn RecordVisitor,
}

impl FileConsumer for VisitFile<'_, '_> {
    fn consume(self, file: &str, mut source: impl RecordFile) -> Result<(), DataError> {
        let Self { mut filling, keep, visitor } = self;
        let (columns, names) = placed(&source, &filling, file)?;
        let wanted = wanted(&names, keep, file)?;
        let kind = |(name, &column): (&String, &usize)| {
            source.kind(column).map_err(|found| unreadable(file, name, found))
        };
        let kinds = keep.iter().zip(&wanted).map(kind).collect::<Result<Vec<_>, _>>()?;
        let unread = match source.head() {
            FileHead::Names(names) => unread(names, filling.schema, &wanted),
            FileHead::Fields { .. } | FileHead::Pairs => 0,
        };
        if !visitor.head(Head { kept: kinds.clone(), unread }) {
            return Ok(());
        }
        let fields: Vec<usize> = columns.iter().map(|&(_, field)| field).chain(wanted).collect();
        let end = |filling: &mut Filling<'_>, kept: &[KeptCell]| {
            Ok(filling.hand_on(|row| visitor.record(row, kept)))
        };
        let (filling, kept) = (&mut filling, vec![KeptCell::Missing; keep.len()]);
        let mut feed = Feed { file, filling, columns: &columns, keep, kinds: &kinds, kept, end };
        while let Some(block) = source.next(&fields)? {
            if !block.each(&fields, &mut feed)? {
                return Ok(());
            }
        }
        match feed.filling.records() {
            0 => Err(DataError::file(file, source.no_records())),
            _ => Ok(()),
        }
    }
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

impl KeptCell {
    pub(super) fn put(&mut self, cell: Cell<'_>, kind: KeptKind) {
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
