//! `reticent evaluate --epsilon`, as a user types it.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, SCHEMA, csv};
use serde_json::Value;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.toml", SCHEMA);
    folder.write("t.csv", csv(2000));
    folder.reticent("fit t.csv --schema s.toml --epsilon 2 --delta 1e-6 --seed 1 --out m").ok();
    folder
}

fn ends(estimate: &Value) -> (f64, f64) {
    let end = |i: usize| estimate["interval"][i].as_f64().unwrap();
    (end(0), end(1))
}

#[test]
fn figures_have_intervals_and_a_certificate_and_say_whom_it_is_about() {
    let folder = folder();
    let truth = folder.reticent("evaluate m t.csv --json").ok().json();
    let line = "evaluate m t.csv --epsilon 2 --delta 1e-6 --out e.json";
    let object = folder.reticent(&format!("{line} --json")).ok().json();
    assert_eq!((&object["private"], &object["certified"]), (&true.into(), &true.into()));
    assert!(object["epsilon"].as_f64().unwrap() <= 2.0);
    assert_eq!(object["certificate"]["algorithm"], "evaluation");
    let (low, high) = ends(&object["accuracy"]);
    let accuracy = truth["accuracy"].as_f64().unwrap();
    // Off by three of its intervals in one run of 10⁸.
    let room = high - low;
    assert!(
        room > 0.0 && room < 0.2 && (low - room..=high + room).contains(&accuracy),
        "{low} {high} {accuracy}"
    );
    let kept: Value = serde_json::from_str(&folder.read("e.json")).unwrap();
    assert_eq!(kept["certificate"], object["certificate"]);
    assert_eq!(kept["auc"], object["auc"]);

    // What is there is not written over, and what is said to people names whom it protects.
    assert_eq!(folder.reticent(line).code, 2);
    let said = folder.reticent(&format!("{line} --force")).ok();
    assert!(said.out.contains("trained on") && said.out.contains("with sampling error"));
    assert!(!said.out.contains("NOT PRIVATE"), "{}", said.out);
    let seeded = folder.reticent("evaluate m t.csv --epsilon 2 --delta 1e-6 --seed 1").ok();
    assert!(seeded.err.contains("NOT PRIVATE"), "{}", seeded.err);
}

#[test]
fn a_budget_counts_the_model_and_its_evaluation() {
    let folder = folder();
    folder.reticent("budget new b.budget --epsilon 3.2 --delta 1e-6").ok();
    let paid = "--epsilon 2 --delta 1e-6 --budget b.budget";
    folder.reticent(&format!("fit t.csv --schema s.toml {paid} --out paid")).ok();
    let object = folder.reticent(&format!("evaluate paid t.csv {paid} --json")).ok().json();
    let counted = object["budget"]["counted"].as_f64().unwrap();
    assert!(counted > 2.0 && counted <= 3.2, "{counted}");
    let jobs = folder.reticent("budget show b.budget --json").ok().json();
    assert_eq!(jobs["jobs"].as_array().unwrap().len(), 2, "{jobs}");
    assert!(jobs["jobs"][1].to_string().contains(&object["budget"]["job"].to_string()), "{jobs}");
    assert!(jobs["jobs"][1]["label"].as_str().unwrap().starts_with("evaluation of"), "{jobs}");
    // The third does not fit, and nothing is asked.
    let said = folder.reticent(&format!("evaluate paid t.csv {paid}"));
    assert_eq!(said.code, 3, "{}", said.err);
}

#[test]
fn numbers_and_persons_can_be_evaluated() {
    let folder = Folder::new();
    let schema = "row_norm = 1.0\n[[column]]\nname = \"x\"\nkind = \"numeric\"\nlower = 0\nupper = 10\n\
                  [[column]]\nname = \"y\"\nkind = \"target\"\nlower = 0\nupper = 100\n\
                  [[column]]\nname = \"who\"\nkind = \"user\"\n";
    folder.write("s.toml", schema);
    let row = |i: usize| format!("{},{},p{}\n", i * 7 % 11, 9 * (i * 7 % 11) + i % 5, i / 2);
    folder.write("t.csv", format!("x,y,who\n{}", (0..4000).map(row).collect::<String>()));
    folder.reticent("fit t.csv --schema s.toml --algorithm exact --out m").ok();
    let line = "evaluate m t.csv --epsilon 2 --delta 1e-6 --adjacency add-remove --public-n 2000";
    let object = folder.reticent(&format!("{line} --json")).ok().json();
    assert_eq!((&object["unit"], &object["n_is_exact"]), (&"user".into(), &false.into()));
    assert!((object["n"].as_f64().unwrap() - 2000.0).abs() < 200.0, "{object}");
    assert!(object["r2"]["value"].as_f64().unwrap() > 0.5, "{object}");
    assert_eq!(object["sampling_error"], "not included");
    let said = folder.reticent(line).ok().out;
    assert!(said.contains("R²") && said.contains("their number has noise too"), "{said}");
}
