//! Rényi divergence of sampling without replacement under replace-one (Wang–Balle–Kasiviswanathan
//! 2019, Thm. 9 and 27).
//!
//! For a whole order α, with R = P/Q of the full mechanism and B(l) = E_Q[|R−1|^l],
//!     e^{(α−1)D_α} ≤ 1 + C(α,2) q² min(4(e^{D_2}−1), 2e^{D_2})
//!                      + Σ_{j≥3} C(α,j) q^j min(4 √(B(2⌊j/2⌋) B(2⌈j/2⌉)), 2e^{(j−1)D_j}).
//! (α−1)D_α is convex in α, so the line between two whole orders bounds a fractional one. B is
//! computed by quadrature of a positive integrand; the alternating sum of the paper loses its
//! digits.

use crate::outward::{at_least, at_most};
use crate::special::{LN_SQRT_2PI, log_add};

/// Beyond this order the even moments are not worth their cost, and beyond the next the sum is not.
const MOMENTS_UP_TO: u32 = 64;
const LARGEST_ORDER: f64 = 1024.0;

/// ln E[(R−1)^l] for l even, R = e^{μx−μ²/2}, x ~ N(0,1).
fn log_even_moment(mu: f64, l: u32) -> f64 {
    let strip = std::f64::consts::PI / (2.0 * mu);
    let step = at_least(at_most(std::f64::consts::TAU * at_most(strip, 6.0) / 42.0, 0.5), 1e-3);
    let (from, to) = (-14.0, f64::from(l) * mu + 14.0);
    let mut total = f64::NEG_INFINITY;
    for k in 0..=((to - from) / step) as u32 {
        let x = from + step * f64::from(k);
        let t = mu * (x - mu / 2.0);
        let log_size = if t > 30.0 { t } else { t.exp_m1().abs().ln() };
        total = log_add(total, f64::from(l) * log_size - x * x / 2.0 - LN_SQRT_2PI);
    }
    total + step.ln() + 1e-10
}

/// ln of the bound on e^{(α−1)D_α} for a whole order.
fn log_moment(rate: f64, mu: f64, order: u32, even: &[f64]) -> f64 {
    let gaussian = |j: f64| j * (j - 1.0) * mu * mu / 2.0;
    let (log_rate, top) = (rate.ln(), f64::from(order));
    let mut log_choose = 0.0;
    let mut total = f64::NEG_INFINITY;
    for j in 1..=order {
        let index = f64::from(j);
        log_choose += ((top - index + 1.0) / index).ln();
        if j == 1 {
            continue;
        }
        let four = 4.0_f64.ln();
        let crude = 2.0_f64.ln() + gaussian(index);
        let fine = if j == 2 {
            four + gaussian(2.0).exp_m1().ln()
        } else {
            match (even.get(j as usize / 2), even.get(j.div_ceil(2) as usize)) {
                (Some(low), Some(high)) => four + 0.5 * (low + high),
                _ => f64::INFINITY,
            }
        };
        total = log_add(total, log_choose + index * log_rate + at_most(crude, fine));
    }
    // ln(1 + e^total)
    log_add(0.0, total)
}

/// ln B(2k) at index k, enough for every order; one table serves a whole curve.
pub(crate) fn even_moments(mu: f64) -> Vec<f64> {
    (0..=MOMENTS_UP_TO / 2).map(|k| if k == 0 { 0.0 } else { log_even_moment(mu, 2 * k) }).collect()
}

/// D_α for any order > 1; `None` beyond the orders that are looked at.
pub(crate) fn divergence(rate: f64, mu: f64, order: f64, even: &[f64]) -> Option<f64> {
    if order > LARGEST_ORDER {
        return None;
    }
    let (low, high) = (order.floor(), order.ceil());
    let at = |whole: f64| if whole < 2.0 { 0.0 } else { log_moment(rate, mu, whole as u32, even) };
    let value =
        if low == high { at(low) } else { (high - order) * at(low) + (order - low) * at(high) };
    Some(value / (order - 1.0))
}
