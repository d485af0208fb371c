//! A loss of the library, which anybody may call and nobody may replace.

use reticent_problem::losses::{Logistic, ScalarLoss};

pub fn main() {
    assert_eq!(Logistic.phi(0.0), std::f64::consts::LN_2);
    assert_eq!((Logistic::NAME, Logistic.slope(0.0)), ("logistic", -0.5));
}
