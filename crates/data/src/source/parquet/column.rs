//! The values of one column, a batch at a time.

use crate::{Cell, CellProblem, number};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

/// What the stored values stand for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Meaning {
    /// Themselves.
    Plain,
    /// Themselves, without a sign.
    Unsigned,
    /// Whole numbers with this many decimal places.
    Decimal(i32),
    /// Numbers in half precision.
    Half,
    /// Days.
    Days,
    /// Points in time, so many to the day.
    Times(i64),
}

impl Meaning {
    pub(super) fn is_day(self) -> bool {
        matches!(self, Self::Days | Self::Times(_))
    }

    /// What a column holds, or the name of its type where that is neither number, text, truth value
    /// nor day.
    pub(super) fn of(leaf: &ColumnDescriptor) -> Result<Self, String> {
        if leaf.path().parts().len() > 1 || leaf.max_rep_level() > 0 {
            return Err("nested".into());
        }
        const SECONDS: i64 = 86_400;
        use ConvertedType as C;
        let converted = leaf.converted_type();
        let decimal = Self::Decimal(leaf.type_scale());
        let meaning = match (leaf.physical_type(), leaf.logical_type_ref()) {
            (Type::BOOLEAN | Type::FLOAT | Type::DOUBLE, _) => Some(Self::Plain),
            (Type::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16)) => Some(Self::Half),
            (Type::INT96, _) => None,
            (_, Some(LogicalType::Decimal { .. })) => Some(decimal),
            (Type::INT32, Some(LogicalType::Date)) => Some(Self::Days),
            (Type::INT64, Some(LogicalType::Timestamp(stamp))) => {
                Some(Self::Times(match stamp.unit {
                    TimeUnit::MILLIS => SECONDS * 1_000,
                    TimeUnit::MICROS => SECONDS * 1_000_000,
                    TimeUnit::NANOS => SECONDS * 1_000_000_000,
                }))
            }
            (_, None) if converted == C::DECIMAL => Some(decimal),
            (Type::INT32, None) if converted == C::DATE => Some(Self::Days),
            (Type::INT64, None) if converted == C::TIMESTAMP_MILLIS => {
                Some(Self::Times(SECONDS * 1_000))
            }
            (Type::INT64, None) if converted == C::TIMESTAMP_MICROS => {
                Some(Self::Times(SECONDS * 1_000_000))
            }
            (Type::INT32 | Type::INT64, None | Some(LogicalType::Integer { .. })) => {
                let time = [C::TIME_MILLIS, C::TIME_MICROS].contains(&converted);
                let unsigned = [C::UINT_8, C::UINT_16, C::UINT_32, C::UINT_64].contains(&converted);
                (!time).then_some(if unsigned { Self::Unsigned } else { Self::Plain })
            }
            (
                Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY,
                None | Some(LogicalType::String | LogicalType::Enum),
            ) => Some(Self::Plain),
            _ => None,
        };
        meaning.ok_or_else(|| {
            let logical = leaf.logical_type_ref().map(|l| format!(" ({l:?})")).unwrap_or_default();
            format!("{}{logical}", leaf.physical_type())
        })
    }
}

/// One column of a group of records.
pub(super) struct ParquetColumn {
    reader: ColumnReader,
    meaning: Meaning,
    optional: bool,
}

impl ParquetColumn {
    pub(super) fn new(reader: ColumnReader, leaf: &ColumnDescriptor, meaning: Meaning) -> Self {
        Self { reader, meaning, optional: leaf.max_def_level() > 0 }
    }

    /// The next `size` records; fewer are an error.
    pub(super) fn read(&mut self, size: usize) -> Result<ColumnCells, ParquetError> {
        let (records, cells) = self.take(size)?;
        if records < size {
            return Err(ParquetError::EOF("a column has fewer records than the file says".into()));
        }
        Ok(cells)
    }

    /// Whether nothing is left; what is left is forgotten.
    pub(super) fn is_done(&mut self) -> Result<bool, ParquetError> {
        Ok(self.take(1)?.0 == 0)
    }

    fn take(&mut self, size: usize) -> Result<(usize, ColumnCells), ParquetError> {
        let mut levels = Vec::new();
        let all = &mut levels;
        let (records, values) = match &mut self.reader {
            ColumnReader::BoolColumnReader(r) => take(r, all, size, Values::Bool)?,
            ColumnReader::Int32ColumnReader(r) => take(r, all, size, Values::Int32)?,
            ColumnReader::Int64ColumnReader(r) => take(r, all, size, Values::Int64)?,
            ColumnReader::FloatColumnReader(r) => take(r, all, size, Values::Float)?,
            ColumnReader::DoubleColumnReader(r) => take(r, all, size, Values::Double)?,
            ColumnReader::ByteArrayColumnReader(r) => take(r, all, size, Values::Bytes)?,
            ColumnReader::FixedLenByteArrayColumnReader(r) => take(r, all, size, Values::Fixed)?,
            // Never built: `Meaning::of` refuses it first.
            ColumnReader::Int96ColumnReader(_) => (0, Values::Bool(Vec::new())),
        };
        let levels = self.optional.then_some(levels);
        Ok((records, ColumnCells { values, meaning: self.meaning, levels, record: 0, value: 0 }))
    }
}

/// Some records of one column.
pub(super) struct ColumnCells {
    values: Values,
    meaning: Meaning,
    /// For each record whether it has a value, where it may have none.
    levels: Option<Vec<i16>>,
    record: usize,
    value: usize,
}

enum Values {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

impl ColumnCells {
    pub(super) fn next(&mut self) -> Result<Cell<'_>, CellProblem> {
        if let Some(levels) = &self.levels {
            self.record += 1;
            if levels[self.record - 1] == 0 {
                return Ok(Cell::Missing);
            }
        }
        let i = self.value;
        self.value += 1;
        let meaning = self.meaning;
        let whole = |n: i128| whole(n, meaning);
        match &self.values {
            Values::Bool(v) => Ok(Cell::Flag(v[i])),
            Values::Int32(v) if meaning == Meaning::Unsigned => {
                Ok(whole(i128::from(v[i].cast_unsigned())))
            }
            Values::Int32(v) => Ok(whole(i128::from(v[i]))),
            Values::Int64(v) if meaning == Meaning::Unsigned => {
                Ok(whole(i128::from(v[i].cast_unsigned())))
            }
            Values::Int64(v) => Ok(whole(i128::from(v[i]))),
            Values::Float(v) => Ok(Cell::Single(v[i])),
            Values::Double(v) => Ok(Cell::Number(v[i])),
            Values::Bytes(v) => value(v[i].data(), meaning),
            Values::Fixed(v) => value(v[i].data(), meaning),
        }
    }
}

fn whole(n: i128, meaning: Meaning) -> Cell<'static> {
    match meaning {
        Meaning::Decimal(places) => match number::without_places(n, places) {
            // A long identifier keeps its last digits.
            Some(whole) => Cell::Whole(whole),
            None => Cell::Rounded(number::decimal(n, places)),
        },
        Meaning::Days => Cell::Day(n as i64),
        Meaning::Times(day) => match (n as i64).div_euclid(day) {
            at if (n as i64).rem_euclid(day) == 0 => Cell::Day(at),
            at => Cell::Moment(at),
        },
        _ => Cell::Whole(n),
    }
}

/// Bytes as text, or as the number that they stand for.
fn value(bytes: &[u8], meaning: Meaning) -> Result<Cell<'_>, CellProblem> {
    match (meaning, bytes) {
        (Meaning::Half, [low, high]) => {
            Ok(Cell::Number(number::half(u16::from_le_bytes([*low, *high]))))
        }
        (Meaning::Half, _) => Err(CellProblem::NotNumber),
        (Meaning::Decimal(_), _) => {
            big_endian(bytes).map(|n| whole(n, meaning)).ok_or(CellProblem::NotNumber)
        }
        _ if std::str::from_utf8(bytes).is_err() => Err(CellProblem::NotUtf8),
        _ => Ok(Cell::Text(bytes)),
    }
}

/// A whole number with a sign, highest byte first.
fn big_endian(bytes: &[u8]) -> Option<i128> {
    let (first, _) = bytes.split_first()?;
    let fill = if *first >= 128 { 255 } else { 0 };
    let (extra, low) = bytes.split_at(bytes.len().saturating_sub(16));
    // Longer than the type only by repeating the sign.
    if extra.iter().any(|&b| b != fill) || (!extra.is_empty() && (low[0] >= 128) != (*first >= 128))
    {
        return None;
    }
    let mut whole = [fill; 16];
    whole[16 - low.len()..].copy_from_slice(low);
    Some(i128::from_be_bytes(whole))
}

fn take<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    levels: &mut Vec<i16>,
    size: usize,
    values: fn(Vec<T::T>) -> Values,
) -> Result<(usize, Values), ParquetError> {
    let mut all = Vec::new();
    let (records, ..) = reader.read_records(size, Some(levels), None, &mut all)?;
    Ok((records, values(all)))
}
