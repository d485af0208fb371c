//! Defects exist in audit builds alone: no crate has them among its default features, and in the
//! gate nothing refers to them outside their condition.

use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn no_default_feature_and_no_dependency_brings_a_defect() {
    let mut seen = 0;
    for folder in std::fs::read_dir(crates()).unwrap() {
        let Ok(manifest) = std::fs::read_to_string(folder.unwrap().path().join("Cargo.toml"))
        else {
            continue;
        };
        seen += 1;
        for line in
            manifest.lines().filter(|line| line.contains("seeded-bugs") && !line.starts_with('#'))
        {
            // A program of tests may ask for it: it is then left out where it is not there.
            let asks = line == "required-features = [\"seeded-bugs\"]";
            assert!(asks || line.starts_with("seeded-bugs = ["), "{line}");
        }
    }
    assert!(seen > 8);
}

#[test]
fn the_module_of_defects_is_conditional() {
    // Everything else of the gate names it as `crate::bug`, which does not compile without the
    // module.
    for (file, line) in [
        ("oracle/src/lib.rs", "mod bug;"),
        ("oracle/src/lib.rs", "pub use bug::Bug;"),
        ("audit/src/lib.rs", "pub use reticent_oracle::Bug;"),
        ("runtime/src/lib.rs", "pub use prepare::prepare_spoiled;"),
    ] {
        let text = std::fs::read_to_string(crates().join(file)).unwrap();
        assert_eq!(text.matches(line).count(), 1, "{line}");
        assert!(text.contains(&format!("#[cfg(feature = \"seeded-bugs\")]\n{line}")), "{line}");
    }
}
