//! Parquet: types, nulls, and what is refused. Files are written by the parquet crate itself.
#![cfg(feature = "parquet")]
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use reticent_data::{Format, Schema, Table, load};
use std::sync::Arc;

type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

/// A file with one row group per closure.
fn write(message: &str, groups: &[&dyn Fn(&mut Group)]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(message).unwrap());
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(WriterProperties::default()))
            .unwrap();
    for group in groups {
        let mut g = writer.next_row_group().unwrap();
        group(&mut g);
        g.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// One column; `levels` has a 0 for every null of an optional column.
fn column<T: DataType>(group: &mut Group, values: &[T::T], levels: Option<&[i16]>) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels, None).unwrap();
    column.close().unwrap();
}

fn read(bytes: &[u8], schema: &str) -> Result<Table, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t");
    std::fs::write(&path, bytes).unwrap();
    let schema: Schema = schema.parse().unwrap();
    load(&path, Some(Format::Parquet), &schema, None, None)
        .map_err(|e| e.to_string().replace(&path.display().to_string(), "t"))
}

const SCHEMA: &str = "
row_norm = 100
missing_tokens = ['', 'NaN']
[[column]]
name = 'price'
kind = 'numeric'
lower = 0
upper = 10
scale = 'none'
missing = 9
[[column]]
name = 'town'
kind = 'categorical'
categories = ['A', 'B']
missing = 'B'
[[column]]
name = 'ratio'
kind = 'numeric'
lower = -1
upper = 1
missing = 'upper'
[[column]]
name = 'flag'
kind = 'numeric'
lower = 0
upper = 1
scale = 'zero_to_one'
[[column]]
name = 'id'
kind = 'user'
[[column]]
name = 'ill'
kind = 'target'
classes = [0, 1]
";
const MESSAGE: &str = "message m {
    required int64 id (INTEGER(64,false)); optional int32 price (DECIMAL(9,2)); optional binary town (STRING);
    required float ratio; required boolean flag; required double ill; }";

fn first(g: &mut Group) {
    // Two identifiers that are one as doubles, and lie above the signed range.
    column::<Int64Type>(g, &[-1, -2, -1], None);
    column::<Int32Type>(g, &[125, 9999], Some(&[1, 0, 1]));
    column::<ByteArrayType>(g, &[ByteArray::from("A"), ByteArray::from("Z")], Some(&[1, 1, 0]));
    column::<FloatType>(g, &[0.5, f32::NAN, -3.0], None);
    column::<BoolType>(g, &[true, false, true], None);
    column::<DoubleType>(g, &[1.0, 0.0, 1.0], None);
}

#[test]
fn types_nulls_and_groups() {
    let table = read(&write(MESSAGE, &[&first, &first]), SCHEMA).unwrap();
    assert_eq!(table.names, ["price", "town=A", "town=B", "ratio", "flag"]);
    assert_eq!(table.len(), 6);
    for group in [0, 3] {
        assert_eq!(table.rows.dense_row(group), [1.25, 1.0, 0.0, 0.5, 1.0]);
        assert_eq!(
            table.rows.dense_row(group + 1),
            [9.0, 0.0, 0.0, 1.0, 0.0],
            "null price, unknown town, NaN ratio"
        );
        assert_eq!(
            table.rows.dense_row(group + 2),
            [10.0, 0.0, 1.0, -1.0, 1.0],
            "clipped price, null town"
        );
    }
    assert_eq!(table.targets, [1.0, -1.0, 1.0, 1.0, -1.0, 1.0]);
    assert_eq!(table.users.unwrap(), [1, 0, 1, 1, 0, 1]);
}

#[test]
fn refusals() {
    let good = write(MESSAGE, &[&first]);
    assert_eq!(
        read(&write(MESSAGE, &[]), SCHEMA).unwrap_err(),
        "t: the file has a header but no records"
    );
    for cut in [good.len() - 1, good.len() / 2, 3] {
        let error = read(&good[..cut], SCHEMA).unwrap_err();
        assert!(error.starts_with("t: reading failed after line 0: "), "{error}");
    }
    let strict = SCHEMA.replace(", 'NaN'", "");
    assert_eq!(
        read(&good, &strict).unwrap_err(),
        "t:2: column `ratio` is numeric, but the field is not finite (NaN or infinity)"
    );
    let named = |kind: &str| {
        let message = format!("message m {{ required {kind} required double ill; }}");
        let schema = "row_norm = 1\n[[column]]\nname = 'x'\nkind = 'numeric'\nlower = 0\nupper = 1\n[[column]]\nname = \
                      'ill'\nkind = 'target'\nclasses = [0, 1]\n";
        read(&write(&message, &[]), schema).unwrap_err()
    };
    assert!(
        named("int32 x (DATE);")
            .starts_with("t: column `x` has the type INT32 (Date); readable are numbers")
    );
    assert!(
        named("int96 x;").starts_with("t: column `x` has the type INT96; readable are numbers")
    );
    assert_eq!(
        named("group x { required double y; }"),
        "t: the file has no column `x`, which the schema declares"
    );
    assert_eq!(named("double x;"), "t: the file has a header but no records");
}

const TYPED: &str = "
row_norm = 1000
[[column]]
name = 'price'
kind = 'numeric'
lower = -100
upper = 100
scale = 'none'
[[column]]
name = 'half'
kind = 'numeric'
lower = -9
upper = 9
scale = 'none'
[[column]]
name = 'born'
kind = 'date'
lower = '1970-01-01'
upper = '1970-01-11'
scale = 'zero_to_one'
[[column]]
name = 'seen'
kind = 'date'
lower = '1970-01-01'
upper = '1970-01-11'
scale = 'zero_to_one'
[[column]]
name = 'smoker'
kind = 'categorical'
categories = ['False', 'True']
[[column]]
name = 'flag'
kind = 'numeric'
lower = 0
upper = 1
scale = 'zero_to_one'
[[column]]
name = 'ill'
kind = 'target'
classes = [0, 1]
";

/// One frame, written by one program as CSV and as Parquet.
#[test]
fn a_frame_is_the_same_table_as_csv_and_as_parquet() {
    use parquet::data_type::{FixedLenByteArray, FixedLenByteArrayType};
    let message = "message m { required fixed_len_byte_array(5) price (DECIMAL(11,2)); required \
                   fixed_len_byte_array(2) half (FLOAT16); required int32 born (DATE); \
                   required int64 seen (TIMESTAMP(MICROS,true)); required boolean smoker; required boolean flag; \
                   required boolean ill; }";
    let group = |g: &mut Group| {
        let fixed = |bytes: &[u8]| FixedLenByteArray::from(bytes.to_vec());
        column::<FixedLenByteArrayType>(
            g,
            &[fixed(&[0, 0, 0, 4, 210]), fixed(&[255, 255, 255, 255, 133])],
            None,
        );
        column::<FixedLenByteArrayType>(g, &[fixed(&[0, 0x3e]), fixed(&[0, 0xc0])], None);
        column::<Int32Type>(g, &[5, -3], None);
        column::<Int64Type>(g, &[86_400_000_000 * 4 + 7, -1], None);
        for _ in 0..3 {
            column::<BoolType>(g, &[true, false], None);
        }
    };
    let columnar = read(&write(message, &[&group]), TYPED).unwrap();
    let text = "price,half,born,seen,smoker,flag,ill\n\
                12.34,1.5,1970-01-06,1970-01-05 00:00:00.000007,True,True,True\n\
                -1.23,-2.0,1969-12-29,1969-12-31T23:59:59.999999,False,False,False\n";
    let schema: Schema = TYPED.parse().unwrap();
    let delimited =
        reticent_data::parse_csv(text.as_bytes(), "t", &schema, b',', reticent_data::Purpose::Fit)
            .unwrap();
    assert_eq!(columnar, delimited);
    assert_eq!(columnar.rows.dense_row(0), [12.34, 1.5, 0.5, 0.4, 0.0, 1.0, 1.0]);
    assert_eq!(columnar.targets, [1.0, -1.0]);
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    let group = |g: &mut Group| {
        column::<ByteArrayType>(g, &[ByteArray::from(vec![b'A', 0xe9])], None);
        column::<DoubleType>(g, &[1.0], None);
    };
    let bytes = write("message m { required binary x (STRING); required double ill; }", &[&group]);
    let schema = "row_norm = 1\n[[column]]\nname = 'x'\nkind = 'categorical'\ncategories = ['A']\n[[column]]\nname = \
                  'ill'\nkind = 'target'\nclasses = [0, 1]\n";
    assert_eq!(read(&bytes, schema).unwrap_err(), "t:1: column `x` holds text that is not UTF-8");
}

#[test]
fn a_skeleton_knows_the_types() {
    let message = "message m { required double x; required boolean b; required int32 d (DATE); required binary t \
                   (STRING); required int96 old; required int64 ill; required int64 patient_id; }";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    std::fs::write(&path, write(message, &[])).unwrap();
    let options = reticent_data::DraftOptions::default().with(|it| it.target = Some("ill".into()));
    let (text, _) = reticent_data::skeleton(&path, &options).unwrap();
    let kinds: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("kind = ")).collect();
    assert_eq!(
        kinds,
        [
            "\"numeric\"",
            "\"numeric\"",
            "\"date\"",
            "\"categorical\"",
            "\"ignored\"",
            "\"target\"",
            "\"TODO\"" // An identifier is a number by its type alone.
        ]
    );
    assert_eq!(text.matches("= \"TODO\"").count(), 9, "{text}");
}

const TWO: &str = "
row_norm = 1
undeclared = 'ignore'
[[column]]
name = 'x'
kind = 'numeric'
lower = 0
upper = 9
[[column]]
name = 'y'
kind = 'target'
classes = [false, true]
";

/// Found by fuzzing: each kept the library busy for a minute, over a list whose elements take
/// no bytes.
#[test]
fn a_header_with_a_list_that_takes_no_bytes_is_refused() {
    let found: [&[u8]; 4] = [
        include_bytes!("damaged/endless-list-1.parquet"),
        include_bytes!("damaged/endless-list-2.parquet"),
        include_bytes!("damaged/endless-list-3.parquet"),
        include_bytes!("damaged/endless-list-4.parquet"),
    ];
    for bytes in found {
        let error = read(bytes, TWO).unwrap_err();
        assert!(error.contains("header"), "{error}");
    }
}

fn constant(records: usize) -> Vec<u8> {
    write(
        "message m { required double x; required boolean y; }",
        &[&|group: &mut Group| {
            column::<DoubleType>(group, &vec![4.5; records], None);
            column::<BoolType>(group, &vec![true; records], None);
        }],
    )
}

#[test]
fn many_equal_records_in_a_small_file_are_read() {
    let bytes = constant(1 << 18);
    assert!(bytes.len() < 1 << 16, "{}", bytes.len());
    assert_eq!(read(&bytes, TWO).unwrap().targets.len(), 1 << 18);
}

#[test]
fn more_records_than_a_small_file_can_have_are_refused() {
    let bytes = constant(3);
    let end = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
    // A field of 64 bits that is 3 becomes one that is 2⁴⁰.
    let (data, footer) = bytes[..end].split_at(end - length);
    let mut new = Vec::new();
    for (i, &byte) in footer.iter().enumerate() {
        match (i > 0 && footer[i - 1] == 0x16, byte) {
            (true, 6) => new.extend([0x80, 0x80, 0x80, 0x80, 0x80, 0x40]),
            _ => new.push(byte),
        }
    }
    assert!(new.len() > footer.len());
    let length = new.len() as u32;
    let bytes = [data, &new, &length.to_le_bytes(), b"PAR1"].concat();
    let error = read(&bytes, TWO).unwrap_err();
    assert!(error.contains("1099511627776 records"), "{error}");
}
