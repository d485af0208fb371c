//! The commands of the README and of the book work as they are typed there, and the book holds
//! together: every page is in its contents, every link leads somewhere.
//!
//! An `sh` block is marked with `<!-- run -->` and is executed, the blocks of a page in order, in
//! one folder with the program on the path and `examples/` beside; or with
//! `<!-- not run: REASON -->`. An audit that does not say how many runs it takes has few here.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::common::Folder;

const RUN: &str = "<!-- run -->";

/// What is shortened: the whole attack takes minutes, and its numbers are tested elsewhere.
const SHORT: &str = "set -euo pipefail
reticent() {
    case \" $* \" in
        *' --runs '*) command reticent \"$@\" ;;
        ' audit '*) command reticent \"$@\" --runs 400 ;;
        *) command reticent \"$@\" ;;
    esac
}
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// The pages of the documentation, as `docs/NAME.md`.
fn pages() -> BTreeSet<String> {
    let mut left = vec![root().join("docs")];
    let mut found = BTreeSet::new();
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.insert(path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found
}

/// Each `sh` block, with the line above it.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("```sh\n") {
        let (block, behind) = after.split_once("\n```").unwrap();
        found.push((before.trim_end().lines().last().unwrap_or_default(), block));
        rest = behind;
    }
    found
}

/// The folder that the commands of a page are typed in.
fn desk() -> Folder {
    let folder = Folder::new();
    let copied =
        folder.shell(&format!("cp -r '{}' examples", root().join("examples").display())).code;
    assert_eq!(copied, 0);
    folder
}

fn run(name: &str) -> usize {
    let text = page(name);
    let run: Vec<_> = blocks(&text).into_iter().filter(|(mark, _)| *mark == RUN).collect();
    if run.is_empty() {
        return 0;
    }
    let folder = desk();
    for (_, block) in &run {
        let said = folder.shell(&format!("{SHORT}{block}"));
        assert_eq!(said.code, 0, "{name}:\n{block}\n{}{}", said.out, said.err);
    }
    run.len()
}

#[test]
fn the_commands_of_the_readme_work() {
    let count = run("README.md");
    assert!(count >= 3, "the README has {count} blocks to run");
}

#[test]
fn the_commands_of_the_book_work() {
    let names: Vec<String> = pages().into_iter().collect();
    let half = names.len() / 2;
    let count: usize = std::thread::scope(|scope| {
        let halves = [&names[..half], &names[half..]]
            .map(|names| scope.spawn(|| names.iter().map(|name| run(name)).sum::<usize>()));
        halves.into_iter().map(|half| half.join().unwrap()).sum()
    });
    assert!(count >= 12, "the book has {count} blocks to run");
}

#[test]
fn every_command_in_a_block_is_marked() {
    for name in pages().into_iter().chain(["README.md".to_owned()]) {
        let text = page(&name);
        for (mark, block) in blocks(&text) {
            let said = mark == RUN
                || mark.starts_with("<!-- not run: ")
                || block.lines().all(|line| line.starts_with("make "));
            assert!(said, "{name}: neither run nor said why not:\n{block}");
        }
        let rest =
            blocks(&text).iter().fold(text.clone(), |rest, (_, block)| rest.replace(block, ""));
        let typed = rest.lines().find(|line| {
            let line = line.strip_prefix("    ").or(line.strip_prefix("$ "));
            line.is_some_and(|line| line.starts_with("reticent "))
        });
        assert_eq!(typed, None, "{name}: a command outside an `sh` block is not run");
    }
}

#[test]
fn every_page_is_in_the_contents() {
    let contents = page("docs/SUMMARY.md");
    let listed: BTreeSet<String> = links(&contents).map(|link| format!("docs/{link}")).collect();
    for name in pages() {
        let in_it = name == "docs/SUMMARY.md" || listed.contains(&name);
        assert!(in_it, "{name} is not in docs/SUMMARY.md");
    }
}

/// Where the relative links of a page lead, without the place within.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| {
        let link = rest.split(')').next()?.split('#').next()?;
        (!link.is_empty() && !link.contains("://")).then_some(link)
    })
}

#[test]
fn every_link_leads_somewhere() {
    let mut seen = 0;
    for name in pages().into_iter().chain(["README.md".to_owned()]) {
        let text = page(&name);
        for link in links(&text) {
            let there = root().join(&name).parent().unwrap().join(link);
            assert!(there.exists(), "{name}: {link} leads nowhere");
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} links were found");
}
