//! LIBSVM text never panics, and no line that is not blank or a comment is lost.
#![cfg_attr(feature = "run", no_main)]

use libfuzzer_sys::fuzz_target;
use reticent_data::{Purpose, Schema, Target, parse_libsvm};

fuzz_target!(|bytes: &[u8]| {
    let Ok(classes) = Target::classes(["-1", "1"]) else { return };
    let Ok(schema) = Schema::libsvm(1_000, 1.0, classes) else { return };
    for purpose in [Purpose::Fit, Purpose::Predict] {
        if let Ok(table) = parse_libsvm(bytes, "t", &schema, purpose) {
            let lines = bytes.split(|b| b"\r\n".contains(b));
            let records =
                lines.filter(|l| !l.trim_ascii().is_empty() && !l.trim_ascii().starts_with(b"#"));
            // A byte-order mark alone on the first line is no record.
            assert!(records.count() - table.len() <= 1);
        }
    }
});

#[cfg(not(feature = "run"))]
fn main() {}
