//! Two tables that differ in one record, as much as a record can.
//!
//! The canary is the row (1) with target +1 in a table with one feature of range ±1. Where its gradient is
//! longer than the clip at every parameter that a short run visits, it moves the clipped sum by exactly one
//! clip, and a canary with the target −1 in its place moves it by another one the other way: the two then
//! have the sensitivity that the accountant counts, and the mechanism is as bad as it may be.

use reticent::accountant::Adjacency;
use reticent_data::{Dense, Rows, Table};

/// The records beside the canary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// The canary's row with the other target: under add-remove they are in the table beside it, under
    /// replace-one one of them takes its place.
    #[default]
    Opposite,
    /// Rows of zeros, whose gradient is zero everywhere.
    Blank,
}

/// The two tables.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub with: Table,
    pub without: Table,
}

/// A row and its target.
type Record = (f64, f64);

const CANARY: Record = (1.0, 1.0);
const BLANK: Record = (0.0, 1.0);

impl Pair {
    /// A pair whose larger table has `n` records.
    pub fn new(adjacency: Adjacency, others: Others, n: usize) -> Self {
        let other = match others {
            Others::Opposite => (1.0, -1.0),
            Others::Blank => BLANK,
        };
        let (mut with, mut without) = match adjacency {
            // Beside two opposite canaries records that do nothing are as bad as any.
            Adjacency::ReplaceOne => (vec![BLANK; n - 1], vec![BLANK; n - 1]),
            Adjacency::AddRemove => (vec![other; n - 1], vec![other; n - 1]),
        };
        with.push(CANARY);
        if adjacency == Adjacency::ReplaceOne {
            without.push(other);
        }
        Pair { with: table(&with), without: table(&without) }
    }

    /// A table of `n` records that do nothing, twice.
    pub fn blank(n: usize) -> Self {
        let blank = table(&vec![BLANK; n]);
        Pair { with: blank.clone(), without: blank }
    }
}

fn table(records: &[Record]) -> Table {
    Table {
        rows: Rows::Dense(Dense {
            values: records.iter().map(|record| record.0).collect(),
            rows: records.len(),
            columns: 1,
        }),
        targets: records.iter().map(|record| record.1).collect(),
        users: None,
        names: vec!["1".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_differ_in_one_record() {
        for others in [Others::Opposite, Others::Blank] {
            let pair = Pair::new(Adjacency::AddRemove, others, 3);
            assert_eq!((pair.with.len(), pair.without.len()), (3, 2));
            assert_eq!(pair.with.targets[..2], pair.without.targets);
            let pair = Pair::new(Adjacency::ReplaceOne, others, 3);
            assert_eq!((pair.with.len(), pair.without.len()), (3, 3));
            assert_eq!(pair.with.targets[..2], pair.without.targets[..2]);
            assert_ne!(pair.with, pair.without);
        }
    }
}
