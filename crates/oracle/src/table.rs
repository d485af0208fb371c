//! A handle on a private table: it can be loaded and handed to a gate, and nothing else.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use reticent_accountant::{Adjacency, Unit};
use reticent_data::{DataError, Dataset, ReadOptions, Schema, SharedListener, Skew, Table};
use reticent_noise::{Digest, Entropy, EntropyError};

use crate::fingerprint::ContentHasher;

/// Private data, unopened. There is no way to look into it but through a [`Gate`](crate::Gate).
pub struct PrivateTable {
    table: Arc<Table>,
    /// Whether the schema was drafted from it.
    drafted_from: bool,
    /// What it was encoded under; `None` for a table that was never encoded here.
    schema: Option<Arc<Schema>>,
}

/// Not derived: it would show the rows.
impl std::fmt::Debug for PrivateTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PrivateTable(..)")
    }
}

impl PrivateTable {
    /// Reads a table under a schema that has the roles of the job (see [`Schema::with_roles`]).
    pub fn load(
        path: &Path,
        reading: impl Into<ReadOptions>,
        schema: &Schema,
    ) -> Result<Self, DataError> {
        Self::load_all(&[path.to_path_buf()], reading, schema)
    }

    /// Reads several files as one table; a person is the same in all of them.
    pub fn load_all(
        paths: &[PathBuf],
        reading: impl Into<ReadOptions>,
        schema: &Schema,
    ) -> Result<Self, DataError> {
        let schema = schema.with_roles(None, None)?;
        let (table, drafted_from) = reticent_data::load_and_compare(paths, reading, &schema)?;
        Ok(PrivateTable { table: Arc::new(table), drafted_from, schema: Some(Arc::new(schema)) })
    }

    /// The same, with the digest of what each file holds under `key`, as
    /// [`content`](crate::tables::content) has it: of the very bytes that were read, once.
    ///
    /// # Errors
    /// As [`PrivateTable::load_all`].
    pub fn load_known(
        paths: &[PathBuf],
        reading: impl Into<ReadOptions>,
        schema: &Schema,
        key: &[u8; 32],
    ) -> Result<(Self, Vec<Digest>), DataError> {
        let schema = schema.with_roles(None, None)?;
        let hasher = Rc::new(RefCell::new(ContentHasher::new(key)));
        let listener: SharedListener = hasher.clone();
        let (table, drafted_from) =
            reticent_data::load_and_tell(paths, reading, &schema, &listener)?;
        let found = std::mem::take(&mut hasher.borrow_mut().found);
        let (table, schema) = (Arc::new(table), Some(Arc::new(schema)));
        Ok((PrivateTable { table, drafted_from, schema }, found))
    }

    /// Encodes a table in memory under a schema that has the roles of the job. The dataset is read
    /// where it is; the encoded table is the one copy.
    ///
    /// A draft of a schema knows the file that it was drafted from, and values in memory are no
    /// file: whether they are the same cannot be told here. Unless the draft says that its file is
    /// public, they are taken to be the same, and were then read without being paid for.
    ///
    /// # Errors
    /// If the dataset does not have the columns of the schema, or a cell cannot be read under it.
    pub fn encode(dataset: &Dataset<'_>, schema: &Schema) -> Result<Self, DataError> {
        let schema = schema.with_roles(None, None)?;
        let table = reticent_data::encode(dataset, &schema)?;
        Ok(PrivateTable {
            table: Arc::new(table),
            drafted_from: schema.drafted().is_some_and(|drafted| !drafted.public()),
            schema: Some(Arc::new(schema)),
        })
    }

    /// Another handle on the same table, which is in memory once: for several gates, each with its
    /// own books and its own noise.
    pub fn share(&self) -> Self {
        PrivateTable {
            table: Arc::clone(&self.table),
            drafted_from: self.drafted_from,
            schema: self.schema.clone(),
        }
    }

    /// A table for each owner in the user column, in byte order of the ids; `None` without such
    /// a column.
    pub fn split_by_user(self) -> Option<Vec<PrivateTable>> {
        let (drafted_from, schema) = (self.drafted_from, self.schema);
        let part =
            |table| PrivateTable { table: Arc::new(table), drafted_from, schema: schema.clone() };
        Some(Arc::unwrap_or_clone(self.table).split_by_user()?.into_iter().map(part).collect())
    }

    /// Tables for `parties` parties, dealt by a public rule and a public seed. For simulations: in
    /// a real run every party loads its own.
    pub fn split(
        self,
        parties: usize,
        skew: Skew,
        seed: u64,
    ) -> Result<Vec<PrivateTable>, EntropyError> {
        let (drafted_from, schema) = (self.drafted_from, self.schema);
        let mut entropy = Entropy::seeded(seed);
        let mut uniform = || Ok(entropy.below(1 << 53)? as f64 / (1_u64 << 53) as f64);
        let part =
            |table| PrivateTable { table: Arc::new(table), drafted_from, schema: schema.clone() };
        Ok(Arc::unwrap_or_clone(self.table)
            .split(parties, skew, &mut uniform)?
            .into_iter()
            .map(part)
            .collect())
    }

    /// The number of records, where it is public: records are protected, and a neighbour replaces
    /// one. Otherwise `None`.
    pub fn public_count(&self, unit: Unit, adjacency: Adjacency) -> Option<u64> {
        ((unit, adjacency) == (Unit::Record, Adjacency::ReplaceOne))
            .then_some(self.table.len() as u64)
    }

    /// Whether it was encoded under this schema: bounds, codes and norms are those of the schema,
    /// and a job counts on its own. A table that was never encoded is under none.
    pub fn is_under(&self, schema: &Schema) -> bool {
        let roles = schema.with_roles(None, None);
        self.schema.as_deref().zip(roles.ok().as_ref()).is_some_and(|(own, other)| own == other)
    }

    /// Whether it says whose each row is.
    pub fn has_owners(&self) -> bool {
        self.table.users.is_some()
    }

    /// Whether this is the very table that the schema was drafted from, or may be, and nobody says
    /// that it is public: what the schema says of it was then read without being paid for.
    pub fn drafted_the_schema(&self) -> bool {
        self.drafted_from
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    pub(crate) fn into_table(self) -> Arc<Table> {
        self.table
    }
}

/// For tables that were never a file: simulations and tests.
impl From<Table> for PrivateTable {
    fn from(table: Table) -> Self {
        PrivateTable { table: Arc::new(table), drafted_from: false, schema: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_data::{Dense, Rows};

    #[test]
    fn a_count_is_handed_out_where_it_is_public_alone() {
        let mut rows = Dense::empty(1);
        (0..3).for_each(|_| rows.push_sparse(&[0], &[0.5]));
        let table = |users| -> PrivateTable {
            let names = vec!["x".to_owned()];
            Table {
                rows: Rows::Dense(rows.clone()),
                targets: vec![1.0; 3],
                users,
                weights: None,
                names,
            }
            .into()
        };
        let anonymous = table(None);
        assert!(!anonymous.has_owners() && table(Some(vec![0, 1, 1])).has_owners());
        assert_eq!(anonymous.public_count(Unit::Record, Adjacency::ReplaceOne), Some(3));
        for (unit, adjacency) in [
            (Unit::Record, Adjacency::AddRemove),
            (Unit::User, Adjacency::ReplaceOne),
            (Unit::User, Adjacency::AddRemove),
        ] {
            assert_eq!(anonymous.public_count(unit, adjacency), None);
        }
    }
}
