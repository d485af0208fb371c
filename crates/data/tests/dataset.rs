//! Tables in memory: the same values give the same table as a file, whatever their layout, and what
//! cannot be is refused without a word about a value.
#![allow(clippy::unwrap_used)] // helpers of tests

use reticent_data::{
    DataError, Dataset, Purpose, Rows, Schema, Table, Target, encode, parse_csv, parse_libsvm,
    visit_dataset,
};

trait Encode {
    fn encode(&self, schema: &Schema) -> Result<Table, DataError>;
}

impl Encode for Dataset<'_> {
    fn encode(&self, schema: &Schema) -> Result<Table, DataError> {
        encode(self, schema)
    }
}

const SCHEMA: &str = "
row_norm = 1.2
missing_tokens = ['', 'NaN']
[[column]]
name = 'age'
kind = 'numeric'
lower = 18
upper = 90
missing = 40
[[column]]
name = 'town'
kind = 'categorical'
categories = [1, 2, 3]
missing = 3
[[column]]
name = 'dose'
kind = 'numeric'
lower = 0
upper = 10
scale = 'log'
[[column]]
name = 'who'
kind = 'user'
[[column]]
name = 'ill'
kind = 'target'
classes = ['no', 'yes']
";

/// Records with values out of bounds, missing ones and unlisted categories.
const X: [[f64; 3]; 6] = [
    [25.0, 1.0, 0.5],
    [120.0, 2.0, 11.0],
    [f64::NAN, 3.0, 3.25],
    [18.0, 9.0, 0.1],
    [64.5, f64::NAN, 2.0 / 3.0],
    [33.0, 2.0, 7.0],
];
const WHO: [&str; 6] = ["ann", "bob", "ann", "cid", "bob", "dee"];
const ILL: [&str; 6] = ["no", "yes", "yes", "no", "no", "yes"];

fn schema() -> Schema {
    SCHEMA.parse().unwrap()
}

fn from_csv() -> Table {
    let mut text = String::from("age,town,dose,who,ill\n");
    for ((x, who), ill) in X.iter().zip(WHO).zip(ILL) {
        let cell = |v: f64| if v.is_nan() { String::new() } else { v.to_string() };
        text += &format!("{},{},{},{who},{ill}\n", cell(x[0]), cell(x[1]), cell(x[2]));
    }
    parse_csv(text.as_bytes(), "made.csv", &schema(), b',', Purpose::Fit).unwrap()
}

fn rows() -> Vec<f64> {
    X.concat()
}

fn columns() -> Vec<f64> {
    (0..3).flat_map(|j| X.map(|row| row[j])).collect()
}

#[test]
fn every_layout_gives_the_table_of_the_file() {
    let (csv, rows, columns) = (from_csv(), rows(), columns());
    let named = |data: Dataset<'static>| {
        data.with_targets(&ILL).unwrap().with_owners(&WHO).unwrap().encode(&schema()).unwrap()
    };
    assert_eq!(named(Dataset::dense(rows.clone(), 6, 3).unwrap()), csv);
    assert_eq!(named(Dataset::dense_by_column(columns, 6, 3).unwrap()), csv);
    let indptr: Vec<i32> = (0..=6).map(|i| 3 * i).collect();
    // Backwards within each row.
    let indices: Vec<i64> = [2, 1, 0].repeat(6);
    let values: Vec<f64> = X.iter().flat_map(|row| [row[2], row[1], row[0]]).collect();
    assert_eq!(named(Dataset::csr(indptr, indices, values, 3).unwrap()), csv);
    // By name, in another order, with another column that the schema does not know.
    let mixed: Vec<f64> = X.iter().flat_map(|row| [row[2], 77.0, row[0], row[1]]).collect();
    let mixed = Dataset::dense(mixed, 6, 4).unwrap();
    let mixed = mixed.with_names(["dose", "other", "age", "town"]).unwrap();
    let mixed = mixed.with_targets(&[0_u32, 1, 1, 0, 0, 1]).unwrap().with_owners(&WHO).unwrap();
    assert!(mixed.encode(&schema()).unwrap_err().to_string().contains("not declared"));
    let lenient: Schema = format!("undeclared = 'ignore'\n{SCHEMA}").parse().unwrap();
    assert_eq!(mixed.encode(&lenient).unwrap(), csv);
}

#[test]
fn a_sparse_matrix_without_columns_is_that_of_a_libsvm_file() {
    let schema = Schema::libsvm(4, 1.0, Target::classes(["-1", "+1"]).unwrap()).unwrap();
    let text = "+1 1:0.5 3:2\n-1\n+1 2:-0.25 4:0\n";
    let file = parse_libsvm(text.as_bytes(), "made.libsvm", &schema, Purpose::Fit).unwrap();
    let (indices, values) = ([0_u32, 2, 1, 3], [0.5, 2.0, -0.25, 0.0]);
    let csr = Dataset::csr(&[0_usize, 2, 2, 4], &indices, &values[..], 4).unwrap();
    let labels = csr.clone().with_targets(&["+1", "-1", "+1"]).unwrap();
    assert_eq!(labels.encode(&schema).unwrap(), file);
    let numbers = csr.with_targets(&[1.0, -1.0, 1.0]).unwrap();
    assert_eq!(numbers.encode(&schema).unwrap(), file);
    let dense = [0.5, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.25, 0.0, 0.0];
    let dense = Dataset::dense(&dense[..], 3, 4).unwrap().with_targets(&[1_u32, 0, 1]).unwrap();
    assert_eq!(dense.encode(&schema).unwrap(), file);
}

#[test]
fn bounds_or_a_norm_are_schema_enough() {
    let target = || Target::range(0.0, 10.0).unwrap();
    let x = [5.0, 50.0, -5.0, 500.0];
    let data = Dataset::dense(&x[..], 2, 2).unwrap().with_targets(&[0.0, 20.0]).unwrap();
    let bounded = Schema::bounded(&[(0.0, 10.0), (0.0, 100.0)], target()).unwrap();
    let table = data.encode(&bounded).unwrap();
    assert_eq!(table.rows.dense_row(0), [0.0, 0.0]);
    assert_eq!(table.rows.dense_row(1), [-1.0, 1.0], "clipped to the bounds");
    assert_eq!((table.targets, table.names), (vec![-1.0, 1.0], vec!["1".to_owned(), "2".into()]));
    let norm = Schema::of_norm(2, 3.0, target()).unwrap();
    let table = data.encode(&norm).unwrap();
    assert!(matches!(table.rows, Rows::Dense(_)));
    for i in 0..2 {
        let row = table.rows.dense_row(i);
        assert!((row[0].hypot(row[1]) - 3.0).abs() < 1e-12, "{row:?}");
        assert!((row[1] / row[0] - x[2 * i + 1] / x[2 * i]).abs() < 1e-9, "the direction stays");
    }
    // Owners need no column of the schema.
    let owned = data.with_owners(&[7_u64, 3]).unwrap().encode(&bounded).unwrap();
    assert_eq!(owned.users, Some(vec![1, 0]));
    for bad in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
        assert!(Schema::bounded(&[bad], target()).is_err(), "{bad:?}");
    }
    assert!(Schema::of_norm(2, 0.0, target()).is_err() && Target::range(1.0, 0.0).is_err());
}

#[test]
fn what_is_not_finite_is_refused_or_missing_as_it_is_declared() {
    let target = || Target::classes(["no", "yes"]).unwrap();
    let bounded = Schema::bounded(&[(0.0, 10.0)], target()).unwrap();
    let data =
        |x: f64| Dataset::dense(vec![1.0, x], 2, 1).unwrap().with_targets(&[0_u32, 1]).unwrap();
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = data(x).encode(&bounded).unwrap_err().to_string();
        assert_eq!(
            error,
            "the dataset:2: column `1` is numeric, but the field is not finite (NaN or infinity)"
        );
        let sparse = Schema::libsvm(1, 1.0, target()).unwrap();
        assert!(data(x).encode(&sparse).is_err());
    }
    let missing = bounded.with_nan_missing();
    assert_eq!(data(f64::NAN).encode(&missing).unwrap().rows.dense_row(1), [0.0]);
    assert!(data(f64::INFINITY).encode(&missing).is_err());
    let no_target = Dataset::dense(vec![1.0], 1, 1).unwrap();
    assert!(no_target.encode(&missing).unwrap_err().to_string().contains("no column `target`"));
    let nan = no_target.with_targets(&[f64::NAN]).unwrap();
    assert!(nan.encode(&missing).is_err());
}

#[test]
fn shapes_that_cannot_be_are_refused() {
    let x = vec![0.0; 6];
    assert!(Dataset::dense(&x, 2, 4).is_err() && Dataset::dense(&x, usize::MAX, 2).is_err());
    let data = || Dataset::dense(&x, 2, 3).unwrap();
    assert!(data().with_targets(&[1.0]).is_err() && data().with_owners(&[1_u64; 3]).is_err());
    assert!(data().with_names(["a", "b"]).is_err());
    let target = || Target::classes(["no", "yes"]).unwrap();
    let two = Schema::bounded(&[(0.0, 1.0); 2], target()).unwrap();
    let data = data().with_targets(&[0_u32, 1]).unwrap();
    let error = data.encode(&two).unwrap_err().to_string();
    assert_eq!(error, "the dataset: it has 3 columns, and the schema has 2 features");
    let three = Schema::bounded(&[(0.0, 1.0); 3], target()).unwrap();
    let beyond = data.clone().with_targets(&[0_u32, 2]).unwrap();
    assert!(beyond.encode(&three).unwrap_err().to_string().contains("places from 0 to 1"));
    let csr = |indptr: &[usize], indices: &[i32], columns| {
        Dataset::csr(indptr, indices, vec![1.0; 3], columns).map(drop)
    };
    assert!(csr(&[0, 2, 3], &[0, 1, 0], 2).is_ok());
    for (indptr, indices) in [
        (&[0, 2][..], [0, 1, 0]),
        (&[0, 4, 3], [0, 1, 0]),
        (&[1, 2, 3], [0, 1, 0]),
        (&[0, 2, 3], [0, 2, 0]),
        (&[0, 2, 3], [0, -1, 0]),
        (&[0, 2, 3], [1, 1, 0]),
        (&[], [0, 1, 0]),
    ] {
        assert!(csr(indptr, &indices, 2).is_err(), "{indptr:?} {indices:?}");
    }
    assert!(Dataset::csr(&[0_usize, 1], &[0_u32, 1], vec![1.0], 2).is_err());
}

#[test]
fn records_are_handed_on_as_they_are_encoded() {
    let rows = rows();
    let data = Dataset::dense(&rows, 6, 3).unwrap();
    let csv = from_csv();
    let mut seen = Vec::new();
    visit_dataset(&data, &schema(), Purpose::Predict, &mut |row| {
        let mut dense = vec![0.0; 5];
        row.indices.iter().zip(&row.values).for_each(|(&j, &v)| dense[j as usize] = v);
        seen.push(dense);
        seen.len() < 4
    })
    .unwrap();
    assert_eq!(seen, (0..4).map(|i| csv.rows.dense_row(i)).collect::<Vec<_>>());
}

#[test]
fn owners_are_told_apart_as_in_a_column() {
    let x = [1.0, 2.0, 3.0, 4.0];
    let names = ["ann", "ann ", "bob", " ann"];
    let data = || Dataset::dense(&x[..], 4, 1).unwrap().with_targets(&[0.0; 4]).unwrap();
    let target = Target::range(0.0, 10.0).unwrap();
    let bounded = Schema::bounded(&[(0.0, 10.0)], target).unwrap();
    let owned = data().with_owners(&names).unwrap().encode(&bounded).unwrap();
    assert_eq!(owned.users, Some(vec![0, 0, 1, 0]));
    let blank = data().with_owners(&["ann", " ", "bob", "bob"]).unwrap().encode(&bounded);
    assert!(blank.unwrap_err().to_string().contains("owners"));
}

/// By rows, by columns, and with gaps: the same bits as from a slice.
#[cfg(feature = "ndarray")]
#[test]
fn arrays_of_any_layout_are_the_same_table() {
    use ndarray::{Array1, Array2, Axis, Slice};
    let (rows_axis, even) = (Axis(0), Slice::new(0, None, 2));
    let with = |data: Dataset<'_>, ill: reticent_data::Targets<'_>| {
        let data = data.with_names(["age", "town", "dose"]).unwrap();
        data.with_owners(&WHO).unwrap().with_targets(ill).unwrap().encode(&schema()).unwrap()
    };
    let places: Vec<u32> = ILL.iter().map(|ill| u32::from(*ill == "yes")).collect();
    let expected = with(Dataset::dense(rows(), 6, 3).unwrap(), (&places).into());
    assert_eq!(expected, from_csv());
    let by_row = Array2::from_shape_vec((6, 3), rows()).unwrap();
    let by_column = Array2::from_shape_vec((3, 6), columns()).unwrap();
    let mut wide = Array2::zeros((12, 3));
    wide.slice_axis_mut(rows_axis, even).assign(&by_row);
    let mut long = Array1::zeros(12);
    long.slice_axis_mut(rows_axis, even).assign(&Array1::from(places));
    for view in [by_row.view(), by_column.t(), wide.slice_axis(rows_axis, even)] {
        assert_eq!(with(view.into(), long.slice_axis(rows_axis, even).into()), expected);
    }
    assert_eq!(
        with((&by_row).into(), (&long.slice_axis(rows_axis, even).to_owned()).into()),
        expected
    );
    // One column is by rows and by columns alike; none is a matrix too.
    for columns in [0, 1] {
        let bounds = vec![(0.0, 1.0); columns];
        let schema = Schema::bounded(&bounds, Target::range(0.0, 1.0).unwrap());
        let Ok(schema) = schema else { continue };
        let (x, y) = (Array2::from_elem((4, columns), 0.25), Array1::from_elem(4, 0.5));
        let own = Dataset::from(&x).with_targets(&y).unwrap().encode(&schema).unwrap();
        let slice = Dataset::dense(vec![0.25; 4 * columns], 4, columns).unwrap();
        assert_eq!(own, slice.with_targets(vec![0.5; 4]).unwrap().encode(&schema).unwrap());
    }
}

/// A sparse matrix in memory, and the LIBSVM file with the same numbers.
#[test]
fn sparse_rows_are_those_of_a_file_to_the_bit() {
    let text = "0.5 2:3 4:-4e-3\n-1 1:1\n1 3:0.1 4:7\n";
    let target = || Target::range(-1.0, 1.0).unwrap();
    let schema = Schema::sparse_of_norm(4, 2.0, target()).unwrap();
    assert_eq!(schema, Schema::libsvm(4, 2.0, target()).unwrap());
    let file = parse_libsvm(text.as_bytes(), "made.svm", &schema, Purpose::Fit).unwrap();
    let values = [3.0, -4e-3, 1.0, 0.1, 7.0];
    let data = Dataset::csr(&[0_usize, 2, 3, 5], &[1_u32, 3, 0, 2, 3], &values[..], 4).unwrap();
    let own = data.with_targets(&[0.5, -1.0, 1.0]).unwrap().encode(&schema).unwrap();
    assert!(matches!(own.rows, Rows::Sparse(_)));
    assert_eq!(own, file);
    assert!(Schema::sparse_of_norm(1 << 32, 1.0, target()).is_err());
    assert!(Schema::sparse_of_norm(0, 1.0, target()).is_err());
}
