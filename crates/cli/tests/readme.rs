//! The commands of the README work: every `sh` block marked with `<!-- run -->` is executed, in
//! order, in one folder with the program on the path.
#![allow(clippy::unwrap_used)]

use crate::common::Folder;

const README: &str = include_str!("../../../README.md");

fn blocks(text: &str) -> Vec<&str> {
    let marked = text.split("<!-- run -->\n```sh\n").skip(1);
    marked.map(|rest| rest.split("\n```").next().unwrap()).collect()
}

#[test]
fn the_commands_of_the_readme_work() {
    let folder = Folder::new();
    let blocks = blocks(README);
    assert!(blocks.len() >= 3, "the README has {} blocks to run", blocks.len());
    assert!(blocks.iter().any(|block| block.contains("reticent fit")));
    for block in blocks {
        let said = folder.shell(&format!("set -euo pipefail\n{block}"));
        assert_eq!(said.code, 0, "{block}\n{}{}", said.out, said.err);
    }
}

#[test]
fn every_command_in_a_block_is_marked_to_be_run() {
    let unmarked = README.split("```sh\n").skip(1).zip(README.split("```sh\n"));
    for (block, before) in unmarked {
        let block = block.split("\n```").next().unwrap();
        let marked = before.ends_with("<!-- run -->\n");
        assert!(marked || block.lines().all(|line| line.starts_with("make ")), "not run:\n{block}");
    }
}
