//! Rows of one table.

use reticent_accountant::Adjacency::AddRemove;
use reticent_accountant::Unit::Record;

use super::notes::{
    BINS, BLOCKS, CHOICES, COUNTS, EVALUATION, LAPLACE, MEAN, MINIMISER, NORMAL, RANKS, WHITENED,
};
use super::slack::{CHOSEN, PART, PERTURBED, SCHEDULED, SIDES};
use super::{AFTER, ANY, COUNTLESS, EITHER, OWN, SAMPLES, SCALED, SCALED_OWN, TABLE, WEIGHTED};
use crate::map::MapProcedure::{Alone, Weighted};
use crate::map::MapRow;

/// Statistics, counts, evaluations, and the algorithms.
pub const ROWS: &[MapRow] = &[
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
];
