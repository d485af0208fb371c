//! Bounds from single events: rigorous, and all that is left where nothing better converges.

use super::loss::Law;
use super::normal::ln_sub;
use super::{Case, Interval};

/// One event that is not Gaussian: δ(ε) = P(L > ε) − e^ε Q(L > ε), in closed form.
pub fn single(case: &Case, epsilon: f64) -> Option<Interval> {
    let [(law, count)] = case.laws[..] else { return None };
    if case.gaussian > 0.0 || count != 1.0 {
        return None;
    }
    if let Law::Laplace(r) = law {
        // 1 − e^{(ε−r)/2}, whatever the last bits of r are.
        let at = |r: f64| (-((epsilon - r) / 2.0).min(0.0).exp_m1()).ln();
        return Some(Interval {
            low: at(r * (1.0 - 4e-16)) - 1e-12,
            high: (at(r * (1.0 + 4e-16)) + 1e-12).min(0.0),
        });
    }
    let (p, q) = law.tails(epsilon);
    let value = ln_sub(p, epsilon + q);
    // What cancels costs digits.
    let error = 1e-12 + 4e-15 * (1.0 + p.abs() + epsilon) * (p - value).exp().min(1e15);
    Some(Interval::around(value, error)).filter(|x| value.is_finite() && x.width() < 1e-3)
}

/// P(S) − e^ε Q(S) for S = "one of the n events has a loss above τ": the best of many τ.
pub fn some_event(case: &Case, epsilon: f64) -> Interval {
    let mut best = f64::NEG_INFINITY;
    for (law, count) in &case.laws {
        for step in 0..60 {
            let excess = epsilon * 0.01 * f64::from(step) + 0.02 * f64::from(step * step);
            for tau in [epsilon + excess, excess] {
                let (p, q) = law.tails(tau);
                // 1 − (1 − p)^n, in logarithms; where p itself would underflow, the union bound.
                let some = |x: f64| {
                    if x < -500.0 {
                        return x + count.ln();
                    }
                    let none = count * (-x.exp()).ln_1p();
                    (-none.exp_m1()).ln()
                };
                best =
                    best.max(ln_sub(some(p) - 1e-11, epsilon + some(q) + 1e-11 * (1.0 + q.abs())));
            }
        }
    }
    Interval { low: best - 1e-9, high: 0.0 }
}
