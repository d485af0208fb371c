//! From a ledger to a bound: every method that applies, and the best of them.

use crate::bound::{Bound, Method};
use crate::events::Mechanism;
use crate::gdp;
use crate::ledger::Ledger;
use crate::methods;
use crate::outward::{Lower, Upper};
use crate::pld::{self, BoundQuery};
use crate::rdp;
use crate::tally::Tally;
use crate::vocabulary::{Adjacency, Unit, View};

/// A question that has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// δ outside [0, 1).
    #[error(
        "delta is {given}, but it must be at least 0 and less than 1 (common: 1e-5, below 1/n)"
    )]
    Delta {
        /// The value that was given.
        given: f64,
    },
    /// δ = 0, and an event that has no guarantee without a δ.
    #[error(
        "delta is 0, but {event} has no guarantee at delta = 0: give a delta above 0, or use mechanisms that \
         are pure, such as laplace and pure-dp"
    )]
    NotPure {
        /// The first such event.
        event: String,
    },
    /// ε negative or not a number.
    #[error("epsilon is {given}, but it must be a number, 0 or greater")]
    Epsilon {
        /// The value that was given.
        given: f64,
    },
    /// Events that cannot be added up.
    #[error(
        "the ledger mixes {first} and {second}: a bound holds for one {what} only, so count them apart"
    )]
    Mixed {
        /// Adjacency, unit or view.
        what: &'static str,
        /// The first one met.
        first: &'static str,
        /// The one that differs.
        second: &'static str,
    },
}

/// One method's answer, or why it has none.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReportLine {
    /// The method that this line is about.
    pub method: Method,
    /// Its bound, or the reason why it does not apply.
    pub bound: Result<Bound, String>,
    /// Why this method's answer differs from the best.
    pub note: &'static str,
}

/// All methods side by side.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AccountReport {
    /// The best sound bound.
    pub best: Bound,
    /// Every method in the order of [`Method`].
    pub lines: Vec<ReportLine>,
}

/// Refuses a ledger whose events speak of different neighbours, units or adversaries.
pub(crate) fn consistent(ledger: &Ledger) -> Result<(), AccountError> {
    let Some(first) = ledger.entries().first().map(|entry| entry.event()) else { return Ok(()) };
    for event in ledger.entries().iter().map(|entry| entry.event()) {
        let pairs: [(&'static str, &'static str, &'static str); 3] = [
            ("adjacency", first.adjacency().name(), event.adjacency().name()),
            ("unit", first.unit().name(), event.unit().name()),
            ("view", first.view().name(), event.view().name()),
        ];
        if let Some(&(what, first, second)) = pairs.iter().find(|(_, a, b)| a != b) {
            return Err(AccountError::Mixed { what, first, second });
        }
    }
    Ok(())
}

pub(crate) fn check_delta(delta: f64) -> Result<(), AccountError> {
    // plain: a check of what was given, which NaN does not pass
    if delta > 0.0 && delta < 1.0 { Ok(()) } else { Err(AccountError::Delta { given: delta }) }
}

/// μ of the whole ledger when every event is exactly Gaussian.
///
/// # Examples
///
/// ```
/// use reticent_accountant::{Adjacency, Event, Gaussian, Ledger, Unit, View, gdp_mu};
///
/// let noise = Gaussian::new(5.0)?;
/// let mut ledger = Ledger::new();
/// ledger.append_many(Event::new(noise, Adjacency::ReplaceOne, Unit::Record, View::Central)?, 10);
/// // Ten answers, each 2/5 apart: μ = √10 · 2/5.
/// assert!((gdp_mu(&ledger).unwrap() - 10_f64.sqrt() * 0.4).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn gdp_mu(ledger: &Ledger) -> Option<f64> {
    consistent(ledger).ok()?;
    Tally::of(ledger).gdp()
}

/// (order, Rényi divergence) at the standard orders; empty when some event has no curve, or may
/// fail: then no divergence is bounded.
///
/// # Examples
///
/// ```
/// use reticent_accountant::{Adjacency, Event, Gaussian, Ledger, Unit, View, rdp_curve};
///
/// let noise = Gaussian::new(5.0)?;
/// let mut ledger = Ledger::new();
/// ledger.append_many(Event::new(noise, Adjacency::ReplaceOne, Unit::Record, View::Central)?, 10);
/// // α·μ²/2 with μ² = 10 · (2/5)².
/// let (order, divergence) = rdp_curve(&ledger)[0];
/// assert!((divergence / (order * 1.6 / 2.0) - 1.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn rdp_curve(ledger: &Ledger) -> Vec<(f64, f64)> {
    let tally =
        consistent(ledger).ok().map(|()| Tally::of(ledger)).filter(|tally| tally.failure() == 0.0);
    let curve = tally.as_ref().and_then(Tally::rdp);
    curve.map_or_else(Vec::new, |curve| {
        rdp::standard_orders().map(|order| (order, curve(order))).collect()
    })
}

/// ε at δ: the smallest sound upper bound over all methods, and a lower bound.
///
/// # Errors
/// δ outside [0, 1), δ = 0 for events that are not pure, or events that cannot be added up.
///
/// # Examples
///
/// ```
/// use reticent_accountant::{Adjacency, Event, Ledger, PoissonGaussian, Unit, View, epsilon};
///
/// // 1,000 steps of DP-SGD: noise of 1.1 clips on Poisson samples of 1 %.
/// let step = PoissonGaussian::new(1.1, 0.01)?;
/// let mut ledger = Ledger::new();
/// ledger.append_many(Event::new(step, Adjacency::AddRemove, Unit::Record, View::Central)?, 1_000);
/// let bound = epsilon(&ledger, 1e-5)?;
/// assert!(bound.lower <= bound.upper && bound.upper < 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn epsilon(ledger: &Ledger, delta: f64) -> Result<Bound, AccountError> {
    epsilon_with(ledger, delta, pld::FINE, true)
}

/// The same with a choice of precision, and of the lower bound.
pub(crate) fn epsilon_with(
    ledger: &Ledger,
    delta: f64,
    precision: f64,
    lower: bool,
) -> Result<Bound, AccountError> {
    if delta == 0.0 {
        return pure(ledger);
    }
    check_delta(delta)?;
    // The commonest question of all is answered without sorting anything.
    if let [only] = ledger.entries()
        && let Some(mu) = only.event().mechanism().cost().gdp(only.event().adjacency())
    {
        let (lower, upper) = gdp::epsilon(mu * (only.count() as f64).sqrt(), delta);
        return Ok(Bound::new(lower, upper, Method::Exact));
    }
    consistent(ledger)?;
    Ok(methods::best(&Tally::of(ledger), BoundQuery::Epsilon(delta), precision, lower))
}

/// The same by one method; infinite where it does not apply.
pub(crate) fn epsilon_by(
    method: Method,
    ledger: &Ledger,
    delta: f64,
) -> Result<Bound, AccountError> {
    if delta == 0.0 {
        return pure(ledger);
    }
    check_delta(delta)?;
    consistent(ledger)?;
    let nothing = || Bound::new(Lower::ZERO, Upper::INFINITE, Method::Trivial);
    Ok(methods::epsilon(method, &Tally::of(ledger), delta).unwrap_or_else(|_| nothing()))
}

/// ε at δ = 0: for events that are pure, and for those alone.
fn pure(ledger: &Ledger) -> Result<Bound, AccountError> {
    consistent(ledger)?;
    let tally = Tally::of(ledger);
    if let Some((lower, upper)) = tally.pure_ends() {
        return Ok(Bound::new(lower, upper, Method::Basic));
    }
    let impure = |mechanism: &Mechanism| {
        let cost = mechanism.cost();
        cost.pure(tally.adjacency).is_none() || cost.failure() != 0.0
    };
    let event = tally.parts.iter().find(|(mechanism, _)| impure(mechanism));
    Err(AccountError::NotPure {
        event: event.map_or_else(String::new, |(mechanism, _)| mechanism.to_string()),
    })
}

/// δ at ε: the smallest sound upper bound over all methods, and a lower bound.
///
/// # Errors
/// ε negative, or events that cannot be added up.
///
/// # Examples
///
/// ```
/// use reticent_accountant::{Adjacency, Event, Gaussian, Ledger, Unit, View, delta};
///
/// let mut ledger = Ledger::new();
/// let once = Gaussian::new(1.0)?;
/// ledger.append(Event::new(once, Adjacency::AddRemove, Unit::Record, View::Central)?);
/// // Φ(−1/2) − e·Φ(−3/2), Balle and Wang (2018).
/// assert!((delta(&ledger, 1.0)?.upper - 0.126_936_738).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn delta(ledger: &Ledger, epsilon: f64) -> Result<Bound, AccountError> {
    // plain: a check of what was given, which NaN does not pass
    if !(epsilon >= 0.0 && epsilon.is_finite()) {
        return Err(AccountError::Epsilon { given: epsilon });
    }
    consistent(ledger)?;
    Ok(methods::best(&Tally::of(ledger), BoundQuery::Delta(epsilon), pld::FINE, true))
}

/// δ at each of the ε given.
///
/// # Errors
/// As [`delta`].
///
/// # Examples
///
/// ```
/// use reticent_accountant::{Adjacency, Event, Gaussian, Ledger, Unit, View, profile};
///
/// let noise = Gaussian::new(5.0)?;
/// let mut ledger = Ledger::new();
/// ledger.append_many(Event::new(noise, Adjacency::ReplaceOne, Unit::Record, View::Central)?, 10);
/// let deltas = profile(&ledger, &[0.5, 1.0, 2.0])?;
/// assert!(deltas[0].1.upper > deltas[2].1.upper);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn profile(ledger: &Ledger, epsilons: &[f64]) -> Result<Vec<(f64, Bound)>, AccountError> {
    epsilons.iter().map(|&epsilon| Ok((epsilon, delta(ledger, epsilon)?))).collect()
}

/// ε at each of the δ given: what a plot of the curve needs.
///
/// # Errors
/// As [`epsilon`].
///
/// # Examples
///
/// ```
/// use reticent_accountant::{Adjacency, Event, Gaussian, Ledger, Unit, View, curve};
///
/// let noise = Gaussian::new(5.0)?;
/// let mut ledger = Ledger::new();
/// ledger.append_many(Event::new(noise, Adjacency::ReplaceOne, Unit::Record, View::Central)?, 10);
/// let epsilons = curve(&ledger, &[1e-9, 1e-6])?;
/// assert!(epsilons[0].1.upper > epsilons[1].1.upper);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn curve(ledger: &Ledger, deltas: &[f64]) -> Result<Vec<(f64, Bound)>, AccountError> {
    deltas.iter().map(|&delta| Ok((delta, epsilon(ledger, delta)?))).collect()
}

/// Every method's ε at δ side by side, with the reason where one does not apply.
///
/// # Errors
/// As [`epsilon`].
///
/// # Examples
///
/// ```
/// use reticent_accountant::{Adjacency, Event, Gaussian, Ledger, Unit, View, report};
///
/// let noise = Gaussian::new(5.0)?;
/// let mut ledger = Ledger::new();
/// ledger.append_many(Event::new(noise, Adjacency::ReplaceOne, Unit::Record, View::Central)?, 10);
/// let report = report(&ledger, 1e-6)?;
/// for line in &report.lines {
///     // No method is below the best one, but by rounding.
///     let above = |bound: &reticent_accountant::Bound| bound.upper >= 0.999 * report.best.upper;
///     assert!(line.bound.as_ref().map_or(true, above));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn report(ledger: &Ledger, delta: f64) -> Result<AccountReport, AccountError> {
    let best = epsilon(ledger, delta)?;
    let tally = Tally::of(ledger);
    // Without a δ there is one way to count.
    let asked =
        |method: Method| method != Method::Trivial && (delta != 0.0 || method == Method::Basic);
    let lines = Method::ALL
        .iter()
        .filter(|&&method| asked(method))
        .map(|&method| ReportLine {
            method,
            bound: methods::epsilon(method, &tally, delta),
            note: note(method),
        })
        .collect();
    Ok(AccountReport { best, lines })
}

/// Why one method's answer differs from another's.
fn note(method: Method) -> &'static str {
    match method {
        Method::Exact => "closed form; nothing is lost",
        Method::Pld => "numeric, both ends proven; loses only the grid's width",
        Method::Rdp => {
            "keeps the moments of the loss and forgets the rest; about a tenth looser, more for few events"
        }
        Method::Mironov17 => "the same moments, converted by the older and looser formula",
        Method::Moments => {
            "whole moments only, older conversion: the accountant of the early papers"
        }
        Method::Basic => {
            "adds up the events' own epsilons as if every worst case happened together"
        }
        Method::Advanced => {
            "knows that losses average out, but not how the mechanism is distributed"
        }
        Method::Trivial => "nothing is known",
    }
}

/// The adjacency, unit and view that a consistent, non-empty ledger is counted under.
pub fn scope(ledger: &Ledger) -> Option<(Adjacency, Unit, View)> {
    ledger.entries().first().map(|e| (e.event().adjacency(), e.event().unit(), e.event().view()))
}
