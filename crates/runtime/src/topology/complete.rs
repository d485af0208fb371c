use super::{Family, Topology};

pub(super) const FAMILY: Family = Family {
    form: "complete",
    about: "everybody with everybody",
    make: |ask| Ok(Topology::complete(ask.parties)),
};
