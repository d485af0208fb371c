//! What a published crate needs, what the Makefile promises about features, and what the indices list.
#![allow(clippy::unwrap_used)]

use cargo_metadata::{Metadata, MetadataCommand, Package};

const MAKEFILE: &str = include_str!("../../../Makefile");

fn metadata() -> Metadata {
    MetadataCommand::new()
        .no_deps()
        .other_options(["--locked".to_owned(), "--offline".to_owned()])
        .exec()
        .unwrap()
}

/// `publish = false` is an empty list of registries.
fn is_published(package: &Package) -> bool {
    package.publish.as_ref().is_none_or(|registries| !registries.is_empty())
}

#[test]
fn all_crates_but_those_for_tests_are_published_and_say_what_they_are() {
    let metadata = metadata();
    for package in metadata.workspace_packages() {
        let name = &package.name;
        // On its way into the crates that use it.
        if **name == "reticent-statistics" {
            continue;
        }
        // Crates for tests, and one that is published as a Python package.
        let elsewhere = ["reticent-testkit", "reticent-fuzz", "reticent-python"];
        assert_eq!(is_published(package), !elsewhere.contains(&name.as_str()), "{name}");
        let folder = package.manifest_path.parent().unwrap();
        assert!(folder.join("README.md").exists(), "{name} has no README.md");
        if !is_published(package) {
            continue;
        }
        assert!(package.description.as_ref().is_some_and(|text| text.ends_with('.')), "{name}");
        assert!(package.readme.is_some() && package.license.is_some(), "{name}");
        assert!((3..=5).contains(&package.keywords.len()), "{name}: three to five keywords");
        assert!(package.keywords.iter().all(|word| word.len() <= 20), "{name}");
        assert!(!package.categories.is_empty(), "{name} has no category");
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(folder.join(licence).exists(), "{name} goes without its {licence}");
        }
    }
}

/// Four crates promise not to break who uses them; the others say that they do not.
#[test]
fn every_crate_says_whether_it_is_kept_stable() {
    let stable = ["reticent", "reticent-accountant", "reticent-budget", "reticent-cli"];
    for package in metadata().workspace_packages().into_iter().filter(|p| is_published(p)) {
        let internal = !stable.contains(&package.name.as_str());
        let folder = package.manifest_path.parent().unwrap();
        let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
        let head: String = readme.lines().take(4).collect();
        let says = |text: &str| text.contains("no stability promise");
        assert_eq!(says(package.description.as_deref().unwrap()), internal, "{}", package.name);
        assert_eq!(says(&head), internal, "{}: README.md", package.name);
        assert!(internal || head.contains("Semantic Versioning"), "{}", package.name);
        let checked = format!("-p {}", package.name);
        let recipe = MAKEFILE.split("\nsemver:").nth(1).unwrap().split("\n\n").next().unwrap();
        let listed = recipe.split_whitespace().collect::<Vec<_>>().join(" ") + " ";
        let library = package.targets.iter().any(|target| target.is_lib());
        assert_eq!(listed.contains(&(checked + " ")), !internal && library, "{}", package.name);
    }
}

/// Each feature alone and none at all: a line for each in `make features`, with the crates that have
/// it.
#[test]
fn every_feature_is_built_alone() {
    let makefile = MAKEFILE.replace("\\\n", "");
    let recipe = makefile.split("\nfeatures:").nth(1).and_then(|rest| rest.split("\n\n").next());
    let lines: Vec<Vec<&str>> = recipe
        .expect("a target named features")
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let feature_of = |line: &[&str]| {
        let at = line.iter().position(|word| *word == "--features");
        at.map(|at| line[at + 1].to_owned())
    };
    for package in metadata().workspace_packages().into_iter().filter(|p| is_published(p)) {
        let features = package.features.keys().filter(|feature| *feature != "default");
        let mut asked: Vec<_> = features.map(|feature| Some(feature.clone())).collect();
        if !asked.is_empty() {
            asked.push(None);
        }
        for feature in asked {
            let found = lines.iter().any(|line| {
                line.contains(&"--no-default-features")
                    && line.contains(&package.name.as_str())
                    && feature_of(line) == feature
            });
            assert!(found, "{} is not built with {feature:?} alone", package.name);
        }
    }
}

/// A change of a crate below is a change of the facade where the facade has all of it: it names what
/// users need, and the crates of this workspace find the rest in its hidden module `internal`.
#[test]
fn the_facade_exports_names_and_no_crate() {
    let root = metadata().workspace_root;
    let source = std::fs::read_to_string(root.join("crates/reticent/src/lib.rs")).unwrap();
    let (public, hidden) = source.split_once("#[doc(hidden)]\npub mod internal {").unwrap();
    assert!(hidden.contains("pub use reticent_runtime as runtime;"), "the rest is in `internal`");
    let exports = |text: &str| text.matches("pub use reticent_").count();
    assert!(exports(public) > 5);
    let after = hidden.split_once("\n}\n").unwrap().1;
    for line in public.lines().chain(after.lines()).map(str::trim) {
        let whole = line.starts_with("pub use") && (line.contains(" as ") || line.contains("::*"));
        assert!(!whole, "{line}");
        let crate_alone = line.starts_with("pub use reticent_") && !line.contains("::");
        assert!(!crate_alone, "{line}");
    }
}

#[test]
fn every_page_is_in_its_index() {
    let root = metadata().workspace_root;
    for folder in ["docs", "proofs"] {
        let index = std::fs::read_to_string(root.join(folder).join("README.md")).unwrap();
        for page in std::fs::read_dir(root.join(folder)).unwrap() {
            let name = page.unwrap().file_name().into_string().unwrap();
            let is_page =
                name.ends_with(".md") && !["README.md", "SUMMARY.md"].contains(&name.as_str());
            assert!(!is_page || index.contains(&format!("({name})")), "{folder}/{name}");
        }
    }
}
