//! What whoever checks privacy has to read is a table in ARCHITECTURE.md, and its sizes are true.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::path::{Path, PathBuf};

const ARCHITECTURE: &str = include_str!("../../../ARCHITECTURE.md");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Lines of code: without tests, comments and blanks.
fn lines(path: &Path) -> usize {
    let name = path.file_name().unwrap().to_str().unwrap();
    if path.is_dir() {
        let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        return if name == "tests" { 0 } else { entries.map(|path| lines(&path)).sum() };
    }
    if !name.ends_with(".rs") || name.ends_with("tests.rs") {
        return 0;
    }
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let counts = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    code.lines().filter(counts).count()
}

/// The rows of the table: the paths, and how many lines are said to be in them.
fn rows() -> Vec<(Vec<&'static str>, usize)> {
    let table =
        ARCHITECTURE.split("| read | lines | why |\n| --- | ---: | --- |\n").nth(1).unwrap();
    let row = |line: &'static str| {
        let mut cells = line.trim_matches('|').split('|');
        let paths = cells.next().unwrap().split('`').skip(1).step_by(2).collect();
        (paths, cells.next().unwrap().trim().replace(',', "").parse().unwrap())
    };
    table.lines().take_while(|line| line.starts_with('|')).map(row).collect()
}

#[test]
fn the_sizes_of_what_must_be_read_are_true() {
    let rows = rows();
    assert!(rows.len() >= 6);
    for (paths, said) in rows {
        let count: usize = paths.iter().map(|path| lines(&root().join(path))).sum();
        let off = (count as f64 / said as f64 - 1.0).abs();
        assert!(off <= 0.05, "{paths:?}: ARCHITECTURE.md says {said} lines, there are {count}");
    }
}

/// The crates that the table names first are those that CONTRIBUTING.md names.
#[test]
fn the_rule_for_contributors_names_the_same_parts() {
    let rule = include_str!("../../../CONTRIBUTING.md");
    for (paths, _) in rows() {
        for path in paths {
            let part = path.split('/').nth(1).unwrap();
            assert!(rule.contains(&format!("`{part}`")), "CONTRIBUTING.md does not name {part}");
        }
    }
}
