//! Damaged Parquet files never panic.
#![cfg_attr(feature = "run", no_main)]

use libfuzzer_sys::fuzz_target;
use reticent_data::{Format, Schema, load};
use std::io::Write;

const SCHEMA: &str = "
row_norm = 1
undeclared = 'ignore'
[[column]]
name = 'x'
kind = 'numeric'
lower = 0
upper = 9
[[column]]
name = 'y'
kind = 'target'
classes = [false, true]
";

fuzz_target!(|bytes: &[u8]| {
    let Ok(schema) = SCHEMA.parse::<Schema>() else { return };
    let Ok(mut file) = tempfile::NamedTempFile::new() else { return };
    if file.write_all(bytes).is_ok() {
        let _ = load(file.path(), Some(Format::Parquet), &schema, None, None);
    }
});

#[cfg(not(feature = "run"))]
fn main() {}
