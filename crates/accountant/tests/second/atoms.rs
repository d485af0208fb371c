//! Randomised responses alone: the loss has finitely many values, and they are added up.

use super::loss::Law;
use super::normal::ln_add;
use super::{Case, Interval};

/// Terms that are added up for one value of the rarer kind, at most; and for all values of it.
const TERMS: f64 = 4e5;
const ALL_TERMS: f64 = 4e6;

/// ln P(yes), ln P(no) of one response.
fn answers(e: f64) -> (f64, f64) {
    (-ln_add(0.0, -e), -ln_add(0.0, e))
}

/// ln of the binomial probability of k among n.
fn ln_binomial(n: f64, k: f64, (yes, no): (f64, f64)) -> f64 {
    let choose = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
    choose + k * yes + (n - k) * no
}

/// ln E (1 − e^{ε−L})₊ of n responses with loss ±e, from the likeliest counting term both ways.
fn one_kind(e: f64, n: f64, epsilon: f64) -> f64 {
    let law = answers(e);
    let least = (((epsilon / e + n) / 2.0).floor() + 1.0).max(0.0);
    if least > n {
        return f64::NEG_INFINITY;
    }
    let mode = (n * law.0.exp()).floor().clamp(least, n);
    let part = |k: f64| -(epsilon - (2.0 * k - n) * e).exp_m1();
    let odds = e.exp();
    let mut total = part(mode);
    let (mut k, mut term) = (mode, 1.0);
    while k < n && term > 1e-30 {
        term *= odds * (n - k) / (k + 1.0);
        k += 1.0;
        total += term * part(k);
    }
    (k, term) = (mode, 1.0);
    while k > least && term > 1e-30 {
        term *= k / (odds * (n - k + 1.0));
        k -= 1.0;
        total += term * part(k);
    }
    ln_binomial(n, mode, law) + total.ln()
}

/// At most two kinds, since the number of values is the product of the counts.
pub fn delta(case: &Case, epsilon: f64) -> Option<Interval> {
    if case.gaussian > 0.0 {
        return None;
    }
    let mut kinds = Vec::new();
    for (law, count) in &case.laws {
        let Law::Response(e) = law else { return None };
        kinds.push((*e, *count));
    }
    kinds.sort_by(|a, b| a.1.total_cmp(&b.1));
    let terms = |n: f64| n.min(30.0 * n.sqrt() + 30.0);
    let value = match kinds[..] {
        [(e, n)] if terms(n) < TERMS => one_kind(e, n, epsilon),
        [(e, n), (f, m)] if (n + 1.0) * terms(m) < ALL_TERMS => {
            let law = answers(e);
            (0..=n as u64).fold(f64::NEG_INFINITY, |total, j| {
                let (j, left) = (j as f64, epsilon - (2.0 * j as f64 - n) * e);
                ln_add(total, ln_binomial(n, j, law) + one_kind(f, m, left))
            })
        }
        _ => return None,
    };
    let counts: f64 = kinds.iter().map(|kind| kind.1).sum();
    Some(Interval::around(value, 1e-11 + 2e-15 * counts * (2.0 + counts.ln()) + 1e-14 * epsilon))
}
