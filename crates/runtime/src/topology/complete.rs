use super::{GraphFamily, Topology};

pub(super) const FAMILY: GraphFamily = GraphFamily {
    form: "complete",
    about: "everybody with everybody",
    make: |ask| Ok(Topology::complete(ask.parties)),
};
