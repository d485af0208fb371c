//! One table into the tables of many parties, by a public rule. For simulations: in a real run
//! every party loads its own.

use crate::dense::Dense;
use crate::sparse::Csr;
use crate::table::{Rows, Table};

reticent_core::words! {
    /// How records are dealt to the parties.
    #[derive(Default)]
    pub enum Skew = "skew" {
        /// Each record to a party drawn uniformly.
        #[default]
        Iid = "iid",
        /// With this probability to a party whose home is the record's label (every party has one),
        /// otherwise to any.
        Label(share: f64 where (0.0..=1.0).contains(&share)) = "label" ":A with 0 ≤ A ≤ 1",
        /// Party i gets a share in proportion to (i + 1)^−α.
        Size(alpha: f64 where (0.0..=10.0).contains(&alpha)) = "size" ":A with 0 ≤ A ≤ 10",
    }
}

impl Skew {
    /// Whether who gets a record, and so how many each has, follows from labels: from what is
    /// private.
    pub fn reads_labels(self) -> bool {
        matches!(self, Skew::Label(_))
    }
}

impl Table {
    /// A table for each owner in the user column, in byte order of the ids; `None` without such a
    /// column.
    pub fn split_by_user(&self) -> Option<Vec<Table>> {
        let users = self.users.as_ref()?;
        Some(deal(self, self.user_count(), |i| users[i] as usize))
    }

    /// Tables for `parties` parties, each with whole owners, whom it numbers from 0 on; `None` without a
    /// user column. `place` says which party an owner is with.
    pub fn split_owners(&self, parties: usize, place: impl Fn(u32) -> usize) -> Option<Vec<Table>> {
        let users = self.users.as_ref()?;
        let places: Vec<usize> = (0..self.user_count() as u32)
            .map(|owner| place(owner).min(parties.saturating_sub(1)))
            .collect();
        let mut counts = vec![0_u32; parties];
        let mut number = |&party: &usize| {
            counts[party] += 1;
            counts[party] - 1
        };
        let numbers: Vec<u32> = places.iter().map(&mut number).collect();
        let mut tables = deal(self, parties, |i| places[users[i] as usize]);
        let mut own: Vec<Vec<u32>> = vec![Vec::new(); parties];
        for &user in users {
            own[places[user as usize]].push(numbers[user as usize]);
        }
        tables.iter_mut().zip(own).for_each(|(table, users)| table.users = Some(users));
        Some(tables)
    }

    /// A table for each party, by the party of each row; persons are numbered within each, in the order
    /// that they have in all of it.
    pub fn split_by_party(&self, parties: &[u32]) -> Vec<Table> {
        let count = parties.iter().max().map_or(0, |&last| last as usize + 1);
        let mut tables = deal(self, count, |i| parties[i] as usize);
        if let Some(users) = &self.users {
            let mut own: Vec<Vec<u32>> = vec![Vec::new(); count];
            parties.iter().zip(users).for_each(|(&party, &user)| own[party as usize].push(user));
            for (table, users) in tables.iter_mut().zip(own) {
                let mut known = users.clone();
                known.sort_unstable();
                known.dedup();
                let number = |user| known.partition_point(|&other| other < user) as u32;
                table.users = Some(users.into_iter().map(number).collect());
            }
        }
        tables
    }

    /// Tables for `parties` parties; a party that drew no record has an empty one. `uniform` gives
    /// numbers in [0, 1) for the record at a place, no more than two for each.
    pub fn split<E>(
        &self,
        parties: usize,
        skew: Skew,
        uniform: &mut dyn FnMut(usize) -> Result<f64, E>,
    ) -> Result<Vec<Table>, E> {
        let mut labels: Vec<u64> = self.targets.iter().map(|target| target.to_bits()).collect();
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
        let owners = (0..self.len())
            .map(|record| {
                if let Skew::Label(alpha) = skew
                    && uniform(record)? < alpha
                {
                    let home = labels.binary_search(&self.targets[record].to_bits()).unwrap_or(0);
                    // The parties home, home + labels, home + 2·labels, …
                    let homes = parties.saturating_sub(home).div_ceil(labels.len());
                    if homes > 0 {
                        return Ok(home + labels.len() * (uniform(record)? * homes as f64) as usize);
                    }
                }
                let at = uniform(record)? * shares.last().copied().unwrap_or(1.0);
                Ok(shares.partition_point(|&share| share <= at).min(parties.saturating_sub(1)))
            })
            .collect::<Result<Vec<usize>, E>>()?;
        Ok(deal(self, parties, |i| owners[i]))
    }
}

/// Row `i` to party `owner(i)`. Within a party all rows have one owner, so that the user can be
/// protected.
fn deal(table: &Table, parties: usize, owner: impl Fn(usize) -> usize) -> Vec<Table> {
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
        Table {
            rows,
            targets: records.iter().filter_map(|&i| table.targets.get(i).copied()).collect(),
            users: Some(vec![0; records.len()]),
            weights: table.weights.as_ref().map(|all| records.iter().map(|&i| all[i]).collect()),
            names: Vec::new(),
        }
    };
    records.iter().map(deal_one).collect()
}
