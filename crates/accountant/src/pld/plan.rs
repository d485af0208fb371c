//! How one question is answered: a tilt, a window and a lattice, found on a sketch of the losses.

use super::compose;
use super::discretise::{self, Dots, Grid};
use super::tail::Tail;
use super::tilt::{self, TiltEdge};
use super::{BoundQuery, FINE, FLOOR, PrivacyLoss, Side};
use crate::outward::{Lower, Upper, at_least, at_most, largest};
use crate::round::UNIT;

/// The step that other accountants use, and the relative error of ε up to which it is good enough.
const COMMON_STEP: f64 = 1e-4;
const GOOD_ENOUGH: f64 = 3e-4;
/// Lattice points, over all parts, that are spent on the common step where a coarser one would do.
const AFFORDABLE: f64 = 262_144.0;
/// Points of the first picture.
const SKETCH: u32 = 240;
/// Longest transform.
const LONGEST: f64 = 1_048_576.0;
/// Cells that one loss is cut into at the most. Beyond, all are wider: a coarser cut is still a
/// bound.
const MOST_CELLS: f64 = 1_048_576.0;
/// The finest step, as a share of the farthest loss: all lattice points are then whole multiples to
/// the last digit.
const FINEST: f64 = 1.0 / (1_u64 << 44) as f64;
/// The largest tilt times step.
const WIDEST_EXPONENT: f64 = 16.0;
/// What a window has around it at the least, as a share of the loss that it is about.
const NARROWEST: f64 = 1e-7;
/// Tilted mass that may lie outside the window on either side.
const LOG_OUTSIDE: f64 = -16.0;
/// Tilted mass times squared width that a coarse cell may have, in fine cells.
const COARSENING: f64 = 1e-3;
/// Smallest δ whose tails fit into floats with room for all the factors.
const SMALLEST_DELTA: f64 = 1e-200;

/// The points of a loss with their shares of its tilted mass.
fn weighed(discretise: &Dots, tilt: f64) -> Vec<(f64, f64)> {
    let (weights, _) = tilt::tilted(discretise, tilt);
    let total: f64 = weights.iter().sum();
    let points = discretise.points.iter().zip(weights);
    points.map(|(point, weight)| (point.0, weight / total)).collect()
}

/// What the largest losses say, all of them together, where there is nothing to plan: the losses of
/// one direction may end far below the ε that is asked for.
pub(super) fn crude(losses: &[(PrivacyLoss, u64)], query: BoundQuery) -> Upper {
    let count: f64 = losses.iter().map(|(_, count)| *count as f64).sum();
    let reach = match query {
        BoundQuery::Epsilon(delta) => delta * 1e-3 / count,
        BoundQuery::Delta(_) => 1e-60 / count,
    };
    let (mut most, mut infinity) = (0.0, 0.0);
    for (loss, times) in losses {
        let (_, discretise) = discretise::sketch(loss, reach, reach, SKETCH);
        most += *times as f64 * largest(discretise.points.iter().map(|point| point.0), 0.0);
        infinity += *times as f64 * discretise.infinity;
    }
    let (most, infinity) =
        (Upper::new(most).up(64.0 + count), Upper::delta(infinity).up(64.0 + count));
    match query {
        BoundQuery::Epsilon(delta) if infinity.within(delta) => most,
        BoundQuery::Epsilon(_) => Upper::INFINITE,
        BoundQuery::Delta(epsilon) if most.within(epsilon) => infinity,
        BoundQuery::Delta(_) => Upper::delta(1.0),
    }
}

/// Everything that both sides of the bound share.
pub(super) struct AccountingPlan<'a> {
    losses: &'a [(PrivacyLoss, u64)],
    /// For each loss the sketch's grid and its (loss, tilted mass).
    sketches: Vec<(Grid, Vec<(f64, f64)>)>,
    query: BoundQuery,
    /// The query's δ, or an estimate of it.
    delta: f64,
    pub tilt: f64,
    pub right: TiltEdge,
    pub left: TiltEdge,
    /// Bound by moments alone, which the sketch has already proven: ε or δ, as asked.
    pub proven: Upper,
    pub count: f64,
    /// The largest loss of the sketches, in size.
    farthest: f64,
}

impl<'a> AccountingPlan<'a> {
    /// Looks at the losses coarsely; `None` when the query is out of the range of this method.
    pub(super) fn new(losses: &'a [(PrivacyLoss, u64)], query: BoundQuery) -> Option<Self> {
        let count: f64 = losses.iter().map(|(_, count)| *count as f64).sum();
        // The tails must reach beyond what the answer can see.
        let reach = |delta: f64| at_least(delta * 1e-9 / count, SMALLEST_DELTA * 1e-20);
        match query {
            BoundQuery::Epsilon(delta) => Self::draft(losses, query, count, reach(delta)),
            BoundQuery::Delta(_) => {
                let first = Self::draft(losses, query, count, 1e-60)?;
                Self::draft(losses, query, count, reach(first.delta))
            }
        }
    }

    fn draft(
        losses: &'a [(PrivacyLoss, u64)],
        query: BoundQuery,
        count: f64,
        reach: f64,
    ) -> Option<Self> {
        if matches!(query, BoundQuery::Epsilon(delta) if delta < SMALLEST_DELTA) {
            return None;
        }
        let sketch = |(loss, times): &(PrivacyLoss, u64)| {
            let (grid, discretise) = discretise::sketch(loss, 1e-13 / count, reach, SKETCH);
            (grid, (discretise, *times))
        };
        let (grids, parts): (Vec<_>, Vec<_>) = losses.iter().map(sketch).unzip();
        let infinity: f64 =
            parts.iter().map(|(discretise, times)| discretise.infinity * *times as f64).sum();
        if parts.iter().any(|(discretise, _)| discretise.points.is_empty()) || infinity >= 1.0 {
            return None;
        }
        let plain = tilt::total(&parts, 0.0);
        let scale = 1.0 / at_least(plain.variance.sqrt(), 1e-12);
        let objective = |s: f64| {
            let log = tilt::total_log(&parts, s);
            match query {
                BoundQuery::Epsilon(delta) => {
                    tilt::epsilon_at(log, s, at_least(delta - infinity, 0.0).ln())
                }
                BoundQuery::Delta(epsilon) => {
                    crate::rdp::log_delta_tight(1.0 + s, log / s, epsilon)
                }
            }
        };
        let tilt = tilt::best_tilt(scale, objective);
        let estimate = objective(tilt);
        let moments = tilt::total(&parts, tilt);
        let [mut right, mut left] =
            [1.0, -1.0].map(|side| tilt::edge(&parts, tilt, &moments, LOG_OUTSIDE, side));
        // A law that is all in one place has a window too; a wider one leaves less outside.
        let margin = NARROWEST * (1.0 + moments.mean.abs());
        (right.at, left.at) = (right.at + margin, left.at - margin);
        let delta = match query {
            BoundQuery::Epsilon(delta) => delta,
            BoundQuery::Delta(_) => Upper::exp(estimate).value() + infinity,
        };
        let points = parts.iter().flat_map(|(discretise, _)| &discretise.points);
        let edge = at_least(right.at.abs(), left.at.abs());
        let farthest = largest(points.map(|point| point.0.abs()), edge);
        // K(s) is off by a few hundred roundings per event and by those of its exponents, and ε by
        // that over s.
        let (per_event, exponents) = (1e-13 * count, 64.0 * UNIT * count * farthest);
        let proven = match query {
            BoundQuery::Epsilon(_) => Upper::epsilon(
                estimate * (1.0 + 1e-10) + per_event * (1.0 + 1.0 / tilt) + exponents,
            ),
            BoundQuery::Delta(_) => {
                Upper::delta(delta * (1e-10 + per_event * (1.0 + tilt) + exponents * tilt).exp())
            }
        };
        let usable =
            [tilt, estimate, moments.log, moments.mean, moments.variance, right.at, left.at];
        if !usable.iter().all(|value| value.is_finite()) || right.at <= left.at {
            return None;
        }
        let weighed = parts.iter().map(|(discretise, _)| weighed(discretise, tilt));
        let sketches = grids.into_iter().zip(weighed).collect();
        Some(Self { losses, sketches, query, delta, tilt, right, left, proven, count, farthest })
    }

    /// The tolerance that goes with a relative precision of ε.
    pub(super) fn tolerance(&self, precision: f64) -> f64 {
        match self.query {
            BoundQuery::Epsilon(_) => precision * at_least(self.proven.value(), FLOOR),
            BoundQuery::Delta(epsilon) => {
                at_most(precision * at_least(epsilon, FLOOR), 10.0 * precision / self.tilt)
            }
        }
    }

    /// The lattice's step for an error of about `tolerance` in ε.
    fn step(&self, tolerance: f64) -> f64 {
        let per_square = self.count * (self.tilt + 1.0) / 12.0;
        let mut wanted = (tolerance / per_square).sqrt();
        let scale = match self.query {
            BoundQuery::Epsilon(_) => self.proven.value(),
            BoundQuery::Delta(epsilon) => epsilon,
        };
        let width = self.right.at - self.left.at;
        // Where the common step is good enough and affordable it is taken: the error is then that
        // of other accountants.
        let good = per_square * COMMON_STEP.powi(2) <= GOOD_ENOUGH * scale;
        let affordable = width / COMMON_STEP * self.losses.len() as f64 <= AFFORDABLE;
        if good
            && (wanted < COMMON_STEP || affordable && tolerance <= FINE * at_least(scale, FLOOR))
        {
            wanted = COMMON_STEP;
        }
        // A step must not be so wide that the tilted law changes beyond the range of floats on its
        // way.
        let wanted = at_most(at_most(wanted, width / 32.0), WIDEST_EXPONENT / (self.tilt + 1.0));
        let step = at_least(wanted, width / (LONGEST / 2.0));
        let step = at_least(step, self.farthest * FINEST);
        // An atom on the lattice costs nothing: the largest is put there, unless it is within the
        // first step.
        let atoms = self.losses.iter().flat_map(|(loss, _)| loss.atoms.iter());
        let largest = largest(atoms.map(|atom| atom.0.abs()), 0.0);
        if largest > step { largest / (largest / step).ceil() } else { step }
    }

    /// The lattice points (as losses) at which a loss is cut: every one where its tilted mass lies,
    /// fewer elsewhere. A cell of width w and tilted mass m adds as much error as m·(w/step)² cells
    /// of width one step.
    fn refine(&self, part: usize, step: f64) -> Grid {
        let (grid, weights) = &self.sketches[part];
        let widest = at_least(1.0 / ((self.tilt + 1.0) * step), 1.0);
        let segments = &self.losses[part].0.segments;
        grid.iter()
            .zip(segments)
            .map(|(losses, segment)| {
                let Some((&first, &last)) = losses.first().zip(losses.last()) else {
                    return Vec::new();
                };
                let end = (last / step).ceil();
                // One point more where the law has no end: what rounding puts below the first has a
                // place to move down to.
                let spare = if segment.from.is_finite() { 0.0 } else { 1.0 };
                let mut index = (first / step).floor() - spare;
                let narrowest = at_least(((end - index) / MOST_CELLS).ceil(), 1.0);
                let mut points = vec![index * step];
                let mut place = weights.partition_point(|w| w.0 < first);
                for pair in losses.windows(2) {
                    let mut mass = 0.0;
                    while place < weights.len() && weights[place].0 <= pair[1] {
                        mass += weights[place].1;
                        place += 1;
                    }
                    place = place.saturating_sub(1);
                    let stride = at_most(
                        at_most((COARSENING / mass).sqrt(), widest),
                        (pair[1] - pair[0]) / step,
                    );
                    let stride =
                        at_least(if stride >= 2.0 { stride.floor() } else { 1.0 }, narrowest);
                    while index < end && index * step < pair[1] {
                        index = at_most(index + stride, end);
                        points.push(index * step);
                    }
                }
                debug_assert!(index <= end);
                points
            })
            .collect()
    }

    /// One side of the bound, with an error of about `tolerance` in ε; `None` where no lattice of
    /// allowed size is fine enough to see anything.
    fn answer(&self, side: Side, tolerance: f64) -> Option<f64> {
        let step = self.step(tolerance);
        let needed = ((self.right.at - self.left.at) / step).ceil() + 4.0;
        let first = (self.left.at / step).floor() - 1.0;
        let small = Upper::new(self.delta).within(SMALLEST_DELTA);
        if small || !step.is_normal() || !Upper::new(needed).within(2.0 * LONGEST) {
            return None;
        }
        let snap = |at: f64| discretise::snap(at, step);
        let parts: Vec<(Dots, u64)> = (0..self.losses.len())
            .map(|part| {
                let (loss, count) = &self.losses[part];
                let grid = self.refine(part, step);
                let discretise = match side {
                    Side::Upper => discretise::pessimistic(loss, &grid, snap),
                    Side::Lower => discretise::optimistic(loss, &grid, snap, self.tilt),
                };
                (discretise, *count)
            })
            .collect();
        let length = compose::length(needed as usize);
        let composed = compose::compose(&parts, step, self.tilt, first as i64, length);
        let tail = Tail::new(self, &parts, &composed, step, side);
        Some(match self.query {
            BoundQuery::Epsilon(delta) => tail.epsilon(delta),
            BoundQuery::Delta(epsilon) => tail.delta(epsilon),
        })
    }

    /// The upper side, to a relative precision of ε, and whether the lattice said so rather than
    /// the moments.
    pub(super) fn upper(&self, precision: f64) -> (Upper, bool) {
        let read =
            self.answer(Side::Upper, self.tolerance(precision)).map_or(Upper::INFINITE, Upper::new);
        (read.least(self.proven), read.within(self.proven.value()))
    }

    /// The lower side.
    pub(super) fn lower(&self, precision: f64) -> Lower {
        self.answer(Side::Lower, self.tolerance(precision)).map_or(Lower::ZERO, Lower::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the sketch proves of δ is above what it found by all that its events and its exponents
    /// may be off.
    #[test]
    fn a_bound_by_moments_has_every_rounding_in_it() {
        let losses = [(PrivacyLoss::gaussian(1e-3), 1_000_000), (PrivacyLoss::gaussian(3.0), 2)];
        for epsilon in [20.0, 60.0] {
            let plan = AccountingPlan::new(&losses, BoundQuery::Delta(epsilon)).unwrap();
            let events = 1e-13 * plan.count * (1.0 + plan.tilt);
            let exponents = 64.0 * UNIT * plan.count * plan.farthest * plan.tilt;
            assert!(exponents > 0.1 * events, "each is seen beside the other");
            let said = (plan.proven.value() / plan.delta).ln() / (events + exponents);
            assert!((1.0..1.01).contains(&said), "{said}");
        }
    }
}
