//! Raw numbers do not turn into released ones.

use reticent_oracle::Released;

fn main() {
    let _: Released<Vec<f64>> = vec![1.0].into();
    let _: Released<Vec<f64>> = Released::from(vec![1.0]);
    let _: Released<Vec<f64>> = Default::default();
}
