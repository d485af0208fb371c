//! Every query and every event cites a proof note, and the notes are there.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found
}

/// The notes that a text names as `proofs/….md`.
fn cited(text: &str) -> BTreeSet<String> {
    let name = |rest: &str| rest.split_once(".md").map(|(name, _)| name.to_owned());
    text.split("proofs/")
        .skip(1)
        .filter_map(name)
        .filter(|name| !name.contains([' ', '\n']))
        .collect()
}

fn notes() -> BTreeSet<String> {
    files(&root().join("proofs"), "md")
        .iter()
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name != "README")
        .collect()
}

/// Files that make no claim: a family's trait, the door for parameters, and the event that promises
/// nothing.
const WITHOUT: &[&str] = &["mod.rs", "erased.rs", "checked.rs", "non_private.rs"];

#[test]
fn every_query_and_every_event_cites_a_note() {
    let mut seen = 0;
    for folder in ["crates/oracle/src/queries", "crates/accountant/src/events"] {
        for path in files(&root().join(folder), "rs") {
            let name = path.file_name().unwrap().to_str().unwrap();
            if !WITHOUT.contains(&name) && !name.ends_with("tests.rs") {
                seen += 1;
                assert!(
                    !cited(&std::fs::read_to_string(&path).unwrap()).is_empty(),
                    "{name} cites no note"
                );
            }
        }
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn every_note_that_is_cited_exists() {
    let notes = notes();
    for crates in
        ["crates/oracle/src", "crates/accountant/src", "crates/noise/src", "crates/masks/src"]
    {
        for path in files(&root().join(crates), "rs") {
            for note in cited(&std::fs::read_to_string(&path).unwrap()) {
                assert!(notes.contains(&note), "{} cites proofs/{note}.md", path.display());
            }
        }
    }
    for path in files(&root().join("proofs"), "md") {
        for note in cited(&std::fs::read_to_string(&path).unwrap()) {
            assert!(notes.contains(&note), "{} cites proofs/{note}.md", path.display());
        }
    }
}

#[test]
fn every_note_is_listed_and_names_tests_that_exist() {
    let index = std::fs::read_to_string(root().join("proofs/README.md")).unwrap();
    for note in notes() {
        assert!(index.contains(&format!("({note}.md)")), "proofs/README.md does not list {note}");
        let text = std::fs::read_to_string(root().join(format!("proofs/{note}.md"))).unwrap();
        if text.starts_with("See [") {
            continue;
        }
        let (_, tests) = text
            .split_once("## Tests that would catch a failure")
            .or_else(|| text.split_once("**Caught by**"))
            .expect(&note);
        assert!(!tests.trim().is_empty(), "{note} names no test");
        for piece in tests.split('`') {
            let path = piece.split("::").next().unwrap_or(piece);
            if path.ends_with(".rs") && path.starts_with("crates/") {
                assert!(root().join(path).exists(), "{note} names {path}");
            } else if path.ends_with(".rs") && path.starts_with("tests/") {
                let exists = |name: &str| root().join("crates").join(name).join(path).exists();
                assert!(
                    ["oracle", "accountant"].iter().any(|name| exists(name)),
                    "{note} names {path}"
                );
            }
        }
    }
}
