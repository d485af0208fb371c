//! The rows.

use reticent_accountant::Adjacency::{AddRemove, ReplaceOne};
use reticent_accountant::Unit::{Record, User};
use reticent_accountant::View::{Central, Local, Network, SecureAggregation};
use reticent_accountant::{Adjacency, Unit};

use super::Drawn::{Full, Poisson, WithoutReplacement};
use super::MapProcedure::{
    Alone, Graph, Recalibrated, StandardErrors, Tuned, TunedGraph, Weighted,
};
use super::{Drawn, MapProcedure, MapRow};

const ONE: &[&str] = &[""];
const BOTH: &[Unit] = &[Record, User];
const EITHER: &[Adjacency] = &[ReplaceOne, AddRemove];
const PLAIN: &[MapProcedure] = &[Alone, Tuned];
const ANY: &[MapProcedure] = &[Alone, Graph, Tuned, TunedGraph];
/// What asks about a model after its run.
const AFTER: &[MapProcedure] = &[StandardErrors, Recalibrated];
const SAMPLES: &[Drawn] = &[Full, Poisson, WithoutReplacement];
/// A sample of fixed size needs a public number of units.
const COUNTLESS: &[Drawn] = &[Full, Poisson];

const CLIPPED: &[&str] =
    &["gate", "sensitivity-clipped-sum", "noise-gaussian-grid", "gaussian", "pld"];
const WHITENED: &[&str] = &[
    "gate",
    "second-moment",
    "change-of-basis",
    "sensitivity-clipped-sum",
    "noise-gaussian-grid",
    "gaussian",
    "pld",
];
const BLOCKS: &[&str] =
    &["gate", "consensus", "sensitivity-clipped-sum", "noise-gaussian-grid", "gaussian", "pld"];
const CHOICES: &[&str] = &["gate", "exponential-mechanism"];
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

/// Between parties who sits where is a part of it.
const PARTY_CLIPPED: &[&str] =
    &["gate", "seating", "sensitivity-clipped-sum", "noise-gaussian-grid", "gaussian", "pld"];
const PARTY_MINIMISER: &[&str] =
    &["gate", "seating", "minimiser", "noise-gaussian-grid", "gaussian"];
const RESIDUAL: &[&str] =
    &["gate", "local-prox", "views", "seating", "derived-noise", "noise-gaussian-grid", "gaussian"];
const TRUSTED: &[&str] = &[
    "gate",
    "trust",
    "views",
    "seating",
    "derived-noise",
    "noise-gaussian-grid",
    "gaussian",
    "pld",
];
const MASKED: &[&str] =
    &["gate", "trust", "views", "seating", "secure-aggregation", "noise-distributed", "zcdp"];
const NOISY_SUMS: &[&str] = &[
    "gate",
    "noisy-sums",
    "views",
    "seating",
    "derived-noise",
    "second-moment",
    "change-of-basis",
    "sensitivity-clipped-sum",
    "noise-gaussian-grid",
    "gaussian",
    "pld",
];
const MASKED_SUMS: &[&str] = &[
    "gate",
    "noisy-sums",
    "views",
    "seating",
    "second-moment",
    "change-of-basis",
    "sensitivity-clipped-sum",
    "secure-aggregation",
    "noise-distributed",
    "zcdp",
];
const WALK: &[&str] =
    &["gate", "local-prox", "walk", "iteration", "views", "seating", "noise-gaussian-grid"];
const RECYCLED: &[&str] = &[
    "gate",
    "recycled",
    "views",
    "seating",
    "sensitivity-clipped-sum",
    "noise-gaussian-grid",
    "gaussian",
];
const RECYCLED_MINIMISER: &[&str] =
    &["gate", "recycled", "views", "seating", "minimiser", "noise-gaussian-grid", "gaussian"];
const RECYCLED_LAPLACE: &[&str] = &[
    "gate",
    "recycled",
    "views",
    "seating",
    "objective",
    "minimiser",
    "noise-objective-perturbation",
    "pure-dp",
];
const RECYCLED_NORMAL: &[&str] = &[
    "gate",
    "recycled",
    "views",
    "seating",
    "objective",
    "minimiser",
    "noise-objective-perturbation",
    "pld",
];

/// For what is tuned.
pub(super) const CHOICE: &str = "a choice is counted by Rényi divergence, for the worst score";
/// For what learns a graph.
pub(super) const GRAPH: &str =
    "no record moves the second moments and the gradient as far as it may at once";

/// For what asks for the scale of the residuals.
const SCALE: &str =
    "no record moves the counts of the scale and the gradient as far as it may at once";

/// For what is recalibrated.
pub(super) const LINE: &str =
    "no record moves the line through the log-odds and the gradient as far as it may at once";

/// For what has standard errors.
pub(super) const CURVATURE: &str =
    "no record moves the curvature and the gradient as far as it may at once";

/// For what chooses by the exponential mechanism.
const CHOSEN: &str = "a choice is counted for the worst scores, by Rényi divergence, and with few columns no record moves it so far";

const PART: &str = "corrections are counted in full, and this record moves them less";
const SCHEDULED: &str =
    "every release is counted in full, and a block that has not moved yet says nothing";
const PERTURBED: &str = "the determinant and the solver's distance are counted beside the noise, and a record that pushes another out";
const CAPPED: &str = "visits are counted up to a cap that few users reach";
const HIDDEN: &str = "what the steps of others hide is a bound, averaged over where the token goes";
const CERTAIN: &str =
    "only the noise of members that are certainly honest and stay is counted, by its moments";
const SIDES: &str = "of each noisy count only the side of a threshold is seen";
const DISTANCE: &str = "how far apart one record's two blocks can be is a bound";

const MEAN: &[&str] =
    &["gate", "mean", "sensitivity-clipped-sum", "noise-gaussian-grid", "gaussian"];
const BINS: &[&str] =
    &["gate", "bin-counts", "sensitivity-clipped-sum", "noise-gaussian-grid", "gaussian"];
const COUNTS: &[&str] = &["gate", "count", "noise-gaussian-grid", "gaussian"];
const RANKS: &[&str] = &["gate", "quantile", "count", "noise-gaussian-grid", "gaussian"];

const EVALUATION: &[&str] = &["gate", "evaluation", "noise-gaussian-grid", "gaussian"];

/// What most rows of one table have; what a row says itself is what it has in its place.
const TABLE: MapRow = MapRow {
    algorithms: &[],
    forms: ONE,
    procedures: PLAIN,
    views: &[Central],
    units: BOTH,
    adjacencies: &[ReplaceOne],
    drawn: &[Full],
    proofs: CLIPPED,
    slack: "",
};
/// The same in coordinates of its own.
const OWN: MapRow = MapRow { forms: &["preconditioned"], proofs: WHITENED, slack: GRAPH, ..TABLE };
/// The same behind the scale of the residuals.
const SCALED: MapRow = MapRow { forms: &["scaled"], procedures: &[Alone], slack: SCALE, ..TABLE };
/// Both.
const SCALED_OWN: MapRow =
    MapRow { forms: &["preconditioned, scaled"], procedures: &[Alone], ..OWN };
/// The same of records that have weights.
const WEIGHTED: MapRow = MapRow { procedures: &[Weighted], ..TABLE };
/// The same for many parties: one run, each party looked at by all.
const PARTIES: MapRow =
    MapRow { procedures: &[Alone], views: &[Local], proofs: PARTY_CLIPPED, ..TABLE };

/// An algorithm of one table between parties that add the noise themselves: records, whose number is
/// public or not, or each party a person.
const SUMS: MapRow =
    MapRow { units: &[Record], adjacencies: EITHER, proofs: NOISY_SUMS, ..PARTIES };
const PERSONS: MapRow = MapRow { units: &[User], proofs: NOISY_SUMS, ..PARTIES };
/// The same behind masks.
const MASKED_RECORDS: MapRow =
    MapRow { views: &[SecureAggregation], proofs: MASKED_SUMS, slack: CERTAIN, ..SUMS };
const MASKED_PERSONS: MapRow =
    MapRow { views: &[SecureAggregation], proofs: MASKED_SUMS, slack: CERTAIN, ..PERSONS };
/// The notes of a question of noisy sums, as parties are asked one by one.
macro_rules! seen_sums {
    ($($note:literal),*) => {
        &[
            "gate",
            "noisy-sums",
            $($note,)*
            "views",
            "seating",
            "derived-noise",
            "noise-gaussian-grid",
            "gaussian",
        ]
    };
}
/// The same behind masks.
macro_rules! masked_sums {
    ($($note:literal),*) => {
        &[
            "gate",
            "noisy-sums",
            $($note,)*
            "views",
            "seating",
            "secure-aggregation",
            "noise-distributed",
            "zcdp",
        ]
    };
}
const OF_SUMS: &[&str] = &["auto", "dp-sgd", "sadmm", "vradmm", "ssadmm", "mpadmm", "dp-cd"];
/// Those of them that go over to coordinates of their own.
const OF_MOMENTS: &[&str] = &["auto", "dp-sgd", "sadmm", "ssadmm", "mpadmm"];
/// Those that are asked about their model afterwards, and what they are asked for.
const AFTERWARDS: &[&str] = &["auto", "dp-sgd"];
const ERRORS: &[MapProcedure] = &[StandardErrors];
const OWN_FORMS: &[&str] = &["preconditioned", "preconditioned, scaled"];

/// Every combination that is offered.
pub const MAP: &[MapRow] = &[
    // Statistics of columns.
    MapRow {
        algorithms: &["mean"],
        procedures: &[Alone],
        adjacencies: EITHER,
        proofs: MEAN,
        ..TABLE
    },
    MapRow {
        algorithms: &["histogram"],
        procedures: &[Alone],
        adjacencies: EITHER,
        proofs: BINS,
        ..TABLE
    },
    MapRow {
        algorithms: &["quantile"],
        procedures: &[Alone],
        adjacencies: EITHER,
        proofs: RANKS,
        slack: SIDES,
        ..TABLE
    },
    // How many there are; under replace-one the number of all is public, and is not asked.
    MapRow {
        algorithms: &["count"],
        forms: &["all"],
        procedures: &[Alone],
        adjacencies: &[AddRemove],
        proofs: COUNTS,
        ..TABLE
    },
    MapRow {
        algorithms: &["count"],
        forms: &["classes"],
        procedures: &[Alone],
        adjacencies: EITHER,
        proofs: COUNTS,
        ..TABLE
    },
    // What a model is worth.
    MapRow {
        algorithms: &["evaluation"],
        forms: &["classes", "numbers"],
        procedures: &[Alone],
        adjacencies: EITHER,
        proofs: EVALUATION,
        ..TABLE
    },
    // One table, gradients. `auto` takes coordinates of its own where public numbers say so.
    MapRow { algorithms: &["auto"], procedures: ANY, drawn: SAMPLES, proofs: WHITENED, ..TABLE },
    MapRow { algorithms: &["dp-sgd", "sadmm"], procedures: ANY, drawn: SAMPLES, ..TABLE },
    MapRow { algorithms: &["vradmm"], procedures: ANY, drawn: SAMPLES, slack: PART, ..TABLE },
    MapRow { algorithms: &["ssadmm", "dp-cd", "dp-fw"], drawn: SAMPLES, ..TABLE },
    MapRow {
        algorithms: &["auto"],
        procedures: ANY,
        adjacencies: &[AddRemove],
        drawn: COUNTLESS,
        proofs: WHITENED,
        ..TABLE
    },
    MapRow {
        algorithms: &["dp-sgd", "sadmm"],
        procedures: ANY,
        adjacencies: &[AddRemove],
        drawn: COUNTLESS,
        ..TABLE
    },
    // Steps in coordinates of their own.
    MapRow { algorithms: &["auto", "dp-sgd", "sadmm"], procedures: ANY, drawn: SAMPLES, ..OWN },
    MapRow { algorithms: &["ssadmm"], drawn: SAMPLES, ..OWN },
    MapRow {
        algorithms: &["auto", "dp-sgd", "sadmm"],
        procedures: ANY,
        adjacencies: &[AddRemove],
        drawn: COUNTLESS,
        ..OWN
    },
    MapRow { algorithms: &["ssadmm"], adjacencies: &[AddRemove], drawn: COUNTLESS, ..OWN },
    MapRow { algorithms: &["mpadmm"], adjacencies: EITHER, ..OWN },
    MapRow {
        algorithms: &["vradmm"],
        procedures: ANY,
        adjacencies: &[AddRemove],
        drawn: COUNTLESS,
        slack: PART,
        ..TABLE
    },
    MapRow {
        algorithms: &["ssadmm", "dp-cd", "dp-fw"],
        adjacencies: &[AddRemove],
        drawn: COUNTLESS,
        ..TABLE
    },
    MapRow { algorithms: &["mpadmm"], adjacencies: EITHER, ..TABLE },
    // The scale of the residuals first.
    MapRow { algorithms: &["auto"], drawn: SAMPLES, proofs: WHITENED, ..SCALED },
    MapRow {
        algorithms: &["dp-sgd", "sadmm", "vradmm", "ssadmm", "dp-cd", "dp-fw"],
        drawn: SAMPLES,
        ..SCALED
    },
    MapRow {
        algorithms: &["auto"],
        adjacencies: &[AddRemove],
        drawn: COUNTLESS,
        proofs: WHITENED,
        ..SCALED
    },
    MapRow {
        algorithms: &["dp-sgd", "sadmm", "vradmm", "ssadmm", "dp-cd", "dp-fw"],
        adjacencies: &[AddRemove],
        drawn: COUNTLESS,
        ..SCALED
    },
    MapRow { algorithms: &["mpadmm"], adjacencies: EITHER, ..SCALED },
    MapRow { algorithms: &["consensus"], drawn: SAMPLES, proofs: BLOCKS, ..SCALED },
    MapRow {
        algorithms: &["consensus"],
        adjacencies: &[AddRemove],
        drawn: COUNTLESS,
        proofs: BLOCKS,
        ..SCALED
    },
    MapRow { algorithms: &["auto", "dp-sgd", "sadmm", "ssadmm"], drawn: SAMPLES, ..SCALED_OWN },
    MapRow {
        algorithms: &["auto", "dp-sgd", "sadmm", "ssadmm"],
        adjacencies: &[AddRemove],
        drawn: COUNTLESS,
        ..SCALED_OWN
    },
    MapRow { algorithms: &["mpadmm"], adjacencies: EITHER, ..SCALED_OWN },
    // The same with standard errors or a recalibration after it.
    MapRow {
        algorithms: &["auto"],
        procedures: AFTER,
        adjacencies: EITHER,
        proofs: WHITENED,
        ..TABLE
    },
    MapRow { algorithms: &["dp-sgd"], procedures: AFTER, adjacencies: EITHER, ..TABLE },
    MapRow { algorithms: &["auto", "dp-sgd"], procedures: AFTER, adjacencies: EITHER, ..OWN },
    // Records that have weights.
    MapRow { algorithms: &["auto"], adjacencies: EITHER, proofs: WHITENED, ..WEIGHTED },
    MapRow { algorithms: &["dp-sgd", "sadmm", "ssadmm"], drawn: SAMPLES, ..WEIGHTED },
    MapRow {
        algorithms: &["dp-sgd", "sadmm", "ssadmm"],
        adjacencies: &[AddRemove],
        drawn: COUNTLESS,
        ..WEIGHTED
    },
    MapRow { algorithms: &["auto", "dp-sgd"], procedures: &[Weighted], adjacencies: EITHER, ..OWN },
    // One table, choices of a column.
    MapRow {
        algorithms: &["stagewise"],
        procedures: &[Alone],
        units: &[Record],
        adjacencies: EITHER,
        proofs: CHOICES,
        slack: CHOSEN,
        ..TABLE
    },
    // One table, blocks inside the gate.
    MapRow { algorithms: &["consensus"], forms: &["all"], drawn: SAMPLES, proofs: BLOCKS, ..TABLE },
    MapRow {
        algorithms: &["consensus"],
        forms: &["all"],
        adjacencies: &[AddRemove],
        drawn: COUNTLESS,
        proofs: BLOCKS,
        ..TABLE
    },
    MapRow {
        algorithms: &["consensus"],
        forms: &["permutation", "single", "blocks"],
        proofs: BLOCKS,
        slack: SCHEDULED,
        ..TABLE
    },
    // One table, minimisers.
    MapRow { algorithms: &["general", "output-perturbation"], proofs: MINIMISER, ..TABLE },
    // A choice is counted by Rényi divergence, which a normal linear term has none of.
    MapRow {
        algorithms: &["amp", "objp"],
        forms: &["normal"],
        procedures: &[Alone],
        units: &[Record],
        adjacencies: EITHER,
        proofs: NORMAL,
        slack: PERTURBED,
        ..TABLE
    },
    MapRow {
        algorithms: &["amp", "objp"],
        forms: &["spherical-laplace"],
        adjacencies: EITHER,
        proofs: LAPLACE,
        slack: PERTURBED,
        ..TABLE
    },
    // A server.
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
    // A server that is asked for nothing but sums with the parties' own noise.
    MapRow {
        algorithms: &["auto", "dp-sgd", "sadmm", "ssadmm", "dp-cd"],
        drawn: COUNTLESS,
        ..SUMS
    },
    MapRow {
        algorithms: &["auto", "dp-sgd", "sadmm", "ssadmm", "dp-cd"],
        drawn: COUNTLESS,
        ..PERSONS
    },
    MapRow { algorithms: &["vradmm"], drawn: COUNTLESS, slack: PART, ..SUMS },
    MapRow { algorithms: &["vradmm"], drawn: COUNTLESS, slack: PART, ..PERSONS },
    MapRow { algorithms: &["mpadmm"], ..SUMS },
    MapRow { algorithms: &["mpadmm"], ..PERSONS },
    // The scale of the residuals first: counts, each a sum like any other.
    MapRow {
        algorithms: &["auto", "dp-sgd", "sadmm", "vradmm", "ssadmm", "dp-cd"],
        forms: &["scaled"],
        drawn: COUNTLESS,
        slack: SCALE,
        ..SUMS
    },
    MapRow {
        algorithms: &["auto", "dp-sgd", "sadmm", "vradmm", "ssadmm", "dp-cd"],
        forms: &["scaled"],
        drawn: COUNTLESS,
        slack: SCALE,
        ..PERSONS
    },
    MapRow { algorithms: &["mpadmm"], forms: &["scaled"], slack: SCALE, ..SUMS },
    MapRow { algorithms: &["mpadmm"], forms: &["scaled"], slack: SCALE, ..PERSONS },
    // Steps in coordinates of their own, with the scale first or without.
    MapRow {
        algorithms: &["auto", "dp-sgd", "sadmm", "ssadmm"],
        forms: OWN_FORMS,
        drawn: COUNTLESS,
        slack: GRAPH,
        ..SUMS
    },
    MapRow {
        algorithms: &["auto", "dp-sgd", "sadmm", "ssadmm"],
        forms: OWN_FORMS,
        drawn: COUNTLESS,
        slack: GRAPH,
        ..PERSONS
    },
    MapRow { algorithms: &["mpadmm"], forms: OWN_FORMS, slack: GRAPH, ..SUMS },
    MapRow { algorithms: &["mpadmm"], forms: OWN_FORMS, slack: GRAPH, ..PERSONS },
    // Behind masks.
    MapRow { algorithms: OF_SUMS, forms: &["", "scaled"], ..MASKED_RECORDS },
    MapRow { algorithms: OF_SUMS, forms: &["", "scaled"], ..MASKED_PERSONS },
    MapRow { algorithms: OF_MOMENTS, forms: OWN_FORMS, ..MASKED_RECORDS },
    MapRow { algorithms: OF_MOMENTS, forms: OWN_FORMS, ..MASKED_PERSONS },
    // The same with standard errors after it: sums like any other.
    MapRow { algorithms: AFTERWARDS, procedures: ERRORS, ..SUMS },
    MapRow { algorithms: AFTERWARDS, procedures: ERRORS, ..PERSONS },
    MapRow {
        algorithms: AFTERWARDS,
        forms: &["preconditioned"],
        procedures: ERRORS,
        slack: GRAPH,
        ..SUMS
    },
    MapRow {
        algorithms: AFTERWARDS,
        forms: &["preconditioned"],
        procedures: ERRORS,
        slack: GRAPH,
        ..PERSONS
    },
    MapRow {
        algorithms: AFTERWARDS,
        forms: &["", "preconditioned"],
        procedures: ERRORS,
        ..MASKED_RECORDS
    },
    MapRow {
        algorithms: AFTERWARDS,
        forms: &["", "preconditioned"],
        procedures: ERRORS,
        ..MASKED_PERSONS
    },
    // Questions of such a server.
    MapRow {
        algorithms: &["count"],
        forms: &["all"],
        adjacencies: &[AddRemove],
        proofs: seen_sums!("count"),
        ..SUMS
    },
    MapRow {
        algorithms: &["count"],
        forms: &["all"],
        adjacencies: &[AddRemove],
        proofs: masked_sums!("count"),
        ..MASKED_RECORDS
    },
    MapRow { algorithms: &["count"], forms: &["classes"], proofs: seen_sums!("count"), ..SUMS },
    MapRow { algorithms: &["count"], forms: &["classes"], proofs: seen_sums!("count"), ..PERSONS },
    MapRow {
        algorithms: &["count"],
        forms: &["classes"],
        proofs: masked_sums!("count"),
        ..MASKED_RECORDS
    },
    MapRow {
        algorithms: &["count"],
        forms: &["classes"],
        proofs: masked_sums!("count"),
        ..MASKED_PERSONS
    },
    MapRow { algorithms: &["mean"], proofs: seen_sums!("mean", "sensitivity-clipped-sum"), ..SUMS },
    MapRow {
        algorithms: &["mean"],
        proofs: seen_sums!("mean", "sensitivity-clipped-sum"),
        ..PERSONS
    },
    MapRow {
        algorithms: &["mean"],
        proofs: masked_sums!("mean", "sensitivity-clipped-sum"),
        ..MASKED_RECORDS
    },
    MapRow {
        algorithms: &["mean"],
        proofs: masked_sums!("mean", "sensitivity-clipped-sum"),
        ..MASKED_PERSONS
    },
    MapRow {
        algorithms: &["histogram"],
        proofs: seen_sums!("bin-counts", "sensitivity-clipped-sum"),
        ..SUMS
    },
    MapRow {
        algorithms: &["histogram"],
        proofs: seen_sums!("bin-counts", "sensitivity-clipped-sum"),
        ..PERSONS
    },
    MapRow {
        algorithms: &["histogram"],
        proofs: masked_sums!("bin-counts", "sensitivity-clipped-sum"),
        ..MASKED_RECORDS
    },
    MapRow {
        algorithms: &["histogram"],
        proofs: masked_sums!("bin-counts", "sensitivity-clipped-sum"),
        ..MASKED_PERSONS
    },
    MapRow { algorithms: &["quantile"], proofs: seen_sums!("quantile", "count"), ..SUMS },
    MapRow { algorithms: &["quantile"], proofs: seen_sums!("quantile", "count"), ..PERSONS },
    MapRow {
        algorithms: &["quantile"],
        proofs: masked_sums!("quantile", "count"),
        ..MASKED_RECORDS
    },
    MapRow {
        algorithms: &["quantile"],
        proofs: masked_sums!("quantile", "count"),
        ..MASKED_PERSONS
    },
    MapRow {
        algorithms: &["evaluation"],
        forms: &["classes", "numbers"],
        proofs: seen_sums!("evaluation"),
        ..SUMS
    },
    MapRow {
        algorithms: &["evaluation"],
        forms: &["classes", "numbers"],
        proofs: seen_sums!("evaluation"),
        ..PERSONS
    },
    MapRow {
        algorithms: &["evaluation"],
        forms: &["classes", "numbers"],
        proofs: masked_sums!("evaluation"),
        ..MASKED_RECORDS
    },
    MapRow {
        algorithms: &["evaluation"],
        forms: &["classes", "numbers"],
        proofs: masked_sums!("evaluation"),
        ..MASKED_PERSONS
    },
    // Peers.
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
