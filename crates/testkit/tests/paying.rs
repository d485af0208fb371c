//! What is paid, and when, is decided in one place: the crate `payment`. Whoever asks for a job (the
//! command line, Python, a run between machines) calls it, and reserves nothing itself.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::path::{Path, PathBuf};

/// What writes a reservation: methods of the store of a budget that `payment` alone calls.
const OF_PAYMENT: [&str; 2] = ["reserve", "reserve_between"];

/// Whoever asks for jobs.
const FRONT_ENDS: [&str; 4] =
    ["crates/cli/src", "crates/host/src", "crates/reticent/src", "python/src"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let source = |path: PathBuf| match path.is_dir() {
        true => sources(&path),
        false if path.extension().is_some_and(|end| end == "rs") => vec![path],
        false => Vec::new(),
    };
    entries.flat_map(source).collect()
}

/// The names behind a dot or a colon, comments aside: all methods and functions that a text calls.
fn called(text: &str) -> Vec<&str> {
    let code = text.lines().map(|line| line.split("//").next().unwrap());
    code.flat_map(|line| line.split(['.', ':']).skip(1))
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap())
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn no_front_end_reserves() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    for folder in FRONT_ENDS {
        for path in sources(&root.join(folder)) {
            let text = std::fs::read_to_string(&path).unwrap();
            let names = called(&text);
            seen += names.len();
            let own: Vec<_> = names.iter().filter(|name| OF_PAYMENT.contains(name)).collect();
            assert!(own.is_empty(), "{} calls {own:?}: that is for `payment`", path.display());
        }
    }
    assert!(seen > 10_000, "{seen}");
}

/// Who does is found by the same search.
#[test]
fn payment_reserves() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../payment/src");
    let reserves =
        |path: &PathBuf| called(&std::fs::read_to_string(path).unwrap()).contains(&OF_PAYMENT[1]);
    assert!(sources(&root).iter().any(reserves));
}

#[test]
fn calls_are_found() {
    let text = "store.reserve(&request)?; // store.settle(x)\nlet f = Store::reserve_between;\nlet reserve = 1;\n";
    assert_eq!(called(text), ["reserve", "reserve_between"]);
}
