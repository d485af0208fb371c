//! What `make mutants` measures a change against, where nobody says it: a commit since which some
//! source has changed, wherever the tags are.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::path::Path;
use std::process::Command;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/mutants.sh");

/// What a command in a folder prints; `None` where it cannot be run or fails.
fn said(folder: &Path, command: &[&str]) -> Option<String> {
    let mut asked = Command::new(command[0]);
    asked.args(&command[1..]).current_dir(folder);
    // No settings of whoever runs the test, and no repository but the one in the folder.
    asked.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"]
        .iter()
        .for_each(|name| _ = asked.env_remove(name));
    let output = asked.output().ok()?;
    let text = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    output.status.success().then_some(text)
}

fn git(folder: &Path, words: &[&str]) -> String {
    let own = [
        "git",
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
        "-c",
        "commit.gpgsign=false",
    ];
    said(folder, &[&own, words].concat()).unwrap_or_else(|| panic!("git {words:?}"))
}

/// A commit that changes a file; its name.
fn commit(folder: &Path, file: &str, text: &str) -> String {
    let path = folder.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message", "another"]);
    git(folder, &["rev-parse", "HEAD"])
}

#[test]
fn mutants_are_those_of_some_change_wherever_the_tags_are() {
    let folder = &Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants");
    _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).unwrap();
    if said(folder, &["git", "--version"]).is_none() {
        println!("skipped: there is no git here");
        return;
    }
    let base = || {
        let base = said(folder, &["sh", "tools/mutants.sh", "--base"]).unwrap();
        git(folder, &["rev-parse", &format!("{base}^{{commit}}")])
    };
    git(folder, &["init", "--quiet", "--initial-branch", "main"]);
    let first = commit(folder, "tools/mutants.sh", &std::fs::read_to_string(SCRIPT).unwrap());
    let second = commit(folder, "crates/a/src/b/c.rs", "one");
    // No tag yet: what the last commits changed, and not the last commit alone.
    assert_eq!(base(), first);
    git(folder, &["tag", "api-1"]);
    let third = commit(folder, "crates/a/src/b/c.rs", "two");
    assert_eq!(base(), second, "since the newest API");
    git(folder, &["tag", "v1"]);
    git(folder, &["tag", "else"]);
    // A release, and a tag that is none, at the commit itself: nothing has changed since.
    assert_eq!(base(), second);
    git(folder, &["tag", "api-2"]);
    assert_eq!(base(), first, "no tag has a change behind it");
    commit(folder, "docs/page.md", "words");
    assert_eq!(base(), first, "nor has a commit without source");
    commit(folder, "crates/a/src/lib.rs", "three");
    assert_eq!(base(), third, "since the newest release");
    let main = git(folder, &["rev-parse", "HEAD"]);
    git(folder, &["checkout", "--quiet", "-b", "branch"]);
    commit(folder, "crates/a/src/lib.rs", "four");
    assert_eq!(base(), main, "of a branch, what it changes");
}
