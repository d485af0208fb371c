//! `RETICENT_SEEDED_BUGS=1` compiles known defects in, for audits to find: never in a release. Not a
//! feature, which any dependant could switch on for all others.
//!
//! The version that the program says is the package's, with the commit that it was built from where
//! that is known.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(reticent_seeded_bugs)");
    println!("cargo::rerun-if-env-changed=RETICENT_SEEDED_BUGS");
    if std::env::var_os("RETICENT_SEEDED_BUGS").is_some_and(|value| value == "1") {
        println!("cargo::rustc-cfg=reticent_seeded_bugs");
        println!("cargo::warning=known privacy defects are compiled in: never release this build");
    }
    println!("cargo::rerun-if-changed=build.rs");
    let version = env!("CARGO_PKG_VERSION");
    let commit = of_package().or_else(of_checkout);
    let whole = commit.map_or(version.to_owned(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=RETICENT_VERSION={whole}");
}

/// The commit that cargo wrote into a package.
fn of_package() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, behind) = text.split_once("\"sha1\": \"")?;
    shortened(behind)
}

/// The commit of a checkout, if it is that of this workspace and not of something around it.
fn of_checkout() -> Option<String> {
    let root = Path::new("../..").canonicalize().ok()?;
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != root {
        return None;
    }
    // A commit moves the head, or what the head names.
    let head = git(&["rev-parse", "--symbolic-full-name", "HEAD"]);
    for name in ["HEAD", "packed-refs"].into_iter().chain(head.as_deref()) {
        if let Some(path) = git(&["rev-parse", "--git-path", name])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    shortened(&git(&["rev-parse", "HEAD"])?)
}

fn shortened(commit: &str) -> Option<String> {
    let digits: String = commit.chars().take_while(char::is_ascii_hexdigit).take(12).collect();
    (digits.len() == 12).then_some(digits)
}

fn git(words: &[&str]) -> Option<String> {
    let said = Command::new("git").args(words).output().ok()?;
    let text = String::from_utf8(said.stdout).ok()?;
    said.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}
