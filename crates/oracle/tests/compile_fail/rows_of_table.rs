//! The rows of a private table have no way out.

use reticent_oracle::PrivateTable;

fn look(table: PrivateTable) {
    let _ = &table.table;
    let _ = table.into_table();
}

fn main() {
    let _: fn(PrivateTable) = look;
}
