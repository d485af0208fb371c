//! Any bytes are rejected by name or are a message that encodes to the same bytes.
#![cfg_attr(feature = "run", no_main)]

use libfuzzer_sys::fuzz_target;
use reticent_runtime::wire::{decode, encode};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(envelope) = decode(bytes, 1 << 16) {
        assert_eq!(encode(&envelope), bytes);
    }
});

#[cfg(not(feature = "run"))]
fn main() {}
