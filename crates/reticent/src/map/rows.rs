//! The rows.

use reticent_accountant::Adjacency::{AddRemove, ReplaceOne};
use reticent_accountant::Unit::{Record, User};
use reticent_accountant::View::{Central, Local, Network, SecureAggregation};
use reticent_accountant::{Adjacency, Unit};

use super::Drawn::{Full, Poisson, WithoutReplacement};
use super::Procedure::{Alone, Graph, Tuned, TunedGraph};
use super::{Drawn, Procedure, Row};

const ONE: &[&str] = &[""];
const BOTH: &[Unit] = &[Record, User];
const EITHER: &[Adjacency] = &[ReplaceOne, AddRemove];
const PLAIN: &[Procedure] = &[Alone, Tuned];
const ANY: &[Procedure] = &[Alone, Graph, Tuned, TunedGraph];
const SAMPLES: &[Drawn] = &[Full, Poisson, WithoutReplacement];
/// A sample of fixed size needs a public number of units.
const COUNTLESS: &[Drawn] = &[Full, Poisson];

const CLIPPED: &[&str] =
    &["gate", "sensitivity-clipped-sum", "noise-gaussian-grid", "gaussian", "pld"];
const BLOCKS: &[&str] =
    &["gate", "consensus", "sensitivity-clipped-sum", "noise-gaussian-grid", "gaussian", "pld"];
const MINIMISER: &[&str] = &["gate", "minimiser", "noise-gaussian-grid", "gaussian"];
const NORMAL: &[&str] = &[
    "gate",
    "objective",
    "minimiser",
    "noise-objective-perturbation",
    "noise-gaussian-grid",
    "pld",
];
const LAPLACE: &[&str] = &[
    "gate",
    "objective",
    "minimiser",
    "noise-objective-perturbation",
    "noise-laplace-grid",
    "pure-dp",
];

const RESIDUAL: &[&str] =
    &["gate", "local-prox", "views", "derived-noise", "noise-gaussian-grid", "gaussian"];
const TRUSTED: &[&str] =
    &["gate", "trust", "views", "derived-noise", "noise-gaussian-grid", "gaussian", "pld"];
const MASKED: &[&str] =
    &["gate", "trust", "views", "secure-aggregation", "noise-distributed", "zcdp"];
const WALK: &[&str] = &["gate", "local-prox", "walk", "iteration", "views", "noise-gaussian-grid"];
const RECYCLED: &[&str] =
    &["gate", "recycled", "views", "sensitivity-clipped-sum", "noise-gaussian-grid", "gaussian"];
const RECYCLED_MINIMISER: &[&str] =
    &["gate", "recycled", "views", "minimiser", "noise-gaussian-grid", "gaussian"];
const RECYCLED_LAPLACE: &[&str] = &[
    "gate",
    "recycled",
    "views",
    "objective",
    "minimiser",
    "noise-objective-perturbation",
    "pure-dp",
];
const RECYCLED_NORMAL: &[&str] =
    &["gate", "recycled", "views", "objective", "minimiser", "noise-objective-perturbation", "pld"];

/// For what is tuned.
pub(super) const CHOICE: &str = "a choice is counted by Rényi divergence, for the worst score";
/// For what learns a graph.
pub(super) const GRAPH: &str =
    "no record moves the second moments and the gradient as far as it may at once";

const PART: &str = "corrections are counted in full, and this record moves them less";
const SCHEDULED: &str =
    "every release is counted in full, and a block that has not moved yet says nothing";
const PERTURBED: &str = "the determinant and the solver's distance are counted beside the noise, and a record that pushes another out";
const CAPPED: &str = "visits are counted up to a cap that few users reach";
const HIDDEN: &str = "what the steps of others hide is a bound, averaged over where the token goes";
const CERTAIN: &str =
    "only the noise of members that are certainly honest and stay is counted, by its moments";
const DISTANCE: &str = "how far apart one record's two blocks can be is a bound";

const EVALUATION: &[&str] = &["gate", "evaluation", "noise-gaussian-grid", "gaussian"];

/// Every combination that is offered.
pub const MAP: &[Row] = &[
    // What a model is worth.
    Row {
        algorithms: &["evaluation"],
        forms: &["classes", "numbers"],
        procedures: &[Alone],
        views: &[Central],
        units: BOTH,
        adjacencies: EITHER,
        drawn: &[Full],
        proofs: EVALUATION,
        slack: "",
    },
    // One table, gradients.
    Row {
        algorithms: &["auto", "dp-sgd", "sadmm"],
        forms: ONE,
        procedures: ANY,
        views: &[Central],
        units: BOTH,
        adjacencies: &[ReplaceOne],
        drawn: SAMPLES,
        proofs: CLIPPED,
        slack: "",
    },
    Row {
        algorithms: &["vradmm"],
        forms: ONE,
        procedures: ANY,
        views: &[Central],
        units: BOTH,
        adjacencies: &[ReplaceOne],
        drawn: SAMPLES,
        proofs: CLIPPED,
        slack: PART,
    },
    Row {
        algorithms: &["ssadmm", "dp-cd", "dp-fw"],
        forms: ONE,
        procedures: PLAIN,
        views: &[Central],
        units: BOTH,
        adjacencies: &[ReplaceOne],
        drawn: SAMPLES,
        proofs: CLIPPED,
        slack: "",
    },
    Row {
        algorithms: &["auto", "dp-sgd", "sadmm"],
        forms: ONE,
        procedures: ANY,
        views: &[Central],
        units: BOTH,
        adjacencies: &[AddRemove],
        drawn: COUNTLESS,
        proofs: CLIPPED,
        slack: "",
    },
    Row {
        algorithms: &["vradmm"],
        forms: ONE,
        procedures: ANY,
        views: &[Central],
        units: BOTH,
        adjacencies: &[AddRemove],
        drawn: COUNTLESS,
        proofs: CLIPPED,
        slack: PART,
    },
    Row {
        algorithms: &["ssadmm", "dp-cd", "dp-fw"],
        forms: ONE,
        procedures: PLAIN,
        views: &[Central],
        units: BOTH,
        adjacencies: &[AddRemove],
        drawn: COUNTLESS,
        proofs: CLIPPED,
        slack: "",
    },
    Row {
        algorithms: &["mpadmm"],
        forms: ONE,
        procedures: PLAIN,
        views: &[Central],
        units: BOTH,
        adjacencies: EITHER,
        drawn: &[Full],
        proofs: CLIPPED,
        slack: "",
    },
    // One table, blocks inside the gate.
    Row {
        algorithms: &["consensus"],
        forms: &["all"],
        procedures: PLAIN,
        views: &[Central],
        units: BOTH,
        adjacencies: &[ReplaceOne],
        drawn: SAMPLES,
        proofs: BLOCKS,
        slack: "",
    },
    Row {
        algorithms: &["consensus"],
        forms: &["all"],
        procedures: PLAIN,
        views: &[Central],
        units: BOTH,
        adjacencies: &[AddRemove],
        drawn: COUNTLESS,
        proofs: BLOCKS,
        slack: "",
    },
    Row {
        algorithms: &["consensus"],
        forms: &["permutation", "single", "blocks"],
        procedures: PLAIN,
        views: &[Central],
        units: BOTH,
        adjacencies: &[ReplaceOne],
        drawn: &[Full],
        proofs: BLOCKS,
        slack: SCHEDULED,
    },
    // One table, minimisers.
    Row {
        algorithms: &["general", "output-perturbation"],
        forms: ONE,
        procedures: PLAIN,
        views: &[Central],
        units: BOTH,
        adjacencies: &[ReplaceOne],
        drawn: &[Full],
        proofs: MINIMISER,
        slack: "",
    },
    // A choice is counted by Rényi divergence, which a normal linear term has none of.
    Row {
        algorithms: &["amp", "objp"],
        forms: &["normal"],
        procedures: &[Alone],
        views: &[Central],
        units: &[Record],
        adjacencies: EITHER,
        drawn: &[Full],
        proofs: NORMAL,
        slack: PERTURBED,
    },
    Row {
        algorithms: &["amp", "objp"],
        forms: &["spherical-laplace"],
        procedures: PLAIN,
        views: &[Central],
        units: BOTH,
        adjacencies: EITHER,
        drawn: &[Full],
        proofs: LAPLACE,
        slack: PERTURBED,
    },
    // A server.
    Row {
        algorithms: &["federated"],
        forms: ONE,
        procedures: &[Alone],
        views: &[Local],
        units: BOTH,
        adjacencies: &[ReplaceOne],
        drawn: &[Full],
        proofs: RESIDUAL,
        slack: "",
    },
    Row {
        algorithms: &["federated"],
        forms: ONE,
        procedures: &[Alone],
        views: &[Local],
        units: BOTH,
        adjacencies: &[ReplaceOne],
        drawn: &[Poisson, WithoutReplacement],
        proofs: RESIDUAL,
        slack: CAPPED,
    },
    Row {
        algorithms: &["federated"],
        forms: ONE,
        procedures: &[Alone],
        views: &[Central],
        units: &[User],
        adjacencies: &[ReplaceOne],
        drawn: SAMPLES,
        proofs: TRUSTED,
        slack: "",
    },
    Row {
        algorithms: &["federated"],
        forms: ONE,
        procedures: &[Alone],
        views: &[Central],
        units: &[Record],
        adjacencies: &[ReplaceOne],
        drawn: SAMPLES,
        proofs: TRUSTED,
        slack: DISTANCE,
    },
    Row {
        algorithms: &["federated"],
        forms: ONE,
        procedures: &[Alone],
        views: &[SecureAggregation],
        units: BOTH,
        adjacencies: &[ReplaceOne],
        drawn: &[Full, WithoutReplacement],
        proofs: MASKED,
        slack: CERTAIN,
    },
    Row {
        algorithms: &["dp-admm"],
        forms: ONE,
        procedures: &[Alone],
        views: &[Local],
        units: BOTH,
        adjacencies: &[ReplaceOne],
        drawn: &[Full],
        proofs: CLIPPED,
        slack: "",
    },
    Row {
        algorithms: &["dp-admm-exact"],
        forms: ONE,
        procedures: &[Alone],
        views: &[Local],
        units: BOTH,
        adjacencies: &[ReplaceOne],
        drawn: &[Full],
        proofs: MINIMISER,
        slack: "",
    },
    // Peers.
    Row {
        algorithms: &["walk"],
        forms: &["stateless", "stateful"],
        procedures: &[Alone],
        views: &[Local],
        units: BOTH,
        adjacencies: &[ReplaceOne],
        drawn: &[Full],
        proofs: RESIDUAL,
        slack: CAPPED,
    },
    Row {
        algorithms: &["walk"],
        forms: &["stateless"],
        procedures: &[Alone],
        views: &[Network],
        units: &[User],
        adjacencies: &[ReplaceOne],
        drawn: &[Full],
        proofs: WALK,
        slack: HIDDEN,
    },
    Row {
        algorithms: &["r-admm", "mr-admm", "dvp", "m-admm"],
        forms: &["gradient"],
        procedures: &[Alone],
        views: &[Local],
        units: BOTH,
        adjacencies: &[ReplaceOne],
        drawn: &[Full],
        proofs: RECYCLED,
        slack: "",
    },
    Row {
        algorithms: &["r-admm", "mr-admm", "dvp", "m-admm"],
        forms: &["minimiser"],
        procedures: &[Alone],
        views: &[Local],
        units: BOTH,
        adjacencies: &[ReplaceOne],
        drawn: &[Full],
        proofs: RECYCLED_MINIMISER,
        slack: "",
    },
    Row {
        algorithms: &["r-admm", "mr-admm", "dvp", "m-admm"],
        forms: &["objective"],
        procedures: &[Alone],
        views: &[Local],
        units: BOTH,
        adjacencies: &[ReplaceOne],
        drawn: &[Full],
        proofs: RECYCLED_LAPLACE,
        slack: PERTURBED,
    },
    Row {
        algorithms: &["r-admm", "mr-admm", "dvp", "m-admm"],
        forms: &["normal-objective"],
        procedures: &[Alone],
        views: &[Local],
        units: &[Record],
        adjacencies: &[ReplaceOne],
        drawn: &[Full],
        proofs: RECYCLED_NORMAL,
        slack: PERTURBED,
    },
];
