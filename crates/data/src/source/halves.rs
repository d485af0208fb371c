//! One file into two, to train on one and test on the other. Whose a record is decides where it
//! goes, so that nobody is on both sides. It is for who holds the table: nothing is released.

use super::record_file::{
    CellConsumer, FileConsumer, FileHead, RecordBlock, RecordFile, TextLayout, with_file,
};
use super::{Format, ReadOptions, open};
use crate::error::FileProblem;
use crate::person_id::PersonId;
use crate::{Cell, CellProblem, DataError, IdForm, Schema};
use sha2::{Digest, Sha256};
use std::ops::ControlFlow;
use std::path::Path;

/// How records are told apart and dealt.
#[derive(Debug, Clone, Copy)]
pub struct SplitRule<'a> {
    /// The column that says whose a record is.
    pub by: &'a str,
    /// The share of persons whose records go to the second file.
    pub share: f64,
    /// What makes another split of another rule with the same column; the same makes the same.
    pub seed: &'a str,
    /// The schema of the table, which says how the file is laid out.
    pub schema: Option<&'a Schema>,
    /// How the file is read.
    pub reading: ReadOptions,
    /// What is between fields, where neither the schema nor the name of the file tells.
    pub delimiter: Option<u8>,
    /// The first line is a record; columns are then called as in the schema, or column_1, column_2, …
    pub no_header: bool,
}

/// Deals the records of `path`: `put` gets each line with the file that it goes to, 0 or 1; a header
/// goes to both.
///
/// # Errors
/// A file that cannot be read, is no delimited text, or has a record of nobody.
pub fn split_file(
    path: &Path,
    rule: &SplitRule<'_>,
    put: &mut dyn FnMut(usize, &[u8]) -> ControlFlow<()>,
) -> Result<(), DataError> {
    let file = open::name(path);
    open::no_folder(path)?;
    let (format, delimiter) = rule.text(path).map_err(|problem| DataError::file(&file, problem))?;
    let layout = TextLayout {
        delimiter,
        header: !rule.is_headless(),
        trim: true,
        features: u32::MAX,
        unlabelled: false,
        limits: rule.reading.limits(),
    };
    let tokens = rule.schema.map_or(&[][..], Schema::missing_tokens);
    let form = rule.schema.filter(|schema| schema.user() == Some(rule.by));
    let form = form.and_then(Schema::user_form).unwrap_or(IdForm::Canonical);
    let comma = rule.schema.is_some_and(Schema::decimal_comma);
    let persons = PersonId::new(form, comma, tokens);
    let (at, side, line) = (0, 0, Vec::new());
    let mut dealer = Dealer { rule, persons, delimiter, file, put, at, side, line };
    with_file(path, format, &layout, None, &mut dealer)
}

/// Who deals the records of a file.
struct Dealer<'a> {
    rule: &'a SplitRule<'a>,
    persons: PersonId,
    delimiter: u8,
    file: String,
    put: &'a mut dyn FnMut(usize, &[u8]) -> ControlFlow<()>,
    /// The place of the column that says whose a record is.
    at: usize,
    /// Where this record goes, and what it is so far.
    side: usize,
    line: Vec<u8>,
}

impl FileConsumer for &mut Dealer<'_> {
    fn consume(self, file: &str, mut source: impl RecordFile) -> Result<(), DataError> {
        let names = source.head().names();
        self.at = self.rule.place(&names, file)?;
        if let FileHead::Names(names) = source.head() {
            let mut line = Vec::new();
            names
                .iter()
                .enumerate()
                .for_each(|(i, name)| field(name, i, self.delimiter, &mut line));
            line.push(b'\n');
            if (0..2).any(|side| (self.put)(side, &line).is_break()) {
                return Ok(());
            }
        }
        let columns: Vec<usize> = (0..names.len()).collect();
        while let Some(block) = source.next(&columns)? {
            if !block.each(&columns, self)? {
                break;
            }
        }
        Ok(())
    }
}

impl CellConsumer for Dealer<'_> {
    fn cell(
        &mut self,
        line: u64,
        column: usize,
        cell: Result<Cell<'_>, CellProblem>,
    ) -> Result<(), DataError> {
        let refuse = |problem| DataError::cell(&self.file, line, self.rule.by, problem);
        let Cell::Text(text) = cell.map_err(refuse)? else { return Ok(()) };
        if column == self.at {
            let side = self.persons.with(Cell::Text(text.trim_ascii()), |id| self.rule.side(id));
            self.side = side.map_err(refuse)?;
        }
        field(text, column, self.delimiter, &mut self.line);
        Ok(())
    }

    fn end(&mut self) -> Result<bool, DataError> {
        self.line.push(b'\n');
        let goes_on = (self.put)(self.side, &self.line).is_continue();
        self.line.clear();
        Ok(goes_on)
    }
}

impl SplitRule<'_> {
    fn is_headless(&self) -> bool {
        self.no_header || self.schema.is_some_and(|schema| !schema.header())
    }

    /// The format and the delimiter of a file of text.
    fn text(&self, path: &Path) -> Result<(Format, u8), FileProblem> {
        let declared = self.delimiter.or(self.schema.and_then(Schema::delimiter));
        let format = self.reading.format.or_else(|| Format::of(path));
        let format = format.or(declared.map(|_| Format::Csv)).ok_or(FileProblem::UnknownFormat)?;
        match format {
            Format::Csv | Format::Tsv => Ok((format, declared.unwrap_or(format.usual_delimiter()))),
            Format::Libsvm | Format::Parquet => Err(FileProblem::WrongFormat(
                "only delimited text (CSV, TSV) is split; others have no lines with a key, or are written by other tools",
            )),
        }
    }

    /// Where the column is, among these names; without a header the schema has them in order.
    fn place(&self, names: &[String], file: &str) -> Result<usize, DataError> {
        let declared = match self.schema.filter(|_| self.is_headless()) {
            Some(schema) => Some(schema.find(self.by)?),
            None => None,
        };
        let mut found = (0..names.len()).filter(|&i| match declared {
            Some(at) => at == i,
            None => names[i] == self.by,
        });
        match (found.next(), found.next()) {
            (Some(at), None) => Ok(at),
            (Some(_), Some(_)) => {
                Err(DataError::file(file, FileProblem::DuplicateColumn(self.by.to_owned())))
            }
            (None, _) => Err(DataError::file(file, FileProblem::NoKeyColumn(self.by.to_owned()))),
        }
    }

    /// 1 for the second file.
    fn side(&self, id: &[u8]) -> usize {
        let mut hash = Sha256::new();
        for part in [&b"reticent split 1"[..], self.seed.as_bytes(), id] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let mut first = [0; 8];
        first.copy_from_slice(&hash.finalize()[..8]);
        let uniform = (u64::from_le_bytes(first) >> 11) as f64 / (1_u64 << 53) as f64;
        usize::from(uniform < self.share)
    }
}

/// One field more of a line.
fn field(text: &[u8], place: usize, delimiter: u8, line: &mut Vec<u8>) {
    if place > 0 {
        line.push(delimiter);
    }
    let special = |byte: &u8| [delimiter, b'"', b'\n', b'\r'].contains(byte);
    if text == text.trim_ascii() && !text.iter().any(special) {
        line.extend_from_slice(text);
        return;
    }
    line.push(b'"');
    for &byte in text {
        line.extend(std::iter::repeat_n(byte, if byte == b'"' { 2 } else { 1 }));
    }
    line.push(b'"');
}
