//! `docs/refusals.md` has every refusal that the code has: none is made without saying what it
//! depends on.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::path::Path;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

/// The variants of an enum: lines of its body that are four spaces in and begin with a capital.
fn variants(text: &str, name: &str) -> Vec<String> {
    let (_, body) = text.split_once(&format!("pub enum {name} {{")).unwrap();
    let (body, _) = body.split_once("\n}").unwrap();
    let line = |line: &str| {
        let word = line.strip_prefix("    ")?;
        let word: String = word.chars().take_while(|c| c.is_alphanumeric()).collect();
        word.starts_with(char::is_uppercase).then_some(word)
    };
    body.lines().filter_map(line).collect()
}

#[test]
fn every_refusal_is_listed_with_what_it_depends_on() {
    let document = read("docs/refusals.md");
    for (file, name, least) in [
        ("crates/oracle/src/refusal.rs", "Refusal", 14),
        ("crates/oracle/src/sums/private.rs", "TableError", 3),
        ("crates/data/src/error.rs", "FileProblem", 11),
        ("crates/data/src/error.rs", "LineProblem", 7),
        ("crates/data/src/error.rs", "CellProblem", 5),
        ("crates/data/src/cache/file.rs", "CacheError", 3),
    ] {
        let found = variants(&read(file), name);
        assert!(found.len() >= least, "{name}: {found:?}");
        for variant in found {
            assert!(
                document.contains(&format!("`{variant}`")),
                "docs/refusals.md lacks {name}::{variant}"
            );
        }
    }
}
