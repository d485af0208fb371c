//! A table with a column of weights, from the file to the certificate.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, SCHEMA, csv};

const FIT: &str = "fit w.csv --schema w.toml --epsilon 1 --delta 1e-5 --seed 3";

/// The usual table, each record with the weight that `weight` gives it by its number.
fn weighed(weight: impl Fn(usize) -> String) -> Folder {
    let folder = Folder::new();
    let plain = csv(200);
    let mut lines = plain.lines();
    let head = lines.next().unwrap();
    let rows = lines.enumerate().map(|(i, line)| format!("{line},{}\n", weight(i)));
    folder.write("w.csv", format!("{head},stands_for\n{}", rows.collect::<String>()));
    folder.write("t.csv", &plain);
    folder.write("s.toml", SCHEMA);
    let column = "[[column]]\nname = 'stands_for'\nkind = 'weight'\nupper = 4\n";
    folder.write("w.toml", format!("{SCHEMA}{column}"));
    folder
}

/// The coefficients of a model.
fn coefficients(folder: &Folder, model: &str) -> serde_json::Value {
    let text = folder.read(&format!("{model}/model.json"));
    let model: serde_json::Value = serde_json::from_str(&text).unwrap();
    serde_json::json!([model["coefficients"], model["intercept"]])
}

#[test]
fn weights_are_read_counted_and_not_needed_to_predict() {
    let folder = weighed(|i| (1 + i % 4).to_string());
    folder.reticent(&format!("{FIT} --out m")).ok();
    folder.reticent("fit t.csv --schema s.toml --epsilon 1 --delta 1e-5 --seed 3 --out plain").ok();
    assert_ne!(coefficients(&folder, "m"), coefficients(&folder, "plain"));
    let certificate: serde_json::Value =
        serde_json::from_str(&folder.read("m/certificate.json")).unwrap();
    let said = certificate["assumptions"].as_array().unwrap();
    let said: Vec<&str> = said.iter().filter_map(|line| line.as_str()).collect();
    let of_weights = "the weight of a record (`stands_for`) follows from that record";
    assert!(said.iter().any(|line| line.starts_with(of_weights)), "{said:?}");
    // Neither a prediction nor an evaluation needs the column, and neither is confused by it.
    for table in ["t.csv", "w.csv"] {
        folder.reticent(&format!("predict m {table} --out p.csv --force")).ok();
        folder.reticent(&format!("evaluate m {table}")).ok();
        folder.reticent(&format!("evaluate m {table} --epsilon 1 --delta 1e-5")).ok();
    }
    folder.reticent("verify m").ok();
    folder.reticent("export m --to sql --out m.sql").ok();
}

/// A weight beyond the largest is the largest, and the largest is no weight.
#[test]
fn the_largest_weight_is_no_weight_to_the_bit() {
    let folder = weighed(|i| if i % 2 == 0 { "4".to_owned() } else { "1e9".to_owned() });
    folder.reticent(&format!("{FIT} --out m")).ok();
    folder.reticent("fit t.csv --schema s.toml --epsilon 1 --delta 1e-5 --seed 3 --out plain").ok();
    assert_eq!(coefficients(&folder, "m"), coefficients(&folder, "plain"));
}

#[test]
fn what_is_not_proven_with_weights_is_refused_by_name_and_before_it_is_paid() {
    let folder = weighed(|i| (1 + i % 4).to_string());
    folder.reticent("budget new b.budget --epsilon 20 --delta 1e-4").ok();
    let fit = "fit w.csv --schema w.toml --epsilon 1 --delta 1e-5 --budget b.budget";
    for (line, named) in [
        (format!("{fit} --algorithm consensus"), "weight"),
        (format!("{fit} --algorithm output-perturbation --penalty l2:0.1"), "weight"),
        (format!("{fit} --algorithm objp --penalty l2:0.1"), "weight"),
        (format!("{fit} --algorithm vradmm"), "weight"),
        (format!("{fit} --standard-errors 0.2"), "standard errors"),
        (format!("{fit} --calibrate 0.2"), "a recalibration"),
        (format!("{fit} --penalty l1:0.01 --graph private"), "a learned graph"),
        (format!("{fit} --tune penalty=l2:[0.1,0.2]"), "a choice among several fits"),
        (format!("{fit} --clip-share 0.1"), "clip"),
        ("fit w.csv --schema w.toml --algorithm exact".to_owned(), "the exact solver"),
        (
            "simulate --data w.csv --schema w.toml --epsilon 1 --delta 1e-5 --split 4 --budget b.budget".to_owned(),
            "between parties every record counts once",
        ),
        (format!("{FIT} --trace t.out.csv --public-data"), "every record counts once"),
    ] {
        let said = folder.reticent(&line);
        assert!(said.code == 2 && said.err.contains(named), "{line}: {} {}", said.code, said.err);
    }
    let shown = folder.reticent("budget show b.budget --json").ok().json();
    assert_eq!(shown["jobs"].as_array().unwrap().len(), 0);
    for algorithm in ["auto", "dp-sgd", "sadmm", "ssadmm"] {
        folder.reticent(&format!("{FIT} --algorithm {algorithm} --out {algorithm}")).ok();
    }
}
