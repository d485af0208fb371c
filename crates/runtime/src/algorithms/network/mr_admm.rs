//! MR-ADMM: R-ADMM with η and γ that grow by a public factor in every round, so that late steps,
//! and the noise in them, are short.

use reticent_accountant::View;

use super::Variant;
use crate::algorithms::ProtocolEntry;

pub(crate) const ENTRY: ProtocolEntry = ProtocolEntry {
    name: "mr-admm",
    about: "r-admm with penalties that grow, so that late noise moves the model less",
    reference: "RA18, section V, with E7 and E8",
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
        "growth",
        "radius",
        "as_published",
    ],
    views: &[View::Local],
    along_graph: true,
    private: true,
    build: |recipe| super::build(recipe, &ENTRY, VARIANT),
};

const VARIANT: Variant = Variant { recycles: true, growth: 1.01, ..Variant::FRESH };
