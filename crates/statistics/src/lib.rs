//! What can be said about a probability from counts, the normal law, and how good predictions are.
//!
//! A crate of its own because the audit, which is shipped, and the test kit, which is not, both
//! need it, and neither may depend on the other.

mod clopper_pearson;
mod normal;
pub mod quality;
pub mod ranking;

pub use clopper_pearson::{
    binomial_lower_tail, binomial_point, binomial_upper_tail, clopper_pearson, lower_bound,
    upper_bound,
};
pub use normal::{normal_cdf, normal_quantile};
