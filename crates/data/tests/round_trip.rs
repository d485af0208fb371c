//! What is written is what is read, however it is quoted, ordered or packed.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use reticent_data::{Purpose, Rows, Schema, Table, Target, TargetKind, parse_csv, parse_libsvm};
use std::fmt::Write;

const SCHEMA: &str = "
row_norm = 100
missing_tokens = ['', '?']
trim = false
[[column]]
name = 'x'
kind = 'numeric'
lower = -50
upper = 50
scale = 'none'
missing = 7
[[column]]
name = 'c'
kind = 'categorical'
categories = ['plain', 'with, comma', 'with \"quote\"', \"with\\nbreak\", 'ünïcode']
missing = 'plain'
unknown = 'ünïcode'
[[column]]
name = 'who'
kind = 'user'
[[column]]
name = 'y'
kind = 'target'
lower = 0
upper = 10
";
const CATEGORIES: [&str; 7] =
    ["plain", "with, comma", "with \"quote\"", "with\nbreak", "ünïcode", "?", "never seen"];

fn read(text: &str, schema: &Schema, purpose: Purpose) -> Table {
    parse_csv(text.as_bytes(), "t.csv", schema, b',', purpose).unwrap()
}

fn quoted(field: &str, quote: bool) -> String {
    if quote || field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn csv(
        records in prop::collection::vec(
            (prop::option::of(-60.0..60.0_f64), 0..7_usize, 0..4_u32, -1.0..11.0_f64, any::<[bool; 4]>()), 1..20),
        order in Just([0_usize, 1, 2, 3]).prop_shuffle(),
        crlf in any::<bool>(),
        last_break in any::<bool>(),
        header in any::<bool>(),
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        // Without a header the columns stand in schema order.
        let order = if header { order } else { [0, 1, 2, 3] };
        let line = |fields: [String; 4]| order.map(|i| fields[i].clone()).join(",");
        let mut lines = Vec::new();
        if header {
            lines.push(line(["x".into(), "\"c\"".into(), "who".into(), "y".into()]));
        }
        for (x, c, who, y, q) in &records {
            let x = x.map_or("?".into(), |x| x.to_string());
            lines.push(line([quoted(&x, q[0]), quoted(CATEGORIES[*c], q[1]), quoted(&format!("p{who}"), q[2]),
                quoted(&y.to_string(), q[3])]));
        }
        let text = lines.join(end) + if last_break { end } else { "" };
        let schema: Schema = format!("header = {header}\n{SCHEMA}").parse().unwrap();
        let table = read(&text, &schema, Purpose::Fit);

        prop_assert_eq!(table.len(), records.len());
        let mut seen: Vec<String> = records.iter().map(|record| record.2.to_string()).collect();
        seen.sort_unstable();
        seen.dedup();
        for (i, (x, c, who, y, _)) in records.iter().enumerate() {
            let mut row = vec![0.0; 6];
            row[0] = x.unwrap_or(7.0).clamp(-50.0, 50.0);
            row[1 + [0, 1, 2, 3, 4, 0, 4][*c]] = 1.0;
            prop_assert_eq!(table.rows.dense_row(i), row);
            let range = TargetKind::Range { lower: 0.0, upper: 10.0 };
            prop_assert!((range.decode_number(table.targets[i]) - y.clamp(0.0, 10.0)).abs() < 1e-12);
            let place = seen.binary_search(&who.to_string()).unwrap();
            prop_assert_eq!(table.users.as_ref().unwrap()[i], place as u32);
        }
        prop_assert_eq!(table.user_count(), seen.len());
        // Prediction sees the same rows.
        let features = read(&text, &schema, Purpose::Predict);
        prop_assert_eq!(&features.rows, &table.rows);
        prop_assert!(features.targets.is_empty() && features.users.is_none());
    }

    #[test]
    fn libsvm(
        records in prop::collection::vec(
            (any::<bool>(), prop::collection::btree_map(1..=40_u32, prop::num::f64::NORMAL, 0..12)), 1..20),
        norm in prop_oneof![Just(1e100), Just(1.0), 0.1..10.0],
    ) {
        let mut text = String::new();
        for (label, row) in &records {
            text += if *label { "+1" } else { "-1" };
            let items: Vec<_> = row.iter().map(|(j, v)| format!(" {j}:{v:e}")).collect();
            writeln!(text, "{} # a comment", items.concat()).unwrap();
        }
        let schema = Schema::libsvm(40, norm, Target::classes(["-1", "1"]).unwrap()).unwrap();
        let table = parse_libsvm(text.as_bytes(), "t.svm", &schema, Purpose::Fit).unwrap();
        let Rows::Sparse(csr) = &table.rows else { panic!("LIBSVM rows are sparse") };
        prop_assert_eq!(csr.rows(), records.len());
        for (i, (label, row)) in records.iter().enumerate() {
            prop_assert_eq!(table.targets[i], if *label { 1.0 } else { -1.0 });
            let (indices, values) = csr.row(i);
            let length = values.iter().map(|v| v * v).sum::<f64>().sqrt();
            prop_assert!(length <= norm);
            let before = row.values().map(|v| v * v).sum::<f64>().sqrt();
            if before < norm * (1.0 - 1e-12) {
                prop_assert_eq!(indices, row.keys().map(|j| j - 1).collect::<Vec<_>>());
                prop_assert_eq!(values, row.values().copied().collect::<Vec<_>>());
            } else {
                prop_assert!(length >= norm * (1.0 - 1e-12));
            }
        }
    }

    /// No input makes a parser panic.
    #[test]
    fn noise_is_refused_or_read(bytes in prop::collection::vec(prop_oneof![any::<u8>(),
        prop::sample::select(b"xcy?who,,\"\n\n10.:- ".to_vec())], 0..200)) {
        let schema: Schema = SCHEMA.parse().unwrap();
        let libsvm = Schema::libsvm(3, 1.0, Target::classes(["-1", "1"]).unwrap()).unwrap();
        for purpose in [Purpose::Fit, Purpose::Predict] {
            let with_header = [b"x,c,who,y\n", bytes.as_slice()].concat();
            for text in [&bytes, &with_header] {
                if let Ok(table) = parse_csv(text.as_slice(), "t", &schema, b',', purpose) {
                    prop_assert!(!table.is_empty());
                }
            }
            if let Ok(table) = parse_libsvm(bytes.as_slice(), "t", &libsvm, purpose) {
                prop_assert!(!table.is_empty());
            }
        }
    }
}

#[test]
fn a_schema_survives_toml_and_json() {
    let schema: Schema = SCHEMA.parse().unwrap();
    assert_eq!(schema.to_toml().parse::<Schema>().unwrap(), schema);
    let json = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
    // The same door: what TOML refuses, JSON refuses.
    let bad = json.replace("\"row_norm\":100.0", "\"row_norm\":-1");
    assert!(
        serde_json::from_str::<Schema>(&bad)
            .unwrap_err()
            .to_string()
            .starts_with("row_norm is -1;")
    );
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_name() {
    let schema: Schema = SCHEMA.parse().unwrap();
    assert_eq!(read("\u{feff}x,c,who,y\n1,plain,a,1\n", &schema, Purpose::Fit).len(), 1);
}

#[test]
fn prediction_needs_features_only() {
    let schema: Schema = SCHEMA.parse().unwrap();
    assert_eq!(
        read("c,x\nplain,1\n", &schema, Purpose::Predict).rows.dense_row(0),
        [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    );
    let headless: Schema = format!("header = false\n{SCHEMA}").parse().unwrap();
    assert_eq!(
        read("1,plain\n", &headless, Purpose::Predict).rows.dense_row(0),
        [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    );
    let libsvm = Schema::libsvm(3, 1.0, Target::classes(["-1", "1"]).unwrap()).unwrap();
    let table = parse_libsvm("2:1\n7 1:1\n".as_bytes(), "t", &libsvm, Purpose::Predict).unwrap();
    assert_eq!(
        (table.rows.dense_row(0), table.rows.dense_row(1)),
        (vec![0.0, 1.0, 0.0], vec![1.0, 0.0, 0.0])
    );
}

#[test]
fn one_column_keeps_its_missing_records() {
    let one: Schema =
        "row_norm = 9\n[[column]]\nname = 'x'\nkind = 'numeric'\nlower = 0\nupper = 2"
            .parse()
            .unwrap();
    assert_eq!(read("x\n1\n\"\"\n2\n", &one, Purpose::Predict).len(), 3);
}

/// Job files and schema files have one dialect, `_` within a key; `-` is read as well.
#[test]
fn a_key_may_have_a_hyphen() {
    let schema: Schema = SCHEMA.parse().unwrap();
    let text = SCHEMA.replace("row_norm", "row-norm").replace("missing_tokens", "missing-tokens");
    let other: Schema = format!("public-n = 40\n{text}").parse().unwrap();
    assert_eq!((other.row_norm(), other.public_n()), (schema.row_norm(), Some(40)));
    assert!(format!("row_norm = 3\n{text}").parse::<Schema>().is_err(), "one key twice");
}
