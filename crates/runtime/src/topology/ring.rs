use super::{GraphFamily, Topology};

pub(super) const FAMILY: GraphFamily = GraphFamily {
    form: "ring",
    about: "each with the next, the last with the first",
    make: |ask| {
        let n = ask.parties;
        Ok(Topology::from_edges(n, (0..n).map(|i| (i, (i + 1) % n))))
    },
};
