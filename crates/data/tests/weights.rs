//! Weights of records: clipped to what is declared, and a part of the largest.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use reticent_data::{
    DataError, Dataset, Purpose, Schema, Target, encode, parse_csv, parse_libsvm, visit_content,
};

const SCHEMA: &str = schema!(1; age ill "name = 'w'\nkind = 'weight'\nupper = 4\nlower = 0.5");

fn read(csv: &str, schema: &str) -> Result<Option<Vec<f64>>, DataError> {
    let schema: Schema = schema.parse().unwrap();
    Ok(parse_csv(csv.as_bytes(), "t.csv", &schema, b',', Purpose::Fit)?.weights)
}

#[test]
fn a_weight_is_a_part_of_the_largest_whatever_the_field_says() {
    let csv = "age,ill,w\n1,no,4\n2,no,2\n3,yes,1e300\n4,yes,-7\n5,no,0\n6,no,0.6\n";
    let weights = read(csv, SCHEMA).unwrap().unwrap();
    assert_eq!(weights, [1.0, 0.5, 1.0, 0.125, 0.125, 0.15]);
    // With no lower bound a weight may be nothing.
    let weights = read(csv, &SCHEMA.replace("lower = 0.5", "")).unwrap().unwrap();
    assert_eq!(weights[3..5], [0.0, 0.0]);
    assert!(!SCHEMA.parse::<Schema>().unwrap().encoded_names().contains(&"w".to_owned()));
}

#[test]
fn a_weight_that_is_no_number_is_refused_and_a_missing_one_unless_it_is_declared() {
    let with = |cell: &str| format!("age,ill,w\n1,no,1\n2,yes,{cell}\n");
    for wrong in ["NaN", "inf", "-inf", "much"] {
        assert!(read(&with(wrong), SCHEMA).is_err(), "{wrong}");
    }
    let said = read(&with(""), SCHEMA).unwrap_err().to_string();
    assert!(said.ends_with("column `w` says how much a record counts, but the field is missing"));
    let declared = SCHEMA.replace("lower = 0.5", "missing = 3");
    assert_eq!(read(&with(""), &declared).unwrap().unwrap(), [0.25, 0.75]);
    assert!(read("age,ill\n1,no\n", SCHEMA).unwrap_err().to_string().contains("no column `w`"));
}

#[test]
fn what_a_schema_may_say_of_weights() {
    let said = |text: &str| text.parse::<Schema>().unwrap_err().to_string();
    for wrong in ["lower = -1", "lower = 4", "lower = nan", "lower = 9"] {
        let said = said(&SCHEMA.replace("lower = 0.5", wrong));
        assert!(said.contains("allowed for weights: finite, 0 <= lower < upper"), "{said}");
    }
    assert!(said(&SCHEMA.replace("upper = 4\n", "")).contains("needs `upper`, a public bound"));
    assert!(said(&SCHEMA.replace("lower = 0.5", "missing = 5")).contains("from 0 to 4"));
    assert!(said(&SCHEMA.replace("lower = 0.5", "scale = 'log'")).contains("does not use"));
    let twice = format!("{SCHEMA}\n[[column]]\nname = 'v'\nkind = 'weight'\nupper = 1\n");
    assert!(said(&twice).contains("several columns are declared as weight"));
    let schema: Schema = SCHEMA.parse().unwrap();
    assert_eq!(schema.to_toml().parse::<Schema>().unwrap(), schema);
    assert!(schema.asking_about(&["w"], None).unwrap_err().to_string().contains("counts"));
    assert!(schema.asking_about(&["age"], None).unwrap().weight().is_none());
    assert!(schema.summary().contains("how much a record counts: clipped to [0.5, 4]"));
}

/// Records that are encoded in parts and put together keep their own weights.
#[test]
fn long_tables_keep_the_weights_of_their_rows() {
    let row = |i: usize| format!("{},no,{}\n", i % 90, 1 + i % 3);
    let csv = format!("age,ill,w\n{}", (0..60_000).map(row).collect::<String>());
    let weights = read(&csv, SCHEMA).unwrap().unwrap();
    assert_eq!(weights.len(), 60_000);
    for (i, weight) in weights.iter().enumerate() {
        assert_eq!(*weight, (1 + i % 3) as f64 / 4.0);
    }
}

#[test]
fn weights_beside_a_matrix_are_read_as_those_of_a_column() {
    let bounds = [(0.0, 100.0)];
    let plain = Schema::bounded(&bounds, Target::classes(["no", "yes"]).unwrap()).unwrap();
    let schema = plain.clone().with_weight("sample_weight", 2.0).unwrap();
    let data = Dataset::dense(&[1.0, 2.0, 3.0][..], 3, 1).unwrap();
    let data = data.with_targets(&["no", "yes", "no"]).unwrap();
    let weighed = data.clone().with_weights(&[2.0, 5.0, 0.5][..]).unwrap();
    assert_eq!(encode(&weighed, &schema).unwrap().weights, Some(vec![1.0, 1.0, 0.25]));
    assert_eq!(encode(&data, &plain).unwrap().weights, None);
    assert!(data.clone().with_weights(&[1.0][..]).is_err());
    // Neither is fitted as if there were no weights.
    let said = encode(&weighed, &plain).unwrap_err().to_string();
    assert!(said.contains("no column of kind weight"), "{said}");
    assert!(encode(&data, &schema).unwrap_err().to_string().contains("no column `sample_weight`"));
    for wrong in [f64::NAN, f64::INFINITY] {
        let data = data.clone().with_weights(vec![1.0, 1.0, wrong]).unwrap();
        assert!(encode(&data, &schema).is_err());
    }
    assert!(plain.with_weight("sample_weight", 0.0).is_err());
}

/// A budget knows the people of a table again whatever their weights are, and its whole by them.
#[test]
fn weights_are_in_the_content_of_a_table_and_not_in_its_columns() {
    let data = Dataset::dense(&[1.0, 2.0][..], 2, 1).unwrap();
    let content = |data: &Dataset<'_>| {
        let mut rows = Vec::new();
        visit_content(data, &mut |columns, rest| rows.push((columns.to_vec(), rest.to_vec())));
        rows
    };
    let [one, two] = [[1.0, 2.0], [2.0, 2.0]]
        .map(|weights| content(&data.clone().with_weights(weights.to_vec()).unwrap()));
    assert_ne!(one, two);
    assert_eq!(one[0].0, two[0].0);
}

#[test]
fn a_libsvm_file_has_no_weights_and_a_sparse_matrix_may() {
    let plain = Schema::libsvm(2, 1.0, Target::classes(["-1", "1"]).unwrap()).unwrap();
    let schema = plain.clone().with_weight("sample_weight", 1.0).unwrap();
    let said = parse_libsvm("1 1:0.5\n".as_bytes(), "t", &schema, Purpose::Fit).unwrap_err();
    assert!(said.to_string().contains("no column of weights"), "{said}");
    let data = Dataset::csr(&[0, 1, 2], &[0, 1], &[0.5, 0.25][..], 2).unwrap();
    let data = data.with_targets(&["1", "-1"]).unwrap().with_weights(&[0.25, 1.0][..]).unwrap();
    assert_eq!(encode(&data, &schema).unwrap().weights, Some(vec![0.25, 1.0]));
    assert_eq!(schema.without_weight(), plain);
}
