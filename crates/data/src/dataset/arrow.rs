//! Arrow record batches, cell by cell, as a Parquet file with these columns is read.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::{DataType, TimeUnit};

use super::NAME;
use crate::error::FileProblem;
use crate::{Cell, CellProblem, DataError};

/// Seconds of a day.
const DAY: i64 = 86_400;

/// The names of the columns, which are the same in all batches.
pub(super) fn names(batches: &[RecordBatch]) -> Result<Vec<String>, String> {
    let first = batches.first().ok_or("there is no record batch")?;
    if batches.iter().any(|batch| batch.schema() != first.schema()) {
        return Err("its record batches differ in their columns".to_owned());
    }
    Ok(first.schema().fields().iter().map(|field| field.name().clone()).collect())
}

/// The columns of all batches, by type.
pub(super) struct ArrowColumns<'a> {
    /// The first row of each batch.
    starts: Vec<usize>,
    /// Of each batch, the columns that are read.
    batches: Vec<Vec<Option<ArrowColumn<'a>>>>,
}

enum ArrowColumn<'a> {
    F64(&'a PrimitiveArray<Float64Type>),
    F32(&'a PrimitiveArray<Float32Type>),
    I8(&'a PrimitiveArray<Int8Type>),
    I16(&'a PrimitiveArray<Int16Type>),
    I32(&'a PrimitiveArray<Int32Type>),
    I64(&'a PrimitiveArray<Int64Type>),
    U8(&'a PrimitiveArray<UInt8Type>),
    U16(&'a PrimitiveArray<UInt16Type>),
    U32(&'a PrimitiveArray<UInt32Type>),
    U64(&'a PrimitiveArray<UInt64Type>),
    Date32(&'a PrimitiveArray<Date32Type>),
    /// Points in time, and so many to the day.
    Times(&'a dyn Array, &'a [i64], i64),
    Flag(&'a arrow_array::BooleanArray),
    Text(&'a StringArray),
    LargeText(&'a arrow_array::LargeStringArray),
    TextView(&'a arrow_array::StringViewArray),
    /// Categories: the place of each row among them, and they.
    Dictionary(&'a dyn Array, Vec<usize>, Box<ArrowColumn<'a>>),
    /// Of a type that has no meaning here.
    Unreadable(String),
}

impl<'a> ArrowColumns<'a> {
    /// Those columns that `used` names by their places.
    pub(super) fn new(batches: &'a [RecordBatch], used: &[usize]) -> Self {
        let mut starts = Vec::with_capacity(batches.len());
        let mut rows = 0;
        for batch in batches {
            starts.push(rows);
            rows += batch.num_rows();
        }
        let columns = |batch: &'a RecordBatch| {
            let all = batch.columns().iter().enumerate();
            all.map(|(i, c)| used.contains(&i).then(|| ArrowColumn::of(&**c))).collect()
        };
        ArrowColumns { starts, batches: batches.iter().map(columns).collect() }
    }

    /// The cell of a row, counted over all batches.
    pub(super) fn cell(&self, row: usize, column: usize) -> Result<Cell<'a>, CellProblem> {
        let batch = self.starts.partition_point(|&start| start <= row) - 1;
        let column = self.batches[batch][column].as_ref();
        column.map_or(Ok(Cell::Missing), |column| column.cell(row - self.starts[batch]))
    }

    /// Refuses a column of a type that has no meaning here.
    pub(super) fn check(&self, column: usize, name: &str) -> Result<(), DataError> {
        match self.batches.first().and_then(|batch| batch[column].as_ref()) {
            Some(ArrowColumn::Unreadable(found)) => {
                let (column, found) = (name.to_owned(), found.clone());
                Err(DataError::file(NAME, FileProblem::ColumnType { column, found }))
            }
            _ => Ok(()),
        }
    }
}

impl<'a> ArrowColumn<'a> {
    fn of(array: &'a dyn Array) -> Self {
        match array.data_type() {
            DataType::Float64 => ArrowColumn::F64(array.as_primitive()),
            DataType::Float32 => ArrowColumn::F32(array.as_primitive()),
            DataType::Int8 => ArrowColumn::I8(array.as_primitive()),
            DataType::Int16 => ArrowColumn::I16(array.as_primitive()),
            DataType::Int32 => ArrowColumn::I32(array.as_primitive()),
            DataType::Int64 => ArrowColumn::I64(array.as_primitive()),
            DataType::UInt8 => ArrowColumn::U8(array.as_primitive()),
            DataType::UInt16 => ArrowColumn::U16(array.as_primitive()),
            DataType::UInt32 => ArrowColumn::U32(array.as_primitive()),
            DataType::UInt64 => ArrowColumn::U64(array.as_primitive()),
            DataType::Date32 => ArrowColumn::Date32(array.as_primitive()),
            DataType::Date64 => {
                let times = array.as_primitive::<Date64Type>().values();
                ArrowColumn::Times(array, times, DAY * 1_000)
            }
            DataType::Timestamp(unit, _) => Self::times(array, *unit),
            DataType::Boolean => ArrowColumn::Flag(array.as_boolean()),
            DataType::Utf8 => ArrowColumn::Text(array.as_string()),
            DataType::LargeUtf8 => ArrowColumn::LargeText(array.as_string()),
            DataType::Utf8View => ArrowColumn::TextView(array.as_string_view()),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let values = ArrowColumn::of(&**dictionary.values());
                // Without categories every row is missing, and there are no places.
                let none = dictionary.values().is_empty();
                let places = if none { Vec::new() } else { dictionary.normalized_keys() };
                ArrowColumn::Dictionary(array, places, Box::new(values))
            }
            other => ArrowColumn::Unreadable(other.to_string()),
        }
    }

    /// Points in time. Those with a zone are counted in universal time, as a Parquet file has them.
    fn times(array: &'a dyn Array, unit: TimeUnit) -> Self {
        let (times, parts): (&[i64], i64) = match unit {
            TimeUnit::Second => (array.as_primitive::<TimestampSecondType>().values(), 1),
            TimeUnit::Millisecond => {
                (array.as_primitive::<TimestampMillisecondType>().values(), 1_000)
            }
            TimeUnit::Microsecond => {
                (array.as_primitive::<TimestampMicrosecondType>().values(), 1_000_000)
            }
            TimeUnit::Nanosecond => {
                (array.as_primitive::<TimestampNanosecondType>().values(), 1_000_000_000)
            }
        };
        ArrowColumn::Times(array, times, DAY * parts)
    }

    fn cell(&self, i: usize) -> Result<Cell<'a>, CellProblem> {
        macro_rules! value {
            ($array:expr, $make:expr) => {
                if $array.is_null(i) { Cell::Missing } else { $make($array.value(i)) }
            };
        }
        Ok(match self {
            ArrowColumn::F64(all) => value!(all, Cell::Number),
            ArrowColumn::F32(all) => value!(all, Cell::Single),
            ArrowColumn::I8(all) => value!(all, |n| Cell::Whole(i128::from(n))),
            ArrowColumn::I16(all) => value!(all, |n| Cell::Whole(i128::from(n))),
            ArrowColumn::I32(all) => value!(all, |n| Cell::Whole(i128::from(n))),
            ArrowColumn::I64(all) => value!(all, |n| Cell::Whole(i128::from(n))),
            ArrowColumn::U8(all) => value!(all, |n| Cell::Whole(i128::from(n))),
            ArrowColumn::U16(all) => value!(all, |n| Cell::Whole(i128::from(n))),
            ArrowColumn::U32(all) => value!(all, |n| Cell::Whole(i128::from(n))),
            ArrowColumn::U64(all) => value!(all, |n| Cell::Whole(i128::from(n))),
            ArrowColumn::Date32(all) => value!(all, |day| Cell::Day(i64::from(day))),
            ArrowColumn::Times(all, _, _) if all.is_null(i) => Cell::Missing,
            ArrowColumn::Times(_, times, day) => match times[i].div_euclid(*day) {
                at if times[i].rem_euclid(*day) == 0 => Cell::Day(at),
                at => Cell::Moment(at),
            },
            ArrowColumn::Flag(all) => value!(all, Cell::Flag),
            ArrowColumn::Text(all) => value!(all, |text: &'a str| Cell::Text(text.as_bytes())),
            ArrowColumn::LargeText(all) => value!(all, |text: &'a str| Cell::Text(text.as_bytes())),
            ArrowColumn::TextView(all) => value!(all, |text: &'a str| Cell::Text(text.as_bytes())),
            ArrowColumn::Dictionary(all, _, _) if all.is_null(i) => Cell::Missing,
            ArrowColumn::Dictionary(_, places, values) => match places.get(i) {
                Some(&place) => values.cell(place)?,
                None => Cell::Missing,
            },
            ArrowColumn::Unreadable(_) => return Err(CellProblem::NotNumber),
        })
    }
}
