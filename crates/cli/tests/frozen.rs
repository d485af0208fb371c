//! The form of every file that the program writes and of what it prints with `--json`:
//! `golden/make.sh` is run again, and what it makes is compared with `golden/written`. The files in
//! `golden/72ea3a8` were made by that commit in the same way, and still open and verify.
//!
//! A key or a word that changes here changes the meaning of somebody's file: it needs a new version
//! of the format, and the old one stays readable. Numbers follow from the seeds, to rounding; where
//! an algorithm draws or computes otherwise, `RETICENT_FREEZE=1 cargo test -p reticent-cli --test cli
//! frozen` writes the files anew, and the difference shows numbers and digests alone.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;

use crate::common::Folder;

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn inputs() -> Folder {
    let folder = Folder::new();
    for entry in std::fs::read_dir(golden()).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_file() {
            std::fs::copy(&entry, folder.path().join(entry.file_name().unwrap())).unwrap();
        }
    }
    folder
}

/// What this program makes of the job files.
static MADE: LazyLock<Folder> = LazyLock::new(|| {
    let folder = inputs();
    folder.shell("sh make.sh").ok();
    if std::env::var_os("RETICENT_FREEZE").is_some() {
        let written = golden().join("written");
        let _ = std::fs::remove_dir_all(&written);
        copy(folder.path(), &written);
        // The form of a budget is held by its crate.
        std::fs::remove_file(written.join("private/clinic.budget")).unwrap();
        for entry in std::fs::read_dir(golden()).unwrap().map(|entry| entry.unwrap()) {
            let _ = std::fs::remove_file(written.join(entry.file_name()));
        }
    }
    folder
});

/// The job files, and what 72ea3a8 made of them.
fn old() -> Folder {
    let folder = inputs();
    copy(&golden().join("72ea3a8"), folder.path());
    folder
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let target = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy(&entry, &target);
        } else {
            std::fs::copy(&entry, &target).unwrap();
        }
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// How a value is compared.
#[derive(Clone, Copy)]
enum By {
    /// To rounding.
    Value,
    /// By keys, words and kinds of values: numbers depend on chance.
    Shape,
}

fn compare(by: By, at: &str, old: &Value, new: &Value) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let keys = |of: &serde_json::Map<String, Value>| of.keys().cloned().collect::<Vec<_>>();
            assert_eq!(keys(old), keys(new), "{at}");
            old.iter().for_each(|(key, old)| compare(by, &format!("{at}.{key}"), old, &new[key]));
        }
        (Value::Array(old), Value::Array(new)) => {
            assert_eq!(old.len(), new.len(), "{at}");
            for (i, (old, new)) in old.iter().zip(new).enumerate() {
                compare(by, &format!("{at}[{i}]"), old, new);
            }
        }
        (Value::Number(old), Value::Number(new)) => {
            assert_eq!(old.is_f64(), new.is_f64(), "{at}");
            let (a, b) = (old.as_f64().unwrap(), new.as_f64().unwrap());
            let near = (a - b).abs() <= 1e-9 * a.abs().max(1.0);
            assert!(near || matches!(by, By::Shape), "{at}: {a} and not {b}");
        }
        (Value::String(old), Value::String(new)) => {
            let hash = |text: &str| text.trim_start_matches("sha256:").len() == 64;
            let time = |text: &str| text.len() == 20 && text.ends_with('Z');
            let same = old == new || hash(old) && hash(new) || time(old) && time(new);
            assert!(same, "{at}: {old} and not {new}");
        }
        _ => assert_eq!(old, new, "{at}"),
    }
}

fn assert_same(by: By, name: &str) {
    let new = MADE.read(name);
    let old = std::fs::read_to_string(golden().join("written").join(name)).unwrap();
    // A journal has a value a line.
    let values = |text: &str| match name.ends_with(".jsonl") {
        true => Value::Array(text.lines().map(json).collect()),
        false => json(text),
    };
    compare(by, name, &values(&old), &values(&new));
}

#[test]
fn models_and_certificates_are_written_as_they_were() {
    for job in ["fit", "errors", "tuned", "parties"] {
        assert_same(By::Value, &format!("{job}/model.json"));
        assert_same(By::Value, &format!("{job}/certificate.json"));
    }
    assert_same(By::Value, "parties/parties.json");
    assert_same(By::Shape, "private/fit/model.json");
    assert_same(By::Shape, "private/fit/certificate.json");
}

#[test]
fn a_sweep_is_written_as_it_was() {
    assert_same(By::Value, "sweep/journal.jsonl");
    for table in ["sweep/runs.csv", "sweep/summary.csv"] {
        let new = MADE.read(table);
        let old = std::fs::read_to_string(golden().join("written").join(table)).unwrap();
        assert_eq!(old.lines().next(), new.lines().next(), "{table}");
    }
}

#[test]
fn answers_in_json_have_the_keys_that_they_had() {
    for job in ["fit", "errors", "tuned", "parties", "sweep", "count", "evaluate"] {
        assert_same(By::Value, &format!("{job}.json"));
    }
    for answer in ["new", "fit", "show"] {
        assert_same(By::Shape, &format!("private/{answer}.json"));
    }
}

#[test]
fn models_of_72ea3a8_open_and_hold() {
    let folder = old();
    for job in ["fit", "errors", "tuned", "parties", "private/fit"] {
        let verdict = folder.reticent(&format!("verify {job} --json")).ok().json();
        assert_eq!(verdict["certified"], job.starts_with("private"), "{job}");
        folder.reticent(&format!("inspect {job}")).ok();
        let predicted = folder.reticent(&format!("predict {job} table.csv")).ok().out;
        assert_eq!(predicted.lines().count(), 61, "{job}");
    }
}

#[test]
fn a_budget_of_72ea3a8_is_checked_and_paid_from() {
    let folder = old();
    folder.reticent("budget check private/clinic.budget").ok();
    let shown = folder.reticent("budget show private/clinic.budget --json").ok().json();
    let before = json(&folder.read("private/show.json"));
    compare(By::Value, "groups", &before["groups"], &shown["groups"]);
    assert_eq!((&shown["head"], &shown["lines"]), (&before["head"], &before["lines"]));
    // It knows the table again.
    let line = "fit table.csv --schema schema.toml --epsilon 1 --delta 1e-5 --iterations 3 --out m";
    folder.reticent(&format!("{line} --budget private/clinic.budget")).ok();
    folder.reticent("budget check private/clinic.budget").ok();
}

#[test]
fn a_sweep_of_72ea3a8_is_not_done_again() {
    let folder = old();
    let journal = folder.read("sweep/journal.jsonl");
    let again = "sweep sweep.toml --public-data --jobs 1 --out sweep --resume --json";
    let done = folder.reticent(again).ok().json();
    assert_eq!((&done["runs"], &done["done"]), (&4.into(), &4.into()));
    assert_eq!(folder.read("sweep/journal.jsonl"), journal);
}

/// What a party remembers of its round became a part of checkpoints after 72ea3a8: resuming an
/// older one could ask twice under the same noise, so it is refused.
#[test]
fn a_checkpoint_of_72ea3a8_is_refused() {
    let folder = old();
    let said = folder.reticent("simulate parties.toml --checkpoint checkpoint --resume --out m");
    assert!(said.code != 0 && said.err.contains("not a checkpoint of this version"), "{said:?}");
    // One of this format is resumed, and comes to the same model.
    let said = MADE.reticent("simulate parties.toml --checkpoint checkpoint --resume --out again");
    said.ok();
    assert_eq!(MADE.read("again/model.json"), MADE.read("parties/model.json"));
}

#[test]
fn every_key_of_a_job_file_is_known() {
    let folder = inputs();
    let keys = folder.read("keys.toml");
    folder.write("fit.toml", keys.split("[parties]").next().unwrap());
    for line in ["fit --spec fit.toml", "simulate keys.toml"] {
        let said = folder.reticent(line);
        assert!(said.code != 0 && !said.err.contains("is not a job file"), "{line}: {}", said.err);
    }
    // A key that is not known is found out before anything else.
    folder.write("keys.toml", format!("no_such_key = 1\n{keys}"));
    let said = folder.reticent("simulate keys.toml");
    assert!(said.err.contains("is not a job file: no_such_key"), "{}", said.err);
}
