//! Released numbers turn into raw ones: what follows is post-processing.

use reticent_oracle::Released;

fn keep(released: Released<Vec<f64>>) -> Vec<f64> {
    released.into_inner()
}

pub fn main() {
    let _: fn(Released<Vec<f64>>) -> Vec<f64> = keep;
}
