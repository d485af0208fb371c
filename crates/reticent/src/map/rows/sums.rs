//! Rows of algorithms of one table between parties that add the noise themselves.

use super::slack::{GRAPH, PART, SCALE};
use super::{COUNTLESS, MASKED_PERSONS, MASKED_RECORDS, PERSONS, SUMS};
use crate::map::MapProcedure::StandardErrors;
use crate::map::{MapProcedure, MapRow};

const OF_SUMS: &[&str] = &["auto", "dp-sgd", "sadmm", "vradmm", "ssadmm", "mpadmm", "dp-cd"];
/// Those of them that go over to coordinates of their own.
const OF_MOMENTS: &[&str] = &["auto", "dp-sgd", "sadmm", "ssadmm", "mpadmm"];
/// Those that are asked about their model afterwards, and what they are asked for.
const AFTERWARDS: &[&str] = &["auto", "dp-sgd"];
const ERRORS: &[MapProcedure] = &[StandardErrors];
const OWN_FORMS: &[&str] = &["preconditioned", "preconditioned, scaled"];

/// A server that is asked for nothing but sums with the parties' own noise.
pub const ROWS: &[MapRow] = &[
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
];
