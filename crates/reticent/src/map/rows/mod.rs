//! The rows.

mod notes;
mod one_table;
mod parties;
mod questions;
pub(super) mod slack;
mod sums;

use reticent_accountant::Adjacency::{AddRemove, ReplaceOne};
use reticent_accountant::Unit::{Record, User};
use reticent_accountant::View::{Central, Local, SecureAggregation};
use reticent_accountant::{Adjacency, Unit};

use self::notes::{CLIPPED, MASKED_SUMS, NOISY_SUMS, PARTY_CLIPPED, WHITENED};
use self::slack::{CERTAIN, GRAPH, SCALE};
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
/// Every combination that is offered.
pub const MAP: &[MapRow] = &joined::<ALL>(&FAMILIES);

/// The rows of each family, in the order of the documents.
const FAMILIES: [&[MapRow]; 5] =
    [one_table::ROWS, parties::SERVER, sums::ROWS, questions::ROWS, parties::PEERS];

/// The number of all rows.
const ALL: usize = {
    let (mut all, mut at) = (0, 0);
    while at < FAMILIES.len() {
        all += FAMILIES[at].len();
        at += 1;
    }
    all
};

/// Slices one behind the other, `N` rows in all.
const fn joined<const N: usize>(slices: &[&[MapRow]]) -> [MapRow; N] {
    let mut all = [TABLE; N];
    let (mut at, mut slice) = (0, 0);
    while slice < slices.len() {
        let mut row = 0;
        while row < slices[slice].len() {
            all[at] = slices[slice][row];
            (at, row) = (at + 1, row + 1);
        }
        slice += 1;
    }
    all
}
