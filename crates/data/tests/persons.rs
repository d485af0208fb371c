//! Who is who: the numbers of the users follow from who is in a table, and from nothing else.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use reticent_data::{Dataset, Purpose, Schema, Target, encode, load_and_compare, parse_csv};
use std::path::PathBuf;

const SCHEMA: &str = "
row_norm = 100
[[column]]
name = 'x'
kind = 'numeric'
lower = 0
upper = 100
scale = 'none'
[[column]]
name = 'who'
kind = 'user'
[[column]]
name = 'y'
kind = 'target'
lower = 0
upper = 1
";

fn schema() -> Schema {
    SCHEMA.parse().unwrap()
}

/// Records (a mark, whose it is) as a file.
fn csv(records: &[(usize, String)]) -> String {
    let lines = records.iter().map(|(mark, who)| format!("{mark},{who},0\n"));
    "x,who,y\n".to_owned() + &lines.collect::<String>()
}

/// The number of the owner of each record, by mark.
fn numbers(marks: impl Iterator<Item = usize>, users: Option<Vec<u32>>) -> Vec<(usize, u32)> {
    let mut numbers: Vec<_> = marks.zip(users.unwrap()).collect();
    numbers.sort_unstable();
    numbers
}

fn read(records: &[(usize, String)]) -> Vec<(usize, u32)> {
    let table = parse_csv(csv(records).as_bytes(), "t.csv", &schema(), b',', Purpose::Fit).unwrap();
    numbers(records.iter().map(|record| record.0), table.users)
}

fn records() -> Vec<(usize, String)> {
    let name = |i: usize| ["zoe", "7", "10", "ann", "Ann", "é", "-3", "b"][i * i % 8].to_owned();
    (0..40).map(|i| (i, name(i))).collect()
}

/// Some other order of a list.
fn shuffled<T: Clone>(all: &[T], step: usize) -> Vec<T> {
    assert!(!all.len().is_multiple_of(step));
    (0..all.len()).map(|i| all[(i * step + 5) % all.len()].clone()).collect()
}

/// The party of each row is the place of its id, in whatever order, files and spellings; a person is
/// numbered within each party.
#[test]
fn the_parties_of_rows_follow_from_their_ids() {
    let text =
        SCHEMA.replace("name = 'y'", "name = 'at'\nkind = 'ignored'\n[[column]]\nname = 'y'");
    let schema: Schema = text.parse().unwrap();
    let placed = schema.with_parties("at").unwrap();
    assert_eq!(placed.parties_from(), Some("at"));
    for (wrong, word) in [("x", "another kind than ignored"), ("who", "another kind"), ("z", "z")] {
        assert!(schema.with_parties(wrong).unwrap_err().to_string().contains(word), "{wrong}");
    }
    // A question reads few columns: those that it does not read are as private as before.
    let asked = schema.asking_about(&["x"], None).unwrap();
    for wrong in ["x", "who", "y"] {
        assert!(asked.with_parties(wrong).unwrap_err().to_string().contains("another kind"));
    }
    asked.with_parties("at").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let read = |rows: &[(usize, &str, &str)]| {
        let line = |(mark, who, at): &(usize, &str, &str)| format!("{mark},{who},{at},0\n");
        let rows: String = rows.iter().map(line).collect();
        std::fs::write(&path, format!("x,who,at,y\n{rows}")).unwrap();
        load_and_compare(std::slice::from_ref(&path), None, &placed).map_err(|e| e.to_string())
    };
    let rows =
        [(1, "ann", "b"), (2, "bob", "7"), (3, "ann", "07"), (4, "cid", "b"), (5, "ann", "b ")];
    let (table, _, parties) = read(&rows).unwrap();
    assert_eq!(parties.as_deref(), Some(&[1, 0, 0, 1, 1][..]));
    let parts = table.split_by_party(&parties.unwrap());
    let persons: Vec<_> = parts.iter().map(|part| part.users.clone().unwrap()).collect();
    assert_eq!(persons, [vec![1, 0], vec![0, 1, 0]]);
    let mut turned = rows;
    turned.reverse();
    assert_eq!(read(&turned).unwrap().2.unwrap(), [1, 1, 0, 0, 1]);
    let nowhere = read(&[(1, "ann", "")]).unwrap_err();
    assert!(nowhere.contains("names the party, but the field is missing"), "{nowhere}");
    // Nobody reads it where nobody asks for it.
    assert_eq!(load_and_compare(&[path], None, &schema).unwrap().2, None);
}

/// Those beside the table took the place of the column's, without a word.
#[test]
fn parties_are_said_once() {
    let text =
        SCHEMA.replace("name = 'y'", "name = 'at'\nkind = 'ignored'\n[[column]]\nname = 'y'");
    let schema: Schema = text.parse().unwrap();
    let values = [1.0, 7.0, 4.0, 0.0];
    let table = reticent_data::Dataset::dense(&values, 1, 4).unwrap();
    let named = table.with_names(["x", "who", "at", "y"].map(str::to_owned).to_vec()).unwrap();
    let beside = named.with_parties(&[3_u64][..]).unwrap();
    reticent_data::encode_dealt(&beside, &schema).unwrap();
    let twice = reticent_data::encode_dealt(&beside, &schema.with_parties("at").unwrap());
    assert!(twice.unwrap_err().to_string().contains("so does column `at`"));
}

#[test]
fn the_numbers_of_users_do_not_follow_the_order_of_rows() {
    let records = records();
    let expected = read(&records);
    assert_eq!(read(&records.iter().rev().cloned().collect::<Vec<_>>()), expected);
    for step in [3, 7, 11, 23] {
        assert_eq!(read(&shuffled(&records, step)), expected, "every {step}th");
    }
}

#[test]
fn the_numbers_of_users_do_not_follow_the_order_of_files() {
    let (folder, records) = (tempfile::tempdir().unwrap(), records());
    let expected = read(&records);
    let parts: Vec<(PathBuf, &[(usize, String)])> = records
        .chunks(7)
        .enumerate()
        .map(|(i, part)| (folder.path().join(format!("{i}.csv")), part))
        .collect();
    parts.iter().for_each(|(path, part)| std::fs::write(path, csv(part)).unwrap());
    for step in [1, 5] {
        let parts = if step == 1 { parts.clone() } else { shuffled(&parts, step) };
        let paths: Vec<PathBuf> = parts.iter().map(|part| part.0.clone()).collect();
        let table = load_and_compare(&paths, None, &schema()).unwrap().0;
        let marks = parts.iter().flat_map(|(_, part)| part.iter().map(|record| record.0));
        assert_eq!(numbers(marks, table.users), expected);
    }
}

#[test]
fn the_numbers_of_owners_in_memory_are_those_of_a_file() {
    let records = records();
    let schema = Schema::bounded(&[(0.0, 100.0)], Target::range(0.0, 1.0).unwrap()).unwrap();
    for records in [records.clone(), shuffled(&records, 7)] {
        let x: Vec<f64> = records.iter().map(|record| record.0 as f64).collect();
        let names: Vec<String> = records.iter().map(|record| record.1.clone()).collect();
        let data = Dataset::dense(&x, x.len(), 1).unwrap().with_targets(vec![0.0; x.len()]);
        let table = encode(&data.unwrap().with_owners(&names).unwrap(), &schema).unwrap();
        assert_eq!(numbers(records.iter().map(|r| r.0), table.users), read(&records));
    }
}

/// Names that say nothing but who is who: another name for everybody renumbers, and changes nothing
/// about whose records are together.
#[test]
fn another_name_for_everybody_keeps_together_what_is_together() {
    let records = records();
    let renamed: Vec<_> = records
        .iter()
        .map(|(mark, who)| (*mark, format!("{}x", who.chars().rev().collect::<String>())))
        .collect();
    let (before, after) = (read(&records), read(&renamed));
    assert_ne!(before, after, "the order of the names is another");
    for (i, j) in (0..40).flat_map(|i| (0..40).map(move |j| (i, j))) {
        assert_eq!(before[i].1 == before[j].1, after[i].1 == after[j].1);
    }
}

/// How many users a table of these owners has, in a file for each list.
fn users(lists: &[&[&str]], schema: &Schema) -> Result<usize, String> {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (i, list) in lists.iter().enumerate() {
        let records: Vec<_> = list.iter().map(|who| (i, format!("\"{who}\""))).collect();
        paths.push(folder.path().join(format!("{i}.csv")));
        std::fs::write(&paths[i], csv(&records)).unwrap();
    }
    let table = load_and_compare(&paths, None, schema).map_err(|e| e.to_string())?.0;
    Ok(table.user_count())
}

/// As pandas writes a column of integers, and one that had a gap somewhere.
#[test]
fn one_person_in_two_spellings_is_one_user() {
    assert_eq!(users(&[&["7", "8", "9"], &["7.0", "8.0", "9.0"]], &schema()), Ok(3));
    assert_eq!(users(&[&["e\u{301}va", " true"], &["éva ", "True"]], &schema()), Ok(2));
    assert_eq!(users(&[&["2024-02-29"], &["2024-02-29 00:00:00"]], &schema()), Ok(1));
    let long = ["123456789012345678", "123456789012345679"];
    assert_eq!(users(&[&long, &["0123456789012345678.0"]], &schema()), Ok(2));
    let refused = users(&[&["2024-02-29 12:30:00"]], &schema()).unwrap_err();
    assert!(refused.contains("a point in time") && !refused.contains("12:30"), "{refused}");
}

#[test]
fn as_text_leading_zeros_are_part_of_an_id() {
    let text: Schema = SCHEMA.replace("'user'", "'user'\nas = 'text'").parse().unwrap();
    assert_eq!(users(&[&["7", "007"], &["7.0", "07"]], &text), Ok(4));
    assert_eq!(users(&[&["7", "007"], &["7.0", "07"]], &schema()), Ok(1));
    // It stays where the job names the column, and in what a model keeps.
    assert_eq!(text.with_roles(None, Some("who")).unwrap(), text);
    assert_eq!(text.to_toml().parse::<Schema>().unwrap(), text);
    assert!(text.to_toml().contains("as = \"text\""), "{}", text.to_toml());
    for wrong in ["'user'\nas = 'id'", "'user'\nas = 3", "'ignored'\nas = 'text'"] {
        assert!(SCHEMA.replace("'user'", wrong).parse::<Schema>().is_err(), "{wrong}");
    }
}

/// The same column in every type that a file can have it in.
#[cfg(feature = "parquet")]
mod formats {
    use super::*;
    use parquet::data_type::{
        BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
        FloatType, Int32Type, Int64Type,
    };
    use parquet::file::writer::SerializedFileWriter;
    use std::sync::Arc;

    /// The users of a Parquet file with these owners, and of a CSV file behind it.
    fn with<T: DataType>(kind: &str, owners: &[T::T], also: &[&str]) -> Result<usize, String> {
        let message =
            format!("message m {{ required double x; required {kind}; required double y; }}");
        let message = Arc::new(parquet::schema::parser::parse_message_type(&message).unwrap());
        let mut writer = SerializedFileWriter::new(Vec::new(), message, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let zeros = vec![0.0; owners.len()];
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&zeros, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<T>().write_batch(owners, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&zeros, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let paths = [folder.path().join("a.parquet"), folder.path().join("b.csv")];
        std::fs::write(&paths[0], writer.into_inner().unwrap()).unwrap();
        let records: Vec<_> = also.iter().map(|who| (0, (*who).to_owned())).collect();
        std::fs::write(&paths[1], csv(&records)).unwrap();
        let table = load_and_compare(&paths, None, &schema()).map_err(|e| e.to_string())?.0;
        Ok(table.user_count())
    }

    #[test]
    fn a_person_is_the_same_in_parquet_and_in_csv() {
        let also = ["7", "8.0"];
        assert_eq!(with::<Int64Type>("int64 who", &[7, 8, 7], &also), Ok(2));
        assert_eq!(with::<DoubleType>("double who", &[7.0, 8.0], &also), Ok(2));
        assert_eq!(with::<FloatType>("float who", &[7.0, 8.0], &also), Ok(2));
        assert_eq!(with::<Int64Type>("int64 who (DECIMAL(18,2))", &[700, 800], &also), Ok(2));
        let text = ["007", "+8"].map(|id| id.into());
        assert_eq!(with::<ByteArrayType>("binary who (STRING)", &text, &also), Ok(2));
        assert_eq!(with::<BoolType>("boolean who", &[true, false], &["True", "FALSE"]), Ok(2));
        let days = ["2024-02-29", "2024-03-01 00:00:00"];
        assert_eq!(with::<Int32Type>("int32 who (DATE)", &[19_782, 19_783], &days), Ok(2));
        let midnight = [19_782 * 86_400_000, 19_783 * 86_400_000];
        let times = "int64 who (TIMESTAMP(MILLIS,true))";
        assert_eq!(with::<Int64Type>(times, &midnight, &days), Ok(2));
        let refused = with::<Int64Type>(times, &[midnight[0] + 1], &days).unwrap_err();
        assert!(refused.contains("a point in time"), "{refused}");
    }

    /// A decimal number of 18 digits is no floating-point number on its way.
    #[test]
    fn long_ids_keep_their_last_digits() {
        let long = [123_456_789_012_345_678, 123_456_789_012_345_679];
        let text = ["123456789012345678"];
        assert_eq!(with::<Int64Type>("int64 who", &long, &text), Ok(2));
        assert_eq!(with::<Int64Type>("int64 who (DECIMAL(18,0))", &long, &text), Ok(2));
    }

    #[test]
    fn a_float_that_may_be_two_persons_is_refused() {
        for x in [7.5, 9_007_199_254_740_992.0, f64::INFINITY] {
            let refused = with::<DoubleType>("double who", &[x], &["7"]).unwrap_err();
            assert!(refused.contains("floating-point"), "{refused}");
            assert!(!refused.contains(&x.to_string()), "no value in {refused}");
        }
        assert!(with::<FloatType>("float who", &[16_777_216.0], &["7"]).is_err());
        let half = FixedLenByteArray::from(vec![0x00, 0x47]);
        let halves = "fixed_len_byte_array(2) who (FLOAT16)";
        assert!(with::<FixedLenByteArrayType>(halves, &[half], &["7"]).is_err());
        // These places are lost in a double.
        let decimal = "int64 who (DECIMAL(18,17))";
        assert!(with::<Int64Type>(decimal, &[700_000_000_000_000_001], &["7"]).is_err());
        let missing = with::<DoubleType>("double who", &[f64::NAN], &["7"]).unwrap_err();
        assert!(missing.contains("missing"), "{missing}");
    }
}
