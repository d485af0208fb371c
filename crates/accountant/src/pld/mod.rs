//! Privacy-loss distributions: any list of events that can give their worst pairs, composed numerically with an upper
//! and a lower bound.
//!
//! 1. A sketch of each loss (a few hundred points) gives the moments K(s), hence the tilt, the window and the lattice.
//! 2. Each loss is put on the lattice pessimistically or optimistically (`dots`), finely where its tilted mass lies.
//! 3. The measures are tilted and composed by FFT (`compose`).
//! 4. δ(ε) = ∞-mass + e^{K(s)} Σ_{ℓ>ε} tilted(ℓ) e^{−sℓ} (1 − e^{ε−ℓ}), widened by every error made on the way.
//!
//! Connecting dots a step h apart raises ln E[e^{sL}] by s(s+1)h²/12 per event, hence ε by (s+1)h²/12: this sets h.

mod compose;
mod dots;
pub(crate) mod loss;
mod tilt;

use crate::round::UNIT;
use compose::Composed;
use dots::{Dots, Grid};
pub(crate) use loss::Loss;
use tilt::{Edge, Moments};

/// Relative precision of ε that is aimed at, and the ε below which it is absolute.
pub(crate) const FINE: f64 = 2e-5;
pub(crate) const COARSE: f64 = 1e-3;
const FLOOR: f64 = 1e-3;
/// The step that other accountants use, and the relative error of ε up to which it is good enough.
const COMMON_STEP: f64 = 1e-4;
const GOOD_ENOUGH: f64 = 3e-4;
/// Lattice points, over all parts, that are spent on the common step where a coarser one would do.
const AFFORDABLE: f64 = 262_144.0;
/// Points of the first picture.
const SKETCH: u32 = 240;
/// Longest transform.
const LONGEST: f64 = 1_048_576.0;
/// Cells that one loss is cut into at the most. Beyond, all are wider: a coarser cut is still a bound.
const MOST_CELLS: f64 = 1_048_576.0;
/// Tilted mass that may lie outside the window on either side.
const LOG_OUTSIDE: f64 = -16.0;
/// Tilted mass times squared width that a coarse cell may have, in fine cells.
const COARSENING: f64 = 1e-3;
/// Smallest δ whose tails fit into floats with room for all the factors.
const SMALLEST_DELTA: f64 = 1e-200;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Query {
    /// ε at this δ.
    Epsilon(f64),
    /// δ at this ε.
    Delta(f64),
}

/// Which side of the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Lower,
    Upper,
}

impl Side {
    fn sign(self) -> f64 {
        if self == Side::Upper { 1.0 } else { -1.0 }
    }
}

/// Everything that both sides of the bound share.
pub(crate) struct Plan<'a> {
    losses: &'a [(Loss, u64)],
    /// For each loss the sketch's grid and its (loss, tilted mass).
    sketches: Vec<(Grid, Vec<(f64, f64)>)>,
    query: Query,
    /// The query's δ, or an estimate of it.
    delta: f64,
    tilt: f64,
    moments: Moments,
    right: Edge,
    left: Edge,
    /// Bound by moments alone, which the sketch has already proven: ε or δ, as asked.
    pub proven: f64,
    count: f64,
}

impl<'a> Plan<'a> {
    /// Looks at the losses coarsely; `None` when the query is out of the range of this method.
    pub(crate) fn new(losses: &'a [(Loss, u64)], query: Query) -> Option<Self> {
        let count: f64 = losses.iter().map(|(_, count)| *count as f64).sum();
        // The tails must reach beyond what the answer can see.
        let reach = |delta: f64| (delta * 1e-9 / count).max(SMALLEST_DELTA * 1e-20);
        match query {
            Query::Epsilon(delta) => Self::draft(losses, query, count, reach(delta)),
            Query::Delta(_) => {
                let first = Self::draft(losses, query, count, 1e-60)?;
                let plan = Self::draft(losses, query, count, reach(first.delta))?;
                (plan.delta >= SMALLEST_DELTA).then_some(plan)
            }
        }
    }

    fn draft(losses: &'a [(Loss, u64)], query: Query, count: f64, reach: f64) -> Option<Self> {
        if let Query::Epsilon(delta) = query
            && delta < SMALLEST_DELTA
        {
            return None;
        }
        let low = 1e-13 / count;
        let mut parts = Vec::with_capacity(losses.len());
        let mut grids = Vec::with_capacity(losses.len());
        for (loss, times) in losses {
            let (grid, dots) = dots::sketch(loss, low, reach, SKETCH);
            grids.push(grid);
            parts.push((dots, *times));
        }
        let infinity: f64 = parts.iter().map(|(dots, times)| dots.infinity * *times as f64).sum();
        if parts.iter().any(|(dots, _)| dots.points.is_empty()) || infinity >= 1.0 {
            return None;
        }
        let plain = tilt::total(&parts, 0.0);
        let scale = 1.0 / plain.variance.sqrt().max(1e-12);
        let objective = |s: f64| {
            let log = tilt::total_log(&parts, s);
            match query {
                Query::Epsilon(delta) => tilt::epsilon_at(log, s, (delta - infinity).max(0.0).ln()),
                Query::Delta(epsilon) => crate::rdp::log_delta_tight(1.0 + s, log / s, epsilon),
            }
        };
        let tilt = tilt::best_tilt(scale, objective);
        let estimate = objective(tilt);
        let moments = tilt::total(&parts, tilt);
        let right = tilt::edge(&parts, tilt, &moments, LOG_OUTSIDE, 1.0);
        let left = tilt::edge(&parts, tilt, &moments, LOG_OUTSIDE, -1.0);
        let delta = match query {
            Query::Epsilon(delta) => delta,
            Query::Delta(_) => estimate.exp() + infinity,
        };
        let proven = match query {
            Query::Epsilon(_) => estimate * (1.0 + 1e-10) + 1e-13 * count,
            Query::Delta(_) => delta * (1.0 + 1e-10 + 1e-13 * count * (1.0 + tilt)),
        };
        let usable = [tilt, estimate, moments.log, moments.mean, moments.variance, right.at, left.at];
        if !usable.iter().all(|value| value.is_finite()) || right.at <= left.at {
            return None;
        }
        let sketches = grids
            .into_iter()
            .zip(&parts)
            .map(|(grid, (dots, _))| {
                let (mut weights, _) = tilt::tilted(dots, tilt);
                let total: f64 = weights.iter().sum();
                weights.iter_mut().for_each(|w| *w /= total);
                (grid, dots.points.iter().zip(weights).map(|(point, weight)| (point.0, weight)).collect())
            })
            .collect();
        Some(Self { losses, sketches, query, delta, tilt, moments, right, left, proven, count })
    }

    /// The tolerance that goes with a relative precision of ε.
    fn tolerance(&self, precision: f64) -> f64 {
        match self.query {
            Query::Epsilon(_) => precision * self.proven.max(FLOOR),
            Query::Delta(epsilon) => (precision * epsilon.max(FLOOR)).min(10.0 * precision / self.tilt),
        }
    }

    /// The lattice's step for an error of about `tolerance` in ε.
    fn step(&self, tolerance: f64) -> f64 {
        let per_square = self.count * (self.tilt + 1.0) / 12.0;
        let mut wanted = (tolerance / per_square).sqrt();
        let scale = match self.query {
            Query::Epsilon(_) => self.proven,
            Query::Delta(epsilon) => epsilon,
        };
        let width = self.right.at - self.left.at;
        // Where the common step is good enough and affordable it is taken: the error is then that of other accountants.
        let good = per_square * COMMON_STEP.powi(2) <= GOOD_ENOUGH * scale;
        let affordable = width / COMMON_STEP * self.losses.len() as f64 <= AFFORDABLE;
        if good && (wanted < COMMON_STEP || affordable && tolerance <= FINE * scale.max(FLOOR)) {
            wanted = COMMON_STEP;
        }
        let step = wanted.max(width / (LONGEST / 2.0)).min(width / 32.0);
        // An atom on the lattice costs nothing: the largest is put there, unless it is within the first step.
        let atoms = self.losses.iter().flat_map(|(loss, _)| loss.atoms.iter());
        let largest = atoms.fold(0.0_f64, |largest, atom| largest.max(atom.0.abs()));
        if largest > step { largest / (largest / step).ceil() } else { step }
    }

    /// The lattice points (as losses) at which a loss is cut: every one where its tilted mass lies, fewer elsewhere.
    /// A cell of width w and tilted mass m adds as much error as m·(w/step)² cells of width one step.
    fn refine(&self, part: usize, step: f64) -> Grid {
        let (grid, weights) = &self.sketches[part];
        let widest = (1.0 / ((self.tilt + 1.0) * step)).max(1.0);
        grid.iter()
            .map(|losses| {
                let Some((&first, &last)) = losses.first().zip(losses.last()) else { return Vec::new() };
                let end = (last / step).ceil();
                let mut index = (first / step).floor();
                let narrowest = ((end - index) / MOST_CELLS).ceil().max(1.0);
                let mut points = vec![index * step];
                let mut place = weights.partition_point(|w| w.0 < first);
                for pair in losses.windows(2) {
                    let mut mass = 0.0;
                    while place < weights.len() && weights[place].0 <= pair[1] {
                        mass += weights[place].1;
                        place += 1;
                    }
                    place = place.saturating_sub(1);
                    let stride = (COARSENING / mass).sqrt().min(widest).min((pair[1] - pair[0]) / step);
                    let stride = if stride >= 2.0 { stride.floor() } else { 1.0 }.max(narrowest);
                    while index < end && index * step < pair[1] {
                        index = (index + stride).min(end);
                        points.push(index * step);
                    }
                }
                debug_assert!(index <= end);
                points
            })
            .collect()
    }

    /// One side of the bound, with an error of about `tolerance` in ε.
    pub(crate) fn answer(&self, side: Side, tolerance: f64) -> f64 {
        let step = self.step(tolerance);
        let snap = |at: f64| dots::snap(at, step);
        let parts: Vec<(Dots, u64)> = (0..self.losses.len())
            .map(|part| {
                let (loss, count) = &self.losses[part];
                let grid = self.refine(part, step);
                let dots = match side {
                    Side::Upper => dots::pessimistic(loss, &grid, snap),
                    Side::Lower => dots::optimistic(loss, &grid, snap, self.tilt),
                };
                (dots, *count)
            })
            .collect();
        let first = (self.left.at / step).floor() as i64 - 1;
        let needed = ((self.right.at - self.left.at) / step).ceil() as usize + 4;
        let composed = compose::compose(&parts, step, self.tilt, first, compose::length(needed));
        let tail = Tail::new(self, &parts, &composed, step, side);
        match self.query {
            Query::Epsilon(delta) => tail.epsilon(delta),
            Query::Delta(epsilon) => tail.delta(epsilon),
        }
    }
}

/// Upper bound over both directions (removal, addition) and, if asked for, a lower bound.
pub(crate) fn bound(
    losses: &[Vec<(Loss, u64)>; 2],
    query: Query,
    precision: f64,
    lower: bool,
) -> Option<(f64, f64)> {
    let [removal, addition] = losses;
    let mut main = Plan::new(removal, query)?;
    let mut upper = f64::NEG_INFINITY;
    if removal != addition {
        let mut other = Plan::new(addition, query)?;
        if other.proven > main.proven {
            std::mem::swap(&mut main, &mut other);
        }
        let first = main.upper(precision);
        // A coarse look is mostly enough to see that the other direction costs less.
        if other.proven > first && other.upper(16.0 * precision) > first {
            upper = other.upper(precision);
        }
        upper = upper.max(first);
    } else {
        upper = upper.max(main.upper(precision));
    }
    let below = if lower { main.answer(Side::Lower, main.tolerance(8.0 * precision)) } else { 0.0 };
    (upper.is_finite() && below <= upper).then_some((below, upper))
}

impl Plan<'_> {
    fn upper(&self, precision: f64) -> f64 {
        self.answer(Side::Upper, self.tolerance(precision)).min(self.proven)
    }
}

/// The composed law, read from the right.
struct Tail<'a> {
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
    /// Relative error of the sum, absolute error of a loss.
    relative: f64,
    shift: f64,
}

impl<'a> Tail<'a> {
    fn new(plan: &Plan, parts: &[(Dots, u64)], composed: &'a Composed, step: f64, side: Side) -> Self {
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

    fn epsilon(&self, delta: f64) -> f64 {
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

    fn delta(&self, epsilon: f64) -> f64 {
        let sign = self.side.sign();
        // The losses are shifted by at most `shift`: so may be the question.
        let epsilon = epsilon - sign * self.shift;
        let sums = self.walk(|sums| sums.loss <= epsilon);
        let sum = sums.a - (epsilon - self.reference).exp() * sums.b + sign * self.error(&sums);
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
