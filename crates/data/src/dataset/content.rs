//! The rows of a dataset as bytes, for a digest by which a table is known again.
//!
//! The bytes are those of the values as they were given, before any schema: the same table under
//! other bounds is the same table. How it is laid out does not show: a dense and a sparse matrix, a
//! matrix and a record batch, one batch and many have the same bytes. Names do not show either.

#[cfg(feature = "arrow")]
use super::arrow::ArrowColumns;
use super::{Dataset, Features, Targets};
use crate::Cell;
use std::io::Write;

/// Hands on every row as bytes: its columns, and its target with its weight. Owners are not in it: who made the
/// table may have numbered them by the order of the rows.
pub fn visit_content(dataset: &Dataset<'_>, row: &mut dyn FnMut(&[u8], &[u8])) {
    let (mut columns, mut target) = (Vec::new(), Vec::new());
    #[cfg(feature = "arrow")]
    let arrow = match &dataset.features {
        Features::Arrow(batches) => {
            let all: Vec<usize> = (0..dataset.columns()).collect();
            Some(ArrowColumns::new(batches, &all))
        }
        _ => None,
    };
    for at in 0..dataset.rows() {
        columns.clear();
        target.clear();
        match &dataset.features {
            Features::RowMajor { values, columns: width, .. } => {
                let own = &values[at * width..(at + 1) * width];
                own.iter().enumerate().for_each(|(j, x)| put(&mut columns, j, Cell::Number(*x)));
            }
            Features::ColumnMajor { values, rows, columns: width } => {
                let own = (0..*width).map(|j| values[j * rows + at]);
                own.enumerate().for_each(|(j, x)| put(&mut columns, j, Cell::Number(x)));
            }
            Features::Csr { indptr, indices, values, .. } => {
                let span = indptr.at(at)..indptr.at(at + 1);
                let mut own: Vec<_> = span.map(|i| (indices.at(i), values[i])).collect();
                own.sort_unstable_by_key(|&(column, _)| column);
                own.into_iter().for_each(|(j, x)| put(&mut columns, j, Cell::Number(x)));
            }
            #[cfg(feature = "arrow")]
            Features::Arrow(_) => {
                for j in 0..dataset.columns() {
                    let cell = arrow.as_ref().and_then(|arrow| arrow.cell(at, j).ok());
                    put(&mut columns, j, cell.unwrap_or(Cell::Missing));
                }
            }
        }
        match &dataset.targets {
            None => {}
            Some(Targets::Numbers(all)) => put(&mut target, 0, Cell::Number(all[at])),
            Some(Targets::Classes(all)) => put(&mut target, 0, Cell::Number(f64::from(all[at]))),
            Some(Targets::Labels(all)) => put(&mut target, 0, Cell::Text(all[at].as_bytes())),
        }
        if let Some(weights) = &dataset.weights {
            put(&mut target, 1, Cell::Number(weights[at]));
        }
        row(&columns, &target);
    }
}

/// A cell and its place; a zero is nothing, as in a sparse matrix.
fn put(bytes: &mut Vec<u8>, column: usize, cell: Cell<'_>) {
    let number = |x: f64| if x.is_nan() { f64::NAN } else { x };
    let (kind, value): (u8, [u8; 16]) = match cell {
        Cell::Number(0.0) | Cell::Rounded(0.0) | Cell::Single(0.0) => return,
        Cell::Whole(0) | Cell::Flag(false) => return,
        Cell::Missing => (0, wide(f64::NAN)),
        Cell::Number(x) | Cell::Rounded(x) => (0, wide(number(x))),
        Cell::Single(x) => (0, wide(number(x.into()))),
        Cell::Flag(true) => (0, wide(1.0)),
        Cell::Whole(n) if n as f64 as i128 == n => (0, wide(n as f64)),
        Cell::Whole(n) => (1, n.to_le_bytes()),
        Cell::Day(day) => (2, i128::from(day).to_le_bytes()),
        Cell::Moment(moment) => (4, i128::from(moment).to_le_bytes()),
        Cell::Text(text) => (3, (text.len() as i128).to_le_bytes()),
    };
    // Writing to a vector cannot fail.
    let _ = bytes.write_all(&(column as u64).to_le_bytes());
    let _ = bytes.write_all(&[kind]);
    let _ = bytes.write_all(&value);
    if let Cell::Text(text) = cell {
        let _ = bytes.write_all(text);
    }
}

fn wide(x: f64) -> [u8; 16] {
    u128::from(x.to_bits()).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(dataset: &Dataset<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut rows = Vec::new();
        visit_content(dataset, &mut |columns, target| {
            rows.push((columns.to_vec(), target.to_vec()))
        });
        rows
    }

    #[test]
    fn the_layout_of_a_table_does_not_show_and_its_values_do() {
        let by_row = Dataset::dense(&[1.0, 0.0, 3.0, -4.0][..], 2, 2).unwrap();
        let by_column = Dataset::dense_by_column(&[1.0, 3.0, 0.0, -4.0][..], 2, 2).unwrap();
        let (starts, places): ([i32; 3], [i32; 3]) = ([0, 1, 3], [0, 1, 0]);
        let sparse = Dataset::csr(&starts, &places, &[1.0, -4.0, 3.0][..], 2).unwrap();
        assert_eq!(content(&by_row), content(&by_column));
        assert_eq!(content(&by_row), content(&sparse));
        let other = Dataset::dense(&[1.0, 3.0, 0.0, -4.0][..], 2, 2).unwrap();
        assert_ne!(content(&by_row), content(&other));
        let targets = by_row.clone().with_targets(&[1.0, 0.0]).unwrap();
        assert_ne!(content(&by_row), content(&targets));
    }

    #[cfg(feature = "arrow")]
    #[test]
    fn how_many_batches_there_are_does_not_show() {
        use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch};
        use std::sync::Arc;
        let batch = |x: Vec<f64>, n: Vec<i32>| {
            let columns: [(&str, ArrayRef); 2] =
                [("x", Arc::new(Float64Array::from(x))), ("n", Arc::new(Int32Array::from(n)))];
            RecordBatch::try_from_iter(columns).unwrap()
        };
        let whole = [batch(vec![1.0, 2.0, 3.0], vec![4, 5, 6])];
        let parts = [batch(vec![1.0], vec![4]), batch(vec![2.0, 3.0], vec![5, 6])];
        let whole = Dataset::arrow(&whole[..]).unwrap();
        let parts = Dataset::arrow(&parts[..]).unwrap();
        let matrix = Dataset::dense(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0][..], 3, 2).unwrap();
        assert_eq!(content(&whole), content(&parts));
        assert_eq!(content(&whole), content(&matrix));
    }
}
