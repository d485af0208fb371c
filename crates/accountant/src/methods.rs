//! The accountants side by side. Each answers for a tally or says why it cannot.

use crate::bound::{Bound, Method};
use crate::pld::{self, Query};
use crate::tally::Tally;
use crate::{gdp, rdp, round};

/// Why a method has nothing to say.
pub(crate) type Reason = String;

/// δ left for the guarantee after the failures.
fn left(tally: &Tally, delta: f64) -> Result<f64, Reason> {
    let left = round::down(delta - tally.failure(), 4.0);
    if left > 0.0 {
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
    let (lower, upper) = match method {
        Method::Exact => {
            let mu = tally.gdp().ok_or("not every event is Gaussian on all the data")?;
            gdp::epsilon(mu, delta)
        }
        Method::Pld => pld_bound(tally, Query::Epsilon(delta), pld::FINE, true)?,
        Method::Rdp => {
            let log_delta = round::down(left(tally, delta)?.ln(), 4.0);
            let convert = |order, value| rdp::epsilon_tight(order, value, log_delta);
            (0.0, tally.best_order(convert).ok_or_else(no_curve)?)
        }
        Method::Mironov17 => {
            let log_delta = round::down(left(tally, delta)?.ln(), 4.0);
            let convert = |order, value| rdp::epsilon_mironov17(order, value, log_delta);
            (0.0, tally.best_order(convert).ok_or_else(no_curve)?)
        }
        Method::Moments => {
            let log_delta = round::down(left(tally, delta)?.ln(), 4.0);
            let curve = tally.rdp().ok_or_else(no_curve)?;
            (0.0, rdp::minimise_whole(|order| rdp::epsilon_mironov17(order, curve(order), log_delta)))
        }
        Method::Basic => (0.0, shares(tally, left(tally, delta)?)?.iter().map(|(e, n)| e * n).sum()),
        Method::Advanced => (0.0, advanced(tally, left(tally, delta)?)?),
        Method::Trivial => (0.0, f64::INFINITY),
    };
    Ok(Bound::new(lower, outward(method, upper), method))
}

/// δ by one method.
pub(crate) fn delta(method: Method, tally: &Tally, epsilon: f64) -> Result<Bound, Reason> {
    let failing = |value: f64| (value + tally.failure()).min(1.0);
    let (lower, upper) = match method {
        Method::Exact => {
            let mu = tally.gdp().ok_or("not every event is Gaussian on all the data")?;
            gdp::delta(mu, epsilon)
        }
        Method::Pld => pld_bound(tally, Query::Delta(epsilon), pld::FINE, true)?,
        Method::Rdp => {
            let convert = |order, value| rdp::log_delta_tight(order, value, epsilon);
            (0.0, failing(tally.best_order(convert).ok_or_else(no_curve)?.exp()))
        }
        Method::Mironov17 => {
            let convert = |order: f64, value: f64| round::up((order - 1.0) * (value - epsilon), 4.0).min(0.0);
            (0.0, failing(tally.best_order(convert).ok_or_else(no_curve)?.exp()))
        }
        Method::Moments => {
            let curve = tally.rdp().ok_or_else(no_curve)?;
            let log = rdp::minimise_whole(|order| {
                round::up((order - 1.0) * (curve(order) - epsilon), 4.0).min(0.0)
            });
            (0.0, failing(log.exp()))
        }
        Method::Basic => {
            let pure = tally.pure().ok_or("some event has no pure ε")?;
            (0.0, if pure <= epsilon { failing(0.0) } else { 1.0 })
        }
        Method::Advanced => return Err("advanced composition is offered for ε at δ only".into()),
        Method::Trivial => (0.0, 1.0),
    };
    Ok(Bound::new(lower, outward(method, upper).min(1.0), method))
}

/// The methods whose arithmetic has not been rounded outward on the way.
fn outward(method: Method, value: f64) -> f64 {
    match method {
        Method::Exact | Method::Pld | Method::Trivial => value,
        _ => round::up(value, 256.0),
    }
}

pub(crate) fn pld_bound(
    tally: &Tally,
    query: Query,
    precision: f64,
    lower: bool,
) -> Result<(f64, f64), Reason> {
    let losses = tally.losses().ok_or("some event has no known worst pair of neighbours")?;
    pld::bound(&losses, query, precision, lower).ok_or_else(|| "beyond the range of this method".into())
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
            let (pure, mu) = (mechanism.cost().pure(tally.adjacency), mechanism.cost().gdp(tally.adjacency));
            let epsilon = match (pure, mu) {
                (Some(pure), _) => pure,
                (_, Some(mu)) => gdp::epsilon(mu, round::down(delta / needy, 4.0)).1,
                _ => return Err(format!("{} has no (ε, δ) of its own in closed form", mechanism.kind())),
            };
            Ok((epsilon, *count as f64))
        })
        .collect()
}

/// Σ ε tanh(ε/2) + √(2 ln(1/δ') Σ ε²), half of δ for δ', half for the events (Kairouz–Oh–Viswanath 2015, Thm. 3.5).
fn advanced(tally: &Tally, delta: f64) -> Result<f64, Reason> {
    let shares = shares(tally, delta / 2.0)?;
    let drift: f64 = shares.iter().map(|(e, n)| n * e * (e / 2.0).tanh()).sum();
    let square: f64 = shares.iter().map(|(e, n)| n * e * e).sum();
    Ok(drift + (2.0 * (2.0 / delta).ln() * square).sqrt())
}

/// The smallest sound upper bound, without running methods that another one is known to beat.
pub(crate) fn best(tally: &Tally, query: Query, precision: f64, lower: bool) -> Bound {
    let trivial = match query {
        Query::Epsilon(_) => Bound::new(0.0, f64::INFINITY, Method::Trivial),
        Query::Delta(_) => Bound::new(0.0, 1.0, Method::Trivial),
    };
    let by = |method| match query {
        Query::Epsilon(at) => epsilon(method, tally, at),
        Query::Delta(at) => delta(method, tally, at),
    };
    if tally.parts.is_empty() {
        return Bound::new(0.0, 0.0, Method::Trivial);
    }
    if tally.parts.iter().any(|(mechanism, _)| mechanism.cost().failure() >= 1.0) {
        let lower = if let Query::Epsilon(_) = query { f64::INFINITY } else { 1.0 };
        return Bound { lower, ..trivial };
    }
    if let Ok(bound) = by(Method::Exact) {
        return bound;
    }
    // The moments are a by-product of the PLD, so RDP is asked only where the PLD has no answer.
    let numeric =
        pld_bound(tally, query, precision, lower).map(|(low, high)| Bound::new(low, high, Method::Pld));
    let numeric = numeric.or_else(|_| by(Method::Rdp)).unwrap_or(trivial);
    [Method::Basic, Method::Advanced].into_iter().filter_map(|method| by(method).ok()).fold(
        numeric,
        |best, other| {
            if other.upper < best.upper { Bound::new(best.lower, other.upper, other.method) } else { best }
        },
    )
}
