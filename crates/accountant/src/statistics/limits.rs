//! Exact confidence limits for a probability, from a count of successes (Clopper–Pearson 1934).
//!
//! The limits solve "tail of the binomial = 1 − confidence". The tail is summed from its largest
//! term outward, all terms positive. Libraries' incomplete beta functions were tried first: the
//! continued fraction of statrs stops after 140 terms, too early for counts in the hundred
//! thousands.

use std::f64::consts::PI;

/// P(X ≥ successes) for X binomial(trials, p).
pub fn binomial_upper_tail(successes: u64, trials: u64, p: f64) -> f64 {
    if successes == 0 || p >= 1.0 {
        return 1.0;
    }
    if successes > trials || p <= 0.0 {
        return 0.0;
    }
    if (successes as f64) < trials as f64 * p {
        return 1.0 - sum_from(trials - successes + 1, trials, 1.0 - p);
    }
    sum_from(successes, trials, p)
}

/// P(X ≤ successes) for X binomial(trials, p).
pub fn binomial_lower_tail(successes: u64, trials: u64, p: f64) -> f64 {
    if successes >= trials { 1.0 } else { binomial_upper_tail(trials - successes, trials, 1.0 - p) }
}

/// P(X = successes) for X binomial(trials, p).
pub fn binomial_point(successes: u64, trials: u64, p: f64) -> f64 {
    if successes > trials {
        return 0.0;
    }
    if p <= 0.0 || p >= 1.0 {
        let certain = if p <= 0.0 { 0 } else { trials };
        return f64::from(u8::from(successes == certain));
    }
    point_mass(successes, trials, p)
}

/// Below the probability with at least this confidence: one-sided.
pub fn lower_bound(successes: u64, trials: u64, confidence: f64) -> f64 {
    if successes == 0 {
        return 0.0;
    }
    // The tail grows with p; the last p known to have a smaller tail than allowed.
    halve(|p| binomial_upper_tail(successes, trials, p) < 1.0 - confidence).0
}

/// Above the probability with at least this confidence: one-sided.
pub fn upper_bound(successes: u64, trials: u64, confidence: f64) -> f64 {
    if successes >= trials {
        return 1.0;
    }
    halve(|p| binomial_lower_tail(successes, trials, p) >= 1.0 - confidence).1
}

/// Two-sided limits: each side gets half of 1 − confidence.
pub fn clopper_pearson(successes: u64, trials: u64, confidence: f64) -> (f64, f64) {
    let each = 0.5 + 0.5 * confidence;
    (lower_bound(successes, trials, each), upper_bound(successes, trials, each))
}

/// The last point where `holds` is true and the first where it is false, for a predicate that
/// changes once.
fn halve(holds: impl Fn(f64) -> bool) -> (f64, f64) {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    (low, high)
}

/// Σ_{j ≥ k} C(n, j) pʲ (1 − p)ⁿ⁻ʲ where the terms decrease from j = k on.
fn sum_from(k: u64, n: u64, p: f64) -> f64 {
    let odds = p / (1.0 - p);
    let (mut term, mut sum) = (1.0, 0.0);
    for j in k..=n {
        sum += term;
        if term < 1e-18 * sum {
            break;
        }
        term *= (n - j) as f64 / (j + 1) as f64 * odds;
    }
    point_mass(k, n, p) * sum
}

/// C(n, k) pᵏ (1 − p)ⁿ⁻ᵏ by the saddle-point form of Loader (2000), which does not subtract large
/// logarithms.
fn point_mass(k: u64, n: u64, p: f64) -> f64 {
    let (k, n, q) = (k as f64, n as f64, 1.0 - p);
    if k == n {
        return (n * p.ln()).exp();
    }
    if k == 0.0 {
        return (n * (-p).ln_1p()).exp();
    }
    let log = stirling_error(n)
        - stirling_error(k)
        - stirling_error(n - k)
        - deviance(k, n * p)
        - deviance(n - k, n * q)
        - 0.5 * (2.0 * PI * k * (1.0 - k / n)).ln();
    log.exp()
}

/// ln n! − ((n + ½) ln n − n + ½ ln 2π).
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        return libm::lgamma(n + 1.0) - (n + 0.5) * n.ln() + n - 0.5 * (2.0 * PI).ln();
    }
    let r = 1.0 / (n * n);
    (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r * (1.0 / 1680.0 - r / 1188.0)))) / n
}

/// x ln(x/m) + m − x, without cancellation when x is near m.
fn deviance(x: f64, m: f64) -> f64 {
    if (x - m).abs() > 0.1 * (x + m) {
        return x * (x / m).ln() + m - x;
    }
    // ln(x/m) = 2 artanh(v), v = (x − m)/(x + m)
    let v = (x - m) / (x + m);
    let mut sum = (x - m) * v;
    let mut power = 2.0 * x * v;
    for j in 1..1000 {
        power *= v * v;
        let next = sum + power / (2 * j + 1) as f64;
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_agree_with_mpmath() {
        for (k, n, p, expected) in TAILS {
            let found = binomial_upper_tail(k, n, p);
            assert!(
                (found / expected - 1.0).abs() < 1e-11,
                "{k} of {n} at {p}: {found} against {expected}"
            );
        }
    }

    #[test]
    fn limits_agree_with_scipy() {
        // scipy.stats.binomtest(k, n).proportion_ci(confidence, "exact")
        for (k, n, confidence, low, high) in LIMITS {
            let found = clopper_pearson(k, n, confidence);
            assert!(
                (found.0 - low).abs() <= 1e-9 * low && (found.1 - high).abs() <= 1e-9 * high,
                "{k} of {n}: {found:?}"
            );
        }
    }

    // mpmath, 40 digits
    const TAILS: [(u64, u64, f64, f64); 6] = [
        (3, 10, 0.5, 0.9453125),
        (10, 10, 0.25, 9.5367431640625e-07),
        (60, 1000, 0.05, 0.08673217838486103),
        (500100, 1000000, 0.5, 0.4211313785258044),
        (120, 100000, 0.001, 0.02816700585085322),
        (200300, 1000000, 0.2, 0.22697084553831662),
    ];

    const LIMITS: [(u64, u64, f64, f64, f64); 5] = [
        (0, 10, 0.95, 0.0, 0.30849710781876294),
        (10, 10, 0.9, 0.7411344491066528, 1.0),
        (7, 50, 0.95, 0.05819170033997344, 0.26739600249700846),
        (3, 1000000, 0.99, 3.378636695261169e-07, 1.0977433719255259e-05),
        (250000, 1000000, 0.95, 0.2491515356855458, 0.25084991259633516),
    ];
}
