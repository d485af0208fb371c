//! Statistics for tests that draw random numbers.
//!
//! Such a test has a false-alarm rate: the probability that it fails although nothing is wrong.
//! Each says its own, uses a fixed seed (so that it either always passes or always fails on a given
//! version), and compares a p-value from here with that rate.

mod chi_squared;
mod kolmogorov;

pub use chi_squared::{chi_squared, gamma_cdf, two_sample_chi_squared};
pub use kolmogorov::{kolmogorov, two_sample_kolmogorov};
pub use reticent_accountant::statistics::{
    binomial_lower_tail, binomial_upper_tail, clopper_pearson, lower_bound, normal_cdf,
    normal_quantile, upper_bound,
};
