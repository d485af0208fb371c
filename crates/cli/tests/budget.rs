//! `reticent budget`, as a user types it.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, SCHEMA, csv};
use serde_json::Value;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.toml", SCHEMA);
    folder.write("t.csv", csv(200));
    folder.reticent("budget new b.budget --epsilon 3 --delta 1e-6").ok();
    folder
}

fn show(folder: &Folder) -> Value {
    folder.reticent("budget show b.budget --json").ok().json()
}

#[test]
fn a_budget_is_made_once() {
    let folder = folder();
    let said = folder.reticent("budget new b.budget --epsilon 9 --delta 1e-6");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("is there already"), "{}", said.err);
    let object = show(&folder);
    assert_eq!((&object["dataset"], &object["epsilon"]), (&"b".into(), &3.0.into()));
    assert_eq!((&object["kept"], &object["lines"]), (&true.into(), &1.into()));
    for line in [
        "budget new c --epsilon 0 --delta 1e-6",
        "budget new c --epsilon nan --delta 1e-6",
        "budget new c --epsilon 1 --delta 0",
        "budget new c --epsilon 1 --delta 1e-6 --rows-per-user 3",
        "budget show nothing.budget",
        "budget show t.csv",
        "budget forfeit b.budget 7",
        "budget plan b.budget",
    ] {
        let said = folder.reticent(line);
        assert_eq!(said.code, 2, "{line}: {}", said.err);
        assert!(!said.err.contains("panicked"), "{}", said.err);
    }
    assert!(!folder.path().join("c").exists());
}

#[test]
fn a_job_that_does_not_fit_is_told_what_would() {
    let folder = folder();
    folder.reticent("budget plan b.budget --epsilon 1 --delta 1e-6").ok();
    folder.write("job.toml", "epsilon = 2.5\ndelta = 1e-6\n");
    folder.reticent("budget plan b.budget job.toml").ok();
    let said = folder.reticent("budget plan b.budget job.toml --epsilon 4");
    assert_eq!(said.code, 3, "{}", said.err);
    let left = show(&folder)["groups"][0]["left"].as_f64().unwrap();
    assert!(said.err.contains(&format!("fits up to epsilon = {left:.4}")), "{}", said.err);
    folder.reticent(&format!("budget plan b.budget --epsilon {left} --delta 1e-6")).ok();
}

#[test]
fn releases_made_elsewhere_count_and_gain_against_adding_up() {
    let folder = folder();
    folder
        .reticent("fit t.csv --schema s.toml --epsilon 1 --delta 1e-6 --iterations 5 --out m")
        .ok();
    folder.reticent("budget import b.budget m/certificate.json").ok();
    let text = folder.reticent("budget import b.budget m/model.json --label again").ok().out;
    assert!(text.contains("Recorded as job 3") && text.contains("less."), "{text}");
    let object = show(&folder);
    let group = &object["groups"][0];
    assert_eq!(group["added"]["epsilon"].as_f64().map(f64::round), Some(2.0));
    assert!(group["counted"].as_f64().unwrap() < 1.6, "{group}");
    assert_eq!(object["jobs"][1]["label"], "again");

    // An emptied ledger, and one of a known seed, are not taken for less than they are.
    let mut certificate: Value = serde_json::from_str(&folder.read("m/certificate.json")).unwrap();
    certificate["ledger"]["entries"] = serde_json::json!([]);
    folder.write("e.json", certificate.to_string());
    assert_eq!(folder.reticent("budget import b.budget e.json").code, 2);
    folder
        .reticent(
            "fit t.csv --schema s.toml --epsilon 0.1 --delta 1e-6 --iterations 5 --seed 1 --out s",
        )
        .ok();
    let said = folder.reticent("budget import b.budget s/certificate.json");
    assert!(said.code == 2 && said.err.contains("--beyond"), "{}", said.err);
    let said = folder.reticent("budget import b.budget s/certificate.json --beyond").ok();
    assert!(said.err.contains("NOT PRIVATE"), "{}", said.err);
    assert_eq!(show(&folder)["kept"], false);
    let said = folder.reticent("budget plan b.budget --epsilon 0.01 --delta 1e-6");
    assert_eq!(said.code, 3, "{}", said.err);
    folder.reticent("budget check b.budget").ok();
}

#[test]
fn the_history_is_exported_and_checked() {
    let folder = folder();
    let object = folder.reticent("budget export b.budget").ok().json();
    assert_eq!(object["history"][0]["kind"], "opened");
    folder.reticent("budget export b.budget --out h.json").ok();
    assert_eq!(folder.reticent("budget export b.budget --out h.json").code, 2);
    let said = folder.reticent("budget check b.budget").ok();
    assert!(said.out.contains("b.budget checks: 1 lines"), "{}", said.out);
    let mut bytes = std::fs::read(folder.path().join("b.budget")).unwrap();
    let place = bytes.windows(7).position(|part| part == b"promise").unwrap();
    bytes[place] = b'q';
    folder.write("b.budget", bytes);
    let said = folder.reticent("budget check b.budget");
    assert!(said.code == 2 && said.err.contains("line 1"), "{}", said.err);
}
