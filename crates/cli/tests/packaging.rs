//! What a release is made of: the bill of materials, the recipes and the changelog go with the sources.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// What `cargo tree` says is compiled into the program, as name@version.
fn compiled() -> BTreeSet<String> {
    let words = "tree --offline --locked -p reticent-cli --edges normal,no-proc-macro --prefix none --format {p}";
    let said =
        Command::new(env!("CARGO")).args(words.split(' ')).current_dir(root()).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let line = |line: &str| {
        let mut words = line.split(' ');
        Some(format!("{}@{}", words.next()?, words.next()?.trim_start_matches('v')))
    };
    String::from_utf8(said.stdout).unwrap().lines().filter_map(line).collect()
}

#[test]
fn the_bill_of_materials_has_every_crate_of_the_program() {
    let target = "x86_64-unknown-linux-gnu";
    let script = root().join("tools/sbom.py");
    let bill = || {
        Command::new("python3")
            .arg(&script)
            .args(["--package", "reticent-cli", "--target", target])
            .output()
    };
    let Some(said) = bill().ok().filter(|said| said.status.success()) else {
        eprintln!("skipped: there is no python3 here");
        return;
    };
    assert_eq!(bill().unwrap().stdout, said.stdout, "the same sources give the same bytes");
    let bill: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    let components = bill["components"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let named: BTreeSet<String> = components
        .iter()
        .map(|one| format!("{}@{}", text(&one["name"]), text(&one["version"])))
        .collect();
    if cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        let own = format!("reticent-cli@{}", env!("CARGO_PKG_VERSION"));
        let missing: Vec<_> =
            compiled().into_iter().filter(|one| *one != own && !named.contains(one)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
    for one in components {
        assert!(one["licenses"][0]["expression"].is_string(), "{one}");
        let ours = text(&one["name"]).starts_with("reticent");
        assert!(ours || text(&one["hashes"][0]["content"]).len() == 64, "{one}");
    }
    // Whoever is needed is there.
    let known: BTreeSet<String> = named.iter().map(|name| format!("pkg:cargo/{name}")).collect();
    for needs in bill["dependencies"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|one| one["dependsOn"].as_array().unwrap())
    {
        assert!(known.contains(&text(needs)), "{needs}");
    }
}

#[test]
fn recipes_and_changelog_are_about_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(read("CHANGELOG.md").contains(&format!("\n## [{version}] - ")));
    assert!(read("packaging/debian/changelog").starts_with(&format!("reticent ({version}-1) ")));
    let recipe = read("packaging/homebrew/reticent.rb.in");
    for word in ["@URL@", "@VERSION@", "@SHA256@"] {
        assert_eq!(recipe.matches(word).count(), 1, "{word}");
    }
}
