//! A schema is refused or survives its own file.
#![cfg_attr(feature = "run", no_main)]

use libfuzzer_sys::fuzz_target;
use reticent_data::Schema;

fuzz_target!(|text: &str| {
    if let Ok(schema) = text.parse::<Schema>() {
        assert_eq!(schema.to_toml().parse::<Schema>().ok(), Some(schema));
    }
});

#[cfg(not(feature = "run"))]
fn main() {}
