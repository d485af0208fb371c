//! Rows of questions to parties that add the noise themselves.

use reticent_accountant::Adjacency::AddRemove;

use super::{MASKED_PERSONS, MASKED_RECORDS, PERSONS, SUMS};
use crate::map::MapRow;

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
/// Counts, statistics and evaluations.
pub const ROWS: &[MapRow] = &[
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
];
