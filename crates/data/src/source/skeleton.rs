//! A schema to fill in, from the names and types of the columns alone: where there is no public
//! sample, the private table itself may be given, because none of its values is read.

use super::records::{Record, Records};
use super::{DraftOptions, Format, ask, open};
use crate::DataError;
use crate::error::FileProblem;
use std::fmt::Write;
use std::path::Path;

/// What is known of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "text tells no types"))]
enum KnownColumn {
    Nothing,
    Number,
    Day,
    Text,
    Truth,
    /// Of a type that is not read.
    Unreadable,
}

/// The skeleton of a schema for `path`, and remarks about it. Whatever a person has to say is
/// `"TODO"`, and no table is read before it is filled in.
pub fn skeleton(path: &Path, options: &DraftOptions) -> Result<(String, Vec<String>), DataError> {
    let file = open::name(path);
    open::no_folder(path)?;
    let format = options.format.or_else(|| Format::of(path));
    let format = format.ok_or_else(|| DataError::file(&file, FileProblem::UnknownFormat))?;
    let mut remarks = Vec::new();
    let columns = match format {
        Format::Libsvm => {
            let why = "a LIBSVM file has no header; `features` and `row_norm` are schema enough";
            return Err(DataError::file(&file, FileProblem::WrongFormat(why)));
        }
        Format::Parquet => types(path, &file)?,
        Format::Csv | Format::Tsv => names(path, &file, format, options, &mut remarks)?,
    };
    Ok((written(&file, &columns, options), remarks))
}

fn names(
    path: &Path,
    file: &str,
    format: Format,
    options: &DraftOptions,
    remarks: &mut Vec<String>,
) -> Result<Vec<(String, KnownColumn)>, DataError> {
    let usual = if format == Format::Tsv { b'\t' } else { b',' };
    let delimiter = options.delimiter.unwrap_or(usual);
    let mut records = Records::new(open::open(path)?, file, delimiter, options.limits());
    let mut record = Record::default();
    if !records.next(&mut record)? {
        return Err(DataError::file(file, FileProblem::Empty));
    }
    let first: Vec<&[u8]> = record.fields().collect();
    if let (None, Some(other)) = (options.delimiter, ask::other_delimiter(&first)) {
        return Err(DataError::file(file, FileProblem::OtherDelimiter(other)));
    }
    if options.no_header {
        return Ok((1..=record.len())
            .map(|i| (format!("column_{i}"), KnownColumn::Nothing))
            .collect());
    }
    let names = first;
    // The names would be values of a private record.
    if let Some(why) = ask::why_a_record(&names).filter(|_| !options.header) {
        return Err(DataError::file(file, FileProblem::HeaderOfValues(why)));
    }
    if names.len() == 1 {
        remarks.push(
            "There is one column only: if that is wrong, say what is between fields with `delimiter`.".into(),
        );
    }
    let text = |name: &[u8]| String::from_utf8_lossy(name.trim_ascii()).into_owned();
    Ok(names.into_iter().map(|name| (text(name), KnownColumn::Nothing)).collect())
}

#[cfg(feature = "parquet")]
fn types(path: &Path, file: &str) -> Result<Vec<(String, KnownColumn)>, DataError> {
    use super::parquet::{ColumnShape, ParquetFile, sound};
    let source = open::plain(path)?;
    sound(file, || {
        let source = ParquetFile::open(source, file)?;
        let known = |i| match source.shape(i) {
            Some(ColumnShape::Number) => KnownColumn::Number,
            Some(ColumnShape::Day) => KnownColumn::Day,
            Some(ColumnShape::Text) => KnownColumn::Text,
            Some(ColumnShape::Truth) => KnownColumn::Truth,
            None => KnownColumn::Unreadable,
        };
        Ok(source.names().into_iter().enumerate().map(|(i, name)| (name, known(i))).collect())
    })
}

#[cfg(not(feature = "parquet"))]
fn types(_: &Path, file: &str) -> Result<Vec<(String, KnownColumn)>, DataError> {
    Err(DataError::file(file, FileProblem::NoParquet))
}

fn written(file: &str, columns: &[(String, KnownColumn)], options: &DraftOptions) -> String {
    let mut out = format!(
        "# A schema to fill in for {file}. Only the names (and types) of its columns were read, no value.\n\
         # Put what you know WITHOUT looking at private data in the place of every \"TODO\"; until then no table is\n\
         # read under this schema. Kinds: numeric (lower, upper), date (lower, upper), categorical (categories),\n\
         # target (classes, or lower and upper), user, ignored. All keys: docs/schema.md.\n\n\
         # The square root of the number of feature columns shortens no row whose features are from -1 to 1.\n\
         row_norm = \"TODO\"\n"
    );
    if options.no_header {
        out.push_str("header = false\n");
    }
    // Writing to a string cannot fail.
    if let Some(delimiter) = options.remembered(file) {
        let _ = writeln!(out, "delimiter = {}", quoted(&char::from(delimiter).to_string()));
    }
    if options.decimal_comma {
        out.push_str("decimal = \",\"\n");
    }
    for (name, known) in columns {
        if name.is_empty() {
            out.push_str("\n# It has no name: the index that pandas writes.\n[[column]]\nname = \"\"\nkind = \"ignored\"\n");
            continue;
        }
        let (target, user) =
            (options.target.as_ref() == Some(name), options.user.as_ref() == Some(name));
        let asked = match known {
            _ if target || user => None,
            KnownColumn::Nothing | KnownColumn::Number => ask::by_name(name, true),
            KnownColumn::Text => ask::by_name(name, false),
            KnownColumn::Day | KnownColumn::Truth | KnownColumn::Unreadable => None,
        };
        let keys = match known {
            _ if user => "kind = \"user\"",
            _ if asked.is_some() => "kind = \"TODO\"",
            KnownColumn::Number if target => {
                "kind = \"target\"\n# or classes\nlower = \"TODO\"\nupper = \"TODO\""
            }
            KnownColumn::Truth if target => "kind = \"target\"\nclasses = [\"false\", \"true\"]",
            _ if target => "kind = \"target\"\nclasses = \"TODO\"",
            KnownColumn::Nothing => "kind = \"TODO\"",
            KnownColumn::Number => "kind = \"numeric\"\nlower = \"TODO\"\nupper = \"TODO\"",
            KnownColumn::Day => "kind = \"date\"\nlower = \"TODO\"\nupper = \"TODO\"",
            KnownColumn::Text => "kind = \"categorical\"\ncategories = \"TODO\"",
            KnownColumn::Truth => {
                "kind = \"numeric\"\nlower = 0\nupper = 1\nscale = \"zero_to_one\""
            }
            KnownColumn::Unreadable => {
                "# neither number, text, truth value nor day\nkind = \"ignored\""
            }
        };
        let question = asked.map(|question| format!("# {}\n", question.replace('\n', " ")));
        let question = question.unwrap_or_default();
        let _ = write!(out, "\n{question}[[column]]\nname = {}\n{keys}\n", quoted(name));
    }
    out
}

/// A string of a TOML file.
fn quoted(text: &str) -> String {
    toml::Value::String(text.into()).to_string()
}
