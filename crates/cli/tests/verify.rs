//! Certificates as others see them: `verify`, `identity`, `inspect`, and the scripts of
//! docs/certificates.md, which need nothing of ours.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::process::Command;

use common::{Folder, SCHEMA, csv};
use serde_json::{Value, json};

const FIT: &str = "fit t.csv --schema s.toml --target ill --epsilon 1 --delta 1e-5 --iterations 20";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.toml", SCHEMA);
    folder.write("t.csv", csv(300));
    folder
}

fn model(folder: &Folder) -> Value {
    serde_json::from_str(&folder.read("m/model.json")).unwrap()
}

#[test]
fn what_was_fitted_holds_until_it_is_changed() {
    let folder = folder();
    folder.reticent(&format!("{FIT} --out m")).ok();
    for file in ["m", "m/model.json", "m/certificate.json"] {
        let said = folder.reticent(&format!("verify {file} --json")).ok().json();
        assert_eq!((&said["holds"], &said["standing"]), (&json!(true), &json!("holds")));
        assert_eq!((&said["certified"], &said["signer"]), (&json!(true), &json!(null)));
        let words = folder.reticent(&format!("verify {file}")).ok().out;
        assert!(words.contains(": holds") && !words.contains("FAILS"), "{words}");
        let shown = folder.reticent(&format!("inspect {file}")).ok().out;
        assert!(shown.contains("certified   yes") && shown.contains("verified    yes"), "{shown}");
    }
    let good = model(&folder);
    let edits: [(&str, Value, &str); 4] = [
        ("/certificate/epsilon", json!(0.01), "it says epsilon = 0.01"),
        ("/certificate/unit", json!("user"), "`unit` says \"user\""),
        ("/certificate/ledger/entries", json!([]), "its ledger is empty"),
        ("/coefficients/0/values", json!([7.5]), "weights, preprocessing or settings are not"),
    ];
    for (place, new, why) in edits {
        let mut edited = good.clone();
        *edited.pointer_mut(place).unwrap() = new;
        folder.write("m/model.json", edited.to_string());
        let said = folder.reticent("verify m");
        assert_eq!(said.code, 1, "{place}");
        assert!(said.out.contains("DOES NOT HOLD") && said.out.contains(why), "{}", said.out);
        assert!(said.err.contains("ALARM") && said.err.contains(why), "{}", said.err);
        let shown = folder.reticent("inspect m");
        assert_eq!(shown.code, 1, "{place}");
        assert!(shown.out.contains("certified   NO"), "{}", shown.out);
        let shown = folder.reticent("inspect m --json").json();
        assert_eq!((&shown["certified"], &shown["holds"]), (&json!(false), &json!(false)));
        for line in ["predict m t.csv", "evaluate m t.csv", "export m --to sql"] {
            let said = folder.reticent(line);
            assert_eq!(said.code, 2, "{line}");
            assert!(said.err.contains("was changed since it was written"), "{}", said.err);
            assert!(said.err.contains("reticent verify"), "{}", said.err);
        }
        folder.reticent("budget new b --epsilon 9 --delta 1e-4").ok();
        let said = folder.reticent("budget import b m/model.json");
        assert!(said.code == 2 && said.err.contains("is no guarantee"), "{}", said.err);
        std::fs::remove_file(folder.path().join("b")).unwrap();
    }
}

#[test]
fn a_run_is_signed_and_the_signature_asked_for() {
    let folder = folder();
    let made = folder.reticent("identity new officer --json").ok().json();
    folder.reticent("identity new other").ok();
    let again = folder.reticent("identity new officer");
    assert!(again.code == 2 && again.err.contains("never replaced"), "{}", again.err);
    folder.reticent(&format!("{FIT} --out m --sign officer")).ok();
    let said = folder.reticent("verify m --key officer.pub --json").ok().json();
    assert_eq!(said["signer"], made["key"]);
    assert!(folder.reticent("inspect m").ok().out.contains(made["key"].as_str().unwrap()));
    assert_eq!(folder.reticent("verify m --key other.pub").code, 1);
    folder.reticent(&format!("{FIT} --out bare")).ok();
    folder.reticent("verify bare").ok();
    let said = folder.reticent("verify bare --key officer.pub");
    assert!(said.code == 1 && said.out.contains("it is not signed by"), "{}", said.out);
    // A key that cannot be used is refused before anything is spent.
    for (flags, why) in [
        ("fit t.csv --schema s.toml --sign none", "cannot read the key none"),
        ("fit t.csv --schema s.toml --sign officer.pub", "is not a usable key"),
        ("verify m --key officer", "is no Ed25519 public key"),
    ] {
        let said = folder.reticent(flags);
        assert!(said.code == 2 && said.err.contains(why), "{flags}: {}", said.err);
    }
    folder.write(
        "job.toml",
        "data='t.csv'\nschema='s.toml'\nepsilon=4.0\ndelta=1e-5\niterations=3\n",
    );
    folder.reticent("simulate job.toml --split 5 --out parties --sign officer").ok();
    folder.reticent("verify parties --key officer.pub").ok();
}

/// Figures have certificates too.
#[test]
fn counts_and_evaluations_hold() {
    let folder = folder();
    folder.reticent(&format!("{FIT} --out m")).ok();
    let budget = "--epsilon 1 --delta 1e-5";
    folder.reticent(&format!("count t.csv --schema s.toml {budget} --out count.json")).ok();
    folder.reticent(&format!("evaluate m t.csv {budget} --out figures.json")).ok();
    assert!(!folder.read("count.json").contains("the model"), "{}", folder.read("count.json"));
    for file in ["count.json", "figures.json"] {
        let said = folder.reticent(&format!("verify {file}"));
        assert_eq!(said.code, 0, "{file}: {}{}", said.out, said.err);
        let mut edited: Value = serde_json::from_str(&folder.read(file)).unwrap();
        let place = if edited.get("ledger").is_some() { "/delta" } else { "/certificate/delta" };
        *edited.pointer_mut(place).unwrap() = json!(1e-9);
        folder.write(file, edited.to_string());
        assert_eq!(folder.reticent(&format!("verify {file}")).code, 1, "{file}");
    }
}

/// Runs between parties: every trust, and a walk.
#[test]
fn runs_between_parties_hold() {
    let folder = folder();
    folder.write(
        "job.toml",
        "data='t.csv'\nschema='s.toml'\nepsilon=4.0\ndelta=1e-5\niterations=3\n",
    );
    folder.write("v.csv", common::visits(200, 10));
    folder.write("v.toml", common::visits_schema());
    for flags in [
        "--split 10 --trust local",
        "--split 10 --trust central",
        "--split 10 --trust secure-aggregation",
        "--data v.csv --schema v.toml --users-from who --trust secure-aggregation",
        "--data v.csv --schema v.toml --users-from who --algorithm walk --trust network",
        "--split 20 --algorithm walk --trust local",
        "--split 10 --seed 1",
    ] {
        let line = format!("simulate job.toml {flags} --out m --party 1 --json");
        let own = folder.reticent(&line).ok().json()["party"].take();
        let said = folder.reticent("verify m");
        assert_eq!(said.code, 0, "{flags}: {}{}", said.out, said.err);
        folder.write("party.json", own.to_string());
        let said = folder.reticent("verify party.json");
        assert_eq!(said.code, 0, "{flags}: {}{}", said.out, said.err);
    }
}

#[test]
fn four_fits_at_once_leave_one_pair() {
    let folder = folder();
    let line = format!("for i in 1 2 3 4; do reticent {FIT} --out m --quiet & done; wait");
    for _ in 0..2 {
        folder.shell(&line).ok();
        folder.reticent("verify m").ok();
        let mut names: Vec<_> = std::fs::read_dir(folder.path().join("m")).unwrap().collect();
        names.sort_by_key(|entry| entry.as_ref().unwrap().file_name());
        let names = names.into_iter().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["certificate.json", "model.json"]);
    }
}

#[test]
fn a_file_of_format_1_is_said_to_be_unverifiable() {
    let folder = folder();
    folder.reticent(&format!("{FIT} --out m")).ok();
    let mut old = model(&folder);
    common::as_format_1(&mut old);
    folder.write("old.json", old.to_string());
    let said = folder.reticent("verify old.json");
    assert!(said.code == 1 && said.out.contains("cannot be verified"), "{}", said.out);
    let said = folder.reticent("inspect old.json").ok();
    assert!(said.out.contains("no: it has no digest") && said.err.contains("earlier version"));
    folder.reticent("predict old.json t.csv").ok();
}

/// The blocks of the page in a language.
fn scripts(language: &str) -> Vec<String> {
    let page = include_str!("../../../docs/certificates.md");
    let start = format!("```{language}\n");
    page.split(&start).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

fn is_there(program: &str) -> bool {
    let there = Command::new(program).arg("-h").output().is_ok();
    if !there {
        eprintln!("{program} is not there: skipped");
    }
    there
}

/// The page shows how to check a certificate without this program; that is done here.
#[test]
fn a_stranger_can_check_a_certificate() {
    let folder = folder();
    if !is_there("python3") {
        return;
    }
    let python = scripts("python");
    assert_eq!(python.len(), 3);
    for (i, text) in python.iter().enumerate() {
        folder.write(&format!("{i}.py"), text);
    }
    folder.reticent("identity new officer").ok();
    let names = "age,\"tö\u{1f600}wn\",ill";
    let table = csv(300).replacen("age,town,ill", names, 1);
    folder.write("u.csv", table);
    folder.write("u.toml", SCHEMA.replace("'town'", "'tö\u{1f600}wn'"));
    for (flags, out) in [("t.csv --schema s.toml", "m"), ("u.csv --schema u.toml", "u")] {
        let budget = "--target ill --epsilon 1 --delta 1e-5 --iterations 20 --sign officer";
        folder.reticent(&format!("fit {flags} {budget} --out {out}")).ok();
        let said = folder.shell(&format!("python3 0.py {out}/model.json")).ok();
        assert!(said.out.contains("the digests fit"), "{}", said.out);
        if is_there("openssl") {
            let line = format!("python3 1.py {out}/model.json officer.pub");
            assert!(folder.shell(&line).ok().out.contains("Success"));
        }
        assert!(
            folder.shell(&format!("python3 2.py {out}/model.json")).ok().out.contains("epsilon is")
        );
    }
    let mut edited = model(&folder);
    edited["intercept"] = json!([0.25]);
    folder.write("m/model.json", edited.to_string());
    assert_ne!(folder.shell("python3 0.py m/model.json").code, 0);
    let noise = "/certificate/ledger/entries/0/event/mechanism/noise_multiplier";
    *edited.pointer_mut(noise).unwrap() = json!(1.0);
    folder.write("m/model.json", edited.to_string());
    assert_ne!(folder.shell("python3 2.py m/model.json").code, 0);
}
