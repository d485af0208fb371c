//! What is public can be read from a file.

use reticent_oracle::Sampling;

fn needs<T: serde::de::DeserializeOwned>() {}

pub fn main() {
    needs::<Sampling>();
    needs::<Vec<f64>>();
}
