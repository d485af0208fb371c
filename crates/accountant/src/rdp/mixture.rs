//! Rényi divergence of the Poisson-subsampled Gaussian (Mironov–Talwar–Zhang 2019), whole and
//! fractional orders alike.
//!
//! With l(x) = ln(1−q+q e^{μx−μ²/2}) the loss is L = l(x) for a removal (Q = N(0,1); the worse
//! direction, MTZ19 Thm. 5) and L = l(x) − l(−x) for an exchange (Q = (1−q)N(0,1)+qN(−μ,1)). As
//! E_Q[e^L] = 1,
//!     e^{(α−1)D_α} − 1 = E_Q[e^{αL} − 1 − α(e^L − 1)],
//! whose integrand is never negative: no cancellation, however small q is. The integrand is
//! analytic around the real line, so the trapezoid rule converges exponentially; its step comes
//! from the width of the strip without singularities, π/(2μ).

use crate::outward::{at_least, at_most, largest};
use crate::special::LN_SQRT_2PI;
use std::f64::consts::PI;

/// More points than this are not spent; the caller falls back to a closed form.
const MOST_POINTS: f64 = 20_000.0;

fn log_mixture(rate: f64, mu: f64, x: f64) -> f64 {
    let t = mu * (x - mu / 2.0);
    if t > 30.0 {
        t + rate.ln() + ((1.0 - rate) / rate * (-t).exp()).ln_1p()
    } else if rate > 0.5 && t < -0.5 {
        // 1 − q is exact, and 1 + q(e^t − 1) would cancel.
        (1.0 - rate + rate * t.exp()).ln()
    } else {
        (rate * t.exp_m1()).ln_1p()
    }
}

/// D_α of the pair; `exchange` says which one. `None` when too many points would be needed.
pub(super) fn divergence(rate: f64, mu: f64, order: f64, exchange: bool) -> Option<f64> {
    let strip = at_most(PI / (2.0 * mu), 6.0);
    // An exchange divides by a mixture, which on the edge of the strip is at least 1/√2 of its real
    // value.
    let growth = if exchange { 0.35 * order } else { 0.0 };
    let step = at_most(2.0 * PI * strip / (38.0 + strip * strip / 2.0 + growth), 0.5);
    // The integrand's last peak is at αμ for a removal, at most (2α−1)μ for an exchange.
    let (from, to) =
        if exchange { (-14.0 - mu, 2.0 * order * mu + 14.0) } else { (-14.0, order * mu + 14.0) };
    let count = (to - from) / step;
    if count.is_nan() || count > MOST_POINTS {
        return None;
    }
    let at = |x: f64| {
        let above = log_mixture(rate, mu, x);
        let below = if exchange { log_mixture(rate, mu, -x) } else { 0.0 };
        (above - below, below - x * x / 2.0 - LN_SQRT_2PI)
    };
    let points = (0..=count as u32 + 1).map(|k| at(from + step * f64::from(k)));
    // e^{αL} at the far end, where it is largest.
    if order * at(to + step).0 < 600.0 {
        let (mut sum, mut doubt) = (0.0, 0.0);
        for (loss, log_density) in points {
            let density = log_density.exp();
            let tilted = (order * loss).exp_m1();
            sum += density * at_least(tilted - order * loss.exp_m1(), 0.0);
            doubt += density * (tilted.abs() + order * loss.abs());
        }
        let moment = step * (sum * (1.0 + 1e-11) + doubt * 4.0 * f64::EPSILON);
        return Some(moment.ln_1p() / (order - 1.0));
    }
    let logs: Vec<f64> = points.map(|(loss, log_density)| order * loss + log_density).collect();
    let peak = largest(logs.iter().copied(), f64::NEG_INFINITY);
    let sum: f64 = logs.iter().map(|log| (log - peak).exp()).sum();
    Some((peak + (sum * step).ln() + 1e-10 + peak.abs() * 1e-14) / (order - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole orders by the binomial sum of MTZ19 (section 3.3).
    fn by_sum(rate: f64, mu: f64, order: u32) -> f64 {
        let mut choose = 1.0;
        let mut total = 0.0;
        for k in 0..=order {
            if k > 0 {
                choose *= f64::from(order - k + 1) / f64::from(k);
            }
            let power = rate.powi(k as i32) * (1.0 - rate).powi((order - k) as i32);
            total +=
                choose * power * (f64::from(k) * (f64::from(k) - 1.0) * mu * mu / 2.0).exp_m1();
        }
        total.ln_1p() / f64::from(order - 1)
    }

    #[test]
    fn agrees_with_the_sum_at_whole_orders() {
        for (rate, mu) in [(0.01, 1.0), (0.3, 0.2), (1e-9, 1.0), (0.5, 1.5)] {
            for order in [2, 3, 8, 20] {
                let (got, want) = (
                    divergence(rate, mu, f64::from(order), false).unwrap(),
                    by_sum(rate, mu, order),
                );
                assert!(got >= want * (1.0 - 1e-12), "{rate} {mu} {order}: {got} below {want}");
                assert!(got <= want * (1.0 + 1e-5), "{rate} {mu} {order}: {got} above {want}");
            }
        }
    }

    #[test]
    fn an_exchange_of_everything_is_a_gaussian() {
        for order in [1.25, 2.0, 7.5, 40.0] {
            let got = divergence(1.0, 0.3, order, true).unwrap();
            assert!((got / (order * 0.36 / 2.0) - 1.0).abs() < 1e-8, "{order}: {got}");
        }
    }
}
