//! The normal law in logarithms, Gauss–Legendre nodes, and the profile of composed Gaussian
//! mechanisms.

use super::Interval;
use std::sync::OnceLock;

const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;

/// ln Φ(x).
pub fn ln_cdf(x: f64) -> f64 {
    if x > 5.0 {
        (-0.5 * libm::erfc(x / std::f64::consts::SQRT_2)).ln_1p()
    } else if x > -5.0 {
        (0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)).ln()
    } else {
        // Laplace's continued fraction of the Mills ratio, from the far end; 60 levels are exact to
        // a bit from 5 on.
        let y = -x;
        let mut tail = y;
        for k in (1..=60).rev() {
            tail = y + f64::from(k) / tail;
        }
        -0.5 * y * y - LN_SQRT_2PI - tail.ln()
    }
}

/// ln of the normal density.
pub fn ln_density(x: f64) -> f64 {
    -0.5 * x * x - LN_SQRT_2PI
}

/// ln(e^a + e^b).
pub fn ln_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high.is_infinite() { high } else { high + (low - high).exp().ln_1p() }
}

/// ln(e^a − e^b) for a ≥ b; −∞ where nothing is left.
pub fn ln_sub(a: f64, b: f64) -> f64 {
    if a <= b {
        f64::NEG_INFINITY
    } else if b == f64::NEG_INFINITY {
        a
    } else {
        a + (-(b - a).exp_m1()).ln()
    }
}

pub const ORDER: usize = 16;

/// Gauss–Legendre nodes and weights on [−1, 1], by Newton's rule on the recurrence.
pub fn legendre() -> &'static [(f64, f64); ORDER] {
    static NODES: OnceLock<[(f64, f64); ORDER]> = OnceLock::new();
    NODES.get_or_init(|| {
        let n = ORDER as f64;
        std::array::from_fn(|i| {
            let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..60 {
                let (mut p, mut before) = (1.0, 0.0);
                for k in 0..ORDER {
                    let k = k as f64;
                    (p, before) = (((2.0 * k + 1.0) * x * p - k * before) / (k + 1.0), p);
                }
                slope = n * (x * p - before) / (x * x - 1.0);
                x -= p / slope;
            }
            (x, 2.0 / ((1.0 - x * x) * slope * slope))
        })
    })
}

/// ln δ(ε) of N(0, 1) against N(μ, 1): δ(ε) = ∫₀^∞ e^{−v} P(L > ε + v) dv, every term positive.
pub fn gaussian(mu: f64, epsilon: f64) -> Interval {
    let x = epsilon / mu - mu / 2.0;
    let error = 1e-13 + 2e-15 * (x.abs() * (epsilon / mu + mu + x.abs()) + epsilon / mu);
    if error > 1e-2 {
        // So far out that no digit of a term is left: (1 − 1/e) P(L > ε + 1) ≤ δ ≤ P(L > ε).
        let low = ln_cdf(-x - 1.0 / mu) + (-(-1.0_f64).exp()).ln_1p();
        return Interval { low: low - 2.0 * error, high: (ln_cdf(-x) + error).min(0.0) };
    }
    // P(L > ε + μy) = Φ(−x − y); log-concave in y, so it falls at least at the rate it starts with.
    let rate = mu + (ln_density(x) - ln_cdf(-x)).exp();
    let (mut total, mut largest) = (0.0, f64::NEG_INFINITY);
    for panel in 0..45 {
        for &(node, weight) in legendre() {
            let y = (f64::from(panel) + 0.5 + node / 2.0) / rate;
            let term = ln_cdf(-x - y) - mu * y + (weight / 2.0).ln();
            if largest == f64::NEG_INFINITY {
                largest = term;
            }
            total += (term - largest).exp();
        }
    }
    let value = largest + total.ln() + (mu / rate).ln();
    Interval::around(value, error)
}
