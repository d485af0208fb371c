//! The standard normal distribution function and its inverse.

use crate::special::ndtr;

/// Φ(x), with small relative error in the lower tail.
pub fn normal_cdf(x: f64) -> f64 {
    ndtr(x)
}

/// Φ⁻¹(p) for 0 < p < 1, by halving: slow and hard to get wrong.
///
/// # Panics
/// If p is not between 0 and 1.
pub fn normal_quantile(p: f64) -> f64 {
    assert!(p > 0.0 && p < 1.0, "a quantile needs 0 < p < 1, got {p}");
    let (mut low, mut high) = (-39.0, 39.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if normal_cdf(middle) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // mpmath.ncdf(-6), mpmath.ncdf(1)
        assert!((normal_cdf(-6.0) / 9.865_876_450_376_98e-10 - 1.0).abs() < 1e-13);
        assert!((normal_cdf(1.0) - 0.8413447460685429).abs() < 1e-15);
        for x in [-8.0, -1.5, 0.0, 2.5] {
            assert!((normal_quantile(normal_cdf(x)) - x).abs() < 1e-12);
        }
    }
}
