//! Statistics for tests that draw random numbers.
//!
//! Such a test has a false-alarm rate: the probability that it fails although nothing is wrong.
//! Each says its own, uses a fixed seed (so that it either always passes or always fails on a given
//! version), and compares a p-value from here with that rate.

mod chi_squared;
mod kolmogorov;
// The auditor's own files: a crate for them alone would exist only because two others may not meet.
#[allow(dead_code, reason = "the auditor has uses for all of it")]
#[path = "../../../audit/src/limits.rs"]
mod limits;
#[path = "../../../audit/src/normal.rs"]
mod normal;

pub use chi_squared::{chi_squared, gamma_cdf, two_sample_chi_squared};
pub use kolmogorov::{kolmogorov, two_sample_kolmogorov};
pub use limits::{binomial_lower_tail, binomial_upper_tail, lower_bound, upper_bound};
pub use normal::{normal_cdf, normal_quantile};

/// Two-sided limits: each side gets half of 1 − confidence.
pub fn clopper_pearson(successes: u64, trials: u64, confidence: f64) -> (f64, f64) {
    let each = 0.5 + 0.5 * confidence;
    (lower_bound(successes, trials, each), upper_bound(successes, trials, each))
}
