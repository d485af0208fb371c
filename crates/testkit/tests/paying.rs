//! What is paid, and when, is decided in one place: the crate `payment`. Whoever asks for a job (the
//! command line, Python, a run between machines) calls it: it reserves nothing itself, and closes nothing.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::path::{Path, PathBuf};

/// What writes a reservation, or closes one: methods of the store of a budget that `payment` alone calls.
const OF_PAYMENT: [&str; 5] = ["reserve", "reserve_between", "settle", "settle_for", "release"];

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

/// The names of all methods and functions that a text calls or hands on, comments aside: what is behind a
/// colon, and what is behind a dot and before a bracket. Fields are not among them.
fn called(text: &str) -> Vec<&str> {
    let code = text.lines().map(|line| line.split("//").next().unwrap());
    let names = code.flat_map(|line| {
        line.match_indices(['.', ':']).filter_map(|(at, sign)| {
            let rest = &line[at + 1..];
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            let (name, behind) = rest.split_at(end.unwrap_or(rest.len()));
            (sign == ":" || behind.starts_with('(')).then_some(name)
        })
    });
    names.filter(|name| !name.is_empty()).collect()
}

#[test]
fn no_front_end_reserves_or_settles() {
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

/// Who does is found by the same search; what reserves for one plan is for other programs.
#[test]
fn payment_does() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../payment/src");
    let texts = sources(&root).into_iter().map(|path| std::fs::read_to_string(path).unwrap());
    let texts: Vec<String> = texts.collect();
    let unused = |method: &&str| !texts.iter().any(|text| called(text).contains(method));
    assert_eq!(OF_PAYMENT.into_iter().filter(unused).collect::<Vec<_>>(), ["reserve"]);
}

#[test]
fn calls_are_found() {
    let text = "store.reserve(&request)?; // store.settle(x)\nlet f = Store::reserve_between;\nlet reserve = 1;\n";
    assert_eq!(called(text), ["reserve", "reserve_between"]);
    assert_eq!(called("store\n    .settle_for(&own, &more, None)?;"), ["settle_for"]);
    assert_eq!(called("Cell { release: self.release }"), [""; 0]);
}
