//! Public data sets, read from the folder named by RETICENT_DATA; skipped with a message when they
//! are absent. The expected counts were taken with an independent reader.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use reticent_data::{
    DraftOptions, Format, Rows, Schema, Table, Target, Thoroughness, check, draft_from_public, load,
};
use std::path::{Path, PathBuf};

fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("RETICENT_DATA")
        .map(|dir| Path::new(&dir).join(name))
        .filter(|p| p.exists());
    if path.is_none() {
        println!("skipped: set RETICENT_DATA to a folder with {name}");
    }
    path
}

fn positives(table: &Table) -> usize {
    table.targets.iter().filter(|&&t| t == 1.0).count()
}

/// The examples of the documentation, which have to work.
fn documented() -> Vec<Schema> {
    let text = include_str!("../../../docs/schema.md");
    text.split("```toml")
        .skip(1)
        .map(|part| part.split("```").next().unwrap().parse().unwrap())
        .collect()
}

#[test]
fn documented_schemas_say_what_the_page_says() {
    let [adult, libsvm] = documented().try_into().unwrap();
    assert_eq!((adult.width(), adult.sparse(), adult.public_n()), (65, true, Some(30_000)));
    assert_eq!((libsvm.width(), libsvm.features()), (123, Some(123)));
    let summary = adult.summary();
    assert!(summary.contains(
        "age             numeric      1 column, clipped to [17, 90], scaled to [-1, 1]; missing: 0\n"
    ));
    assert!(
        summary
            .contains("income          target       <=50K is -1, >50K is 1; missing: an error\n"),
        "{summary}"
    );
}

#[test]
fn adult() {
    let schema = &documented()[0];
    for (name, rows, rich) in [("adult.data.xz", 32_561, 7_841), ("adult.test.xz", 16_281, 3_846)] {
        let Some(path) = find(name) else { return };
        let table = load(&path, None, schema, None, None).unwrap();
        assert_eq!((table.len(), positives(&table)), (rows, rich));
        let checked = check(&path, None, schema, Thoroughness::Values).unwrap();
        assert!(
            checked
                .summary
                .contains(&format!("every record fits the schema; {rows} records were read"))
        );
        let Rows::Sparse(csr) = &table.rows else { panic!("sparse by the rule") };
        for i in 0..csr.rows() {
            assert!(csr.row(i).1.iter().map(|v| v * v).sum::<f64>().sqrt() <= 1.0);
        }
    }
}

#[test]
fn libsvm_sets() {
    for (name, features, classes, rows, filled, positive) in [
        ("a9a.xz", 123, ["-1", "1"], 32_561, 451_592, 7_841),
        ("w8a.xz", 300, ["-1", "1"], 49_749, 579_586, 1_479),
        ("mushrooms.xz", 112, ["1", "2"], 8_124, 170_604, 4_208),
    ] {
        let Some(path) = find(name) else { return };
        let schema = Schema::libsvm(features, 1.0, Target::classes(classes).unwrap()).unwrap();
        let table = load(&path, None, &schema, None, None).unwrap();
        let Rows::Sparse(csr) = &table.rows else { panic!("sparse by the rule") };
        assert_eq!(
            (csr.rows(), csr.values.len(), positives(&table)),
            (rows, filled, positive),
            "{name}"
        );
        let draft = draft_from_public(
            &path,
            &DraftOptions::default().with(|it| it.format = Some(Format::Libsvm)),
            &[7; 32],
        );
        assert_eq!(draft.unwrap().schema.features(), Some(features));
    }
}

#[test]
fn covertype_second_class_against_the_rest() {
    let Some(path) = find("covtype.csv.xz") else { return };
    let options = DraftOptions::default().with(|it| it.target = Some("Cover_Type".into()));
    let draft = draft_from_public(&path, &options, &[7; 32]).unwrap();
    assert!(draft.toml.contains("READ FROM THAT FILE"));
    let seven = r#"classes = ["1", "2", "3", "4", "5", "6", "7"]"#;
    let schema: Schema =
        draft.toml.replace(seven, "classes = [[1, 3, 4, 5, 6, 7], [2]]").parse().unwrap();
    let table = load(&path, None, &schema, None, None).unwrap();
    assert_eq!((table.len(), table.rows.columns(), positives(&table)), (581_012, 54, 283_301));
    assert!(matches!(table.rows, Rows::Dense(_)));
}

#[test]
fn housing_is_a_regression() {
    let Some(path) = find("cal_housing.csv.xz") else { return };
    let options = DraftOptions::default().with(|it| it.target = Some("medianHouseValue".into()));
    let schema: Schema =
        draft_from_public(&path, &options, &[7; 32]).unwrap().toml.parse().unwrap();
    let table = load(&path, None, &schema, None, None).unwrap();
    assert_eq!((table.len(), table.rows.columns()), (20_640, 8));
    let value = schema.target().unwrap().1.kind().decode_number(table.targets[0]);
    assert!((value - 452_600.0).abs() < 1e-6);
}

#[cfg(feature = "parquet")]
#[test]
fn protein_homology_by_block() {
    let Some(path) = find("bio_train.parquet") else { return };
    let options = DraftOptions::default().with(|it| it.target = Some("target".into()));
    let schema = draft_from_public(&path, &options, &[7; 32]).unwrap().schema;
    let checked = check(&path, None, &schema, Thoroughness::Header).unwrap();
    assert!(checked.summary.contains("the header fits the schema"));
    let table = load(&path, None, &schema, None, Some("EXAMPLE_ID")).unwrap();
    assert_eq!((table.len(), table.user_count(), positives(&table)), (145_751, 153, 1_296));
    assert_eq!(table.rows.columns(), 74, "both identifiers are asked about and not guessed");
}
