//! Defects exist in audit builds alone: no feature of a crate has them, one condition of the build
//! does, and in the gate nothing refers to them outside of it.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The text of a file in each crate's folder, with the name of the crate.
fn each(file: &str) -> impl Iterator<Item = (String, String)> {
    let folders = std::fs::read_dir(crates()).unwrap().map(|entry| entry.unwrap().path());
    folders.filter_map(move |folder| {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        Some((name, std::fs::read_to_string(folder.join(file)).ok()?))
    })
}

/// Features are taken together over all that depend on a crate: one of them would be enough.
#[test]
fn no_feature_brings_a_defect() {
    let manifests: Vec<_> = each("Cargo.toml").collect();
    assert!(manifests.len() > 8);
    for (name, manifest) in manifests {
        let features = manifest.split("[features]").nth(1).unwrap_or_default();
        let features = features.split("\n[").next().unwrap();
        assert!(!features.contains("bug") && !features.contains("seeded"), "{name}: {features}");
    }
}

/// One variable and one condition, in all crates that know defects.
#[test]
fn all_build_scripts_have_the_same_condition() {
    let scripts: Vec<_> = each("build.rs").collect();
    assert_eq!(scripts.len(), 5);
    let own = include_str!("../build.rs");
    let (_, condition) = own.split_once("fn main() {\n").unwrap();
    let condition = condition.trim_end().trim_end_matches('}');
    for (name, script) in &scripts {
        assert!(script.contains(condition), "{name}");
        // Nothing else sets it.
        assert_eq!(script.matches("reticent_seeded_bugs").count(), 2, "{name}");
    }
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
        assert!(text.contains(&format!("#[cfg(reticent_seeded_bugs)]\n{line}")), "{line}");
    }
}
