//! A schema to fill in, from the names and types of the columns alone: where there is no public
//! sample, the private table itself may be given, because none of its values is read.

use super::record_file::{ColumnShape, FileConsumer, FileHead, RecordFile, with_file};
use super::{DraftOptions, Format, ask, open};
use crate::DataError;
use crate::error::FileProblem;
use std::fmt::Write;
use std::path::Path;

/// The skeleton of a schema for `path`, and remarks about it. Whatever a person has to say is
/// `"TODO"`, and no table is read before it is filled in.
pub fn skeleton(path: &Path, options: &DraftOptions) -> Result<(String, Vec<String>), DataError> {
    let file = open::name(path);
    open::no_folder(path)?;
    let format = options.format.or_else(|| Format::of(path));
    let format = format.ok_or_else(|| DataError::file(&file, FileProblem::UnknownFormat))?;
    if format == Format::Libsvm {
        let why = "a LIBSVM file has no header; `features` and `row_norm` are schema enough";
        return Err(DataError::file(&file, FileProblem::WrongFormat(why)));
    }
    let mut head = KnownHead::default();
    with_file(path, format, &options.layout(format), None, &mut head)?;
    Ok((written(&file, &head.columns, options), head.remarks))
}

/// The names and types of the columns.
#[derive(Default)]
struct KnownHead {
    columns: Vec<(String, ColumnShape)>,
    remarks: Vec<String>,
}

impl FileConsumer for &mut KnownHead {
    fn consume(self, file: &str, source: impl RecordFile) -> Result<(), DataError> {
        if let FileHead::Names(names) = source.head()
            && source.shape(0) == ColumnShape::Untyped
        {
            if ask::are_values(&names.iter().map(Vec::as_slice).collect::<Vec<_>>()) {
                // The names would be values of a private record.
                return Err(DataError::file(file, FileProblem::HeaderOfValues));
            }
            if names.len() == 1 {
                self.remarks.push(
                    "There is one column only: if that is wrong, say what is between fields with `delimiter`.".into(),
                );
            }
        }
        let names = source.head().names().into_iter().enumerate();
        self.columns = names.map(|(i, name)| (name, source.shape(i))).collect();
        Ok(())
    }
}

fn written(file: &str, columns: &[(String, ColumnShape)], options: &DraftOptions) -> String {
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
    if let Some(delimiter) = options.delimiter {
        let _ = writeln!(out, "delimiter = {}", quoted(&char::from(delimiter).to_string()));
    }
    for (name, known) in columns {
        let (target, user) =
            (options.target.as_ref() == Some(name), options.user.as_ref() == Some(name));
        let asked = match known {
            _ if target || user => None,
            ColumnShape::Untyped | ColumnShape::Number => ask::by_name(name, true),
            ColumnShape::Text => ask::by_name(name, false),
            ColumnShape::Day | ColumnShape::Truth | ColumnShape::Unreadable => None,
        };
        let keys = match known {
            _ if user => "kind = \"user\"",
            _ if asked.is_some() => "kind = \"TODO\"",
            ColumnShape::Number if target => {
                "kind = \"target\"\n# or classes\nlower = \"TODO\"\nupper = \"TODO\""
            }
            ColumnShape::Truth if target => "kind = \"target\"\nclasses = [\"false\", \"true\"]",
            _ if target => "kind = \"target\"\nclasses = \"TODO\"",
            ColumnShape::Untyped => "kind = \"TODO\"",
            ColumnShape::Number => "kind = \"numeric\"\nlower = \"TODO\"\nupper = \"TODO\"",
            ColumnShape::Day => "kind = \"date\"\nlower = \"TODO\"\nupper = \"TODO\"",
            ColumnShape::Text => "kind = \"categorical\"\ncategories = \"TODO\"",
            ColumnShape::Truth => {
                "kind = \"numeric\"\nlower = 0\nupper = 1\nscale = \"zero_to_one\""
            }
            ColumnShape::Unreadable => {
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
