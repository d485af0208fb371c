//! The notes in `proofs/` of each kind of run, beside those of the sampling and of the course.

pub const CLIPPED: &[&str] =
    &["gate", "sensitivity-clipped-sum", "noise-gaussian-grid", "gaussian", "pld"];
pub const WHITENED: &[&str] = &[
    "gate",
    "second-moment",
    "change-of-basis",
    "sensitivity-clipped-sum",
    "noise-gaussian-grid",
    "gaussian",
    "pld",
];
pub const BLOCKS: &[&str] =
    &["gate", "consensus", "sensitivity-clipped-sum", "noise-gaussian-grid", "gaussian", "pld"];
pub const CHOICES: &[&str] = &["gate", "exponential-mechanism"];
pub const MINIMISER: &[&str] = &["gate", "minimiser", "noise-gaussian-grid", "gaussian"];
pub const NORMAL: &[&str] = &[
    "gate",
    "objective",
    "minimiser",
    "noise-objective-perturbation",
    "noise-gaussian-grid",
    "pld",
];
pub const LAPLACE: &[&str] = &[
    "gate",
    "objective",
    "minimiser",
    "noise-objective-perturbation",
    "noise-laplace-grid",
    "pure-dp",
];

/// Between parties who sits where is a part of it.
pub const PARTY_CLIPPED: &[&str] =
    &["gate", "seating", "sensitivity-clipped-sum", "noise-gaussian-grid", "gaussian", "pld"];
pub const PARTY_MINIMISER: &[&str] =
    &["gate", "seating", "minimiser", "noise-gaussian-grid", "gaussian"];
pub const RESIDUAL: &[&str] =
    &["gate", "local-prox", "views", "seating", "derived-noise", "noise-gaussian-grid", "gaussian"];
pub const TRUSTED: &[&str] = &[
    "gate",
    "trust",
    "views",
    "seating",
    "derived-noise",
    "noise-gaussian-grid",
    "gaussian",
    "pld",
];
pub const MASKED: &[&str] =
    &["gate", "trust", "views", "seating", "secure-aggregation", "noise-distributed", "zcdp"];
pub const NOISY_SUMS: &[&str] = &[
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
pub const MASKED_SUMS: &[&str] = &[
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
pub const WALK: &[&str] =
    &["gate", "local-prox", "walk", "iteration", "views", "seating", "noise-gaussian-grid"];
pub const RECYCLED: &[&str] = &[
    "gate",
    "recycled",
    "views",
    "seating",
    "sensitivity-clipped-sum",
    "noise-gaussian-grid",
    "gaussian",
];
pub const RECYCLED_MINIMISER: &[&str] =
    &["gate", "recycled", "views", "seating", "minimiser", "noise-gaussian-grid", "gaussian"];
pub const RECYCLED_LAPLACE: &[&str] = &[
    "gate",
    "recycled",
    "views",
    "seating",
    "objective",
    "minimiser",
    "noise-objective-perturbation",
    "pure-dp",
];
pub const RECYCLED_NORMAL: &[&str] = &[
    "gate",
    "recycled",
    "views",
    "seating",
    "objective",
    "minimiser",
    "noise-objective-perturbation",
    "pld",
];

pub const MEAN: &[&str] =
    &["gate", "mean", "sensitivity-clipped-sum", "noise-gaussian-grid", "gaussian"];
pub const BINS: &[&str] =
    &["gate", "bin-counts", "sensitivity-clipped-sum", "noise-gaussian-grid", "gaussian"];
pub const COUNTS: &[&str] = &["gate", "count", "noise-gaussian-grid", "gaussian"];
pub const RANKS: &[&str] = &["gate", "quantile", "count", "noise-gaussian-grid", "gaussian"];

pub const EVALUATION: &[&str] = &["gate", "evaluation", "noise-gaussian-grid", "gaussian"];
