//! Dual variable perturbation: a fresh step in every round. What R-ADMM halves.

use reticent_accountant::View;

use super::Variant;
use crate::algorithms::ProtocolEntry;

pub(crate) const ENTRY: ProtocolEntry = ProtocolEntry {
    name: "dvp",
    about: "peers on a graph with noise in every update (dual variable perturbation)",
    reference: "RA18, section V (Zhang and Zhu 2017), with E7 and E8",
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

const VARIANT: Variant = Variant::FRESH;
