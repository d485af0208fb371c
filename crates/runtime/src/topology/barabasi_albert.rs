//! Barabási–Albert: parties join one by one, each with m edges to earlier ones, drawn by their
//! number of edges.

use reticent_noise::Entropy;

use super::{GraphFamily, Topology};

pub(super) const FAMILY: GraphFamily = GraphFamily {
    form: "barabasi-albert:M",
    about: "parties join one by one and prefer the well-connected, M edges each, from the public seed",
    make: |ask| {
        let m: u32 = ask.number(1, 1000)?;
        let mut entropy = Entropy::seeded(ask.seed);
        // The first m + 1 are all connected. Every end of an edge is in the list once, so that a
        // uniform draw from it is a draw by the number of edges.
        let first = (m + 1).min(ask.parties);
        let mut edges: Vec<(u32, u32)> =
            (0..first).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        let mut ends: Vec<u32> = edges.iter().flat_map(|&(a, b)| [a, b]).collect();
        for new in first..ask.parties {
            let mut chosen = Vec::new();
            while chosen.len() < m as usize {
                let other = ends[entropy.below(ends.len() as u64)? as usize];
                if !chosen.contains(&other) {
                    chosen.push(other);
                }
            }
            for other in chosen {
                edges.push((new, other));
                ends.extend([new, other]);
            }
        }
        Ok(Topology::from_edges(ask.parties, edges))
    },
};
