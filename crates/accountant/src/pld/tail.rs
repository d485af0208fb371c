//! The answer, read off a composed law.
//!
//! Walking down from the right, the sums A = Σ v(ℓ) e^{−s(ℓ−loss)} and B, with s + 1 in the place
//! of s, over the points ℓ above the present one are kept as seen from it: one step down multiplies
//! them by e^{−s·step} and e^{−(s+1)·step}. No factor is ever above 1, so nothing overflows however
//! far the losses reach, and what underflows is below all that is counted. The scale e^{log_norm −
//! s·loss} that the sums lack is kept as its logarithm. (Sums relative to one fixed loss overflow a
//! thousand away from it, and ∞ − ∞ once came out as "ε is 0".)

use super::Side;
use super::compose::Composed;
use super::discretise::Dots;
use super::plan::AccountingPlan;
use super::tilt::{self, TiltEdge};
use crate::outward::{Lower, Upper, at_least, at_most, largest};
use crate::round::{self, UNIT};

/// The composed law, read from the right.
pub(super) struct Tail<'a> {
    composed: &'a Composed,
    step: f64,
    side: Side,
    tilt: f64,
    /// e^{−s·step} and e^{−(s+1)·step}.
    decay: (f64, f64),
    /// Points that e^{−s·step} makes of a window that is long without end.
    points: f64,
    /// Tilted mass beyond the right edge, and to the left of the window.
    beyond: f64,
    before: f64,
    /// Roundings of every sum, whatever the loss; absolute error of a loss.
    operations: f64,
    shift: f64,
}

impl<'a> Tail<'a> {
    pub fn new(
        plan: &AccountingPlan,
        parts: &[(Dots, u64)],
        composed: &'a Composed,
        step: f64,
        side: Side,
    ) -> Self {
        let tilt = plan.tilt;
        let length = composed.values.len() as f64;
        let (low, high) = (composed.first as f64 * step, (composed.first as f64 + length) * step);
        let outside = |edge: &TiltEdge, at: f64| {
            let log = tilt::total_log(parts, tilt + edge.step) - composed.log_norm - edge.step * at;
            at_most(log, 0.0).exp() * (1.0 + 1e-6)
        };
        let widest = largest(
            parts.iter().flat_map(|(discretise, _)| &discretise.points).map(|point| point.0.abs()),
            0.0,
        );
        Self {
            composed,
            step,
            side,
            tilt,
            decay: ((-tilt * step).exp(), (-(tilt + 1.0) * step).exp()),
            points: at_most(length, -1.0 / (-tilt * step).exp_m1()),
            beyond: outside(&plan.right, high),
            before: outside(&plan.left, low),
            // A decay is off by its own rounding and by that of its exponent, at every step; a
            // tilted weight by that of its exponent, at every event.
            operations: 8.0 * length * (1.0 + (tilt + 1.0) * step)
                + 32.0 * (plan.count + composed.log_norm.abs())
                + 8.0 * plan.count * tilt * widest,
            shift: plan.count * 64.0 * UNIT * (2.0 + widest),
        }
    }

    /// Walks down from the right and stops at the first point for which `stop` says so; hands it
    /// the sums over the points above, and gets them back. At the end of the window the sums are
    /// those of the whole window.
    fn walk(&self, mut stop: impl FnMut(&TailSums) -> bool) -> (TailSums, bool) {
        let mut sums = TailSums { loss: 0.0, a: 0.0, b: 0.0, beyond: self.beyond };
        for (k, value) in self.composed.values.iter().enumerate().rev() {
            sums.loss = (self.composed.first + k as i64) as f64 * self.step;
            sums.a *= self.decay.0;
            sums.b *= self.decay.1;
            sums.beyond *= self.decay.0;
            if stop(&sums) {
                return (sums, true);
            }
            sums.a += value;
            sums.b += value;
        }
        (sums, false)
    }

    /// ln of what sums that are seen from `loss` have to be multiplied with.
    fn log_scale(&self, loss: f64) -> f64 {
        self.composed.log_norm - self.tilt * loss
    }

    /// By what factor sums and scale, seen from `loss`, may be off, less 1. An error of an exponent
    /// is one of a logarithm.
    fn relative(&self, loss: f64) -> f64 {
        let off = (self.operations + 32.0 * (self.tilt * loss).abs()) * UNIT;
        // e^x − 1 ≤ x + x² up to 1, and is asked for at every point.
        if Upper::new(off).within(1.0) { off + off * off } else { off.exp_m1() }
    }

    /// A + error or A − error, as seen from the present point.
    fn outer(&self, sums: &TailSums) -> f64 {
        let relative = self.relative(sums.loss);
        let rounding = self.composed.rounding * self.points;
        match self.side {
            Side::Upper => sums.a + relative * sums.a + (rounding + sums.beyond) * (1.0 + relative),
            Side::Lower => {
                let aliased = (self.beyond + self.before) / (self.tilt + 1.0);
                sums.a - relative * sums.a - (rounding + aliased) * (1.0 + relative)
            }
        }
    }

    /// The largest ε at which δ may still be above the one given (upper side), or surely is (lower
    /// side).
    pub fn epsilon(&self, delta: f64) -> f64 {
        match self.side {
            Side::Upper => self.upper_epsilon(delta).value(),
            Side::Lower => self.lower_epsilon(delta).value(),
        }
    }

    /// What δ leaves for the points, as seen from a loss: found anew every so many points, and
    /// carried on in between.
    fn threshold(&self, left: f64) -> impl FnMut(&TailSums) -> f64 + '_ {
        let log_left = left.ln();
        let (mut value, mut age) = (f64::NAN, 0);
        move |sums: &TailSums| {
            if age == 0 {
                let log = log_left - self.log_scale(sums.loss);
                // Out of range it is no longer exact, and must then not be too large above, nor too
                // small below.
                value = match self.side {
                    Side::Upper => at_most(log, 700.0).exp(),
                    Side::Lower => at_least(log, -700.0).exp(),
                };
                // A value at the edge of the range must not be carried on.
                // plain: NaN is found anew at every point
                age = if log.abs() <= 600.0 && self.tilt * self.step <= 1.0 { 64 } else { 1 };
            } else {
                value *= self.decay.0;
            }
            age -= 1;
            value
        }
    }

    fn upper_epsilon(&self, delta: f64) -> Upper {
        let left = round::down(delta - self.composed.infinity, 4.0);
        if !Lower::new(left).reaches(f64::MIN_POSITIVE) {
            return Upper::INFINITE;
        }
        let mut threshold = self.threshold(left);
        let (mut aim, mut seen) = (0.0, 0_u64);
        let (sums, stopped) = self.walk(|sums| {
            seen += 1;
            aim = threshold(sums);
            // plain: places, which are whole multiples of the step
            let past = sums.loss + self.step < 0.0 && seen > 1;
            past || !Upper::new(self.outer(sums) - sums.b).within(aim)
        });
        // δ may be too large at the first point already: then ε may lie anywhere above the window.
        if stopped && seen == 1 {
            return Upper::INFINITE;
        }
        // plain: places
        let value = if !stopped || sums.loss + self.step < 0.0 {
            // Down to here δ is kept, at every point.
            sums.loss
        } else {
            // It is kept one step above, and between the two where A − e^{ε−loss}B + error = aim.
            let more = Upper::new(((self.outer(&sums) - aim) / sums.b).ln());
            sums.loss + at_least(more.least(Upper::new(self.step)).value(), 0.0)
        };
        Upper::epsilon(at_least(value, 0.0) + self.shift + 1e-14 * value.abs())
    }

    fn lower_epsilon(&self, delta: f64) -> Lower {
        let left = round::up(delta - self.composed.infinity_below, 4.0);
        if Upper::new(left).within(0.0) {
            return Lower::INFINITE;
        }
        let mut threshold = self.threshold(left);
        let mut aim = 0.0;
        let (sums, stopped) = self.walk(|sums| {
            aim = threshold(sums);
            // plain: places
            let past = sums.loss + self.step < 0.0;
            past || Lower::new(self.outer(sums) - sums.b).reaches(aim)
        });
        if !stopped {
            return Lower::ZERO;
        }
        let more = Lower::new(((self.outer(&sums) - aim) / sums.b).ln());
        let value = sums.loss + at_most(more.value(), self.step);
        Lower::new(value - self.shift - 1e-14 * value.abs())
    }

    pub fn delta(&self, epsilon: f64) -> f64 {
        // The losses are shifted by at most `shift`: so may be the question.
        let epsilon = epsilon - self.side.sign() * self.shift;
        // plain: places; if ε is no number the whole window is counted
        let (mut sums, stopped) = self.walk(|sums| sums.loss <= epsilon);
        let mut before = 0.0;
        if !stopped {
            // The whole window lies above ε, and so may what is to the left of it.
            let gap = sums.loss - epsilon;
            sums.a *= (-self.tilt * gap).exp();
            sums.b *= (-(self.tilt + 1.0) * gap).exp();
            sums.beyond *= (-self.tilt * gap).exp();
            sums.loss = epsilon;
            before = self.before;
        }
        let outer = self.outer(&sums);
        let share = (epsilon - sums.loss).exp() * sums.b;
        let scale = |sum: f64| (sum.ln() + self.log_scale(sums.loss)).exp();
        match self.side {
            Side::Upper => {
                let sum = outer + before * (1.0 + self.relative(sums.loss)) - share;
                Upper::delta(round::up(self.composed.infinity + scale(at_least(sum, 0.0)), 16.0))
                    .value()
            }
            Side::Lower => {
                let found = Lower::new(scale(at_least(outer - share, 0.0)));
                let infinity = self.composed.infinity_below;
                at_most(Lower::new(round::down(infinity + found.value(), 16.0)).value(), 1.0)
            }
        }
    }
}

/// Sums over the points above `loss`, as seen from there, and the tilted mass beyond the window.
#[derive(Debug, Clone, Copy)]
struct TailSums {
    loss: f64,
    a: f64,
    b: f64,
    beyond: f64,
}
