//! The five algorithms of this family as a table: the description of each for users, and its
//! [`Variant`].

use reticent_accountant::View;
use reticent_admm::takes;

use super::{Variant, build};
use crate::algorithms::ProtocolEntry;

/// Dual variable perturbation: a fresh step in every round, which R-ADMM halves.
pub(crate) const DVP: ProtocolEntry = ProtocolEntry {
    name: "dvp",
    about: "peers on a graph with noise in every update (dual variable perturbation)",
    reference: "RA18, section V (Zhang and Zhu 2017), with E7 and E8",
    takes: takes![
        iterations release clip loss_weight rho party_rho party_noise noise_schedule start
        proximal gamma radius as_published
    ],
    views: &[View::Local],
    along_graph: true,
    private: true,
    build: |recipe| build(recipe, &DVP, Variant::FRESH),
};

/// R-ADMM: fresh steps in odd rounds, recycled ones in even rounds, which touch no data and cost
/// nothing (RA18, Lemma IV.1).
pub(crate) const R_ADMM: ProtocolEntry = ProtocolEntry {
    name: "r-admm",
    about: "peers on a graph, every second update free: it reuses the noisy gradient of the one before",
    reference: "RA18, Algorithm 2, with E7 and E8",
    build: |recipe| build(recipe, &R_ADMM, Variant { recycles: true, ..Variant::FRESH }),
    ..DVP
};

/// MR-ADMM: R-ADMM with η and γ that grow by a public factor in every round, so that late steps,
/// and the noise in them, are short.
pub(crate) const MR_ADMM: ProtocolEntry = ProtocolEntry {
    name: "mr-admm",
    about: "r-admm with penalties that grow, so that late noise moves the model less",
    reference: "RA18, section V, with E7 and E8",
    takes: takes![
        iterations release clip loss_weight rho party_rho party_noise noise_schedule start
        proximal gamma growth radius as_published
    ],
    build: |recipe| {
        build(recipe, &MR_ADMM, Variant { recycles: true, growth: 1.01, ..Variant::FRESH })
    },
    ..DVP
};

/// M-ADMM with penalty perturbation: a fresh step in every round, η growing, the dual step θ fixed.
///
/// The noise is in the penalty, `η Σ_j ‖f + ε_i − ½(f_i + f_j)‖²`, which is a linear term
/// `2ηV_i ε_i`: as η grows, noise of a constant size in f is noise of a growing size in the
/// gradient, and late rounds cost less.
pub(crate) const M_ADMM: ProtocolEntry = ProtocolEntry {
    name: "m-admm",
    about: "peers on a graph with growing penalties and the noise in them (penalty perturbation)",
    reference: "RA18, section V (Zhang, Khalili and Liu 2018), with E7 and E8",
    takes: takes![
        iterations release clip loss_weight rho party_rho party_noise noise_schedule start
        dual_step proximal gamma growth radius as_published
    ],
    build: |recipe| {
        let fixed = Variant { growth: 1.01, fixed_dual: true, ..Variant::FRESH };
        build(recipe, &M_ADMM, Variant { noise_on_penalty: true, ..fixed })
    },
    ..DVP
};

/// Conventional decentralised ADMM: exact steps, no noise. Its ledger says that it is not private.
pub(crate) const ADMM_NETWORK: ProtocolEntry = ProtocolEntry {
    name: "admm-network",
    about: "peers on a graph without noise: NOT PRIVATE, for comparison",
    reference: "RA18, equations 8 and 9",
    takes: takes![iterations release clip loss_weight rho party_rho start proximal gamma radius],
    private: false,
    build: |recipe| build(recipe, &ADMM_NETWORK, Variant { private: false, ..Variant::FRESH }),
    ..DVP
};
