//! A released value cannot be read from a file: its ledger entry would be missing.

use reticent_oracle::Released;

fn needs<T: serde::de::DeserializeOwned>() {}

fn main() {
    needs::<Released<Vec<f64>>>();
}
