//! Rows of a length near the square root; the last row may be shorter.

use super::{GraphFamily, Topology};

pub(super) const FAMILY: GraphFamily = GraphFamily {
    form: "grid",
    about: "each with those beside, above and below it, as near to a square as the number allows",
    make: |ask| {
        let n = ask.parties;
        let width = f64::from(n).sqrt().ceil().max(1.0) as u32;
        let right = (0..n).filter(move |i| (i + 1) % width != 0 && i + 1 < n).map(|i| (i, i + 1));
        let below = (0..n).filter(move |i| i + width < n).map(move |i| (i, i + width));
        Ok(Topology::from_edges(n, right.chain(below)))
    },
};
