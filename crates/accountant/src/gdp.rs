//! Composed Gaussian mechanisms, exactly.
//!
//! With μ² = Σ μ_k², δ(ε) = Φ(−a) − e^ε Φ(−b), a = ε/μ − μ/2, b = ε/μ + μ/2 (Balle–Wang 2018,
//! Dong–Roth–Su 2022). As e^ε φ(b) = φ(a), δ = φ(a) (R(a) − R(b)) with R Mills' ratio: no
//! exponential can overflow, and for small μ the difference is expanded around the midpoint instead
//! of cancelling.

use crate::outward::{Lower, Upper, at_least};
use crate::round;
use crate::special::{LN_SQRT_2PI, log_ndtr, mills};

/// Roundings after which the results below are trusted; measured error against 60 digits is below
/// 1e-13 relative.
const OPERATIONS: f64 = 4096.0;

/// R(a) − R(b) for b = a + μ, without cancellation.
fn mills_difference(a: f64, mu: f64) -> f64 {
    // The difference loses a factor of a/μ, the expansion one of a²: the lesser evil.
    if mu > 0.05 || mu * (1.0 + a.abs()) > 0.5 {
        return mills(a) - mills(a + mu);
    }
    let t = a + mu / 2.0;
    // R' = tR − 1 and R⁽ⁿ⁺¹⁾ = tR⁽ⁿ⁾ + nR⁽ⁿ⁻¹⁾; the odd derivatives make the difference.
    let r0 = mills(t);
    let r1 = t * r0 - 1.0;
    let r2 = t * r1 + r0;
    let r3 = t * r2 + 2.0 * r1;
    let r4 = t * r3 + 3.0 * r2;
    let r5 = t * r4 + 4.0 * r3;
    let r6 = t * r5 + 5.0 * r4;
    let r7 = t * r6 + 6.0 * r5;
    let square = mu * mu / 4.0;
    -mu * (r1 + square / 6.0 * (r3 + square / 20.0 * (r5 + square / 42.0 * r7)))
}

/// ln δ(ε) and −d ln δ/dε.
fn log_delta_slope(mu: f64, epsilon: f64) -> (f64, f64) {
    let a = epsilon / mu - mu / 2.0;
    if a > -1.0 || mu < 0.05 {
        let difference = mills_difference(a, mu);
        (difference.ln() - a * a / 2.0 - LN_SQRT_2PI, mills(a + mu) / difference)
    } else {
        let log_first = log_ndtr(-a);
        let share = (-a * a / 2.0 - LN_SQRT_2PI - log_first).exp() * mills(a + mu);
        (log_first + (-share).ln_1p(), share / (1.0 - share))
    }
}

/// ln δ at ε ≥ 0 for total ratio μ > 0.
pub(crate) fn log_delta(mu: f64, epsilon: f64) -> f64 {
    log_delta_slope(mu, epsilon).0
}

/// Roundings by which ln δ may be off. The exponential turns an absolute error of the logarithm
/// into a relative one.
fn operations(mu: f64, epsilon: f64) -> f64 {
    OPERATIONS * (1.0 + (epsilon / mu).powi(2) * 1e-3)
}

/// δ at ε, rounded outward.
pub(crate) fn delta(mu: f64, epsilon: f64) -> (Lower, Upper) {
    if mu == 0.0 {
        return (Lower::ZERO, Upper::delta(0.0));
    }
    let value = log_delta(mu, epsilon).exp();
    let operations = operations(mu, epsilon);
    (Lower::new(round::down_to_zero(value, operations)), Upper::delta(round::up(value, operations)))
}

/// The ε at which the profile equals δ, not rounded: 0 when δ(0) ≤ δ already.
pub(crate) fn epsilon_at(mu: f64, delta: f64) -> f64 {
    let target = delta.ln();
    if mu == 0.0 || Upper::new(log_delta(mu, 0.0)).within(target) {
        return 0.0;
    }
    // δ ≤ φ(a)/a-like tail: a ≤ √(2 ln(1/δ)) brackets the root from above.
    let (mut low, mut high) = (0.0, mu * (at_least(-2.0 * target, 0.0).sqrt() + mu / 2.0 + 1.0));
    let mut epsilon = 0.5 * (low + high);
    for _ in 0..200 {
        let (value, slope) = log_delta_slope(mu, epsilon);
        if Upper::new(value).within(target) {
            high = epsilon;
        } else {
            low = epsilon;
        }
        let newton = epsilon + (value - target) / slope;
        let inside = newton > low && newton < high;
        let next = if inside { newton } else { 0.5 * (low + high) };
        // Newton's error is squared by each step: after one of 1e-9 nothing is left to gain.
        let done = inside && (next - epsilon).abs() <= 1e-9 * epsilon;
        epsilon = next;
        if done || high - low <= 1e-15 * high {
            break;
        }
    }
    epsilon
}

/// ε at δ, rounded outward: by the error of ε itself, and by that of ln δ over the slope, which is
/// what counts near ε = 0. ln δ is concave in ε, so that to the right the slope is not less.
pub(crate) fn epsilon(mu: f64, delta: f64) -> (Lower, Upper) {
    if mu == 0.0 {
        return (Lower::ZERO, Upper::epsilon(0.0));
    }
    let value = epsilon_at(mu, delta);
    let doubt = operations(mu, value) * round::UNIT;
    let (log, slope) = log_delta_slope(mu, value);
    if value == 0.0 {
        let short = Upper::new(log + doubt - delta.ln());
        let upper =
            if short.within(0.0) { 0.0 } else { round::up(short.value() / slope, OPERATIONS) };
        return (Lower::ZERO, Upper::epsilon(upper));
    }
    let (low, high) = (value - 2.0 * doubt / slope, value + doubt / slope);
    (Lower::new(round::down_to_zero(low, OPERATIONS)), Upper::epsilon(round::up(high, OPERATIONS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_single_gaussian() {
        assert!((epsilon(0.5, 1e-5).1.value() - 1.993).abs() < 5e-4);
        assert!((epsilon(1.0, 1e-5).1.value() - 4.377).abs() < 5e-4);
        // mpmath 1.3.0, 60 digits; a pessimistic numeric accountant says 20,853.
        assert!((epsilon(200.0, 1e-5).1.value() / 20_851.988_679_700_93 - 1.0).abs() < 1e-12);
    }

    /// Cases in which the bounds used to be on the wrong side of the truth (mpmath, 80 digits).
    #[test]
    fn the_hardest_cases_are_bracketed() {
        for (mu, epsilon, truth) in [
            (0.001_808_538_455_816_008_4, 0.054_628_205_757_544_3, 6.116_511_649_691_984e-205),
            (0.002_320_648_895_946_576, 0.078_506_444_674_027_3, 2.585_755_182_107_754_2e-255),
            (0.047_364_402_990_895_15, 0.0, 0.018_893_896_826_021_72),
        ] {
            let (low, high) = delta(mu, epsilon);
            let (low, high) = (low.value(), high.value());
            assert!(
                low <= truth && truth <= high && high < low * (1.0 + 1e-10),
                "{mu} {epsilon}: {low:e} {high:e}"
            );
        }
        // δ a little below δ(0): the smallest ε that keeps it, from both sides.
        let at_zero = 0.018_893_896_826_021_72;
        for below in [1e-15, 1e-14, 1e-13, 1e-12, 1e-9] {
            let (low, high) = epsilon(0.047_364_402_990_895_15, at_zero * (1.0 - below));
            let (low, high) = (low.value(), high.value());
            // −d ln δ/dε at 0 is Φ(−μ/2)/δ(0).
            let truth = below * at_zero / crate::special::ndtr(-0.047_364_402_990_895_15 / 2.0);
            assert!(
                low <= truth && high >= truth * (1.0 - 1e-6),
                "{below}: {low:e} {truth:e} {high:e}"
            );
        }
    }

    #[test]
    fn profile_and_inverse_agree_over_the_whole_range() {
        for mu in [1e-6, 1e-3, 0.02, 0.3, 1.0, 7.0, 100.0, 1e4] {
            for delta in [1e-300_f64, 1e-100, 1e-20, 1e-9, 1e-5, 1e-2, 0.3] {
                let epsilon = epsilon_at(mu, delta);
                if epsilon > 0.0 {
                    let again = log_delta(mu, epsilon);
                    let (_, slope) = log_delta_slope(mu, epsilon);
                    let error = (again - delta.ln()) / slope / epsilon;
                    assert!(error.abs() < 1e-12, "mu {mu} delta {delta}: relative error {error}");
                }
            }
        }
    }
}
