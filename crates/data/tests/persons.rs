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
    assert!(all.len() % step != 0);
    (0..all.len()).map(|i| all[(i * step + 5) % all.len()].clone()).collect()
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
