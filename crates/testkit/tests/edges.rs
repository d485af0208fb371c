//! The build keeps raw rows out of the algorithms: which crate may use which is a table in
//! ARCHITECTURE.md, and this holds the workspace to it.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

const ARCHITECTURE: &str = include_str!("../../../ARCHITECTURE.md");

fn metadata() -> Metadata {
    MetadataCommand::new()
        .no_deps()
        .other_options(["--locked".to_owned(), "--offline".to_owned()])
        .exec()
        .unwrap()
}

/// The name in the table: without the project's prefix, but for the facade.
fn short(name: &str) -> &str {
    name.strip_prefix("reticent-").unwrap_or(name)
}

/// The rows of the table of crates: crate → the crates that it may use.
fn allowed() -> BTreeMap<String, BTreeSet<String>> {
    let table =
        ARCHITECTURE.split("| crate | noun | may use |").nth(1).expect("the table of crates");
    let rows: Vec<Vec<String>> = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect()
        })
        .collect();
    let all: BTreeSet<String> =
        rows.iter().map(|row| row[0].clone()).filter(|name| name != "testkit").collect();
    let words = |text: &str| -> BTreeSet<String> {
        text.split(',').map(|word| word.trim().to_owned()).collect()
    };
    rows.iter()
        .map(|row| {
            let mut may = match row[2].as_str() {
                "–" => BTreeSet::new(),
                "any" => all.clone(),
                text => match text.strip_prefix("all but ") {
                    Some(but) => &(&all - &words(but)) - &words("cli, python, reproduction"),
                    None => words(text),
                },
            };
            may.remove(&row[0]);
            (row[0].clone(), may)
        })
        .collect()
}

fn uses(package: &Package, kinds: &[DependencyKind]) -> BTreeSet<String> {
    let ours = package.dependencies.iter().filter(|dependency| dependency.path.is_some());
    ours.filter(|dependency| kinds.contains(&dependency.kind))
        .map(|dependency| short(&dependency.name).to_owned())
        .collect()
}

#[test]
fn the_edges_between_crates_are_those_of_the_table() {
    let allowed = allowed();
    let metadata = metadata();
    let mut packages = metadata.workspace_packages();
    packages.retain(|package| *package.name != "reticent-fuzz");
    let names: BTreeSet<String> =
        packages.iter().map(|package| short(&package.name).to_owned()).collect();
    assert_eq!(
        names,
        allowed.keys().cloned().collect(),
        "every crate has a row in the table, and every row a crate"
    );
    for package in packages {
        let name = short(&package.name);
        let used = uses(package, &[DependencyKind::Normal, DependencyKind::Build]);
        let beyond: Vec<_> = used.difference(&allowed[name]).collect();
        assert!(beyond.is_empty(), "{name} may not use {beyond:?}");
    }
}

#[test]
fn the_table_says_what_matters_most() {
    let allowed = allowed();
    let users = |of: &str| -> Vec<_> {
        allowed.iter().filter(|(_, may)| may.contains(of)).map(|(name, _)| name.as_str()).collect()
    };
    assert_eq!(
        users("data"),
        ["audit", "oracle", "testkit"],
        "raw rows are for the gate, and made-up ones for its attackers"
    );
    for alone in ["core", "problem"] {
        assert!(allowed[alone].is_empty(), "{alone} stands alone");
    }
    for near in ["accountant", "data", "noise", "plot"] {
        assert_eq!(allowed[near], BTreeSet::from(["core".to_owned()]), "{near} uses core alone");
    }
    assert_eq!(
        allowed["cli"],
        BTreeSet::from(
            ["audit", "budget", "core", "host", "payment", "plot", "report", "reticent"]
                .map(str::to_owned)
        )
    );
    assert_eq!(
        users("budget"),
        ["cli", "host", "payment", "python", "report", "testkit"],
        "budgets are for front-ends, and for a party on its own machine"
    );
    assert!(allowed.values().all(|may| !may.contains("testkit")));
}

/// Randomness for noise is the gate's alone: nobody else can draw any. The masks may stretch a key
/// that they are given (chacha20, a cipher); they have no way to make one.
#[test]
fn only_one_crate_has_a_source_of_randomness() {
    for package in metadata().workspace_packages() {
        let sources = ["getrandom", "chacha20", "rand", "rand_chacha", "rand_distr"];
        let normal = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind == DependencyKind::Normal);
        let name = short(&package.name);
        let stretches = |dependency: &str| name == "masks" && dependency == "chacha20";
        let has = normal
            .clone()
            .filter(|dependency| {
                sources.contains(&dependency.name.as_str()) && !stretches(&dependency.name)
            })
            .count();
        assert!(has == 0 || ["noise", "testkit"].contains(&name), "{name}");
        let mut features = normal.flat_map(|dependency| &dependency.features);
        assert!(
            !features.any(|feature| feature.contains("getrandom")),
            "{name} asks a cipher for a key of its own"
        );
    }
}

#[test]
fn unsafe_code_is_forbidden_everywhere() {
    let metadata = metadata();
    let workspace = std::fs::read_to_string(metadata.workspace_root.join("Cargo.toml")).unwrap();
    assert!(workspace.contains("unsafe_code = \"forbid\""));
    for package in metadata.workspace_packages() {
        let manifest = std::fs::read_to_string(&package.manifest_path).unwrap();
        assert!(
            manifest.contains("[lints]\nworkspace = true"),
            "{} does not take the workspace's lints",
            package.name
        );
    }
}
