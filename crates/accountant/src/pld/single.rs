//! One event alone: whoever sees a list of events sees each of them, so what one costs is a lower
//! end for the list.
//!
//! For ε beyond the range of e^x the Q-mass is not asked: h(ε) ≥ (1 − e^{−t}) P(L > ε + t) for
//! every t > 0.

use super::Query;
use super::discretise::SLACK;
use super::loss::{Cut, Loss};
use crate::outward::{Lower, at_least};

/// From here on e^ε times a Q-mass has lost its digits.
const LARGEST_EXPONENT: f64 = 600.0;
/// How far above ε the loss is asked for then.
const MARGIN: f64 = 3.0;
/// What the parameters of a loss may be off, relative to ε and to its masses.
const OFF: f64 = 1e-12;

/// (P, Q) of a loss above ε, and what its atoms there leave of their mass.
fn above(loss: &Loss, epsilon: f64) -> (f64, f64, f64) {
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
fn profile(loss: &Loss, epsilon: f64) -> Lower {
    let epsilon = epsilon * (1.0 + OFF);
    let found = if epsilon < LARGEST_EXPONENT {
        let (p, q, atoms) = above(loss, epsilon);
        let paid = epsilon.exp() * q;
        p - paid - 16.0 * SLACK * (1.0 + epsilon) * (p + paid) + atoms
    } else {
        let (p, _, atoms) = above(loss, epsilon + MARGIN);
        -(-MARGIN).exp_m1() * (p + atoms)
    };
    Lower::new((loss.infinity + found) * (1.0 - 1e3 * OFF))
}

/// δ at ε, or ε at δ, of the dearest single event.
pub(crate) fn floor(losses: &[Vec<(Loss, u64)>; 2], query: Query) -> Lower {
    let dearest = |epsilon: f64| {
        losses
            .iter()
            .flatten()
            .fold(Lower::ZERO, |most, (loss, _)| most.largest(profile(loss, epsilon)))
    };
    let delta = match query {
        Query::Delta(epsilon) => return dearest(epsilon),
        Query::Epsilon(delta) => delta,
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
