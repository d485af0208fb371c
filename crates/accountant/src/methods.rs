//! The accountants side by side. Each answers for a tally or says why it cannot.

use crate::bound::{Bound, Method};
use crate::events::Mechanism;
use crate::outward::{Lower, Upper, at_most};
use crate::pld::{self, BoundEnds, BoundQuery};
use crate::tally::Tally;
use crate::{gdp, rdp, round};

/// Why a method has nothing to say.
pub(crate) type Reason = String;

/// δ left for the guarantee after the failures.
fn left(tally: &Tally, delta: f64) -> Result<f64, Reason> {
    let left = round::down(delta - tally.failure(), 4.0);
    if Lower::new(left).reaches(f64::MIN_POSITIVE) {
        Ok(left)
    } else {
        Err(format!("events fail outright with probability {}", tally.failure()))
    }
}

fn no_curve() -> Reason {
    "some event has no Rényi curve".into()
}

/// ε by one method.
pub(crate) fn epsilon(method: Method, tally: &Tally, delta: f64) -> Result<Bound, Reason> {
    if delta == 0.0 && method != Method::Basic {
        return Err("it needs a δ above 0".into());
    }
    let log_left = || Ok::<_, Reason>(round::down(left(tally, delta)?.ln(), 4.0));
    let (lower, upper) = match method {
        Method::Exact => gdp::epsilon(tally.gdp().ok_or_else(not_gaussian)?, delta),
        Method::Pld => {
            let found = pld_bound(tally, BoundQuery::Epsilon(delta), pld::FINE, true)?;
            (found.lower, found.upper)
        }
        Method::Rdp => {
            let log_delta = log_left()?;
            let convert = |order, value| rdp::epsilon_tight(order, value, log_delta);
            (Lower::ZERO, tally.best_order(convert).ok_or_else(no_curve)?)
        }
        Method::Mironov17 => {
            let log_delta = log_left()?;
            let convert = |order, value| rdp::epsilon_mironov17(order, value, log_delta);
            (Lower::ZERO, tally.best_order(convert).ok_or_else(no_curve)?)
        }
        Method::Moments => {
            let log_delta = log_left()?;
            let curve = tally.rdp().ok_or_else(no_curve)?;
            let convert = |order| rdp::epsilon_mironov17(order, curve(order), log_delta);
            (Lower::ZERO, rdp::minimise_whole(convert))
        }
        Method::Basic if delta == 0.0 => tally.pure_ends().ok_or("some event is not pure")?,
        Method::Basic => {
            let sum = shares(tally, left(tally, delta)?)?.iter().map(|(e, n)| e * n).sum();
            (Lower::ZERO, Upper::epsilon(sum))
        }
        Method::Advanced => (Lower::ZERO, Upper::epsilon(advanced(tally, left(tally, delta)?)?)),
        Method::Trivial => (Lower::ZERO, Upper::INFINITE),
    };
    Ok(Bound::new(lower, outward(method, upper), method))
}

/// δ by one method.
pub(crate) fn delta(method: Method, tally: &Tally, epsilon: f64) -> Result<Bound, Reason> {
    let failing =
        |log: Upper| (Lower::ZERO, Upper::delta(Upper::exp(log.value()).value() + tally.failure()));
    let older =
        |order: f64, value: f64| at_most(round::up((order - 1.0) * (value - epsilon), 4.0), 0.0);
    let (lower, upper) = match method {
        Method::Exact => gdp::delta(tally.gdp().ok_or_else(not_gaussian)?, epsilon),
        Method::Pld => {
            let found = pld_bound(tally, BoundQuery::Delta(epsilon), pld::FINE, true)?;
            (found.lower, found.upper)
        }
        Method::Rdp => {
            let convert = |order, value| rdp::log_delta_tight(order, value, epsilon);
            failing(tally.best_order(convert).ok_or_else(no_curve)?)
        }
        Method::Mironov17 => failing(tally.best_order(older).ok_or_else(no_curve)?),
        Method::Moments => {
            let curve = tally.rdp().ok_or_else(no_curve)?;
            failing(rdp::minimise_whole(|order| older(order, curve(order))))
        }
        Method::Basic => {
            let pure = Upper::new(tally.pure().ok_or("some event has no pure ε")?);
            let log = if pure.within(epsilon) { f64::NEG_INFINITY } else { 0.0 };
            failing(Upper::new(log))
        }
        Method::Advanced => return Err("advanced composition is offered for ε at δ only".into()),
        Method::Trivial => (Lower::ZERO, Upper::delta(1.0)),
    };
    Ok(Bound::new(lower, Upper::delta(outward(method, upper).value()), method))
}

fn not_gaussian() -> Reason {
    "not every event is Gaussian on all the data".into()
}

/// The methods whose arithmetic has not been rounded outward on the way.
fn outward(method: Method, value: Upper) -> Upper {
    match method {
        Method::Exact | Method::Pld | Method::Trivial => value,
        _ => value.up(256.0),
    }
}

fn pld_bound(
    tally: &Tally,
    query: BoundQuery,
    precision: f64,
    lower: bool,
) -> Result<BoundEnds, Reason> {
    let losses = tally.losses().ok_or("some event has no known worst pair of neighbours")?;
    pld::bound(&losses, query, precision, lower)
        .ok_or_else(|| "beyond the range of this method".into())
}

/// (ε, count) of each kind of event, δ being shared evenly among the events that need some.
fn shares(tally: &Tally, delta: f64) -> Result<Vec<(f64, f64)>, Reason> {
    let needy: f64 = tally
        .parts
        .iter()
        .filter(|(m, _)| m.cost().pure(tally.adjacency).is_none())
        .map(|(_, n)| *n as f64)
        .sum();
    tally
        .parts
        .iter()
        .map(|(mechanism, count)| {
            let (pure, mu) =
                (mechanism.cost().pure(tally.adjacency), mechanism.cost().gdp(tally.adjacency));
            let epsilon = match (pure, mu) {
                (Some(pure), _) => pure,
                (_, Some(mu)) => gdp::epsilon(mu, round::down(delta / needy, 4.0)).1.value(),
                _ => {
                    return Err(format!(
                        "{} has no (ε, δ) of its own in closed form",
                        mechanism.kind()
                    ));
                }
            };
            Ok((epsilon, *count as f64))
        })
        .collect()
}

/// Σ ε tanh(ε/2) + √(2 ln(1/δ') Σ ε²), half of δ for δ', half for the events (Kairouz–Oh–Viswanath
/// 2015, Thm. 3.5).
fn advanced(tally: &Tally, delta: f64) -> Result<f64, Reason> {
    let shares = shares(tally, delta / 2.0)?;
    let drift: f64 = shares.iter().map(|(e, n)| n * e * (e / 2.0).tanh()).sum();
    let square: f64 = shares.iter().map(|(e, n)| n * e * e).sum();
    Ok(drift + (2.0 * (2.0 / delta).ln() * square).sqrt())
}

/// An ε below this is an alarm: it is believed only when δ at it is proven as well.
const ALARM: f64 = 1e-9;

/// How far the two ends may lie apart before other methods are asked.
const WIDE: f64 = 1.05;

/// The smallest sound upper bound, without running methods that another one is known to beat; never
/// one below what a single event costs, or below the lower end of another method.
pub(crate) fn best(tally: &Tally, query: BoundQuery, precision: f64, lower: bool) -> Bound {
    let (none, all) = match query {
        BoundQuery::Epsilon(_) => (Upper::INFINITE, Lower::INFINITE),
        BoundQuery::Delta(_) => (Upper::delta(1.0), Lower::new(1.0)),
    };
    let by = |method| match query {
        BoundQuery::Epsilon(at) => epsilon(method, tally, at),
        BoundQuery::Delta(at) => delta(method, tally, at),
    };
    if tally.parts.is_empty() {
        return Bound::new(Lower::ZERO, Upper::epsilon(0.0), Method::Trivial);
    }
    if tally.parts.iter().any(|(mechanism, _)| mechanism.cost().failure() == 1.0) {
        // What is released as it is costs everything; of what may fail outright nothing is known,
        // from either side.
        let raw =
            tally.parts.iter().any(|(mechanism, _)| matches!(mechanism, Mechanism::NonPrivate(_)));
        return Bound::new(if raw { all } else { Lower::ZERO }, none, Method::Trivial);
    }
    if let Ok(bound) = by(Method::Exact) {
        return bound;
    }
    let losses = tally.losses();
    // What one event costs alone, and the other ends that were proven.
    let single = |query| losses.as_ref().map_or(Lower::ZERO, |losses| pld::floor(losses, query));
    let mut proven = if lower { single(query) } else { Lower::ZERO };
    let mut candidates = Vec::new();
    let mut enough = false;
    if let Some(found) =
        losses.as_ref().and_then(|losses| pld::bound(losses, query, precision, lower))
    {
        proven = proven.largest(found.lower);
        // The moments are a by-product of the PLD, so RDP is asked only where the lattice saw
        // little.
        enough = found.read && (!lower || found.upper.within(WIDE * proven.value()));
        candidates.push((found.upper, Method::Pld));
    }
    let others = [Method::Rdp, Method::Basic, Method::Advanced];
    for method in others.into_iter().filter(|method| *method != Method::Rdp || !enough) {
        candidates.extend(by(method).ok().map(|bound| (Upper::new(bound.upper), method)));
    }
    let believed = |upper: Upper| {
        let alone = match query {
            // δ of a single event at this ε is above the δ asked for: then so is δ of all of them.
            BoundQuery::Epsilon(delta) => {
                !Upper::new(single(BoundQuery::Delta(upper.value())).value()).within(delta)
            }
            BoundQuery::Delta(_) => single(query).contradicts(upper),
        };
        let alarm = matches!(query, BoundQuery::Epsilon(_)) && upper.within(ALARM);
        !alone && !proven.contradicts(upper) && (!alarm || covers(tally, query, upper))
    };
    let least = candidates.into_iter().filter(|(upper, _)| believed(*upper));
    let (upper, method) = least.fold((none, Method::Trivial), |best, other| {
        if best.0.within(other.0.value()) { best } else { other }
    });
    Bound::new(proven, upper, method)
}

/// Whether δ provably covers all that is beyond an ε that is next to nothing: asked the other way
/// round.
fn covers(tally: &Tally, query: BoundQuery, epsilon: Upper) -> bool {
    let BoundQuery::Epsilon(delta) = query else { return true };
    let numeric = pld_bound(tally, BoundQuery::Delta(epsilon.value()), pld::FINE, false)
        .map(|found| found.upper);
    let moments =
        self::delta(Method::Rdp, tally, epsilon.value()).map(|bound| Upper::new(bound.upper));
    let pure = tally.pure().map_or(Upper::INFINITE, Upper::new);
    let total = Upper::new(tally.failure());
    pure.within(epsilon.value()) && total.within(delta)
        || [numeric, moments].into_iter().flatten().any(|upper| upper.within(delta))
}
