//! What comes from others, held to deny.toml: licences, versions that occur twice, sources, and the
//! oldest Rust. The same as `make supply-chain` asks cargo-deny, for what this machine compiles.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{CargoOpt, Metadata, MetadataCommand, Package};

const DENY: &str = include_str!("../../../deny.toml");

fn metadata() -> Metadata {
    let host = std::process::Command::new(env!("CARGO")).arg("-vV").output().unwrap().stdout;
    let host = String::from_utf8(host).unwrap();
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let options = ["--locked", "--offline", "--filter-platform", host].map(str::to_owned);
    let with_defaults = MetadataCommand::new().other_options(options.clone()).clone();
    // All features, where their dependencies were ever downloaded (`make features` does it).
    let with_all = with_defaults.clone().features(CargoOpt::AllFeatures).exec();
    with_all.or_else(|_| with_defaults.exec()).unwrap()
}

fn others(metadata: &Metadata) -> impl Iterator<Item = &Package> {
    metadata.packages.iter().filter(|package| package.source.is_some())
}

fn deny() -> toml::Table {
    DENY.parse().unwrap()
}

fn texts(list: &toml::Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// Whether an expression can be met: `OR` and `/` are a choice, `AND` is both, and a bracket stands
/// around a choice.
fn is_met(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let expression = expression.replace('/', " OR ");
    let words: Vec<&str> = expression.split_whitespace().collect();
    let text = words.join(" ").replace(") AND ", ")&").replace(" AND (", "&(");
    if text.contains('&') {
        return text.split('&').all(|part| is_met(part.trim_matches(['(', ')']), allowed));
    }
    text.split(" OR ").any(|choice| choice.split(" AND ").all(|licence| allowed.contains(licence)))
}

#[test]
fn every_licence_is_allowed() {
    let (metadata, deny) = (metadata(), deny());
    let licences = &deny["licenses"];
    for package in others(&metadata) {
        let mut allowed: BTreeSet<&str> = texts(&licences["allow"]).into_iter().collect();
        for exception in licences["exceptions"].as_array().unwrap() {
            if exception["crate"].as_str() == Some(package.name.as_str()) {
                allowed.extend(texts(&exception["allow"]));
            }
        }
        let licence = package.license.as_deref().unwrap_or("none");
        assert!(is_met(licence, &allowed), "{} {} is {licence}", package.name, package.version);
    }
}

#[test]
fn an_expression_is_read_as_it_is_meant() {
    let allowed = BTreeSet::from(["MIT", "Unicode-3.0"]);
    for yes in ["MIT", "MIT/GPL-3.0", "GPL-3.0 OR MIT", "(MIT OR GPL-3.0) AND Unicode-3.0"] {
        assert!(is_met(yes, &allowed), "{yes}");
    }
    for no in ["", "GPL-3.0", "MIT AND GPL-3.0", "(GPL-3.0 OR MPL-2.0) AND MIT"] {
        assert!(!is_met(no, &allowed), "{no}");
    }
}

#[test]
fn what_occurs_in_two_versions_is_explained() {
    let (metadata, deny) = (metadata(), deny());
    let skipped = deny["bans"]["skip"].as_array().unwrap();
    let explained: BTreeSet<&str> =
        skipped.iter().map(|entry| entry["crate"].as_str().unwrap()).collect();
    let mut versions = BTreeMap::<&str, usize>::new();
    for package in others(&metadata) {
        *versions.entry(package.name.as_str()).or_default() += 1;
    }
    for (name, count) in versions {
        assert!(count == 1 || explained.contains(name), "{count} versions of {name}");
    }
}

#[test]
fn everything_is_from_one_registry_and_compiles_with_the_oldest_rust() {
    let metadata = metadata();
    let ours = metadata.workspace_packages()[0].rust_version.clone().unwrap();
    let sources: BTreeSet<_> = others(&metadata)
        .map(|package| package.source.as_ref().map(|source| &source.repr))
        .collect();
    assert_eq!(sources.len(), 1, "{sources:?}");
    for package in others(&metadata) {
        let asks = package.rust_version.as_ref();
        assert!(asks.is_none_or(|asks| *asks <= ours), "{} asks for {asks:?}", package.name);
    }
}
