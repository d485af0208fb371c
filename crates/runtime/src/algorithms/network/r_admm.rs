//! R-ADMM: fresh steps in odd rounds, recycled ones in even rounds, which touch no data and cost
//! nothing (RA18, Lemma IV.1).

use reticent_accountant::View;

use super::Variant;
use crate::algorithms::ProtocolEntry;

pub(crate) const ENTRY: ProtocolEntry = ProtocolEntry {
    name: "r-admm",
    about: "peers on a graph, every second update free: it reuses the noisy gradient of the one before",
    reference: "RA18, Algorithm 2, with E7 and E8",
    takes: &[
        "iterations",
        "release",
        "clip",
        "loss_weight",
        "rho",
        "party_rho",
        "party_noise",
        "noise_schedule",
        "start",
        "proximal",
        "gamma",
        "radius",
        "as_published",
    ],
    views: &[View::Local],
    along_graph: true,
    private: true,
    build: |recipe| super::build(recipe, &ENTRY, VARIANT),
};

const VARIANT: Variant = Variant { recycles: true, ..Variant::FRESH };
