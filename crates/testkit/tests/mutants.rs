//! The default base of `make mutants` and of `make semver`: a commit since which some source has
//! changed, wherever the tags are, and the commit that a file names where there is no tag.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::path::{Path, PathBuf};
use std::process::Command;

const TOOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools");

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

/// A repository with both scripts, and the commit that has them; `None` without git.
fn repository(name: &str) -> Option<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("tools")).unwrap();
    if said(&folder, &["git", "--version"]).is_none() {
        println!("skipped: there is no git here");
        return None;
    }
    git(&folder, &["init", "--quiet", "--initial-branch", "main"]);
    let text = |name: &str| std::fs::read_to_string(Path::new(TOOLS).join(name)).unwrap();
    std::fs::write(folder.join("tools/baselines.sh"), text("baselines.sh")).unwrap();
    let first = commit(&folder, "tools/mutants.sh", &text("mutants.sh"));
    Some((folder, first))
}

/// The commits that the API is compared with, the first one first.
fn baselines(folder: &Path) -> Vec<String> {
    let names = said(folder, &["sh", "tools/baselines.sh"]).unwrap();
    let commit = |name: &str| git(folder, &["rev-parse", &format!("{name}^{{commit}}")]);
    names.lines().map(commit).collect()
}

#[test]
fn the_api_is_compared_with_tags_and_then_with_the_commit_of_a_file() {
    let Some((folder, first)) = repository("baselines") else { return };
    let folder = &folder;
    assert!(baselines(folder).is_empty());
    let second = commit(folder, "crates/a/src/lib.rs", "one");
    // As the file of the tree is written.
    let third = commit(folder, "tools/api-baseline", &format!("{first} # the API\n"));
    assert_eq!(baselines(folder), [&*first]);
    git(folder, &["tag", "api-1", &second]);
    assert_eq!(baselines(folder), [&*second, &*first]);
    git(folder, &["tag", "v1", &third]);
    assert_eq!(baselines(folder), [&*third, &*second, &*first]);
    // A commit that a shallow clone does not have.
    commit(folder, "tools/api-baseline", &format!("{} # the API\n", "0".repeat(40)));
    assert_eq!(baselines(folder), [&*third, &*second]);
    // The file of this tree names a commit, by its whole name.
    let own = std::fs::read_to_string(Path::new(TOOLS).join("api-baseline")).unwrap();
    let name = own.split_once(" #").unwrap().0;
    assert!(name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{own}");
}

#[test]
fn mutants_are_those_of_some_change_wherever_the_tags_are() {
    let Some((folder, first)) = repository("mutants") else { return };
    let folder = &folder;
    let base = || {
        let base = said(folder, &["sh", "tools/mutants.sh", "--base"]).unwrap();
        git(folder, &["rev-parse", &format!("{base}^{{commit}}")])
    };
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
    // The file's commit comes behind the tags, and a commit that is not here is passed over.
    git(folder, &["tag", "v2"]);
    git(folder, &["tag", "api-3"]);
    commit(folder, "tools/api-baseline", &format!("{} # the API\n", "0".repeat(40)));
    assert_eq!(base(), first, "the last commits");
    commit(folder, "tools/api-baseline", &format!("{second} # the API\n"));
    assert_eq!(base(), second, "since the API that the file names");
    let main = git(folder, &["rev-parse", "HEAD"]);
    git(folder, &["checkout", "--quiet", "-b", "branch"]);
    commit(folder, "crates/a/src/lib.rs", "four");
    assert_eq!(base(), main, "of a branch, what it changes");
}
