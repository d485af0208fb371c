//! Apache Parquet, without Arrow: all columns are read side by side, a batch of records at a time, so that a
//! record can be encoded and scaled as in any other format and only a page per column is held beside the
//! table.

use super::delimited::place;
use super::{Depth, ready};
use crate::encode::Builder;
use crate::error::FileProblem;
use crate::{Cell, DataError, Encoder, Purpose, Row, Schema, Table};
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};

const BATCH: usize = 1024;

/// Reads a Parquet file; nulls are missing values. `file` is the name for messages.
pub fn parse_parquet<R: ChunkReader + 'static>(
    source: R,
    file: &str,
    schema: &Schema,
    purpose: Purpose,
) -> Result<Table, DataError> {
    read_parquet(source, file, schema, purpose, Depth::Values)
}

pub(super) fn read_parquet<R: ChunkReader + 'static>(
    source: R,
    file: &str,
    schema: &Schema,
    purpose: Purpose,
    depth: Depth,
) -> Result<Table, DataError> {
    ready(schema, purpose)?;
    let source = Source::open(source, file)?;
    let mut encoder = Encoder::new(schema, purpose);
    let mut builder = Builder::new(schema, purpose);
    let names = source.names();
    let columns = place(&names.iter().map(String::as_bytes).collect::<Vec<_>>(), schema, &encoder, file)?;
    let leaves: Vec<usize> = columns.iter().map(|&(_, leaf)| leaf).collect();
    for &(slot, leaf) in &columns {
        source.readable(leaf).map_err(|found| {
            let column = schema.columns()[slot].name().into();
            DataError::file(file, FileProblem::ColumnType { column, found })
        })?;
    }
    if depth == Depth::Header {
        return Ok(builder.finish());
    }
    let mut row = Row::default();
    let records = source.each(&leaves, |record, column, cell| {
        let slot = columns[column].0;
        encoder
            .put(slot, cell, &mut row)
            .map_err(|p| DataError::cell(file, record, schema.columns()[slot].name(), p))?;
        if column + 1 == columns.len() {
            encoder.finish(&mut row);
            builder.push(&row);
            row.clear();
        }
        Ok(())
    })?;
    if records == 0 {
        return Err(DataError::file(file, FileProblem::NoRecords));
    }
    Ok(builder.finish())
}

/// An opened file.
pub(super) struct Source<'a> {
    reader: Box<dyn FileReader>,
    file: &'a str,
}

impl<'a> Source<'a> {
    pub(super) fn open<R: ChunkReader + 'static>(source: R, file: &'a str) -> Result<Self, DataError> {
        if source.len() == 0 {
            return Err(DataError::file(file, FileProblem::Empty));
        }
        let reader = SerializedFileReader::new(source).map_err(|e| broken(file, 0, &e))?;
        Ok(Self { reader: Box::new(reader), file })
    }

    fn leaf(&self, i: usize) -> ColumnDescPtr {
        self.reader.metadata().file_metadata().schema_descr().column(i)
    }

    pub(super) fn names(&self) -> Vec<String> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().map(|c| c.path().string()).collect()
    }

    pub(super) fn readable(&self, leaf: usize) -> Result<(), String> {
        readable(&self.leaf(leaf))
    }

    /// What a readable column holds.
    pub(super) fn kind(&self, leaf: usize) -> super::KeptKind {
        use super::KeptKind as K;
        use ConvertedType as C;
        let leaf = self.leaf(leaf);
        let decimal = leaf.converted_type() == C::DECIMAL
            || matches!(leaf.logical_type_ref(), Some(LogicalType::Decimal { .. }));
        match leaf.physical_type() {
            Type::BOOLEAN => K::Flag,
            Type::FLOAT | Type::DOUBLE => K::Number,
            Type::INT32 | Type::INT64 if decimal => K::Number,
            Type::INT32 | Type::INT64 => match leaf.converted_type() {
                C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64 => K::Unsigned,
                _ => K::Whole,
            },
            _ => K::Text,
        }
    }

    /// Hands every cell of the columns `leaves` to `f` as (record from 1, position in `leaves`, cell), record
    /// by record; returns the number of records.
    pub(super) fn each(
        &self,
        leaves: &[usize],
        mut f: impl FnMut(u64, usize, Cell<'_>) -> Result<(), DataError>,
    ) -> Result<u64, DataError> {
        let mut record = 0_u64;
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(|e| broken(self.file, record, &e))?;
            let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            let mut batches = Vec::with_capacity(leaves.len());
            for &leaf in leaves {
                let pages = group.get_column_reader(leaf).map_err(|e| broken(self.file, record, &e))?;
                batches.push(Batch::new(pages, &self.leaf(leaf)));
            }
            while left > 0 {
                let size = left.min(BATCH);
                for batch in &mut batches {
                    batch.fill(size).map_err(|e| broken(self.file, record, &e))?;
                }
                for _ in 0..size {
                    record += 1;
                    for (i, batch) in batches.iter_mut().enumerate() {
                        f(record, i, batch.next())?;
                    }
                }
                left -= size;
            }
        }
        Ok(record)
    }
}

fn broken(file: &str, line: u64, error: &ParquetError) -> DataError {
    // The library's text is about pages and offsets; it quotes no values. Its kind prefix helps nobody.
    let reason = match error {
        ParquetError::General(s) | ParquetError::NYI(s) | ParquetError::EOF(s) => s.clone(),
        other => other.to_string(),
    };
    DataError::file(file, FileProblem::Read { line, reason })
}

/// Whether a column holds numbers, text or truth values; otherwise the name of its type.
fn readable(leaf: &ColumnDescriptor) -> Result<(), String> {
    if leaf.path().parts().len() > 1 || leaf.max_rep_level() > 0 {
        return Err("nested".into());
    }
    let plain = match leaf.physical_type() {
        Type::BOOLEAN | Type::FLOAT | Type::DOUBLE => true,
        Type::INT32 | Type::INT64 => match leaf.logical_type_ref() {
            Some(logical) => matches!(logical, LogicalType::Integer { .. } | LogicalType::Decimal { .. }),
            None => {
                use ConvertedType as C;
                let time =
                    [C::DATE, C::TIME_MILLIS, C::TIME_MICROS, C::TIMESTAMP_MILLIS, C::TIMESTAMP_MICROS];
                !time.contains(&leaf.converted_type())
            }
        },
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => {
            leaf.converted_type() != ConvertedType::DECIMAL
                && matches!(leaf.logical_type_ref(), None | Some(LogicalType::String | LogicalType::Enum))
        }
        Type::INT96 => false,
    };
    if plain {
        return Ok(());
    }
    let logical = leaf.logical_type_ref().map(|l| format!(" ({l:?})")).unwrap_or_default();
    Err(format!("{}{logical}", leaf.physical_type()))
}

/// The next records of one column.
struct Batch {
    pages: Pages,
    optional: bool,
    unsigned: bool,
    /// Decimal places of a decimal column.
    divisor: Option<f64>,
    levels: Vec<i16>,
    level: usize,
    value: usize,
}

enum Pages {
    Bool(ColumnReaderImpl<parquet::data_type::BoolType>, Vec<bool>),
    Int32(ColumnReaderImpl<parquet::data_type::Int32Type>, Vec<i32>),
    Int64(ColumnReaderImpl<parquet::data_type::Int64Type>, Vec<i64>),
    Float(ColumnReaderImpl<parquet::data_type::FloatType>, Vec<f32>),
    Double(ColumnReaderImpl<parquet::data_type::DoubleType>, Vec<f64>),
    Bytes(ColumnReaderImpl<parquet::data_type::ByteArrayType>, Vec<ByteArray>),
    Fixed(ColumnReaderImpl<parquet::data_type::FixedLenByteArrayType>, Vec<FixedLenByteArray>),
    /// Never built: [`readable`] refuses it first.
    None,
}

impl Batch {
    fn new(reader: ColumnReader, leaf: &ColumnDescriptor) -> Self {
        use ConvertedType as C;
        let decimal = leaf.converted_type() == C::DECIMAL
            || matches!(leaf.logical_type_ref(), Some(LogicalType::Decimal { .. }));
        Self {
            pages: match reader {
                ColumnReader::BoolColumnReader(r) => Pages::Bool(r, Vec::new()),
                ColumnReader::Int32ColumnReader(r) => Pages::Int32(r, Vec::new()),
                ColumnReader::Int64ColumnReader(r) => Pages::Int64(r, Vec::new()),
                ColumnReader::FloatColumnReader(r) => Pages::Float(r, Vec::new()),
                ColumnReader::DoubleColumnReader(r) => Pages::Double(r, Vec::new()),
                ColumnReader::ByteArrayColumnReader(r) => Pages::Bytes(r, Vec::new()),
                ColumnReader::FixedLenByteArrayColumnReader(r) => Pages::Fixed(r, Vec::new()),
                ColumnReader::Int96ColumnReader(_) => Pages::None,
            },
            optional: leaf.max_def_level() > 0,
            unsigned: [C::UINT_8, C::UINT_16, C::UINT_32, C::UINT_64].contains(&leaf.converted_type()),
            divisor: decimal.then(|| 10_f64.powi(leaf.type_scale())),
            levels: Vec::new(),
            level: 0,
            value: 0,
        }
    }

    fn fill(&mut self, size: usize) -> Result<(), ParquetError> {
        self.levels.clear();
        (self.level, self.value) = (0, 0);
        let levels = &mut self.levels;
        match &mut self.pages {
            Pages::Bool(r, v) => take(r, v, levels, size),
            Pages::Int32(r, v) => take(r, v, levels, size),
            Pages::Int64(r, v) => take(r, v, levels, size),
            Pages::Float(r, v) => take(r, v, levels, size),
            Pages::Double(r, v) => take(r, v, levels, size),
            Pages::Bytes(r, v) => take(r, v, levels, size),
            Pages::Fixed(r, v) => take(r, v, levels, size),
            Pages::None => Ok(()),
        }
    }

    fn next(&mut self) -> Cell<'_> {
        if self.optional {
            self.level += 1;
            if self.levels[self.level - 1] == 0 {
                return Cell::Missing;
            }
        }
        let i = self.value;
        self.value += 1;
        let whole = |n: i128| self.divisor.map_or(Cell::Whole(n), |d| Cell::Number(n as f64 / d));
        match &self.pages {
            Pages::Bool(_, v) => Cell::Flag(v[i]),
            Pages::Int32(_, v) if self.unsigned => whole(i128::from(v[i].cast_unsigned())),
            Pages::Int32(_, v) => whole(i128::from(v[i])),
            Pages::Int64(_, v) if self.unsigned => whole(i128::from(v[i].cast_unsigned())),
            Pages::Int64(_, v) => whole(i128::from(v[i])),
            Pages::Float(_, v) => Cell::Number(f64::from(v[i])),
            Pages::Double(_, v) => Cell::Number(v[i]),
            Pages::Bytes(_, v) => Cell::Text(v[i].data()),
            Pages::Fixed(_, v) => Cell::Text(v[i].data()),
            Pages::None => Cell::Missing,
        }
    }
}

fn take<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    values: &mut Vec<T::T>,
    levels: &mut Vec<i16>,
    size: usize,
) -> Result<(), ParquetError> {
    values.clear();
    let (records, ..) = reader.read_records(size, Some(levels), None, values)?;
    if records < size {
        return Err(ParquetError::EOF("a column has fewer records than the file says".into()));
    }
    Ok(())
}
