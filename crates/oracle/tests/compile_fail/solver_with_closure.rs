//! What the inner solver minimises is told in numbers: a closure would see the iterates, which are private.

use reticent_oracle::Quadratic;

fn main() {
    let mut seen = Vec::new();
    let _ = Quadratic { ridge: 0.1, linear: |x: &[f64]| seen.push(x.to_vec()), penalty: None };
}
