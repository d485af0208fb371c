//! The normal distribution's tails, accurate relative to their size however far out.
//!
//! erfcx(x) = e^{x²} erfc(x). Below 8 it is the product, with x² carried in two pieces so that the
//! exponential sees its exact argument; above, the asymptotic series, whose smallest term is below
//! 1e-20 there.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// ln √(2π).
pub(crate) const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;

/// e^{x²} erfc(x) for x > −26.
pub(crate) fn erfcx(x: f64) -> f64 {
    if x < 8.0 {
        let square = x * x;
        let rest = x.mul_add(x, -square);
        return square.exp() * (1.0 + rest) * libm::erfc(x);
    }
    let t = -0.5 / (x * x);
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 0..16 {
        term *= t * f64::from(2 * k + 1);
        sum += term;
    }
    sum / (x * PI.sqrt())
}

/// Mills' ratio Φ(−x)/φ(x) for x > −36.
pub(crate) fn mills(x: f64) -> f64 {
    erfcx(x * FRAC_1_SQRT_2) * (PI / 2.0).sqrt()
}

/// Φ(x).
pub(crate) fn ndtr(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// ln Φ(x).
pub(crate) fn log_ndtr(x: f64) -> f64 {
    if x > 0.0 { (-ndtr(-x)).ln_1p() } else { mills(-x).ln() - x * x / 2.0 - LN_SQRT_2PI }
}

/// ln(e^a + e^b).
pub(crate) fn log_add(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if small == f64::NEG_INFINITY { large } else { large + (small - large).exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64, tolerance: f64) {
        assert!((got / want - 1.0).abs() < tolerance, "{got} is not {want}");
    }

    // Reference values: mpmath 1.3.0 with 50 digits.
    #[test]
    fn tails_have_all_their_digits() {
        close(log_ndtr(-1.0), -1.841_021_645_009_263_5, 1e-15);
        close(log_ndtr(-10.0), -53.231_285_150_512_47, 1e-15);
        close(log_ndtr(-37.0), -689.030_585_576_890_6, 1e-15);
        close(log_ndtr(-1e4), -50_000_010.129_278_91, 1e-15);
        close(erfcx(7.999_999), 0.069_985_174_817_389_86, 2e-14);
        close(erfcx(8.0), 0.069_985_166_200_880_93, 2e-14);
        assert_eq!(log_ndtr(f64::INFINITY), 0.0);
    }
}
