//! A handle on a private table: it can be loaded and handed to a gate, and nothing else.

use reticent_data::Table;

/// Private data, unopened. There is no way to look into it but through a [`Gate`](crate::Gate).
#[derive(Debug)]
pub struct PrivateTable(Table);

impl PrivateTable {
    pub(crate) fn into_table(self) -> Table {
        self.0
    }
}

impl From<Table> for PrivateTable {
    fn from(table: Table) -> Self {
        PrivateTable(table)
    }
}
