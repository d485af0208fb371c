//! The public part of an objective, in numbers.

use reticent_oracle::Quadratic;

pub fn main() {
    let public = Quadratic { ridge: 0.1, linear: &[0.0, 1.0], penalty: None };
    assert_eq!(public.linear.len(), 2);
}
