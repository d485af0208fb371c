//! Exponential tilting: looking at the composed loss where its tail lies.
//!
//! With K(s) = Σ_k ln E[e^{sL_k}] the tilted law has density e^{sℓ − K(s)} and mean K'(s). Choosing
//! s so that the mean falls near the ε looked for makes every error of the Fourier transform
//! relative to the δ looked for, be it 1e-5 or 1e-200; and bounds on the mass outside a window
//! follow from K at two other points (Chernoff).

use super::discretise::Dots;
use crate::outward::{at_least, at_most, largest};

/// ln E[e^{sL}; L < ∞] with the first two derivatives.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moments {
    pub log: f64,
    pub mean: f64,
    pub variance: f64,
}

/// The tilted masses e^{sℓ}·mass scaled by e^{−shift}, and the shift.
pub(crate) fn tilted(discretise: &Dots, s: f64) -> (Vec<f64>, f64) {
    let points = &discretise.points;
    let reach =
        largest(points.first().into_iter().chain(points.last()).map(|point| point.0.abs()), 0.0);
    if s.abs() * reach < 600.0 {
        return (points.iter().map(|&(loss, mass)| mass * (s * loss).exp()).collect(), 0.0);
    }
    // Beyond the range of floats: in logarithms, relative to the largest.
    let logs: Vec<f64> = points.iter().map(|&(loss, mass)| mass.ln() + s * loss).collect();
    let shift = largest(logs.iter().copied(), f64::NEG_INFINITY);
    (logs.iter().map(|log| (log - shift).exp()).collect(), shift)
}

/// ln E[e^{sL}] and its derivatives for one measure.
pub(crate) fn moments(discretise: &Dots, s: f64) -> Moments {
    let (weights, shift) = tilted(discretise, s);
    let total: f64 = weights.iter().sum();
    let mean = weights.iter().zip(&discretise.points).map(|(w, p)| w * p.0).sum::<f64>() / total;
    let variance =
        weights.iter().zip(&discretise.points).map(|(w, p)| w * (p.0 - mean).powi(2)).sum::<f64>()
            / total;
    Moments { log: total.ln() + shift, mean, variance }
}

/// The sum over a list of measures with counts.
pub(crate) fn total(parts: &[(Dots, u64)], s: f64) -> Moments {
    parts.iter().fold(Moments::default(), |sum, (discretise, count)| {
        let (one, count) = (moments(discretise, s), *count as f64);
        Moments {
            log: sum.log + count * one.log,
            mean: sum.mean + count * one.mean,
            variance: sum.variance + count * one.variance,
        }
    })
}

/// ln E[e^{sL}] alone, for a list of measures with counts.
pub(crate) fn total_log(parts: &[(Dots, u64)], s: f64) -> f64 {
    parts
        .iter()
        .map(|(discretise, count)| {
            let (weights, shift) = tilted(discretise, s);
            *count as f64 * (weights.iter().sum::<f64>().ln() + shift)
        })
        .sum()
}

/// ε from the moment at s = α − 1, by the tight conversion.
pub(crate) fn epsilon_at(log_moment: f64, s: f64, log_delta: f64) -> f64 {
    crate::rdp::epsilon_tight(1.0 + s, log_moment / s, log_delta)
}

/// The tilt that minimises `of` (an ε or ln δ as a function of s), searched over a geometric range.
pub(crate) fn best_tilt(scale: f64, mut of: impl FnMut(f64) -> f64) -> f64 {
    let (mut best, mut value) = (scale, f64::INFINITY);
    // A rare record hardly moves the variance and yet has all the tail: the tilt may have to be far
    // below the scale.
    let least = at_most(at_least((scale.log2() + 10.0).ceil(), 20.0), 1000.0) as i32;
    for k in -least..=20 {
        let s = scale * 2.0_f64.powi(k);
        let here = of(s);
        if here < value {
            (best, value) = (s, here);
        }
    }
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let (mut left, mut right) = (best.ln() - 0.7, best.ln() + 0.7);
    for _ in 0..8 {
        let (a, b) = (right - GOLDEN * (right - left), left + GOLDEN * (right - left));
        if of(a.exp()) < of(b.exp()) { right = b } else { left = a }
    }
    (0.5 * (left + right)).exp()
}

/// A half-line outside which little tilted mass lies, and the step from s that proves it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TiltEdge {
    pub at: f64,
    pub step: f64,
}

/// The edge beyond which the tilted mass is at most e^{log_mass}: `sign` +1 for the right, −1 for
/// the left.
pub(crate) fn edge(
    parts: &[(Dots, u64)],
    s: f64,
    at_s: &Moments,
    log_mass: f64,
    sign: f64,
) -> TiltEdge {
    let deviation = at_least(at_s.variance.sqrt(), 1e-9 * (1.0 + at_s.mean.abs()));
    let mut best = TiltEdge { at: sign * f64::INFINITY, step: 0.0 };
    // For a normal law the best step is √(2·ln(1/mass)) deviations; heavier tails want smaller
    // ones.
    let start = (-2.0 * log_mass).sqrt() / deviation;
    let mut misses = 0;
    for k in 0..48 {
        let step = sign * start * 0.7_f64.powi(k);
        let at = (total_log(parts, s + step) - at_s.log - log_mass) / step;
        if at * sign < best.at * sign {
            best = TiltEdge { at, step };
            misses = 0;
        } else {
            misses += 1;
            if misses > 3 && best.at.is_finite() {
                break;
            }
        }
    }
    best
}
