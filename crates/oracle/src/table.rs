//! A handle on a private table: it can be loaded and handed to a gate, and nothing else.

use std::path::Path;

use reticent_accountant::{Adjacency, Unit};
use reticent_data::{DataError, Format, Schema, Skew, Table};
use reticent_noise::{Entropy, EntropyError};

/// Private data, unopened. There is no way to look into it but through a [`Gate`](crate::Gate).
pub struct PrivateTable(Table);

/// Not derived: it would show the rows.
impl std::fmt::Debug for PrivateTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PrivateTable(..)")
    }
}

impl PrivateTable {
    /// Reads a table under a schema that has the roles of the job (see [`Schema::with_roles`]).
    pub fn load(path: &Path, format: Option<Format>, schema: &Schema) -> Result<Self, DataError> {
        Ok(PrivateTable(reticent_data::load(path, format, schema, None, None)?))
    }

    /// A table for each owner in the user column, in order of first appearance; `None` without such a column.
    pub fn split_by_user(self) -> Option<Vec<PrivateTable>> {
        Some(self.0.split_by_user()?.into_iter().map(PrivateTable).collect())
    }

    /// Tables for `parties` parties, dealt by a public rule and a public seed. For simulations: in a real run every party
    /// loads its own.
    pub fn split(self, parties: usize, skew: Skew, seed: u64) -> Result<Vec<PrivateTable>, EntropyError> {
        let mut entropy = Entropy::seeded(seed);
        let mut uniform = || Ok(entropy.below(1 << 53)? as f64 / (1_u64 << 53) as f64);
        Ok(self.0.split(parties, skew, &mut uniform)?.into_iter().map(PrivateTable).collect())
    }

    /// The number of records, where it is public: records are protected, and a neighbour replaces one. Otherwise `None`.
    pub fn public_count(&self, unit: Unit, adjacency: Adjacency) -> Option<u64> {
        ((unit, adjacency) == (Unit::Record, Adjacency::ReplaceOne)).then_some(self.0.len() as u64)
    }

    pub(crate) fn table(&self) -> &Table {
        &self.0
    }

    pub(crate) fn into_table(self) -> Table {
        self.0
    }
}

/// For tables that were never a file: simulations and tests.
impl From<Table> for PrivateTable {
    fn from(table: Table) -> Self {
        PrivateTable(table)
    }
}
