//! Rényi divergence: curves add up, and the best order is chosen at the end.

use crate::outward::{Upper, at_least, at_most};
use crate::round::up;

mod mixture;
pub(crate) mod without_replacement;

/// D_α of the Poisson-subsampled Gaussian, as a removal or an exchange.
pub(crate) fn poisson(rate: f64, mu: f64, order: f64, exchange: bool) -> f64 {
    let crude = mixture_joint_convexity(rate, if exchange { 2.0 * mu } else { mu }, order);
    let fine = mixture::divergence(rate, mu, order, exchange).map_or(Upper::INFINITE, Upper::new);
    fine.least(Upper::new(crude)).value()
}

/// D_α of `(1−q)Q + qP` from `Q`, or of two mixtures that share `(1−q)Q`, for D_α(P‖Q) = αμ²/2:
/// joint convexity of exp((α−1)D_α). Sound for every order, tight only for large ones.
pub(crate) fn mixture_joint_convexity(rate: f64, mu: f64, order: f64) -> f64 {
    let exponent = order * (order - 1.0) * mu * mu / 2.0;
    if exponent > 700.0 {
        return order * mu * mu / 2.0
            + rate.ln() / (order - 1.0)
            + (1.0 / rate - 1.0) * (-exponent).exp() / (order - 1.0);
    }
    // An exponent of 700 with three roundings is off by as many units in e^exponent.
    up((rate * exponent.exp_m1()).ln_1p() / (order - 1.0), 8.0 + 4.0 * exponent)
}

/// ln(1 − 1/α), from α − 1, which is exact, where 1 − 1/α would cancel.
fn log_share(order: f64) -> f64 {
    if order < 2.0 { ((order - 1.0) / order).ln() } else { (-1.0 / order).ln_1p() }
}

/// ε from one point of the curve (Canonne–Kamath–Steinke 2020, Prop. 12).
pub(crate) fn epsilon_tight(order: f64, value: f64, log_delta: f64) -> f64 {
    at_least(value + log_share(order) - (log_delta + order.ln()) / (order - 1.0), 0.0)
}

/// ε from one point of the curve (Mironov 2017, Prop. 3).
pub(crate) fn epsilon_mironov17(order: f64, value: f64, log_delta: f64) -> f64 {
    at_least(value - log_delta / (order - 1.0), 0.0)
}

/// ln δ from one point of the curve, the inverse of [`epsilon_tight`].
pub(crate) fn log_delta_tight(order: f64, value: f64, epsilon: f64) -> f64 {
    at_most(up((order - 1.0) * (value - epsilon + log_share(order)) - order.ln(), 16.0), 0.0)
}

/// Orders at which a whole curve is shown.
pub(crate) fn standard_orders() -> impl Iterator<Item = f64> {
    let fine = (1..10).map(|k| 1.0 + f64::from(k) / 10.0);
    let whole = (2..=64).map(f64::from);
    let far = (7..=20).map(|k| f64::from(1_u32 << k));
    fine.chain(whole).chain(far)
}

/// The sweep: ln(α − 1) from `LOW` to `HIGH` in so many steps.
const LOW: f64 = -11.0;
const HIGH: f64 = 21.0;
const COUNT: u32 = 64;

/// Orders of every size, four times as close together as [`minimise`] begins with: for who cannot
/// refine.
pub(crate) fn sweep() -> impl Iterator<Item = f64> {
    let step = (HIGH - LOW) / f64::from(4 * COUNT);
    (0..=4 * COUNT).map(move |k| 1.0 + (LOW + step * f64::from(k)).exp())
}

/// Smallest value of `of` over the orders: a geometric sweep of α − 1, then golden section around
/// the best.
pub(crate) fn minimise(mut of: impl FnMut(f64) -> f64) -> Upper {
    let mut of = move |order: f64| Upper::new(of(order));
    let at = |exponent: f64| 1.0 + exponent.exp();
    let (low, high, count) = (LOW, HIGH, COUNT);
    let step = (high - low) / f64::from(count);
    let (mut best, mut best_value) = (low, Upper::INFINITE);
    for k in 0..=count {
        let exponent = low + step * f64::from(k);
        let value = of(at(exponent));
        if !best_value.within(value.value()) {
            (best, best_value) = (exponent, value);
        }
    }
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let (mut left, mut right) = (best - step, best + step);
    for _ in 0..24 {
        let (a, b) = (right - GOLDEN * (right - left), left + GOLDEN * (right - left));
        let (value_a, value_b) = (of(at(a)), of(at(b)));
        best_value = best_value.least(value_a).least(value_b);
        if value_a.within(value_b.value()) { right = b } else { left = a }
    }
    best_value
}

/// Smallest value of `of` over the whole orders 2, 3, …: the same sweep, on whole numbers.
pub(crate) fn minimise_whole(mut of: impl FnMut(f64) -> f64) -> Upper {
    let mut of = move |order: f64| Upper::new(of(order));
    const LARGEST: f64 = 1e9;
    let (mut best, mut best_value) = (2.0, of(2.0));
    let mut order = 3.0;
    while order < LARGEST {
        let value = of(order);
        if !best_value.within(value.value()) {
            (best, best_value) = (order, value);
        }
        order = (order * 1.25_f64).ceil();
    }
    let (mut left, mut right) = (at_least((best / 1.3_f64).floor(), 2.0), (best * 1.3_f64).ceil());
    // Ternary search; the objective is the sum of a convex function and a decreasing one, hence has
    // one minimum.
    while right - left > 2.0 {
        let third = at_least(((right - left) / 3.0).floor(), 1.0);
        let inner = of(left + third);
        if inner.within(of(right - third).value()) { right -= third } else { left += third }
    }
    while left <= right {
        best_value = best_value.least(of(left));
        left += 1.0;
    }
    best_value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln(1 + q(e^x − 1))/(α − 1) with x = α(α − 1)μ²/2, where e^x is a number and where it is not.
    #[test]
    fn joint_convexity_is_what_it_says_on_both_sides_of_an_overflow() {
        for (rate, mu, order) in [(0.3, 1.0, 4.0), (0.01, 0.5, 16.0), (0.5_f64, 2.0_f64, 3.0_f64)] {
            let exponent = order * (order - 1.0) * mu * mu / 2.0;
            let truth = (rate * exponent.exp_m1()).ln_1p() / (order - 1.0);
            let said = mixture_joint_convexity(rate, mu, order);
            assert!(said >= truth && said <= truth * (1.0 + 1e-12), "{said} {truth}");
        }
        let (rate, order) = (0.25_f64, 40.0);
        let (said, exponent) = (mixture_joint_convexity(rate, 1.0, order), 780.0);
        assert!((said / ((exponent + rate.ln()) / 39.0) - 1.0).abs() < 1e-12, "{said}");
    }
}
