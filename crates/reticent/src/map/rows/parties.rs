//! Rows of algorithms of many parties.

use reticent_accountant::Unit::{Record, User};
use reticent_accountant::View::{Central, Network, SecureAggregation};

use super::notes::{
    MASKED, PARTY_MINIMISER, RECYCLED, RECYCLED_LAPLACE, RECYCLED_MINIMISER, RECYCLED_NORMAL,
    RESIDUAL, TRUSTED, WALK,
};
use super::slack::{CAPPED, CERTAIN, DISTANCE, HIDDEN, PERTURBED};
use super::{PARTIES, SAMPLES};
use crate::map::Drawn::{Full, Poisson, WithoutReplacement};
use crate::map::MapRow;

/// With a server.
pub const SERVER: &[MapRow] = &[
    MapRow { algorithms: &["federated"], proofs: RESIDUAL, ..PARTIES },
    MapRow {
        algorithms: &["federated"],
        drawn: &[Poisson, WithoutReplacement],
        proofs: RESIDUAL,
        slack: CAPPED,
        ..PARTIES
    },
    MapRow {
        algorithms: &["federated"],
        views: &[Central],
        units: &[User],
        drawn: SAMPLES,
        proofs: TRUSTED,
        ..PARTIES
    },
    MapRow {
        algorithms: &["federated"],
        views: &[Central],
        units: &[Record],
        drawn: SAMPLES,
        proofs: TRUSTED,
        slack: DISTANCE,
        ..PARTIES
    },
    MapRow {
        algorithms: &["federated"],
        views: &[SecureAggregation],
        drawn: &[Full, WithoutReplacement],
        proofs: MASKED,
        slack: CERTAIN,
        ..PARTIES
    },
    MapRow { algorithms: &["dp-admm"], ..PARTIES },
    MapRow { algorithms: &["dp-admm-exact"], proofs: PARTY_MINIMISER, ..PARTIES },
];

/// Between peers.
pub const PEERS: &[MapRow] = &[
    MapRow {
        algorithms: &["walk"],
        forms: &["stateless", "stateful"],
        proofs: RESIDUAL,
        slack: CAPPED,
        ..PARTIES
    },
    MapRow {
        algorithms: &["walk"],
        forms: &["stateless"],
        views: &[Network],
        units: &[User],
        proofs: WALK,
        slack: HIDDEN,
        ..PARTIES
    },
    MapRow {
        algorithms: &["r-admm", "mr-admm", "dvp", "m-admm"],
        forms: &["gradient"],
        proofs: RECYCLED,
        ..PARTIES
    },
    MapRow {
        algorithms: &["r-admm", "mr-admm", "dvp", "m-admm"],
        forms: &["minimiser"],
        proofs: RECYCLED_MINIMISER,
        ..PARTIES
    },
    MapRow {
        algorithms: &["r-admm", "mr-admm", "dvp", "m-admm"],
        forms: &["objective"],
        proofs: RECYCLED_LAPLACE,
        slack: PERTURBED,
        ..PARTIES
    },
    MapRow {
        algorithms: &["r-admm", "mr-admm", "dvp", "m-admm"],
        forms: &["normal-objective"],
        units: &[Record],
        proofs: RECYCLED_NORMAL,
        slack: PERTURBED,
        ..PARTIES
    },
];
