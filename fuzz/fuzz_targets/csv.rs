//! Delimited text never panics, and the table that comes out of it is whole.
#![cfg_attr(feature = "run", no_main)]

use libfuzzer_sys::fuzz_target;
use reticent_data::{Purpose, Schema, parse_csv};

const SCHEMA: &str = "
row_norm = 1
missing_tokens = ['', '?']
[[column]]
name = 'x'
kind = 'numeric'
lower = 0
upper = 9
scale = 'log'
[[column]]
name = 'd'
kind = 'date'
lower = '1900-01-01'
upper = '2000-01-01'
[[column]]
name = 'c'
kind = 'categorical'
categories = ['a', 'true', '1']
[[column]]
name = 'u'
kind = 'user'
[[column]]
name = 'y'
kind = 'target'
classes = ['no', 'yes']
";

fuzz_target!(|bytes: &[u8]| {
    for header in ["", "header = false\n", "decimal = ','\nheader = false\ntrim = false\n"] {
        let Ok(schema) = format!("{header}{SCHEMA}").parse::<Schema>() else { return };
        let delimiter = if header.starts_with('d') { b';' } else { b',' };
        for purpose in [Purpose::Fit, Purpose::Predict] {
            if let Ok(table) = parse_csv(bytes, "t", &schema, delimiter, purpose) {
                let lines = bytes.iter().filter(|b| b"\r\n".contains(b)).count() + 1;
                assert!(!table.is_empty() && table.len() <= lines);
                assert!(purpose == Purpose::Predict || table.targets.len() == table.len());
            }
        }
    }
});

#[cfg(not(feature = "run"))]
fn main() {}
