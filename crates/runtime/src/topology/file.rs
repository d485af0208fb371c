//! Edges from a file: two party numbers on a line, from 0; `#` begins a comment.

use std::path::PathBuf;

use super::{GraphFamily, Topology};
use crate::error::RunError;

pub(super) const FAMILY: GraphFamily = GraphFamily {
    form: "file:PATH",
    about: "from a file with two party numbers (from 0) on each line",
    make: |ask| {
        let file = PathBuf::from(ask.argument.unwrap_or_default());
        let refuse = |reason: String| RunError::File { file: file.clone(), reason };
        let text =
            std::fs::read_to_string(&file).map_err(|error| refuse(error.kind().to_string()))?;
        let mut edges = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let ends: Vec<Option<u32>> = line
                .split_whitespace()
                .map(|word| word.parse().ok().filter(|&party| party < ask.parties))
                .collect();
            match ends[..] {
                [] => {}
                [Some(a), Some(b)] => edges.push((a, b)),
                _ => {
                    let last = ask.parties.saturating_sub(1);
                    return Err(refuse(format!(
                        "line {}: two numbers from 0 to {last} are needed",
                        number + 1
                    )));
                }
            }
        }
        Ok(Topology::from_edges(ask.parties, edges))
    },
};
