//! δ(ε) from the moments of the loss, by integrating along a vertical line in the complex plane.
//!
//! With K(s) = ln E e^{sL} of all events together and 0 < c,
//!
//!     δ(ε) = E (1 − e^{ε−L})₊ = 1/(2πi) ∫_{Re s = c} e^{K(s) − sε} / (s(s+1)) ds,
//!
//! since ∫ e^{s(l−ε)}/(s(s+1)) ds/(2πi) is (1 − e^{ε−l})₊. Between −1 and 0 the line has passed the
//! pole at 0, and the same integral is δ(ε) − 1. The line goes through the saddle point, where the
//! integrand is least along the real axis, so what is added up is of the size of the sum and δ =
//! 1e-300 keeps its digits. The trapezoidal rule with step h adds up δ(ε + kp)e^{ckp} for all whole
//! k, p = 2π/h, instead of k = 0 alone; the others are bounded by Chernoff's bound.

use super::complex::C;
use super::loss::Law;
use super::moments::Moments;
use super::{Case, Interval};

fn real(case: &Case, c: f64) -> f64 {
    let gaussian = c * (c + 1.0) * case.gaussian / 2.0;
    gaussian + case.laws.iter().map(|(law, count)| count * law.real(c)).sum::<f64>()
}

/// The minimum of a function that falls and then rises, by steps and then by golden section.
fn least(f: impl Fn(f64) -> f64, from: f64, to: f64, start: f64, step: f64) -> (f64, f64) {
    // What is no number is no minimum.
    let f = |x: f64| Some(f(x)).filter(|y| !y.is_nan()).unwrap_or(f64::INFINITY);
    let (mut at, mut value) = (start, f(start));
    let (mut left, mut right) = (at - step, at + step);
    for direction in [1.0, -1.0] {
        loop {
            let next = at + direction * step;
            if next < from || next > to {
                break;
            }
            let there = f(next);
            if there > value || (there == value && value.is_finite()) {
                break;
            }
            (at, value) = (next, there);
            (left, right) = (at - step, at + step);
        }
    }
    let golden = 0.618_033_988_75;
    for _ in 0..12 {
        let (a, b) = (right - golden * (right - left), left + golden * (right - left));
        let (fa, fb) = (f(a), f(b));
        if fa < value {
            (at, value) = (a, fa);
        }
        if fb < value {
            (at, value) = (b, fb);
        }
        if fa < fb { right = b } else { left = a }
    }
    (at, value)
}

/// The saddle: where the line crosses the real axis, and ln of the integrand there.
pub struct Saddle {
    pub c: f64,
    pub height: f64,
}

impl Saddle {
    pub fn of(case: &Case, epsilon: f64) -> Self {
        let height = |c: f64| real(case, c) - c * epsilon - c.abs().ln() - c.ln_1p();
        let logistic = |u: f64| -1.0 / (1.0 + u.exp());
        let (u, above) = least(|u| height(u.exp()), -40.0, 40.0, 0.0, 1.0);
        let (v, below) = least(|u| height(logistic(u)), -40.0, 40.0, 0.0, 1.0);
        if below < above {
            Saddle { c: logistic(v), height: below }
        } else {
            Saddle { c: u.exp(), height: above }
        }
    }
}

/// Chernoff: E (1 − e^{ε−L})₊ ≤ sup_l (1 − e^{ε−l})e^{−c(l−ε)} · E e^{c(L−ε)}.
pub fn chernoff(case: &Case, epsilon: f64, saddle: &Saddle) -> Interval {
    let c = saddle.c;
    if c < 0.0 {
        // 1 − δ = E min(1, e^{ε−L}) ≤ E e^{c(L−ε)} for −1 ≤ c ≤ 0.
        let rest = (saddle.height + c.abs().ln() + c.ln_1p()).min(0.0) + 1e-9;
        let low = if rest < 0.0 { (-rest.exp()).ln_1p() } else { f64::NEG_INFINITY };
        return Interval { low, high: 0.0 };
    }
    let exponent = real(case, c) - c * epsilon;
    let slack = 1e-9 + 1e-13 * (exponent.abs() + c * epsilon);
    Interval {
        low: f64::NEG_INFINITY,
        high: (exponent + c * c.ln() - (1.0 + c) * c.ln_1p() + slack).min(0.0),
    }
}

/// Moments of a case along one line.
struct Line {
    c: f64,
    gaussian: f64,
    laws: Vec<(Moments, f64)>,
}

impl Line {
    fn new(case: &Case, c: f64, t: f64) -> Self {
        let laws = case.laws.iter().map(|(law, count)| (law.moments(c, t), *count)).collect();
        Line { c, gaussian: case.gaussian, laws }
    }

    /// K(c + it) − K(c).
    fn relative(&self, t: f64) -> C {
        let (c, g) = (self.c, self.gaussian);
        let mut total = C(-g * t * t / 2.0, g * t * (c + 0.5));
        for (moments, count) in &self.laws {
            let C(re, im) = moments.ln_mgf(C(c, t));
            total = total.add(C((re - moments.at_c) * count, im * count));
        }
        total
    }

    fn ln_envelope(&self, t: f64) -> f64 {
        let laws =
            self.laws.iter().map(|(moments, count)| count * moments.ln_envelope(t)).sum::<f64>();
        laws - self.gaussian * t * t / 2.0
    }

    /// Whether nothing is left where the atoms of a law are in phase again, which samples in
    /// between do not see: many responses come back to all their size every π/e.
    fn falls_at_every_return(&self, laws: &[(Law, f64)], from: f64) -> bool {
        // Between the returns of two laws the product may be larger than at either: the root.
        let falls = |t: f64| self.relative(t).0 < -70.0;
        laws.iter().filter_map(|(law, _)| law.returns()).all(|period| {
            let first = (from / period).ceil().max(1.0);
            (0..60).all(|k| falls((first + f64::from(k)) * period))
        })
    }

    /// A bound on step times the terms from `from` on, by one law of responses alone, whose modulus
    /// m has the period P and falls from 0 to P/2: around each jP, j ≥ 1, the kernel is at most
    /// 1/((j − ½)P)², so Σ_j is at most π²/2P² times the terms of a period, which are at most ∫ m
    /// and two steps; and before P/2 all is at most m(from)/(from − step).
    fn returns(&self, laws: &[(Law, f64)], from: f64, step: f64) -> Option<f64> {
        let bound = |((law, count), (moments, _)): (&(Law, f64), &(Moments, f64))| {
            let Law::Response(_) = law else { return None };
            let period = law.returns()?;
            let modulus = |t: f64| {
                let C(re, _) = moments.ln_mgf(C(self.c, t));
                ((re - moments.at_c) * count + 1e-15 * count).min(0.0).exp()
            };
            let rest = modulus(from);
            if rest > 1e-15 || from > period / 2.0 {
                return None;
            }
            // An upper sum: m falls, so each piece is at most its left end.
            let width = from / 400.0;
            let mass: f64 = (0..400).map(|k| modulus(f64::from(k) * width) * width).sum();
            let mass = 2.0 * (mass + rest * period / 2.0 + step);
            Some(5.0 * mass / (period * period) + rest / (from - step))
        };
        laws.iter().zip(&self.laws).filter_map(bound).min_by(f64::total_cmp)
    }

    fn nodes(&self) -> f64 {
        self.laws.iter().map(|(moments, _)| moments.size_of_sum() as f64).sum::<f64>() + 1.0
    }
}

/// ln δ(ε) with its error, for `budget` values of an integrand; as wide as it has to be where the
/// integrand does not fall fast enough.
pub fn delta(case: &Case, epsilon: f64, saddle: &Saddle, budget: f64) -> Interval {
    let (c, everything) = (saddle.c, Interval { low: f64::NEG_INFINITY, high: 0.0 });
    let exponent = |c: f64| real(case, c) - c * epsilon;
    let at_c = exponent(c);
    if !at_c.is_finite() || c > 1e8 {
        return everything;
    }
    // The width of the integrand along the line, from the curvature of its height along the axis.
    let h = 1e-3 * c.abs().min(1.0 + c);
    let height = |c: f64| exponent(c) - c.abs().ln() - c.ln_1p();
    let curvature =
        ((height(c + h) + height(c - h) - 2.0 * height(c)) / (h * h)).max(1e-12 / (h * h));
    let sd = curvature.sqrt();
    let wanted = 36.0 + (c.abs() * (c + 1.0) * sd * 3.0 + 1.0).ln();
    // The period: what is added up beside δ(ε) must be e^{−wanted} of the height.
    let (low_end, high_end) = if c < 0.0 { (-1.0, 0.0) } else { (0.0, f64::INFINITY) };
    let period_for = |sign: f64| {
        let mut best = f64::INFINITY;
        let mut others: Vec<f64> =
            [1.0, 3.0, 6.0, 12.0].iter().map(|k| c + sign * k / sd).collect();
        if sign > 0.0 {
            others.push(if c < 0.0 { 0.0 } else { 2.0 * c });
            others.push(if c < 0.0 { c / 2.0 } else { 8.0 * c });
        } else {
            others.push(if c < 0.0 { -1.0 } else { 0.0 });
            others.push(if c < 0.0 { (c - 1.0) / 2.0 } else { c / 2.0 });
        }
        for other in others {
            if other >= low_end && other <= high_end {
                let value = if other == 0.0 {
                    0.0
                } else if other == -1.0 {
                    epsilon
                } else {
                    exponent(other)
                };
                let period = (value - at_c + wanted) / (other - c).abs();
                best = best.min(period.max(0.0));
            }
        }
        best
    };
    let period = period_for(1.0).max(period_for(-1.0)).max(1e-300);
    if !period.is_finite() {
        return everything;
    }
    let step = 2.0 * std::f64::consts::PI / period;
    let kernel = |t: f64| C(1.0, 0.0).div(C(c, t).mul(C(c + 1.0, t)));
    let peak = 1.0 / (c.abs() * (c + 1.0));
    let mut horizon = (9.0 / sd).max(4.0 * step);
    let mut line = Line::new(case, c, horizon);
    if line.nodes() * horizon / step > budget {
        return everything;
    }
    let (mut total, mut k) = (0.5 * kernel(0.0).0, 0.0);
    let (mut phase_error, mut sizes) = (0.0f64, 0.5 * peak);
    let left = loop {
        k += 1.0;
        let t = k * step;
        if t > horizon {
            // Over? All that is known beyond must be small: the proven bound, or samples up to
            // where it takes over.
            let small = |line: &Line, t: f64| {
                line.ln_envelope(t) + (1.0 / t).ln() < (peak / sd).ln() - 30.0
            };
            let mut over = small(&line, t);
            if !over && line.nodes() * 200.0 < budget {
                let (mut ahead, mut samples) = (t, 0);
                let mut all = true;
                let wide = Line::new(case, c, 8.0 * t);
                while samples < 60 && all && !small(&wide, ahead) {
                    all = wide.relative(ahead).0 < -34.0;
                    ahead *= 1.05 + 0.01 * f64::from(samples % 7);
                    samples += 1;
                }
                over = all && wide.falls_at_every_return(&case.laws, t);
            }
            if over {
                break 1e-13 * peak / sd;
            }
            if let Some(beyond) = line.returns(&case.laws, t, step) {
                break beyond;
            }
            if 1.5 * line.nodes() * (1.5 * k) > budget {
                // The terms from t on are at most the integral from one step before.
                break line.ln_envelope(t).min(0.0).exp() / (t - step);
            }
            horizon *= 1.5;
            line = Line::new(case, c, horizon);
        }
        let C(re, im) = line.relative(t);
        let turn = im - t * epsilon;
        let value = C(re, turn).exp().mul(kernel(t));
        let scale = im.abs() + (t * epsilon).abs();
        phase_error += 4e-16 * scale * re.exp() * kernel(t).norm();
        total += value.0;
        sizes += value.norm();
    };
    let pi = std::f64::consts::PI;
    let sum = total * step / pi;
    let sum = if c < 0.0 { -sum } else { sum };
    // What is wrong with a term is relative to its size, and terms may cancel.
    let whole_line = sizes * step / pi;
    let mut error = left / pi + phase_error * step / pi + (-wanted).exp();
    // The quadrature against itself with panels cut finer.
    let finer = Line::new(case, c, 2.0 * horizon);
    for t in [0.5 / sd, 1.5 / sd] {
        let (a, b) = (line.relative(t), finer.relative(t));
        error += 4.0 * C(a.0 - b.0, 0.0).norm() * whole_line;
        let turn = (a.1 - b.1).rem_euclid(2.0 * pi);
        error += 4.0 * turn.min(2.0 * pi - turn) * whole_line;
    }
    let counts: f64 = case.laws.iter().map(|(_, n)| n).sum();
    let whole: f64 = line.laws.iter().map(|(m, n)| m.at_c.abs() * n).sum::<f64>();
    let relative = 4e-16 * (counts + 8.0 * (whole + (c * epsilon).abs() + (at_c).abs())) + 1e-10;
    error += relative * whole_line;
    let low = at_c + (sum - error).max(0.0).ln() - relative;
    let high = at_c + (sum + error).max(0.0).ln() + relative;
    if c < 0.0 {
        let flip = |x: f64| if x < 0.0 { (-x.exp()).ln_1p() } else { f64::NEG_INFINITY };
        return Interval { low: flip(high), high: flip(low).min(0.0) };
    }
    Interval { low, high: high.min(0.0) }
}

pub fn largest(laws: &[(Law, f64)]) -> f64 {
    laws.iter().map(|(law, count)| law.largest() * count).sum()
}
