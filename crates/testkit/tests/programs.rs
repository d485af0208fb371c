//! No test file is forgotten. Most crates have one test program, `tests/main.rs`, because each would
//! be linked with everything else by itself; cargo then no longer finds files alone.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::path::Path;

/// The files in `tests/` that make a program by themselves, or a part of one.
fn roots(tests: &Path) -> Vec<String> {
    let names = std::fs::read_dir(tests).unwrap().map(|entry| entry.unwrap().file_name());
    let root = |name: String| {
        let folder = format!("{name}/main.rs");
        match tests.join(&folder).exists() {
            true => Some(folder),
            false => (name.ends_with(".rs") && name != "main.rs").then_some(name),
        }
    };
    names.filter_map(|name| root(name.into_string().unwrap())).collect()
}

#[test]
fn every_test_file_is_in_a_program() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = std::fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().path());
    let mut seen = 0;
    for folder in folders.chain([crates.join("../reproduction")]) {
        let read = |name: &str| std::fs::read_to_string(folder.join(name));
        let (Ok(manifest), Ok(main)) = (read("Cargo.toml"), read("tests/main.rs")) else {
            continue;
        };
        assert!(manifest.contains("autotests = false"), "{}", folder.display());
        for root in roots(&folder.join("tests")) {
            let line = match root.strip_suffix("/main.rs") {
                Some(name) => format!("\n#[path = \"{root}\"]\nmod {name};\n"),
                None => format!("\nmod {};\n", root.trim_end_matches(".rs")),
            };
            let alone = manifest.contains(&format!("path = \"tests/{root}\""));
            assert!(
                alone != main.contains(&line),
                "{}: `mod` in tests/main.rs, or a [[test]] in Cargo.toml, is missing for {root}",
                folder.display()
            );
            seen += 1;
        }
    }
    assert!(seen > 70, "{seen}");
}
