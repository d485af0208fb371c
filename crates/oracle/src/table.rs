//! A handle on a private table: it can be loaded and handed to a gate, and nothing else.

use std::path::Path;

use reticent_data::{DataError, Format, Schema, Table};

/// Private data, unopened. There is no way to look into it but through a [`Gate`](crate::Gate).
#[derive(Debug)]
pub struct PrivateTable(Table);

impl PrivateTable {
    /// Reads a table under a schema that has the roles of the job (see [`Schema::with_roles`]).
    pub fn load(path: &Path, format: Option<Format>, schema: &Schema) -> Result<Self, DataError> {
        Ok(PrivateTable(reticent_data::load(path, format, schema, None, None)?))
    }

    /// Reads a table to predict on, under the schema that a model carries.
    pub fn load_features(path: &Path, format: Option<Format>, schema: &Schema) -> Result<Self, DataError> {
        Ok(PrivateTable(reticent_data::load_features(path, format, schema)?))
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
