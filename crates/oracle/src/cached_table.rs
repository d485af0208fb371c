//! A handle on a private table in a cache file: it can be read into one and handed to a gate, and
//! nothing else.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use reticent_accountant::{Adjacency, Unit};
use reticent_data::{
    CacheError, CachedRows, DataError, ReadOptions, Schema, SharedListener, Table,
};
use reticent_noise::Digest;

use crate::fingerprint::ContentHasher;

/// Private data in a file without a name, unopened. It is read as
/// [`PrivateTable`](crate::PrivateTable) reads it, and is larger than the memory may be.
pub struct CachedTable {
    pub(crate) rows: Arc<CachedRows>,
    /// Whether the schema was drafted from it.
    pub(crate) drafted_from: bool,
    /// What it was encoded under; `None` for a table that was never encoded here.
    pub(crate) schema: Option<Arc<Schema>>,
}

/// Not derived: it would show how many rows there are.
impl std::fmt::Debug for CachedTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CachedTable(..)")
    }
}

impl CachedTable {
    /// Reads files as one table into a file in `folder`, under a schema that has the roles of the
    /// job.
    ///
    /// # Errors
    /// If the table cannot be read under the schema, or the file not be written.
    pub fn load(
        paths: &[PathBuf],
        reading: impl Into<ReadOptions>,
        schema: &Schema,
        folder: &Path,
    ) -> Result<Self, DataError> {
        let schema = schema.with_roles(None, None)?;
        let (rows, drafted_from) = reticent_data::cache(paths, reading, &schema, folder)?;
        Ok(CachedTable { rows: Arc::new(rows), drafted_from, schema: Some(Arc::new(schema)) })
    }

    /// The same, with the digest of what each file holds under `key`, as
    /// [`content`](crate::tables::content) has it: of the very bytes that were read, once.
    ///
    /// # Errors
    /// As [`CachedTable::load`].
    pub fn load_known(
        paths: &[PathBuf],
        reading: impl Into<ReadOptions>,
        schema: &Schema,
        folder: &Path,
        key: &[u8; 32],
    ) -> Result<(Self, Vec<Digest>), DataError> {
        let schema = schema.with_roles(None, None)?;
        let hasher = Rc::new(RefCell::new(ContentHasher::new(key)));
        let listener: SharedListener = hasher.clone();
        let (rows, drafted_from) =
            reticent_data::cache_and_tell(paths, reading, &schema, folder, &listener)?;
        let found = std::mem::take(&mut hasher.borrow_mut().found);
        let (rows, schema) = (Arc::new(rows), Some(Arc::new(schema)));
        Ok((CachedTable { rows, drafted_from, schema }, found))
    }

    /// Another handle on the same table, which is on the disk once: for several gates, each with its
    /// own books and its own noise.
    pub fn share(&self) -> Self {
        CachedTable {
            rows: Arc::clone(&self.rows),
            drafted_from: self.drafted_from,
            schema: self.schema.clone(),
        }
    }

    /// As [`PrivateTable::public_count`](crate::PrivateTable::public_count).
    pub fn public_count(&self, unit: Unit, adjacency: Adjacency) -> Option<u64> {
        ((unit, adjacency) == (Unit::Record, Adjacency::ReplaceOne))
            .then_some(self.rows.records() as u64)
    }

    /// As [`PrivateTable::is_under`](crate::PrivateTable::is_under).
    pub fn is_under(&self, schema: &Schema) -> bool {
        let roles = schema.with_roles(None, None).ok();
        self.schema.as_deref().zip(roles.as_ref()).is_some_and(|(own, other)| own == other)
    }

    /// Whether it says whose each row is.
    pub fn has_owners(&self) -> bool {
        self.rows.has_owners()
    }

    /// As [`PrivateTable::drafted_the_schema`](crate::PrivateTable::drafted_the_schema).
    pub fn drafted_the_schema(&self) -> bool {
        self.drafted_from
    }

    /// A table that was never a file, in blocks of so many bytes of rows: for simulations and tests.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn of_table(table: &Table, block: usize, folder: &Path) -> Result<Self, CacheError> {
        let rows = CachedRows::of_table(table, block, folder)?;
        Ok(CachedTable { rows: Arc::new(rows), drafted_from: false, schema: None })
    }

    pub(crate) fn into_rows(self) -> Arc<CachedRows> {
        self.rows
    }
}
