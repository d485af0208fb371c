//! A small table of results: CSV, or Parquet by the name of the file.

use std::fs;
use std::path::Path;

use reticent::Error;
use reticent::internal::write_text;
use serde::{Deserialize, Serialize};

use crate::failure::CommandFailure;

/// The cells of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cells {
    /// Numbers; `None` is an empty cell.
    Numbers(#[serde(with = "numbers_as_text")] Vec<Option<f64>>),
    /// Words.
    Words(Vec<String>),
}

/// Numbers in a file in which a table is kept: as text, for JSON has no infinity.
mod numbers_as_text {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(cells: &[Option<f64>], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(cells.iter().map(|cell| cell.map(|x| x.to_string())))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Option<f64>>, D::Error> {
        let cells = Vec::<Option<String>>::deserialize(from)?.into_iter();
        cells
            .map(|cell| cell.map(|text| text.parse().map_err(D::Error::custom)).transpose())
            .collect()
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SheetColumn {
    /// Its name.
    pub name: String,
    /// What is in it.
    #[serde(flatten)]
    pub cells: Cells,
}

impl SheetColumn {
    /// A column of numbers.
    pub fn of_numbers((name, cells): (impl Into<String>, Vec<Option<f64>>)) -> Self {
        SheetColumn { name: name.into(), cells: Cells::Numbers(cells) }
    }

    /// A column of words.
    pub fn of_words(name: &str, cells: Vec<String>) -> Self {
        SheetColumn { name: name.to_owned(), cells: Cells::Words(cells) }
    }
}

/// Columns, all of one length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sheet(pub Vec<SheetColumn>);

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
        let _ = lines.write_record(self.0.iter().map(|column| &column.name));
        let count = self.0.iter().map(|column| column.cells.len()).max().unwrap_or(0);
        for i in 0..count {
            let _ = lines.write_record(self.0.iter().map(|column| column.cells.text(i)));
        }
        String::from_utf8(lines.into_inner().unwrap_or_default()).unwrap_or_default()
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
        for SheetColumn { name, cells } in &sheet.0 {
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
        for SheetColumn { cells, .. } in &sheet.0 {
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
