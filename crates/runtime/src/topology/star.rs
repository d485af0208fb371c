use super::{GraphFamily, Topology};

pub(super) const FAMILY: GraphFamily = GraphFamily {
    form: "star",
    about: "party 0 with everybody else",
    make: |ask| Ok(Topology::from_edges(ask.parties, (1..ask.parties).map(|i| (0, i)))),
};
