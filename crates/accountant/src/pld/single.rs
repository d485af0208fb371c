//! Lower ends for a list of events that single losses give, however far the losses reach.
//!
//! - One event alone: whoever sees a list of events sees each of them. For ε beyond the range of
//!   e^x, or where the Q-mass is, it is not asked: h(ε) ≥ (1 − e^{−t}) P(L > ε + t) for every
//!   t > 0.
//! - Some event of the list: S = "one of the losses is above a" has P(S) = 1 − Π(1 − p)^T and
//!   Q(S) = 1 − Π(1 − q)^T with p and q one event's masses above a, and h(ε) ≥ P(S) − e^ε Q(S)
//!   for every a. The best a is near ε + ΣT(p − q), where the derivative is 0. All that a draw of
//!   one in a million in 10⁵ steps shows is of this kind.

use super::BoundQuery;
use super::discretise::SLACK;
use super::loss::{Cut, PrivacyLoss};
use crate::outward::{Lower, at_least, at_most};

/// From here on e^ε times a Q-mass has lost its digits.
const LARGEST_EXPONENT: f64 = 600.0;
/// How far above ε the loss is asked for then.
const MARGINS: [f64; 3] = [0.3, 1.0, 3.0];
/// What the parameters of a loss may be off, relative to ε and to its masses.
const OFF: f64 = 1e-12;
/// Halvings of the range of a.
const HALVINGS: u32 = 30;
/// How far above the best a one is asked for too: where the Q-mass is not known, e^{−t} stands for
/// it.
const FARTHER: [f64; 3] = [0.0, 3.0, 30.0];
/// Q-masses below this have lost their digits: then q ≤ e^{−a} p is asked.
const SMALLEST_MASS: f64 = 1e-290;

/// What p and q at a loss of a may be off: a tail Φ(−x) by x² ≈ −2 ln p of the rounding of x.
fn doubt(a: f64, p: f64) -> f64 {
    16.0 * SLACK * (1.0 + a + at_most(-p.ln(), 800.0))
}

/// (P, Q) of a loss above ε, and what its atoms there leave of their mass.
fn above(loss: &PrivacyLoss, epsilon: f64) -> (f64, f64, f64) {
    let (mut p, mut q, mut atoms) = (0.0, 0.0, 0.0);
    for segment in loss.segments.iter().filter(|segment| segment.to > epsilon) {
        let cut = segment.pair.cut(at_least(epsilon, segment.from));
        let end = segment.to.is_finite().then(|| segment.pair.cut(segment.to));
        let (more_p, more_q) =
            end.map_or((cut.p_above, cut.q_above), |end| Cut::between(&cut, &end));
        (p, q) = (p + more_p, q + more_q);
    }
    for (at, mass) in loss.atoms.iter().filter(|(at, _)| *at > epsilon) {
        atoms += mass * -(epsilon - at).exp_m1();
    }
    (p, q, atoms)
}

/// h(ε) of one event, from below.
fn profile(loss: &PrivacyLoss, epsilon: f64) -> Lower {
    let epsilon = epsilon * (1.0 + OFF);
    let (p, q, atoms) = above(loss, epsilon);
    let known = epsilon < LARGEST_EXPONENT && (p == 0.0 || q >= SMALLEST_MASS);
    let found = if known {
        let paid = epsilon.exp() * q;
        p - paid - doubt(epsilon, p) * (p + paid) + atoms
    } else {
        MARGINS
            .iter()
            .fold(Lower::ZERO, |most, margin| {
                let (p, _, atoms) = above(loss, epsilon + margin);
                most.largest(Lower::new(-(-margin).exp_m1() * (p + atoms)))
            })
            .value()
    };
    Lower::new((loss.infinity + found) * (1.0 - 1e3 * OFF))
}

/// What a list of events has above a loss.
#[derive(Default)]
struct Above {
    /// Σ −T ln(1 − p) and Σ −T ln(1 − q): that of no event is above has e to the minus of it.
    p: f64,
    q: f64,
    /// ΣTp.
    sum: f64,
    /// Whether a Q-mass has lost its digits.
    lost: bool,
}

impl Above {
    fn of(losses: &[(PrivacyLoss, u64)], a: f64) -> Self {
        let mut found = Self::default();
        for (loss, count) in losses {
            let (mut p, mut q, _) = above(loss, a);
            p += loss.infinity;
            for (at, mass) in loss.atoms.iter().filter(|(at, _)| *at > a) {
                (p, q) = (p + mass, q + mass * (-at).exp());
            }
            let (p, q, count) = (at_most(p, 1.0), at_most(q, 1.0), *count as f64);
            found.p -= count * (-p).ln_1p();
            found.q -= count * (-q).ln_1p();
            found.sum += count * p;
            found.lost |= p > loss.infinity && !Lower::new(q).reaches(SMALLEST_MASS);
        }
        found
    }
}

/// h(ε) of a list of events, from below: some loss of the list is above a.
fn some(losses: &[(PrivacyLoss, u64)], epsilon: f64) -> Lower {
    let count: f64 = losses.iter().map(|(_, count)| *count as f64).sum();
    let (mut low, mut high) = (0.0, count);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        let reaches = Lower::new(Above::of(losses, epsilon + middle).sum).reaches(middle);
        (low, high) = if reaches { (middle, high) } else { (low, middle) };
    }
    let with = |more: f64| {
        let a = epsilon + more;
        // A loss may be off by its parameters: P is asked a little above, Q a little below.
        let told = -(-Above::of(losses, a * (1.0 + OFF)).p).exp_m1();
        let seen = Above::of(losses, a * (1.0 - OFF));
        let paid = if epsilon < LARGEST_EXPONENT && !seen.lost {
            epsilon.exp() * -(-seen.q).exp_m1()
        } else {
            (OFF * a - more).exp() * seen.sum
        };
        Lower::new(told - paid - doubt(a, told) * (told + paid))
    };
    let found = FARTHER.iter().fold(with(0.0), |most, more| most.largest(with(high + more)));
    Lower::new(found.value() * (1.0 - 1e3 * OFF) - SMALLEST_MASS)
}

/// δ at ε, or ε at δ, of the dearest single event, or of some event.
pub(crate) fn floor(losses: &[Vec<(PrivacyLoss, u64)>; 2], query: BoundQuery) -> Lower {
    let dearest = |epsilon: f64| {
        losses.iter().fold(Lower::ZERO, |most, list| {
            let alone =
                |most: Lower, (loss, _): &(PrivacyLoss, u64)| most.largest(profile(loss, epsilon));
            list.iter().fold(most.largest(some(list, epsilon)), alone)
        })
    };
    let delta = match query {
        BoundQuery::Delta(epsilon) => return dearest(epsilon),
        BoundQuery::Epsilon(delta) => delta,
    };
    // δ falls in ε: `low` has been seen to exceed it.
    let (mut low, mut high) = (0.0, 1e-9);
    while dearest(high).reaches(delta) && high < 1e300 {
        (low, high) = (high, high * 8.0);
    }
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if dearest(middle).reaches(delta) { low = middle } else { high = middle }
    }
    Lower::new(low)
}
