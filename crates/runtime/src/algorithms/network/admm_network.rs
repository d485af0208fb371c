//! Conventional decentralised ADMM: exact steps, no noise. Its ledger says that it is not private.

use reticent_accountant::View;

use super::Variant;
use crate::algorithms::ProtocolEntry;

pub(crate) const ENTRY: ProtocolEntry = ProtocolEntry {
    name: "admm-network",
    about: "peers on a graph without noise: NOT PRIVATE, for comparison",
    reference: "RA18, equations 8 and 9",
    takes: &[
        "iterations",
        "release",
        "clip",
        "loss_weight",
        "rho",
        "party_rho",
        "start",
        "proximal",
        "gamma",
        "radius",
    ],
    views: &[View::Local],
    along_graph: true,
    private: false,
    build: |recipe| super::build(recipe, &ENTRY, VARIANT),
};

const VARIANT: Variant = Variant { private: false, ..Variant::FRESH };
