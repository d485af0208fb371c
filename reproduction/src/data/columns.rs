//! A public file of columns (Parquet).

use std::fs::File;
use std::path::Path;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use super::files::scaled;
use crate::error::ExperimentError;
use crate::table::RowTable;

/// The features of bio-train; before them are two identifiers and the class.
const FEATURES: usize = 74;
const FIRST: usize = 3;
const CLASS: usize = 2;

/// bio-train (KDD Cup 2004): 74 numbers a row, the class 1 is +1. Identifiers are left out. The
/// paper does not say how it scales them: columns are divided by their largest absolute values and
/// rows cut to norm 1, as forest cover is.
pub(super) fn bio_train(path: &Path) -> Result<RowTable, ExperimentError> {
    let wrong = |why: ParquetError| ExperimentError::file(path, why);
    let file = File::open(path).map_err(|why| ExperimentError::file(path, why))?;
    let reader = SerializedFileReader::new(file).map_err(wrong)?;
    let width = reader.metadata().file_metadata().schema_descr().num_columns();
    if width != FIRST + FEATURES {
        let why = format!("it has {width} columns, and {} were expected", FIRST + FEATURES);
        return Err(ExperimentError::file(path, why));
    }
    let (mut values, mut targets): (Vec<f32>, Vec<f64>) = (Vec::new(), Vec::new());
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(wrong)?;
        let first = targets.len() * FEATURES;
        for class in column(&*group, CLASS).map_err(wrong)? {
            targets.push(if class == 1.0 { 1.0 } else { -1.0 });
        }
        values.resize(targets.len() * FEATURES, 0.0);
        for feature in 0..FEATURES {
            let column = column(&*group, FIRST + feature).map_err(wrong)?;
            let places = values[first..].iter_mut().skip(feature).step_by(FEATURES);
            places.zip(column).for_each(|(place, value)| *place = value as f32);
        }
    }
    Ok(scaled(FEATURES, values.chunks_exact(FEATURES).zip(targets.iter().copied())))
}

/// The numbers of a column of a row group, of which none may be missing.
fn column(group: &dyn RowGroupReader, at: usize) -> Result<Vec<f64>, ParquetError> {
    let rows = group.metadata().num_rows().try_into().unwrap_or(0);
    match group.get_column_reader(at)? {
        ColumnReader::Int64ColumnReader(reader) => {
            Ok(all(reader, rows)?.into_iter().map(|value| value as f64).collect())
        }
        ColumnReader::DoubleColumnReader(reader) => all(reader, rows),
        _ => Err(ParquetError::General(format!("column {at} is not of numbers"))),
    }
}

fn all<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
) -> Result<Vec<T::T>, ParquetError> {
    let (mut values, mut levels) = (Vec::with_capacity(rows), Vec::new());
    while values.len() < rows {
        let left = rows - values.len();
        let (_, read, _) = reader.read_records(left, Some(&mut levels), None, &mut values)?;
        if read == 0 {
            return Err(ParquetError::General("a number is missing".to_owned()));
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::data_type::{DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    /// A file of so many features with two rows, `second` in the second feature of the first one;
    /// none where the number is missing.
    fn write(path: &Path, features: usize, second: Option<f64>) {
        let names = ["EXAMPLE_ID", "BLOCK_ID", "target"].map(|name| format!("int64 {name};"));
        let features = (0..features).map(|j| format!("double f{j};"));
        let fields: Vec<String> =
            names.into_iter().chain(features).map(|field| format!("optional {field}")).collect();
        let schema = format!("message schema {{ {} }}", fields.join(" "));
        let schema = Arc::new(parse_message_type(&schema).unwrap());
        let properties = Arc::new(WriterProperties::builder().build());
        let file = File::create(path).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut at = 0;
        while let Some(mut column) = group.next_column().unwrap() {
            let numbers = match (at, second) {
                (4, Some(second)) => vec![second, -4.0],
                (4, None) => vec![-4.0],
                _ => vec![0.0, 2.0],
            };
            let levels: Vec<i16> = if numbers.len() == 2 { vec![1, 1] } else { vec![0, 1] };
            if at < FIRST {
                let values: Vec<i64> = vec![1, 0];
                column.typed::<Int64Type>().write_batch(&values, Some(&levels), None).unwrap();
            } else {
                column.typed::<DoubleType>().write_batch(&numbers, Some(&levels), None).unwrap();
            }
            column.close().unwrap();
            at += 1;
        }
        group.close().unwrap();
        writer.close().unwrap();
    }

    #[test]
    fn columns_become_rows_of_norm_1() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bio_train.parquet");
        write(&path, FEATURES, Some(1.0));
        let table = bio_train(&path).unwrap();
        assert_eq!((table.len(), table.columns), (2, FEATURES));
        assert_eq!(table.targets, [1.0, -1.0]);
        // The second feature is at most 4 in absolute value, the others 2.
        assert_eq!(table.row(0).collect::<Vec<_>>(), [(1, 0.25)]);
        let norm: f64 = table.row(1).map(|(_, value)| value * value).sum();
        assert!((norm - 1.0).abs() < 1e-12 && table.row(1).nth(1).unwrap().1 < 0.0);
        for (features, second) in [(FEATURES - 1, Some(1.0)), (FEATURES, None)] {
            write(&path, features, second);
            assert!(bio_train(&path).is_err(), "{features} features, {second:?}");
        }
        std::fs::write(&path, "no Parquet").unwrap();
        assert!(bio_train(&path).is_err());
    }
}
