//! M-ADMM with penalty perturbation: a fresh step in every round, η growing, the dual step θ fixed.
//!
//! The noise is in the penalty, `η Σ_j ‖f + ε_i − ½(f_i + f_j)‖²`, which is a linear term
//! `2ηV_i ε_i`: as η grows, noise of a constant size in f is noise of a growing size in the
//! gradient, and late rounds cost less.

use reticent_accountant::View;

use super::Variant;
use crate::algorithms::ProtocolEntry;

pub(crate) const ENTRY: ProtocolEntry = ProtocolEntry {
    name: "m-admm",
    about: "peers on a graph with growing penalties and the noise in them (penalty perturbation)",
    reference: "RA18, section V (Zhang, Khalili and Liu 2018), with E7 and E8",
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
        "dual_step",
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

const VARIANT: Variant =
    Variant { growth: 1.01, fixed_dual: true, noise_on_penalty: true, ..Variant::FRESH };
