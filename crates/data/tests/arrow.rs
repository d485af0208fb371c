//! Arrow record batches: the table of a CSV file with the same values, over several batches, with
//! nulls, categories and days. Run with `--features arrow`.
#![cfg(feature = "arrow")]
#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Date64Array, DictionaryArray, DurationSecondArray,
    Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
};
use reticent_data::{Dataset, Purpose, Schema, encode, parse_csv};

const SCHEMA: &str = schema!(2;
    "name = 'age'\nkind = 'numeric'\nlower = 18\nupper = 90" town
    "name = 'day'\nkind = 'date'\nlower = '1970-01-01'\nupper = '1970-12-31'"
    "name = 'smoker'\nkind = 'numeric'\nlower = 0\nupper = 1" who ill
);

const CSV: &str = "age,town,day,smoker,who,ill\n\
                   20,A,1970-01-11,true,7,no\n\
                   95,,1970-03-01,false,9007199254740993,yes\n\
                   ,B,,true,7,yes\n";

fn batch(
    ages: Vec<Option<f64>>,
    towns: Vec<Option<&str>>,
    days: Vec<Option<i32>>,
    smoke: Vec<bool>,
    who: Vec<i64>,
    ill: Vec<&str>,
) -> RecordBatch {
    let towns: DictionaryArray<Int32Type> = towns.into_iter().collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("ill", Arc::new(StringArray::from(ill))),
        ("age", Arc::new(Float64Array::from(ages))),
        ("town", Arc::new(towns)),
        ("day", Arc::new(Date32Array::from(days))),
        ("smoker", Arc::new(BooleanArray::from(smoke))),
        ("who", Arc::new(Int64Array::from(who))),
    ];
    // Every column may have nulls, so that batches have one schema.
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true)))
        .unwrap()
}

#[test]
fn batches_give_the_table_of_the_file() {
    let schema: Schema = SCHEMA.parse().unwrap();
    let file = parse_csv(CSV.as_bytes(), "made.csv", &schema, b',', Purpose::Fit).unwrap();
    // A long identifier keeps its last digit.
    let batches = vec![
        batch(
            vec![Some(20.0), Some(95.0)],
            vec![Some("A"), None],
            vec![Some(10), Some(59)],
            vec![true, false],
            vec![7, 9_007_199_254_740_993],
            vec!["no", "yes"],
        ),
        batch(vec![None], vec![Some("B")], vec![None], vec![true], vec![7], vec!["yes"]),
    ];
    let data = Dataset::arrow(batches).unwrap();
    assert_eq!(encode(&data, &schema).unwrap(), file);
}

#[test]
fn a_type_without_meaning_is_refused_by_its_name() {
    let schema: Schema =
        "row_norm = 1\n[[column]]\nname = 'a'\nkind = 'numeric'\nlower = 0\nupper = 1\n\
                          [[column]]\nname = 'y'\nkind = 'target'\nclasses = [0, 1]\n"
            .parse()
            .unwrap();
    let times: ArrayRef = Arc::new(DurationSecondArray::from(vec![1]));
    let target: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let one = RecordBatch::try_from_iter([("a", times), ("y", target)]).unwrap();
    let error = encode(&Dataset::arrow(vec![one]).unwrap(), &schema).unwrap_err().to_string();
    assert!(error.contains("column `a` has the type"), "{error}");
    assert!(Dataset::arrow(Vec::new()).is_err());
}

/// Refused in memory, and read from a Parquet file of the same table.
#[test]
fn timestamps_with_kind_date_are_read_as_from_a_parquet_file() {
    let schema: Schema = "row_norm = 1\n[[column]]\nname = 'd'\nkind = 'date'\nlower = '1969-01-01'\n\
                          upper = '1970-12-31'\n[[column]]\nname = 'y'\nkind = 'target'\nclasses = [0, 1]\n"
        .parse()
        .unwrap();
    let read = |days: ArrayRef| {
        let target: ArrayRef = Arc::new(Int64Array::from(vec![1, 0, 1]));
        let one =
            RecordBatch::try_from_iter_with_nullable([("d", days, true), ("y", target, true)]);
        encode(&Dataset::arrow(vec![one.unwrap()]).unwrap(), &schema).unwrap()
    };
    let days = read(Arc::new(Date32Array::from(vec![Some(10), None, Some(-1)])));
    // In the course of the tenth day, and a second before 1970.
    let at = |parts: i64| vec![Some((10 * 86_400 + 7) * parts), None, Some(-parts)];
    let whole: [ArrayRef; 5] = [
        Arc::new(TimestampSecondArray::from(at(1))),
        Arc::new(TimestampMillisecondArray::from(at(1_000))),
        Arc::new(TimestampMicrosecondArray::from(at(1_000_000)).with_timezone("+02:00")),
        Arc::new(TimestampNanosecondArray::from(at(1_000_000_000))),
        Arc::new(Date64Array::from(at(1_000))),
    ];
    for times in whole {
        let kind = times.data_type().to_string();
        assert_eq!(read(times), days, "{kind}");
    }
}

#[test]
fn a_dictionary_without_categories_is_missing_throughout() {
    let schema: Schema = "row_norm = 1\nundeclared = 'ignore'\n[[column]]\nname = 'town'\n\
                          kind = 'categorical'\ncategories = ['A', 'B', 'none']\nmissing = 'none'\n\
                          [[column]]\nname = 'y'\nkind = 'target'\nclasses = [0, 1]\n"
        .parse()
        .unwrap();
    let towns = |all: Vec<Option<&str>>| -> ArrayRef {
        Arc::new(all.into_iter().collect::<DictionaryArray<Int32Type>>())
    };
    let target: ArrayRef = Arc::new(Int64Array::from(vec![1, 0]));
    let batch = |towns: ArrayRef| {
        // A column that the schema does not use is not looked at, whatever it is.
        let other = unused();
        let columns = [("town", towns), ("other", other), ("y", target.clone())];
        let columns = columns.into_iter().map(|(name, column)| (name, column, true));
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    };
    let data = Dataset::arrow(vec![batch(towns(vec![None, None]))]).unwrap();
    let table = encode(&data, &schema).unwrap();
    let spelled = batch(towns(vec![Some("none"), Some("none")]));
    assert_eq!(table, encode(&Dataset::arrow(vec![spelled]).unwrap(), &schema).unwrap());
}

fn unused() -> ArrayRef {
    Arc::new(vec![None::<&str>; 2].into_iter().collect::<DictionaryArray<Int32Type>>())
}

#[test]
fn zero_is_one_owner_whatever_its_sign() {
    let schema: Schema = "row_norm = 1\n[[column]]\nname = 'who'\nkind = 'user'\n\
                          [[column]]\nname = 'x'\nkind = 'numeric'\nlower = 0\nupper = 1\n\
                          [[column]]\nname = 'y'\nkind = 'target'\nclasses = [0, 1]\n"
        .parse()
        .unwrap();
    let who: ArrayRef = Arc::new(Float64Array::from(vec![0.0, -0.0, 1.0]));
    let x: ArrayRef = Arc::new(Float64Array::from(vec![0.5; 3]));
    let y: ArrayRef = Arc::new(Int64Array::from(vec![1, 0, 1]));
    let batch = RecordBatch::try_from_iter([("who", who), ("x", x), ("y", y)]).unwrap();
    let table = encode(&Dataset::arrow(vec![batch]).unwrap(), &schema).unwrap();
    assert_eq!(table.users, Some(vec![0, 0, 1]));
}
