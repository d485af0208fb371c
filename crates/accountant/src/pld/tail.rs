//! The answer, read off a composed law.

use super::Side;
use super::compose::Composed;
use super::dots::Dots;
use super::plan::Plan;
use super::tilt::{self, Edge};
use crate::round::UNIT;

/// The composed law, read from the right.
pub(super) struct Tail<'a> {
    composed: &'a Composed,
    step: f64,
    side: Side,
    tilt: f64,
    /// Losses are counted from here in exponents.
    reference: f64,
    /// δ = ∞-mass + e^{log_scale} · (what is summed).
    log_scale: f64,
    /// What the window does not show: beyond its right edge, and aliased into it.
    beyond: f64,
    aliased: f64,
    /// Tilted mass to the left of the window.
    before: f64,
    /// Relative error of the sum, absolute error of a loss.
    relative: f64,
    shift: f64,
}

impl<'a> Tail<'a> {
    pub fn new(plan: &Plan, parts: &[(Dots, u64)], composed: &'a Composed, step: f64, side: Side) -> Self {
        let (tilt, reference) = (plan.tilt, plan.moments.mean);
        let length = composed.values.len() as f64;
        let (low, high) = (composed.first as f64 * step, (composed.first as f64 + length) * step);
        let outside = |edge: &Edge, at: f64| {
            let log = tilt::total_log(parts, tilt + edge.step) - composed.log_norm - edge.step * at;
            log.min(0.0).exp() * (1.0 + 1e-6)
        };
        let (right, left) = (outside(&plan.right, high), outside(&plan.left, low));
        let log_scale = composed.log_norm - tilt * reference;
        let widest =
            parts.iter().flat_map(|(dots, _)| dots.points.iter()).fold(0.0_f64, |m, p| m.max(p.0.abs()));
        Self {
            composed,
            step,
            side,
            tilt,
            reference,
            log_scale,
            beyond: right * (-tilt * (high - reference)).exp(),
            aliased: (right + left) / (tilt + 1.0),
            before: left,
            relative: (4.0 * length
                + 32.0 * (plan.count + composed.log_norm.abs() + (tilt * reference).abs()))
                * UNIT,
            shift: plan.count * 32.0 * UNIT * (1.0 + widest),
        }
    }

    /// Walks down from the right and stops at the first point for which `stop` says so; hands it the sums over the
    /// points above, and gets them back. At the end of the window the sums are those of the whole window.
    fn walk(&self, mut stop: impl FnMut(&Sums) -> bool) -> Sums {
        let (growth, extra) = ((self.tilt * self.step).exp(), self.step.exp());
        let mut sums = Sums::default();
        for k in (0..self.composed.values.len()).rev() {
            sums.loss = (self.composed.first as f64 + k as f64) * self.step;
            if k % 128 == 127 || sums.weight == 0.0 {
                let offset = sums.loss - self.reference;
                (sums.weight, sums.inverse) = ((-self.tilt * offset).exp(), (-offset).exp());
            } else {
                sums.weight *= growth;
                sums.inverse *= extra;
            }
            if stop(&sums) {
                return sums;
            }
            let value = self.composed.values[k] * sums.weight;
            sums.a += value;
            sums.b += value * sums.inverse;
        }
        sums
    }

    /// Error of A − e^{ε−reference}B at a point.
    fn error(&self, sums: &Sums) -> f64 {
        let points = (self.composed.values.len() as f64).min(-1.0 / (-self.tilt * self.step).exp_m1());
        let rounding = self.composed.rounding * points * sums.weight + self.relative * sums.a;
        match self.side {
            Side::Upper => rounding + self.beyond,
            Side::Lower => rounding + self.aliased * sums.weight,
        }
    }

    pub fn epsilon(&self, delta: f64) -> f64 {
        let sign = self.side.sign();
        let left = delta - self.composed.infinity;
        if left <= 0.0 {
            return f64::INFINITY;
        }
        let target = (left.ln() - self.log_scale).exp();
        let reached = |sums: &Sums| sums.a - sums.b / sums.inverse + sign * self.error(sums) >= target;
        let sums = self.walk(|sums| sums.loss + self.step < 0.0 || reached(sums));
        let value = if sums.loss + self.step < 0.0 {
            0.0
        } else if reached(&sums) {
            // Between this point and the next: A − e^{ε−reference}B ± error = target.
            let exact = ((sums.a + sign * self.error(&sums) - target) / sums.b).ln() + self.reference;
            if exact.is_finite() {
                exact.clamp(sums.loss, sums.loss + self.step)
            } else {
                sums.loss + self.step
            }
        } else if self.side == Side::Upper {
            // ε is below the window.
            sums.loss
        } else {
            0.0
        };
        (value + sign * (self.shift + 1e-14 * value.abs())).max(0.0)
    }

    pub fn delta(&self, epsilon: f64) -> f64 {
        let sign = self.side.sign();
        // The losses are shifted by at most `shift`: so may be the question.
        let epsilon = epsilon - sign * self.shift;
        let sums = self.walk(|sums| sums.loss <= epsilon);
        let mut sum = sums.a - (epsilon - self.reference).exp() * sums.b + sign * self.error(&sums);
        if self.side == Side::Upper && sums.loss > epsilon {
            // The whole window lies above ε, and so may what is to the left of it.
            sum += self.before * (-self.tilt * (epsilon - self.reference)).exp();
        }
        (self.composed.infinity + (sum.max(0.0).ln() + self.log_scale).exp()).clamp(0.0, 1.0)
    }
}

/// Sums over the points above `loss`: A of tilted mass × e^{−s(ℓ−reference)}, B with s + 1 in the place of s.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    loss: f64,
    /// e^{−s(loss−reference)} and e^{−(loss−reference)}.
    weight: f64,
    inverse: f64,
    a: f64,
    b: f64,
}
