//! Predictions as Parquet: kept columns in their own type, the class as text, numbers as doubles.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::parquet::basic::{LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{Type, TypePtr};
use reticent::internal::NewFile;
use reticent::tables::{KeptCell, KeptKind};
use reticent::{Error, Predicted};

use super::{PredictionColumns, Sink};
use crate::failure::CommandFailure;

/// So many records are held before they are written together.
const GROUP: usize = 1 << 16;

pub struct Parquet {
    path: PathBuf,
    columns: PredictionColumns,
    state: State,
    kinds: Vec<KeptKind>,
    pending: Predicted,
}

enum State {
    /// The types of the columns are not known yet.
    New(NewFile),
    Open(SerializedFileWriter<NewFile>),
    Done,
}

impl Parquet {
    pub fn new(file: NewFile, path: &Path, columns: PredictionColumns) -> Self {
        let pending = Predicted::default();
        Parquet {
            path: path.to_owned(),
            columns,
            state: State::New(file),
            kinds: Vec::new(),
            pending,
        }
    }

    fn failure(&self, error: &ParquetError) -> CommandFailure {
        Error::Write { file: self.path.clone(), reason: error.to_string() }.into()
    }

    fn write_group(&mut self) -> Result<(), CommandFailure> {
        let batch = std::mem::take(&mut self.pending);
        let State::Open(file) = &mut self.state else { return Ok(()) };
        let written = group(file, &batch, &self.kinds, self.columns.classes.as_deref());
        written.map_err(|error| self.failure(&error))
    }

    fn open(&self, file: NewFile) -> Result<SerializedFileWriter<NewFile>, ParquetError> {
        let mut fields = Vec::new();
        for (name, kind) in self.columns.keep.iter().zip(&self.kinds) {
            let (physical, logical) = match kind {
                KeptKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                KeptKind::Number => (Physical::DOUBLE, None),
                KeptKind::Whole => (Physical::INT64, None),
                KeptKind::Unsigned => (Physical::INT64, Some(LogicalType::integer(64, false))),
                KeptKind::Flag => (Physical::BOOLEAN, None),
                other => return Err(unknown(*other)),
            };
            fields.push(field(name, physical, logical, Repetition::OPTIONAL)?);
        }
        if self.columns.classes.is_some() {
            fields.push(field(
                "prediction",
                Physical::BYTE_ARRAY,
                Some(LogicalType::String),
                Repetition::REQUIRED,
            )?);
        }
        for name in &self.columns.numbers {
            fields.push(field(name, Physical::DOUBLE, None, Repetition::REQUIRED)?);
        }
        let schema = Type::group_type_builder("predictions").with_fields(fields).build()?;
        SerializedFileWriter::new(file, Arc::new(schema), Arc::default())
    }
}

fn unknown(kind: KeptKind) -> ParquetError {
    ParquetError::NYI(format!("a kept column of {kind:?}"))
}

fn field(
    name: &str,
    physical: Physical,
    logical: Option<LogicalType>,
    repetition: Repetition,
) -> Result<TypePtr, ParquetError> {
    let builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
    Ok(Arc::new(builder.with_logical_type(logical).build()?))
}

impl Sink for Parquet {
    fn head(&mut self, kept: &[KeptKind]) -> Result<(), CommandFailure> {
        self.kinds = kept.to_vec();
        if let State::New(file) = std::mem::replace(&mut self.state, State::Done) {
            self.state = State::Open(self.open(file).map_err(|error| self.failure(&error))?);
        }
        Ok(())
    }

    fn put(&mut self, batch: Predicted) -> Result<(), CommandFailure> {
        if self.pending.records == 0 {
            self.pending = batch;
        } else {
            let Predicted { classes, numbers, kept, records, .. } = &mut self.pending;
            classes.extend(batch.classes);
            numbers.iter_mut().zip(batch.numbers).for_each(|(all, more)| all.extend(more));
            kept.iter_mut().zip(batch.kept).for_each(|(all, more)| all.extend(more));
            *records += batch.records;
        }
        if self.pending.records >= GROUP { self.write_group() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> Result<(), CommandFailure> {
        if self.pending.records > 0 {
            self.write_group()?;
        }
        if let State::Open(file) = std::mem::replace(&mut self.state, State::Done) {
            file.into_inner().map_err(|error| self.failure(&error))?.finish()?;
        }
        Ok(())
    }
}

fn group(
    file: &mut SerializedFileWriter<NewFile>,
    batch: &Predicted,
    kinds: &[KeptKind],
    classes: Option<&[String]>,
) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    for (cells, kind) in batch.kept.iter().zip(kinds) {
        match kind {
            KeptKind::Text => optional::<ByteArrayType>(&mut group, cells, |cell| match cell {
                KeptCell::Text(bytes) => {
                    Some(ByteArray::from(String::from_utf8_lossy(bytes).as_ref()))
                }
                _ => None,
            }),
            KeptKind::Number => optional::<DoubleType>(&mut group, cells, |cell| match cell {
                KeptCell::Number(x) => Some(*x),
                _ => None,
            }),
            // What a column of 64 bits holds fits; an unsigned one is written by its bits.
            KeptKind::Whole | KeptKind::Unsigned => {
                optional::<Int64Type>(&mut group, cells, |cell| match cell {
                    KeptCell::Whole(n) => Some(*n as i64),
                    _ => None,
                })
            }
            KeptKind::Flag => optional::<BoolType>(&mut group, cells, |cell| match cell {
                KeptCell::Flag(b) => Some(*b),
                _ => None,
            }),
            other => Err(unknown(*other)),
        }?;
    }
    if let Some(names) = classes {
        let names: Vec<ByteArray> =
            names.iter().map(|name| ByteArray::from(name.as_str())).collect();
        let values: Vec<ByteArray> =
            batch.classes.iter().map(|&class| names[class].clone()).collect();
        column::<ByteArrayType>(&mut group, &values, None)?;
    }
    for numbers in &batch.numbers {
        column::<DoubleType>(&mut group, numbers, None)?;
    }
    group.close().map(drop)
}

fn optional<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, NewFile>,
    cells: &[KeptCell],
    value: impl Fn(&KeptCell) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let cells: Vec<Option<T::T>> = cells.iter().map(value).collect();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    column::<T>(group, &values, Some(&levels))
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, NewFile>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}
