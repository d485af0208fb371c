//! δ(ε) with both ends proven, by rounding losses to a lattice and adding up all combinations: for
//! few events, whose characteristic function does not fall off. No Fourier transform: sums of
//! products of positive numbers.
//!
//! Below: what lies in a cell is moved to its lower end, except in the cell that holds most of the
//! mass, which is given as a whole with the loss ln P(cell)/Q(cell): not telling values within a
//! cell apart is post-processing. Above: a cell's mass is put on its two ends such that P and Q of
//! the cell stay what they are; merging the two again gives a cell that says less than the ends.
//! Masses are kept as P e^{cL} with c the saddle, so none that matters underflows.

use super::contour::Saddle;
use super::loss::{Kind, Law};
use super::normal::ln_sub;
use super::{Case, Interval, PRECISE};

/// Products that are added up, at most.
const WORK: f64 = 1.5e7;
/// Cells of one law, at most.
const CELLS: f64 = 12_000.0;

/// Tilted masses at offset + (first + k)·step; `lost`: tilted mass that was left out, at most.
#[derive(Clone)]
struct Masses {
    offset: f64,
    first: i64,
    mass: Vec<f64>,
    ln_scale: f64,
    lost: f64,
}

impl Masses {
    fn trim(&mut self) {
        let largest = self.mass.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            return;
        }
        let least = largest * 1e-17;
        let keep = |m: &f64| *m > least;
        let from = self.mass.iter().position(keep).unwrap_or(0);
        let to = self.mass.iter().rposition(keep).unwrap_or(0);
        for m in self.mass.iter_mut().filter(|m| **m <= least) {
            self.lost += std::mem::take(m);
        }
        self.mass = self.mass[from..=to].iter().map(|m| m / largest).collect();
        self.lost /= largest;
        self.first += from as i64;
        self.ln_scale += largest.ln();
    }

    /// Stretches without gaps: few jumps leave wide gaps.
    fn runs(&self) -> Vec<(usize, usize)> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (i, _) in self.mass.iter().enumerate().filter(|(_, m)| **m > 0.0) {
            match runs.last_mut() {
                Some((_, to)) if *to + 8 >= i => *to = i + 1,
                _ => runs.push((i, i + 1)),
            }
        }
        runs
    }

    /// The law of the sum; `None` beyond the work allowed.
    fn with(&self, other: &Masses, work: &mut f64) -> Option<Masses> {
        let runs = other.runs();
        let filled =
            |runs: &[(usize, usize)]| runs.iter().map(|(a, b)| (b - a) as f64).sum::<f64>();
        let length = self.mass.len() + other.mass.len() - 1;
        *work -= filled(&runs) * filled(&self.runs()) + length as f64;
        if *work < 0.0 {
            return None;
        }
        let mut mass = vec![0.0; length];
        for (i, a) in self.mass.iter().enumerate().filter(|(_, a)| **a > 0.0) {
            for &(from, to) in &runs {
                for (sum, b) in mass[i + from..].iter_mut().zip(&other.mass[from..to]) {
                    *sum += a * b;
                }
            }
        }
        let (a, b) = (self.mass.iter().sum::<f64>(), other.mass.iter().sum::<f64>());
        let mut out = Masses {
            offset: self.offset + other.offset,
            first: self.first + other.first,
            mass,
            ln_scale: self.ln_scale + other.ln_scale,
            lost: self.lost * (b + other.lost) + a * other.lost,
        };
        out.trim();
        Some(out)
    }

    fn power(&self, mut n: u64, work: &mut f64) -> Option<Masses> {
        let (mut square, mut out): (Masses, Option<Masses>) = (self.clone(), None);
        while n > 0 {
            if n & 1 == 1 {
                out = Some(match out {
                    None => square.clone(),
                    Some(out) => out.with(&square, work)?,
                });
            }
            n >>= 1;
            if n > 0 {
                square = square.with(&square, work)?;
            }
        }
        out
    }
}

/// The two roundings of one law; `None` where it would take too many points.
fn round(law: Law, c: f64, h: f64) -> Option<(Masses, Masses)> {
    if let Law::Response(e) = law {
        // The step divides 2e: exact.
        let apart = (2.0 * e / h).round();
        if apart > CELLS {
            return None;
        }
        let (yes, no) = (law.tails(0.0).0, law.tails(0.0).1);
        let (low, high) = (no - c * e, yes + c * e);
        let scale = low.max(high);
        let mut mass = vec![0.0; apart as usize + 1];
        mass[0] = (low - scale).exp();
        mass[apart as usize] = (high - scale).exp();
        let both = Masses { offset: -e, first: 0, mass, ln_scale: scale, lost: 0.0 };
        return Some((both.clone(), both));
    }
    // (ln P, ln Q) of the losses in (a, b], from the side on which they are small.
    let masses = |a: f64, b: f64| {
        let ((pa, qa), (pb, qb)) = (law.tails(a), law.tails(b));
        (ln_sub(pa, pb), ln_sub(qa, qb))
    };
    let mut offset = match law {
        Law::Mixture { kind: Kind::Removal, q, .. } => (-q).ln_1p(),
        Law::Mixture { kind: Kind::Addition, q, .. } => -(-q).ln_1p() - h,
        Law::Laplace(r) => r - h,
        _ => 0.0,
    };
    for _ in 0..8 {
        let (p, q) = masses(offset - h, offset + h);
        if p.is_finite() && q.is_finite() && (p - q - offset).abs() < h && p > -3.0 {
            offset = p - q;
        }
    }
    // Beyond these two ends lies e^{−42} of the tilted mass, by Chernoff's bound.
    let k = |c: f64| {
        if let Law::Normal(mu) = law { c * (c + 1.0) * mu * mu / 2.0 } else { law.real(c) }
    };
    let at_c = k(c);
    let (mut begin, mut end) = (f64::NEG_INFINITY, f64::INFINITY);
    for shift in -24..12 {
        let d = 2.0f64.powi(shift);
        end = end.min((k(c + d) - at_c + 42.0) / d);
        begin = begin.max(-(k(c - d) - at_c + 42.0) / d);
    }
    let (begin, end) = ((begin - offset) / h, ((end.min(law.largest()) - offset) / h));
    if !(end - begin < CELLS && begin.abs() < 1e9 && end.abs() < 1e9) {
        return None;
    }
    let mut cells: Vec<(i64, f64, f64)> = Vec::new();
    let mut largest = f64::NEG_INFINITY;
    let mut left = law.tails(offset + begin.floor() * h);
    for k in begin.floor() as i64..=end.ceil() as i64 {
        let right = law.tails(offset + (k + 1) as f64 * h);
        let (p, q) = (ln_sub(left.0, right.0), ln_sub(left.1, right.1));
        left = right;
        if p > f64::NEG_INFINITY {
            largest = largest.max(p + c * (offset + (k + 1) as f64 * h));
            cells.push((k, p, q));
        }
    }
    cells.sort_by_key(|cell| cell.0);
    let (first, last) = (cells.first()?.0, cells.last()?.0);
    let length = (last - first + 3) as usize;
    let place = |k: i64| (k - first) as usize;
    let mut lower = vec![0.0; length];
    let mut upper = vec![0.0; length];
    let heavy = masses(offset - h, offset + h);
    let merged = heavy.0 - heavy.1 >= offset;
    for (k, p, q) in &cells {
        let a = offset + *k as f64 * h;
        let at = |k: i64| (p + c * (offset + k as f64 * h) - largest).exp();
        // The two cells about the offset together have at least the loss of the offset.
        let down = if merged && *k == -1 { 0 } else { *k };
        if down < first {
            continue;
        }
        lower[place(down)] += at(down);
        // Share at the upper end: P and Q of the cell stay.
        let share = (-(q + a - p).exp_m1() / -(-h).exp_m1()).clamp(0.0, 1.0);
        let share = (share + 1e-13 / h.min(1.0)).min(1.0);
        upper[place(*k)] += (1.0 - share) * at(*k);
        upper[place(*k + 1)] += share * at(*k + 1);
    }
    let make = |mass: Vec<f64>| Masses {
        offset,
        first,
        mass,
        ln_scale: largest,
        lost: (at_c - largest - 40.0).exp(),
    };
    Some((make(lower), make(upper)))
}

/// ln δ(ε); the lattice gets finer as long as that is not enough and the work is allowed.
pub fn delta(
    case: &Case,
    epsilon: f64,
    saddle: &Saddle,
    decided: impl Fn(&Interval) -> bool,
) -> Interval {
    let mut answer = Interval { low: f64::NEG_INFINITY, high: 0.0 };
    let c = saddle.c.max(0.0);
    let mut laws = case.laws.clone();
    if case.gaussian > 0.0 {
        laws.push((Law::Normal(case.gaussian.sqrt()), 1.0));
    }
    // The spread of the tilted sum, from the second difference of its logarithmic moments.
    let spread = |law: &Law, count: f64| {
        let d = 0.05 * (c + 0.02);
        let k = |c: f64| {
            if let Law::Normal(mu) = law { c * (c + 1.0) * mu * mu / 2.0 } else { law.real(c) }
        };
        count * ((k(c + d) + k(c - d) - 2.0 * k(c)) / (d * d)).max(0.0)
    };
    let sd = laws.iter().map(|(law, count)| spread(law, *count)).sum::<f64>().sqrt();
    let responses: Vec<f64> = laws
        .iter()
        .filter_map(|(law, _)| if let Law::Response(e) = law { Some(*e) } else { None })
        .collect();
    for points in [500.0, 3000.0, 18_000.0] {
        let mut h = 20.0 * sd / points;
        if !(h > 0.0 && h.is_finite()) || responses.len() > 1 {
            break;
        }
        if let [e] = responses[..] {
            h = 2.0 * e / (2.0 * e / h).ceil();
        }
        match at_step(&laws, epsilon, c, h) {
            Some(better) => answer = answer.meet(better),
            None => break,
        }
        if answer.width() < PRECISE || decided(&answer) {
            break;
        }
    }
    answer
}

fn at_step(laws: &[(Law, f64)], epsilon: f64, c: f64, h: f64) -> Option<Interval> {
    let mut total: Option<(Masses, Masses)> = None;
    let mut work = WORK;
    for (law, count) in laws {
        let (lower, upper) = round(*law, c, h)?;
        let n = *count as u64;
        let both = (lower.power(n, &mut work)?, upper.power(n, &mut work)?);
        total = Some(match total {
            None => both,
            Some((lower, upper)) => {
                (lower.with(&both.0, &mut work)?, upper.with(&both.1, &mut work)?)
            }
        });
    }
    let (lower, upper) = total?;
    let sum = |masses: &Masses| {
        masses.mass.iter().enumerate().fold(0.0, |sum, (k, m)| {
            let l = masses.offset + (masses.first + k as i64) as f64 * h;
            if *m > 0.0 && l > epsilon {
                sum + m * -(epsilon - l).exp_m1() * (c * (epsilon - l)).exp()
            } else {
                sum
            }
        })
    };
    let steps: f64 = laws.iter().map(|(_, n)| n).sum();
    let slack = 1e-9 + 1e-12 * (c * epsilon + upper.ln_scale.abs()) + 1e-15 * steps;
    let low = sum(&lower).ln() + lower.ln_scale - c * epsilon - slack;
    let high = (sum(&upper) + upper.lost).ln() + upper.ln_scale - c * epsilon + slack;
    Some(Interval { low, high: high.min(0.0) })
}
