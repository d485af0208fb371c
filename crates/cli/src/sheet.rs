//! A small table of results: CSV, or Parquet by the name of the file.

use std::fs;
use std::path::Path;

use reticent::Error;
use reticent::internal::write_text;
use serde_json::{Value, json};

use crate::failure::CommandFailure;

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Numbers; `None` is an empty cell.
    Numbers(Vec<Option<f64>>),
    /// Words.
    Words(Vec<String>),
}

/// Columns by their names, all of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet(pub Vec<(String, Cells)>);

impl Sheet {
    /// Refuses a name that is not written, before any work is done.
    pub fn check(path: &Path) -> Result<(), CommandFailure> {
        let ending = path.extension().and_then(|word| word.to_str()).unwrap_or_default();
        let known = if cfg!(feature = "parquet") { &["csv", "parquet"][..] } else { &["csv"][..] };
        if known.contains(&ending.to_ascii_lowercase().as_str()) {
            return Ok(());
        }
        Err(CommandFailure::Usage {
            message: format!("{}: what is written there is told by its name", path.display()),
            hint: format!("give a name that ends in .{}", known.join(" or .")),
        })
    }

    /// Writes it, into a folder that is made where there is none.
    pub fn write(&self, path: &Path) -> Result<(), CommandFailure> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| Error::written(path, &error))?;
        }
        match path.extension().is_some_and(|word| word.eq_ignore_ascii_case("parquet")) {
            #[cfg(feature = "parquet")]
            true => parquet::write(self, path),
            _ => Ok(write_text(&self.csv(), path)?),
        }
    }

    /// It as CSV.
    pub fn csv(&self) -> String {
        let mut lines = csv::Writer::from_writer(Vec::new());
        // Writing to memory does not fail.
        let _ = lines.write_record(self.0.iter().map(|(name, _)| name));
        let count = self.0.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
        for i in 0..count {
            let _ = lines.write_record(self.0.iter().map(|(_, cells)| cells.text(i)));
        }
        String::from_utf8(lines.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

impl Sheet {
    /// For a file in which it is kept: numbers in words, for JSON has no infinity.
    pub fn to_value(&self) -> Value {
        let column = |(name, cells): &(String, Cells)| match cells {
            Cells::Numbers(cells) => {
                let words = cells.iter().map(|cell| cell.map(|x| x.to_string()));
                json!({ "name": name, "numbers": words.collect::<Vec<_>>() })
            }
            Cells::Words(cells) => json!({ "name": name, "words": cells }),
        };
        json!(self.0.iter().map(column).collect::<Vec<_>>())
    }

    /// What was kept.
    pub fn of_value(value: &Value) -> Option<Self> {
        let word = |cell: &Value| cell.as_str().map(str::to_owned);
        let number = |cell: &Value| match cell {
            Value::Null => Some(None),
            cell => cell.as_str()?.parse().ok().map(Some),
        };
        let column = |column: &Value| {
            let cells = match column["numbers"].as_array() {
                Some(cells) => Cells::Numbers(cells.iter().map(number).collect::<Option<_>>()?),
                None => Cells::Words(
                    column["words"].as_array()?.iter().map(word).collect::<Option<_>>()?,
                ),
            };
            Some((word(&column["name"])?, cells))
        };
        value.as_array()?.iter().map(column).collect::<Option<_>>().map(Sheet)
    }
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Cells::Numbers(cells) => cells.len(),
            Cells::Words(cells) => cells.len(),
        }
    }

    fn text(&self, i: usize) -> String {
        match self {
            Cells::Numbers(cells) => {
                cells.get(i).copied().flatten().map(|x| x.to_string()).unwrap_or_default()
            }
            Cells::Words(cells) => cells.get(i).cloned().unwrap_or_default(),
        }
    }
}

#[cfg(feature = "parquet")]
mod parquet {
    use std::sync::Arc;

    use ::parquet::basic::{LogicalType, Repetition, Type as Physical};
    use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
    use ::parquet::errors::ParquetError;
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::types::Type;
    use reticent::internal::NewFile;

    use super::*;

    pub fn write(sheet: &Sheet, path: &Path) -> Result<(), CommandFailure> {
        let failure = |error: ParquetError| -> CommandFailure {
            Error::Write { file: path.to_owned(), reason: error.to_string() }.into()
        };
        let file = whole(sheet, NewFile::create(path)?).map_err(failure)?;
        Ok(file.finish()?)
    }

    fn whole(sheet: &Sheet, file: NewFile) -> Result<NewFile, ParquetError> {
        let mut fields = Vec::new();
        for (name, cells) in &sheet.0 {
            let (physical, logical, repetition) = match cells {
                Cells::Numbers(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
                Cells::Words(_) => {
                    (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED)
                }
            };
            let field = Type::primitive_type_builder(name, physical).with_repetition(repetition);
            fields.push(Arc::new(field.with_logical_type(logical).build()?));
        }
        let schema = Type::group_type_builder("results").with_fields(fields).build()?;
        let mut file = SerializedFileWriter::new(file, Arc::new(schema), Arc::default())?;
        let mut group = file.next_row_group()?;
        for (_, cells) in &sheet.0 {
            let Some(mut column) = group.next_column()? else { break };
            match cells {
                Cells::Numbers(cells) => {
                    let levels: Vec<i16> = cells.iter().map(|cell| cell.is_some().into()).collect();
                    let values: Vec<f64> = cells.iter().flatten().copied().collect();
                    column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
                }
                Cells::Words(cells) => {
                    let values: Vec<ByteArray> =
                        cells.iter().map(|cell| ByteArray::from(cell.as_str())).collect();
                    column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
                }
            }
            column.close()?;
        }
        group.close()?;
        file.into_inner()
    }
}
