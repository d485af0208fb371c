//! `reproduce`: the commands of its page, the list, one that needs no data, and what is said where
//! data is missing.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Types the words after `reproduce` in a folder.
fn reproduce(folder: &Path, words: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_reproduce"))
        .args(words.split_whitespace())
        .current_dir(folder)
        .env_remove("RETICENT_DATA")
        .output()
        .unwrap()
}

fn said(folder: &Path, words: &str) -> String {
    let done = reproduce(folder, words);
    assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn object(folder: &Path, words: &str) -> Value {
    serde_json::from_str(&said(folder, words)).unwrap()
}

fn refused(folder: &Path, words: &str) -> String {
    let done = reproduce(folder, words);
    assert_eq!(done.status.code(), Some(2), "{words}");
    String::from_utf8(done.stderr).unwrap()
}

#[test]
fn the_commands_of_the_page_work() {
    let folder = tempfile::tempdir().unwrap();
    let page = include_str!("../page.md");
    let block = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let typed: Vec<_> =
        block.lines().map(|line| line.strip_prefix("reproduce ").unwrap()).collect();
    assert_eq!(typed.len(), 2);
    for words in typed {
        assert!(said(folder.path(), words).contains("acct-dpa19"));
    }
}

#[test]
fn an_experiment_is_listed_run_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let list = object(at, "--list --json");
    assert_eq!(list["experiments"].as_array().map(Vec::len), Some(25));
    let told = object(at, "acct-dpa19 --out r --json");
    let claims = told["experiments"][0]["claims"].as_array().cloned().unwrap_or_default();
    assert!(claims.len() == 4 && claims.iter().all(|claim| claim["verdict"] == "held"), "{told}");
    let written = |name: &str| std::fs::read_to_string(at.join("r").join(name)).unwrap();
    assert!(written("README.md").contains("(acct-dpa19/total.svg)"));
    assert!(written("acct-dpa19/results.json").contains("0.5009"));
    assert!(!written("acct-dpa19/total.csv").is_empty());
    let again = said(at, "acct-dpa19 --out r");
    assert!(again.contains("(done before)"), "{again}");
    let other = said(at, "acct-dpa19 --quick --out r");
    assert!(!other.contains("(done before)"), "another size is another run: {other}");
}

#[test]
fn what_is_not_there_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let unknown = refused(folder.path(), "ls23-fig1");
    assert!(unknown.contains("ls22-fig1"), "{unknown}");
    let missing = refused(folder.path(), "dpa19-fig1 --data-dir .");
    assert!(missing.contains("Adult") && missing.contains("UCI"), "{missing}");
    let told = reproduce(folder.path(), "ls23-fig1 --json").stdout;
    let told: Value = serde_json::from_slice(&told).unwrap();
    assert!(told["error"].as_str().unwrap().contains("ls23-fig1"), "{told}");
}
