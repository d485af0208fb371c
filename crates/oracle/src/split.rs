//! One table into the tables of many parties, by a public rule. For simulations: in a real run every party loads its own.

use std::fmt;
use std::str::FromStr;

use reticent_data::{Csr, Dense, Rows, Table};
use reticent_noise::{Entropy, EntropyError};

use crate::table::PrivateTable;

/// How records are dealt to the parties.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Skew {
    /// Each record to a party drawn uniformly.
    #[default]
    Iid,
    /// With this probability to a party whose home is the record's label (every party has one), otherwise to any.
    Label(f64),
    /// Party i gets a share in proportion to (i + 1)^−α.
    Size(f64),
}

impl PrivateTable {
    /// A table for each owner in the user column, in order of first appearance; `None` without such a column.
    pub fn split_by_user(self) -> Option<Vec<PrivateTable>> {
        let table = self.into_table();
        let users = table.users.clone()?;
        let parties = table.user_count();
        Some(deal(&table, parties, |i| users[i] as usize))
    }

    /// Tables for `parties` parties; a party that drew no record has an empty one. The seed is public.
    pub fn split(self, parties: usize, skew: Skew, seed: u64) -> Result<Vec<PrivateTable>, EntropyError> {
        let table = self.into_table();
        let mut entropy = Entropy::seeded(seed);
        let mut labels: Vec<u64> = table.targets.iter().map(|target| target.to_bits()).collect();
        labels.sort_unstable();
        labels.dedup();
        let mut shares: Vec<f64> = (0..parties)
            .map(|i| match skew {
                Skew::Size(alpha) => ((i + 1) as f64).powf(-alpha),
                _ => 1.0,
            })
            .collect();
        for i in 1..parties {
            shares[i] += shares[i - 1];
        }
        let owners = (0..table.len())
            .map(|record| {
                if let Skew::Label(alpha) = skew
                    && entropy.bernoulli(alpha)?
                {
                    let home = labels.binary_search(&table.targets[record].to_bits()).unwrap_or(0);
                    // The parties home, home + labels, home + 2·labels, …
                    let homes = parties.saturating_sub(home).div_ceil(labels.len());
                    if homes > 0 {
                        return Ok(home + labels.len() * entropy.below(homes as u64)? as usize);
                    }
                }
                let total = shares.last().copied().unwrap_or(1.0);
                let at = entropy.below(1 << 53)? as f64 / (1_u64 << 53) as f64 * total;
                Ok(shares.partition_point(|&share| share <= at).min(parties.saturating_sub(1)))
            })
            .collect::<Result<Vec<usize>, EntropyError>>()?;
        Ok(deal(&table, parties, |i| owners[i]))
    }
}

/// Row `i` to party `owner(i)`. Within a party all rows have one owner, so that the user can be protected.
fn deal(table: &Table, parties: usize, owner: impl Fn(usize) -> usize) -> Vec<PrivateTable> {
    let mut records = vec![Vec::new(); parties];
    (0..table.len()).for_each(|i| records[owner(i)].push(i));
    let deal_one = |records: &Vec<usize>| {
        let rows = match &table.rows {
            Rows::Dense(rows) => Rows::Dense(Dense {
                rows: records.len(),
                columns: rows.columns,
                values: records.iter().flat_map(|&i| rows.row(i)).copied().collect(),
            }),
            Rows::Sparse(rows) => {
                let mut part = Csr::empty(rows.columns);
                for &i in records {
                    let (indices, values) = rows.row(i);
                    part.push(indices, values);
                }
                Rows::Sparse(part)
            }
        };
        PrivateTable::from(Table {
            rows,
            targets: records.iter().filter_map(|&i| table.targets.get(i).copied()).collect(),
            users: Some(vec![0; records.len()]),
            names: Vec::new(),
        })
    };
    records.iter().map(deal_one).collect()
}

/// A skew that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown skew '{given}': use iid, label:A with 0 ≤ A ≤ 1, or size:A with 0 ≤ A ≤ 10")]
pub struct SkewError {
    given: String,
}

impl FromStr for Skew {
    type Err = SkewError;

    fn from_str(text: &str) -> Result<Self, SkewError> {
        let number = |text: &str, most: f64| text.parse().ok().filter(|alpha| (0.0..=most).contains(alpha));
        let skew = match text.split_once(':') {
            None if text == "iid" => Some(Skew::Iid),
            Some(("label", alpha)) => number(alpha, 1.0).map(Skew::Label),
            Some(("size", alpha)) => number(alpha, 10.0).map(Skew::Size),
            _ => None,
        };
        skew.ok_or_else(|| SkewError { given: text.to_owned() })
    }
}

impl fmt::Display for Skew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Skew::Iid => write!(f, "iid"),
            Skew::Label(alpha) => write!(f, "label:{alpha}"),
            Skew::Size(alpha) => write!(f, "size:{alpha}"),
        }
    }
}
