//! From a loss to a measure on finitely many points whose profile is above (pessimistic) or below
//! (optimistic) it.
//!
//! Only h(ε) = E[(1 − e^{ε−L})₊] matters, and composition keeps pointwise order: E over the other
//! losses of h is monotone in h. So each event may be replaced by any measure, normalised or not,
//! with a larger (smaller) h.
//!
//! - **Pessimistic**: connect the dots (Doroshenko et al. 2022). A cell's masses (P, Q) go to its
//!   two ends so that both are kept: h becomes its chord in e^ε, above the convex curve. What lies
//!   below the grid moves up to its first point, what lies above becomes infinite.
//! - **Optimistic**: half a cell becomes one atom with loss ln(P/Q), which is post-processing; and
//!   atoms on both sides of a point are merged in the proportion that puts the merged loss on the
//!   point, which is post-processing as well. The cost is O(cell²) per event. (Rounding the atoms
//!   down to the grid would cost O(cell).)
//!
//! Evaluation errors push outward: see `SLACK`.

use super::loss::{Cut, PrivacyLoss};
use crate::outward::{at_least, at_most};
use crate::round::UNIT;

/// Error of a tail mass in units of roundings (erfc below 1 ulp, two products, one sum, one cut
/// position).
pub(super) const SLACK: f64 = 8.0 * UNIT;

/// Below this a Q-mass has lost digits to underflow and is not relied on.
const TINY: f64 = 1e-290;

/// A measure on losses: (loss, mass), ascending, and the mass at infinity.
#[derive(Debug, Clone)]
pub(crate) struct Dots {
    pub points: Vec<(f64, f64)>,
    pub infinity: f64,
}

/// How wrong the (P, Q) between two cuts can be.
fn slack(low: &Cut, high: &Cut) -> (f64, f64) {
    let one = |above: f64, below: f64| SLACK * at_most(above, below);
    (
        one(low.p_above, low.p_below) + one(high.p_above, high.p_below),
        one(low.q_above, low.q_below) + one(high.q_above, high.q_below),
    )
}

/// Losses at which a segment is cut, one list per segment of the loss, ascending.
pub(crate) type Grid = Vec<Vec<f64>>;

/// Splits (P, Q), whose losses lie within [low, high], between the two ends; pessimistic if in
/// doubt.
fn split(p: f64, q: f64, low: f64, high: f64, doubt: f64) -> (f64, f64) {
    if q < TINY {
        return (0.0, p);
    }
    let up = at_most(at_least((p - low.exp() * q + doubt) / -(low - high).exp_m1(), 0.0), p);
    (p - up, up)
}

/// The pessimistic measure on the points of the grid; `snap` gives the grid's points around an
/// atom.
pub(crate) fn pessimistic(
    loss: &PrivacyLoss,
    grid: &Grid,
    snap: impl Fn(f64) -> (f64, f64),
) -> Dots {
    let mut points = Vec::new();
    let mut infinity = loss.infinity;
    for (segment, losses) in loss.segments.iter().zip(grid) {
        let Some(&first) = losses.first() else { continue };
        let mut low = first;
        let mut low_cut = segment.pair.cut(first);
        let mut carried = if segment.from.is_finite() { 0.0 } else { low_cut.p_below };
        for &high in &losses[1..] {
            let high_cut = segment.pair.cut(high);
            let (p, q) = Cut::between(&low_cut, &high_cut);
            let (doubt_p, doubt_q) = slack(&low_cut, &high_cut);
            let (down, up) = split(p, q, low, high, doubt_p + at_most(low.exp(), 1e300) * doubt_q);
            points.push((low, carried + down));
            carried = up;
            (low, low_cut) = (high, high_cut);
        }
        if segment.to.is_finite() {
            // Rounding may have left the last point a hair short of the end.
            carried += Cut::between(&low_cut, &segment.pair.cut(at_least(segment.to, low))).0;
        }
        points.push((low, carried));
        if !segment.to.is_finite() {
            infinity += low_cut.p_above * (1.0 + SLACK);
        }
    }
    for &(at, mass) in &loss.atoms {
        let (low, high) = snap(at);
        if low < high {
            let (down, up) =
                split(mass, mass * (-at).exp(), low, high, mass * SLACK * (1.0 + at.abs()));
            points.push((low, down));
            points.push((high, up));
        } else {
            points.push((low, mass));
        }
    }
    Dots { points: gather(points), infinity }
}

/// How many cells above its own a point may take from.
const REACHES: [usize; 4] = [0, 2, 12, 64];

/// The optimistic measure on the points of the grid; the tilt says which losses matter.
pub(crate) fn optimistic(
    loss: &PrivacyLoss,
    grid: &Grid,
    snap: impl Fn(f64) -> (f64, f64),
    tilt: f64,
) -> Dots {
    let (mut atoms, mut points, mut sure) = (Vec::new(), Vec::new(), Vec::new());
    for (segment, losses) in loss.segments.iter().zip(grid) {
        let Some(&first) = losses.first() else { continue };
        let mut low_cut = segment.pair.cut(first);
        let mut take = |floor: f64, high_cut: Cut| {
            let (p, q) = Cut::between(&low_cut, &high_cut);
            let (doubt_p, doubt_q) = slack(&low_cut, &high_cut);
            atoms.push(Atom { floor, p: at_least(p - doubt_p, 0.0), q: q + doubt_q });
            low_cut = high_cut;
        };
        for pair in losses.windows(2) {
            take(pair[0], segment.pair.cut(0.5 * (pair[0] + pair[1])));
            take(pair[0], segment.pair.cut(pair[1]));
        }
        if segment.to.is_infinite() {
            let end = Cut { p_above: 0.0, p_below: 1.0, q_above: 0.0, q_below: 1.0 };
            take(losses[losses.len() - 1], end);
        }
        points.extend_from_slice(losses);
    }
    for &(at, mass) in &loss.atoms {
        let (low, high) = snap(at);
        points.extend([low, high]);
        if low == high {
            sure.push((low, mass));
            continue;
        }
        atoms.push(Atom {
            floor: low,
            p: mass * (1.0 - SLACK),
            q: mass * (-at).exp() * (1.0 + SLACK),
        });
    }
    points.sort_by(f64::total_cmp);
    points.dedup();
    atoms.retain(|atom| atom.p > 0.0);
    if !loss.atoms.is_empty() {
        atoms.sort_by(|a, b| (a.p / a.q).total_cmp(&(b.p / b.q)));
        atoms.sort_by(|a, b| a.floor.total_cmp(&b.floor));
    }
    // Every reach is sound. A long one is best where the density is smooth, a short one where a
    // narrow bulk would eat up its thin tail: the one that leaves the largest moment is taken.
    let moment = |masses: &[(f64, f64)]| {
        masses.iter().map(|&(at, mass)| at_most(tilt * at, 700.0).exp() * mass).sum::<f64>()
    };
    let merged = REACHES.map(|reach| merge(&points, &atoms, reach));
    let best = merged.into_iter().max_by(|a, b| moment(a).total_cmp(&moment(b)));
    sure.extend(best.unwrap_or_default());
    Dots { points: gather(sure), infinity: loss.infinity }
}

/// One output of the coarse-grained mechanism: its masses, and a point of the grid that its loss is
/// not below.
#[derive(Debug, Clone, Copy)]
struct Atom {
    floor: f64,
    p: f64,
    q: f64,
}

/// Merges atoms until their losses are points of the grid: each point, from the left, takes what is
/// left below it and as much from the cells above it (as many as `reach`, and one) as brings the
/// merged loss to the point. Where they have too little, what is below moves down to the point
/// before instead.
fn merge(points: &[f64], atoms: &[Atom], reach: usize) -> Vec<(f64, f64)> {
    let mut masses: Vec<(f64, f64)> = points.iter().map(|&at| (at, 0.0)).collect();
    // The first atom that is not used up, and how much of it is left.
    let (mut next, mut left) = (0, 1.0);
    for k in 0..points.len() {
        let scale = points[k].exp();
        let (mut low, mut missing) = (0.0, 0.0);
        while let Some(atom) = atoms.get(next) {
            if atom.q < TINY && atom.floor <= points[k] {
                // Its Q-mass is not reliable: its floor is.
                let floor = points.partition_point(|&at| at <= atom.floor) - 1;
                masses[floor].1 += left * atom.p;
            } else {
                let lacking = left * (scale * atom.q - atom.p);
                if atom.q < TINY || lacking <= 0.0 {
                    break;
                }
                low += left * atom.p;
                missing += lacking;
            }
            (next, left) = (next + 1, 1.0);
        }
        if low == 0.0 {
            continue;
        }
        let (mut high, mut end, mut rest) = (0.0, next, left);
        let farthest = points[k.saturating_add(reach).min(points.len() - 1)];
        while missing > 0.0 {
            let Some(atom) = atoms.get(end).filter(|atom| atom.floor <= farthest && atom.q >= TINY)
            else {
                break;
            };
            let surplus = rest * (atom.p - scale * atom.q);
            if surplus > missing {
                let share = at_most(missing / surplus * (1.0 + 8.0 * UNIT), 1.0);
                high += share * rest * atom.p;
                rest *= 1.0 - share;
                missing = 0.0;
            } else {
                high += rest * atom.p;
                missing -= surplus;
                (end, rest) = (end + 1, 1.0);
            }
        }
        if missing <= 0.0 {
            masses[k].1 += low + high;
            (next, left) = (end, rest);
        } else if let Some(before) = k.checked_sub(1) {
            masses[before].1 += low;
        }
    }
    if let (Some(last), Some(atom)) = (masses.last_mut(), atoms.get(next)) {
        last.1 += left * atom.p + atoms[next + 1..].iter().map(|atom| atom.p).sum::<f64>();
    }
    masses.retain(|&(_, mass)| mass > 0.0);
    masses
}

fn gather(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    // What is not a number is kept: it must not pass for nothing.
    points.retain(|&(_, mass)| mass != 0.0);
    points
}

/// The lattice points around a loss, twice the same when it is on the lattice up to rounding.
pub(crate) fn snap(at: f64, step: f64) -> (f64, f64) {
    let near = (at / step).round() * step;
    if (near - at).abs() <= 8.0 * UNIT * at.abs() {
        (near, near)
    } else {
        ((at / step).floor() * step, (at / step).ceil() * step)
    }
}

/// A coarse pessimistic measure that follows the loss's own scale; its points are not on any
/// lattice.
pub(crate) fn sketch(loss: &PrivacyLoss, low: f64, high: f64, points: u32) -> (Grid, Dots) {
    let grid: Grid =
        loss.segments.iter().map(|segment| loss.sketch(segment, low, high, points)).collect();
    let discretise = pessimistic(loss, &grid, |at| (at, at));
    (grid, discretise)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    fn profile(discretise: &Dots, epsilon: f64) -> f64 {
        discretise.infinity
            + discretise
                .points
                .iter()
                .map(|&(l, m)| m * (-(epsilon - l).exp_m1()).max(0.0))
                .sum::<f64>()
    }

    #[test]
    fn one_event_is_bracketed_at_every_loss() {
        for loss in [
            PrivacyLoss::removal(0.1, 1.0),
            PrivacyLoss::addition(0.1, 1.0),
            PrivacyLoss::exchange(0.2, 0.8),
            PrivacyLoss::symmetric(0.05, 1.5),
            PrivacyLoss::gaussian(0.5),
            PrivacyLoss::laplace(1.2),
            PrivacyLoss::pushed(0.7, 0.2, 0.2),
            PrivacyLoss::pushed(0.6, 0.0, 0.09),
        ] {
            let step = 0.01;
            let grid: Grid = loss
                .segments
                .iter()
                .map(|segment| {
                    let ends = loss.sketch(segment, 1e-16, 1e-16, 10);
                    let from = (ends[0] / step).floor() as i64;
                    let to = (ends[ends.len() - 1] / step).ceil() as i64;
                    (from..=to).map(|k| k as f64 * step).collect()
                })
                .collect();
            let snap = |at: f64| snap(at, step);
            let (up, down) = (pessimistic(&loss, &grid, snap), optimistic(&loss, &grid, snap, 1.0));
            for k in -200..200 {
                let epsilon = f64::from(k) * 0.013;
                let mut exact: f64 = loss.infinity;
                for segment in &loss.segments {
                    let cut = segment.pair.cut(epsilon.clamp(segment.from, segment.to));
                    let end = segment.pair.cut(segment.to);
                    let (p, q) = if segment.to.is_finite() {
                        Cut::between(&cut, &end)
                    } else {
                        (cut.p_above, cut.q_above)
                    };
                    exact += p - epsilon.exp() * q;
                }
                for &(at, mass) in &loss.atoms {
                    exact += mass * (-(epsilon - at).exp_m1()).max(0.0);
                }
                let (low, high) = (profile(&down, epsilon), profile(&up, epsilon));
                assert!(
                    low <= exact + 1e-13 && exact <= high + 1e-13,
                    "{loss:?} at {epsilon}: {low} {exact} {high}"
                );
                assert!(high - low < 2e-3, "{loss:?} at {epsilon}: {low} {high}");
            }
        }
    }
}
