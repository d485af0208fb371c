//! What a privacy reviewer reads is what the proof notes cite: a table in ARCHITECTURE.md, whose
//! paths and sizes are true.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const ARCHITECTURE: &str = include_str!("../../../ARCHITECTURE.md");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Lines of code: without tests, comments and blanks.
fn lines(path: &str) -> usize {
    let text = std::fs::read_to_string(root().join(path)).unwrap();
    let (mut count, mut lines) = (0, text.lines());
    while let Some(line) = lines.next() {
        if line == "#[cfg(test)]" {
            // An item for tests alone: a line, or all up to its brace.
            if lines.next().is_some_and(|item| item.ends_with('{')) {
                lines.by_ref().find(|line| *line == "}");
            }
        } else if !line.trim().is_empty() && !line.trim_start().starts_with("//") {
            count += 1;
        }
    }
    count
}

/// The source files at a path, tests aside.
fn files(path: &str) -> BTreeSet<String> {
    let place = root().join(path);
    assert!(place.exists(), "there is no {path}");
    if place.is_file() {
        return [path.to_owned()].into();
    }
    let names = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
    let inside = names.map(|name| format!("{path}/{}", name.to_str().unwrap()));
    let is_code = |path: &String| {
        let name = path.rsplit('/').next().unwrap();
        let tests = name == "tests" || name.ends_with("tests.rs") || name == "conformance.rs";
        !tests && (name.ends_with(".rs") || root().join(path).is_dir())
    };
    inside.filter(is_code).flat_map(|path| files(&path)).collect()
}

/// The paths between backticks, `{a,b}` spelt out.
fn paths(text: &str) -> Vec<String> {
    let cited = text.split('`').skip(1).step_by(2).filter(|path| path.starts_with("crates/"));
    let spelt = |path: &str| match path.split_once('{') {
        None => vec![path.to_owned()],
        Some((before, rest)) => {
            let (names, behind) = rest.split_once('}').unwrap();
            names.split(',').map(|name| format!("{before}{name}{behind}")).collect()
        }
    };
    cited.flat_map(spelt).collect()
}

fn files_of(text: &str) -> BTreeSet<String> {
    paths(text).iter().flat_map(|path| files(path)).collect()
}

fn note(name: &str) -> String {
    std::fs::read_to_string(root().join("proofs").join(name)).unwrap()
}

/// Notes without code of the product: the attacker, and an accountant of the tests.
const WITHOUT: &[&str] = &["README.md", "audit.md", "second-accountant.md"];

/// What the notes cite as their code.
fn cited() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for entry in std::fs::read_dir(root().join("proofs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let text = note(&name);
        if WITHOUT.contains(&name.as_str()) || text.starts_with("See [") {
            continue;
        }
        let code = text.split("\nCode:").nth(1).and_then(|rest| rest.split("\n\n").next());
        let files = files_of(code.unwrap_or_else(|| panic!("proofs/{name} cites no code")));
        assert!(!files.is_empty(), "proofs/{name} cites no code");
        all.extend(files);
    }
    all
}

/// The rows of the table: the files, and how many lines are said to be in them.
fn rows() -> Vec<(BTreeSet<String>, usize)> {
    let table =
        ARCHITECTURE.split("| read | lines | why |\n| --- | ---: | --- |\n").nth(1).unwrap();
    let row = |line: &str| {
        let mut cells = line.trim_matches('|').split('|');
        let files = files_of(cells.next().unwrap());
        (files, cells.next().unwrap().trim().replace(',', "").parse().unwrap())
    };
    table.lines().take_while(|line| line.starts_with('|')).map(row).collect()
}

/// The files of a crate as short as they can be named: folders where all in it is named, and
/// `{a,b}`.
fn named(files_of_crate: &BTreeSet<String>) -> String {
    let mut names = BTreeMap::<String, BTreeSet<String>>::new();
    for file in files_of_crate {
        let folders = file.match_indices('/').map(|(at, _)| &file[..at]).skip(2);
        let whole = folders.into_iter().find(|folder| files(folder).is_subset(files_of_crate));
        match whole {
            Some(folder) => _ = names.entry(folder.to_owned()).or_default(),
            None => {
                let (folder, name) = file.rsplit_once('/').unwrap();
                let name = name.trim_end_matches(".rs").to_owned();
                names.entry(format!("{folder}/")).or_default().insert(name);
            }
        }
    }
    let spelt = |(folder, names): (String, BTreeSet<String>)| {
        let names = names.into_iter().collect::<Vec<_>>().join(",");
        match (names.is_empty(), names.contains(',')) {
            (true, _) => format!("`{folder}`"),
            (_, true) => format!("`{folder}{{{names}}}.rs`"),
            (_, false) => format!("`{folder}{names}.rs`"),
        }
    };
    names.into_iter().map(spelt).collect::<Vec<_>>().join(", ")
}

#[test]
fn what_must_be_read_is_what_the_proof_notes_cite() {
    let cited = cited();
    let listed: BTreeSet<_> = rows().into_iter().flat_map(|(files, _)| files).collect();
    let mut by_crate = BTreeMap::<&str, BTreeSet<String>>::new();
    for file in &cited {
        by_crate.entry(file.split('/').nth(1).unwrap()).or_default().insert(file.clone());
    }
    let made: Vec<_> = by_crate
        .values()
        .map(|files| {
            let count: usize = files.iter().map(|file| lines(file)).sum();
            format!("| {} | {count} | |", named(files))
        })
        .collect();
    let total: usize = cited.iter().map(|file| lines(file)).sum();
    assert!(
        cited == listed,
        "not listed: {:?}\nnot cited: {:?}\nthe rows of ARCHITECTURE.md are, of {total} lines:\n{}",
        cited.difference(&listed).collect::<Vec<_>>(),
        listed.difference(&cited).collect::<Vec<_>>(),
        made.join("\n")
    );
}

#[test]
fn every_file_of_the_trusted_crates_is_cited_or_said_to_be_no_matter() {
    let cited = cited();
    let readme = note("README.md");
    let aside = files_of(readme.split("## What no note cites").nth(1).unwrap());
    for part in ["oracle", "noise", "accountant", "masks", "budget", "payment", "data", "problem"] {
        let folder = if part == "problem" { "src/losses" } else { "src" };
        for file in files(&format!("crates/{part}/{folder}")) {
            assert!(
                cited.contains(&file) != aside.contains(&file),
                "{file}: either a note cites it as its code, or proofs/README.md says why none does"
            );
        }
    }
}

#[test]
fn the_sizes_of_what_must_be_read_are_true() {
    let (mut all, mut said_of_all) = (0, 0);
    for (files, said) in rows() {
        let count: usize = files.iter().map(|file| lines(file)).sum();
        let off = (count as f64 / said as f64 - 1.0).abs();
        assert!(off <= 0.05, "{files:?}: ARCHITECTURE.md says {said} lines, there are {count}");
        (all, said_of_all) = (all + count, said_of_all + said);
    }
    let sum = |text: &str| text.trim_end_matches(" lines").replace(',', "").parse::<f64>();
    let said = ARCHITECTURE.split("**").find_map(|text| sum(text).ok()).expect("the sum in bold");
    assert!(
        (all as f64 / said - 1.0).abs() <= 0.05,
        "it is {all} lines, the rows say {said_of_all}"
    );
}

/// Caches, shards, sweeps, parties, budgets and machines are in rows of their own, which a job on one table in memory runs
/// nothing of.
#[test]
fn one_table_is_read_in_seventeen_thousand_lines() {
    let behind = ARCHITECTURE.split("the first seven rows are enough (**").nth(1).unwrap();
    let said = behind.split(" lines**").next().unwrap().replace(',', "");
    let files = rows().into_iter().take(7).flat_map(|(files, _)| files);
    let count: usize = files.map(|file| lines(&file)).sum();
    let off = (count as f64 / said.parse::<f64>().unwrap() - 1.0).abs();
    assert!(off <= 0.05 && count <= 17_000, "it is {count} lines, and said to be {said}");
}

/// What the first seven rows take as given of code that no note cites is said beside them, with its size.
#[test]
fn readers_and_encoder_are_named_beside_the_rows_that_rest_on_them() {
    let readme = note("README.md");
    let taken = readme.split("**taken as given**").next().unwrap().rsplit("\n- ").next().unwrap();
    let files = files_of(taken);
    assert!(files.contains("crates/data/src/encode.rs"), "{files:?}");
    let count: usize = files.iter().map(|file| lines(file)).sum();
    let behind = ARCHITECTURE.split("readers and encoder (**").nth(1).unwrap();
    let said: f64 = behind.split(" lines**").next().unwrap().replace(',', "").parse().unwrap();
    assert!(
        (count as f64 / said - 1.0).abs() <= 0.05,
        "it is {count} lines, and said to be {said}"
    );
}

/// The crates that the table names are those that CONTRIBUTING.md names.
#[test]
fn the_rule_for_contributors_names_the_same_parts() {
    let rule = include_str!("../../../CONTRIBUTING.md");
    for file in rows().into_iter().flat_map(|(files, _)| files) {
        let part = file.split('/').nth(1).unwrap();
        assert!(rule.contains(&format!("`{part}`")), "CONTRIBUTING.md does not name {part}");
    }
}
