//! What counts say about a probability, and the normal law: with these a measured attack is held
//! against a bound.

mod limits;
mod normal;

pub use limits::{
    binomial_lower_tail, binomial_point, binomial_upper_tail, clopper_pearson, lower_bound,
    upper_bound,
};
pub use normal::{normal_cdf, normal_quantile};
