//! A released value cannot be made outside the gate.

use reticent_oracle::Released;

fn main() {
    let _ = Released(vec![1.0]);
    let _ = Released::new(vec![1.0]);
}
