//! Packed files (gzip, xz, bzip2, zstd, zip, told by their first bytes) never panic.
#![cfg_attr(feature = "run", no_main)]

use libfuzzer_sys::fuzz_target;
use reticent_data::{Format, ReadOptions, Schema, load};
use std::io::Write;

const SCHEMA: &str = "
row_norm = 1
header = false
[[column]]
name = 'x'
kind = 'numeric'
lower = 0
upper = 9
[[column]]
name = 'y'
kind = 'target'
classes = [0, 1]
";

fuzz_target!(|bytes: &[u8]| {
    let Ok(schema) = SCHEMA.parse::<Schema>() else { return };
    let Ok(mut file) = tempfile::NamedTempFile::new() else { return };
    if file.write_all(bytes).is_ok() {
        let reading = ReadOptions::from(Some(Format::Csv)).with(|it| it.max_line = Some(1 << 20));
        let _ = load(file.path(), reading, &schema, None, None);
    }
});

#[cfg(not(feature = "run"))]
fn main() {}
