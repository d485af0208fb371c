//! A file that is read by several threads is the table that one thread reads, to the bit, and is
//! refused in the same words; both are compared with reading record by record, which knows no
//! blocks.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use reticent_data::{
    DataError, EncodedRow, Head, KeptCell, Purpose, RecordVisitor, Rows, Schema, Table, Target,
    load, load_features, visit,
};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

const SCHEMA: &str = schema!(1;
    age
    "name = 'town'\nkind = 'categorical'\ncategories = ['A', 'B', \"two\\nlines, \\\"quoted\\\"\"]"
    who ill
);

fn schema() -> Schema {
    SCHEMA.parse().unwrap()
}

/// Records with every end of line, quotes over several lines and blank lines, some 2 MB of them.
fn csv() -> String {
    let mut text = String::from("age,town,who,ill\n");
    let ends = ["\n", "\r\n", "\r", "\n\n", "\r\n \r\n"];
    for i in 0_usize..80_000 {
        // Long runs of one kind, so that there are blocks without a quote.
        let quoted = i / 9_000 % 2 == 1;
        let town = match i % 5 {
            0 if quoted => "\"two\nlines, \"\"quoted\"\"\"",
            1 if quoted => "\"two\r\nlines, \"\"quoted\"\"\"",
            2 if quoted => "5\"",
            _ => ["A", "B", ""][i % 3],
        };
        let end = if i / 20_000 == 0 { "\n" } else { ends[i % 7 % 5] };
        let ill = if i % 3 == 0 { "yes" } else { "no" };
        write!(text, "{}.{i},{town},owner {},{ill}{end}", i % 98, i % 30_011 / 3).unwrap();
    }
    text
}

fn libsvm() -> String {
    let mut text = String::from("# made up\n\n");
    for i in 0..60_000 {
        let label = if i % 3 == 0 { "+1" } else { "-1" };
        writeln!(text, "{label} {}:0.{i} {}:1 # no. {i}", 1 + i % 7, 9 + i % 11).unwrap();
    }
    text
}

/// A record as it is told: its features, its target and the id of its owner.
type Told = (Vec<f64>, f64, Option<String>);

/// Collects what is told record by record.
struct Collect<'a> {
    table: &'a mut Vec<Told>,
    columns: usize,
}

impl RecordVisitor for Collect<'_> {
    fn head(&mut self, _: Head) -> bool {
        true
    }

    fn record(&mut self, row: &EncodedRow, kept: &[KeptCell]) -> bool {
        let mut dense = vec![0.0; self.columns];
        for (&j, &v) in row.indices.iter().zip(&row.values) {
            dense[j as usize] = v;
        }
        let owner = kept.first().map(|id| match id {
            KeptCell::Text(text) => String::from_utf8(text.clone()).unwrap(),
            KeptCell::Whole(number) => number.to_string(),
            other => panic!("{other:?} is no id of these files"),
        });
        self.table.push((dense, row.target, owner));
        true
    }
}

/// Read for fitting where there is a target.
fn purpose(schema: &Schema) -> Purpose {
    if schema.target().is_some() { Purpose::Fit } else { Purpose::Predict }
}

fn by_record(path: &Path, schema: &Schema) -> Result<Vec<Told>, DataError> {
    let mut table = Vec::new();
    let mut collect = Collect { table: &mut table, columns: schema.width() };
    let keep: Vec<String> = schema.user().map(str::to_owned).into_iter().collect();
    visit(path, None, schema, purpose(schema), &keep, &mut collect).map(|()| table)
}

fn by_threads(threads: usize, path: &Path, schema: &Schema) -> Result<Table, DataError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| match purpose(schema) {
        Purpose::Fit => load(path, None, schema, None, None),
        Purpose::Predict => load_features(path, None, schema),
    })
}

/// The same table, or the same refusal, however it is read.
fn compare(path: &Path, schema: &Schema) -> Result<usize, String> {
    let expected = by_record(path, schema).map_err(|e| e.to_string());
    for threads in [1, 2, 5] {
        let table = match (by_threads(threads, path, schema), &expected) {
            (Err(error), Err(expected)) => {
                assert_eq!(&error.to_string(), expected);
                continue;
            }
            (table, _) => table.unwrap(),
        };
        let expected = expected.as_ref().expect("it was read by blocks");
        assert_eq!(table.len(), expected.len());
        let ids: BTreeSet<&String> = expected.iter().filter_map(|told| told.2.as_ref()).collect();
        let ids: Vec<&String> = ids.into_iter().collect();
        for (i, (row, target, owner)) in expected.iter().enumerate() {
            assert_eq!(&table.rows.dense_row(i), row, "{threads} threads, record {i}");
            assert_eq!(table.targets.get(i).map_or(0, |t| t.to_bits()), target.to_bits());
            let place = owner.as_ref().map(|owner| ids.binary_search(&owner).unwrap() as u32);
            assert_eq!(table.users.as_ref().map(|users| users[i]), place);
        }
    }
    expected.map(|rows| rows.len())
}

#[test]
fn csv_by_threads_is_csv_by_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let text = csv();
    std::fs::write(&path, &text).unwrap();
    assert_eq!(compare(&path, &schema()), Ok(80_000));
    // Through a pipe that gives what it has, a byte more or less each time.
    let packed = zstd::stream::encode_all(text.as_bytes(), 1).unwrap();
    let path = folder.path().join("t.csv.zst");
    std::fs::write(&path, &packed).unwrap();
    assert_eq!(compare(&path, &schema()), Ok(80_000));
    // Cut off, it is refused behind the same line.
    std::fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    assert!(compare(&path, &schema()).unwrap_err().contains("reading failed after line"));
}

#[test]
fn libsvm_by_threads_is_libsvm_by_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.svm");
    let schema = Schema::libsvm(40, 1.0, Target::classes(["-1", "1"]).unwrap()).unwrap();
    let text = libsvm();
    std::fs::write(&path, &text).unwrap();
    assert_eq!(compare(&path, &schema), Ok(60_000));
    assert!(matches!(by_threads(2, &path, &schema).unwrap().rows, Rows::Sparse(_)));
    // A comment with a line of its own behind the first record, far behind it.
    let late = text.replacen("\n+1 1:0.59997 ", "\n# late\n+1 1:0.59997 ", 1);
    assert!(late.len() > text.len());
    std::fs::write(&path, late).unwrap();
    assert!(compare(&path, &schema).unwrap_err().contains("t.svm:60000: "));
}

/// Damage in one or two places: the first of them in the file is told, with its line.
#[test]
fn the_first_error_in_the_file_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let text = csv().into_bytes();
    let mut refused = 0;
    let mut at = 7;
    for i in 0..16_usize {
        let mut damaged = text.clone();
        for _ in 0..2 {
            at = (at * 6_364_136 + 1_442_695) % damaged.len();
            damaged[at] = b"\",x\n\xff\0"[i % 6];
        }
        std::fs::write(&path, damaged).unwrap();
        refused += usize::from(compare(&path, &schema()).is_err());
    }
    assert!(refused > 8, "{refused}");
}

/// An empty line may be a record where there is one column; blocks end between any two lines.
#[test]
fn a_blank_line_of_one_column_is_refused_wherever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let schema: Schema =
        "row_norm = 1\n[[column]]\nname = 'y'\nkind = 'numeric'\nlower = 0\nupper = 1"
            .parse()
            .unwrap();
    // The first block is of 2¹⁸ bytes, and these are about its end.
    for blank in 131_066..131_076 {
        let mut text = String::from("y\n");
        for i in 0..140_000 {
            text += if i == blank { "\n0\n" } else { "1\n" };
        }
        std::fs::write(&path, text).unwrap();
        let said = compare(&path, &schema).unwrap_err();
        assert!(said.contains(&format!("t.csv:{}: ", blank + 2)), "{said}");
    }
    std::fs::write(&path, "y\n".to_string() + &"1\n".repeat(140_000) + &"\n".repeat(9)).unwrap();
    assert_eq!(compare(&path, &schema), Ok(140_000));
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_by_threads_is_parquet_by_records() {
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    use std::sync::Arc;

    let message = "message m { required double age; optional binary town (STRING);
        required int64 who; required binary ill (STRING); }";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let write = |wrong: Option<usize>| {
        let schema = Arc::new(parquet::schema::parser::parse_message_type(message).unwrap());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
        // The second has no records, the third less than a batch.
        for records in [0..30_000_usize, 30_000..30_000, 30_000..30_007, 30_007..60_000] {
            let mut group = writer.next_row_group().unwrap();
            let all = || records.clone();
            let ages: Vec<f64> = all().map(|i| i as f64 / 600.0).collect();
            let levels: Vec<i16> = all().map(|i| i16::from(i % 7 != 0)).collect();
            let towns: Vec<ByteArray> =
                all().filter(|i| i % 7 != 0).map(|i| ["A", "B", "C"][i % 3].into()).collect();
            let owners: Vec<i64> = all().map(|i| (i % 10_007 / 2) as i64).collect();
            let label = |i| if wrong == Some(i) { "perhaps" } else { ["no", "yes"][i % 2] };
            let ill: Vec<ByteArray> = all().map(|i| label(i).into()).collect();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<DoubleType>().write_batch(&ages, None, None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<ByteArrayType>().write_batch(&towns, Some(&levels), None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int64Type>().write_batch(&owners, None, None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<ByteArrayType>().write_batch(&ill, None, None).unwrap();
            column.close().unwrap();
            group.close().unwrap();
        }
        std::fs::write(&path, writer.into_inner().unwrap()).unwrap();
    };
    write(None);
    assert_eq!(compare(&path, &schema()), Ok(60_000));
    write(Some(41_234));
    assert!(compare(&path, &schema()).unwrap_err().contains("t.parquet:41235: column `ill`"));
}

/// Columns decode several batches ahead; what one of them meets there is told in the order of the file.
#[cfg(feature = "parquet")]
#[test]
fn the_first_error_of_a_parquet_file_is_told() {
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
    use parquet::file::{properties::WriterProperties, writer::SerializedFileWriter};
    use std::sync::Arc;

    let schema: Schema = schema!(1; age ill).parse().unwrap();
    let message = "message m { required double age; required binary ill (STRING); }";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    // A text whose length is damaged, in the third batch of a group that has five.
    let (marked, damaged) = (9000, b"\x06\0\0\0marked");
    let write = |wrong: Option<usize>| {
        let schema = Arc::new(parquet::schema::parser::parse_message_type(message).unwrap());
        let plain = WriterProperties::builder().set_dictionary_enabled(false).build();
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(plain)).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&[7.0; 20_000], None, None).unwrap();
        column.close().unwrap();
        let label = |i| match i {
            _ if wrong == Some(i) => "perhaps",
            _ if i == marked => "marked",
            _ => ["no", "yes"][i % 2],
        };
        let ill: Vec<ByteArray> = (0..20_000).map(|i| label(i).into()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&ill, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        let mut bytes = writer.into_inner().unwrap();
        let at = bytes.windows(damaged.len()).position(|found| found == damaged).unwrap();
        bytes[at + 3] = 127;
        std::fs::write(&path, bytes).unwrap();
    };
    write(None);
    let said = compare(&path, &schema).unwrap_err();
    assert!(said.contains("reading failed after line 8192"), "{said}");
    for wrong in [100, 8_000, 8_500] {
        write(Some(wrong));
        let said = compare(&path, &schema).unwrap_err();
        // Behind 8192 the batch cannot be decoded, and no cell of it is looked at.
        let first = if wrong < 8_192 {
            format!("t.parquet:{}: column `ill`", wrong + 1)
        } else {
            "after line 8192".into()
        };
        assert!(said.contains(&first), "{wrong}: {said}");
    }
}
