//! A function is read in one go: none outside tests is longer than a screen.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::path::{Path, PathBuf};

/// Lines from `fn` to its closing brace.
const MOST: usize = 60;

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let source = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        match path.is_dir() {
            true if ["tests", "target"].contains(&name.as_str()) => Vec::new(),
            true => sources(&path),
            false if name.ends_with(".rs") && !name.ends_with("tests.rs") => vec![path],
            false => Vec::new(),
        }
    };
    entries.flat_map(source).collect()
}

/// The functions of a file that rustfmt has set, each with its first line and its length: it ends
/// with the brace that stands as far in as it began.
fn functions(text: &str) -> Vec<(&str, usize)> {
    let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap();
    let lines: Vec<&str> = code.lines().collect();
    let begins = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().take_while(|word| *word != "fn").collect();
        let before = ["pub", "pub(crate)", "pub(super)", "const", "async", "extern", "\"C\""];
        words.len() < line.split_whitespace().count() && words.iter().all(|w| before.contains(w))
    };
    let length = |i: usize| {
        let first = lines[i];
        let indent = &first[..first.len() - first.trim_start().len()];
        // A brace, or of a method that a trait asks for the bracket of its parameters.
        let ends = |line: &&str| {
            let rest = line.strip_prefix(indent).unwrap_or_default();
            rest.starts_with('}') || rest.starts_with(')') && rest.ends_with(';')
        };
        match first.ends_with([';', '}']) {
            true => 1,
            false => lines[i..].iter().position(ends).map_or(1, |n| n + 1),
        }
    };
    (0..lines.len()).filter(|&i| begins(lines[i])).map(|i| (lines[i], length(i))).collect()
}

#[test]
fn no_function_is_longer_than_a_screen() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    let mut long = Vec::new();
    for folder in ["crates", "fuzz", "reproduction"] {
        for path in sources(&root.join(folder)) {
            let text = std::fs::read_to_string(&path).unwrap();
            for (name, lines) in functions(&text) {
                seen += 1;
                if lines > MOST {
                    long.push(format!("{} lines: {} in {}", lines, name.trim(), path.display()));
                }
            }
        }
    }
    assert!(seen > 2_000, "{seen}");
    assert!(long.is_empty(), "more than {MOST} lines:\n{}", long.join("\n"));
}

#[test]
fn lengths_are_counted() {
    let text = "pub fn one() -> u8 { 1 }\n\nimpl A {\n    fn two(\n        x: u8,\n    ) -> u8 {\n        x\n    }\n}\n\
                // fn none\n#[cfg(test)]\nmod tests {\n    fn three() {\n    }\n}\n";
    let lengths: Vec<usize> = functions(text).into_iter().map(|(_, lines)| lines).collect();
    assert_eq!(lengths, [1, 5]);
}
