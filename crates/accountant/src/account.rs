//! From a ledger to a bound: every method that applies, and the best of them.

use crate::bound::{Bound, Method};
use crate::ledger::Ledger;
use crate::vocabulary::{Adjacency, Unit, View};
use crate::{gdp, rdp, round};

/// A question that has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AccountError {
    /// δ outside (0, 1).
    #[error("delta is {given}, but it must be greater than 0 and less than 1 (common: 1e-5, below 1/n)")]
    Delta {
        /// What was given.
        given: f64,
    },
    /// ε negative or not a number.
    #[error("epsilon is {given}, but it must be a number, 0 or greater")]
    Epsilon {
        /// What was given.
        given: f64,
    },
    /// Events that cannot be added up.
    #[error("the ledger mixes {first} and {second}: a bound holds for one {what} only, so count them apart")]
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
pub struct ReportLine {
    /// The method.
    pub method: Method,
    /// Its bound, or the reason why it does not apply.
    pub bound: Result<Bound, String>,
    /// Why this method's answer differs from the best.
    pub note: &'static str,
}

/// All methods side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
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

fn check_delta(delta: f64) -> Result<(), AccountError> {
    if delta > 0.0 && delta < 1.0 { Ok(()) } else { Err(AccountError::Delta { given: delta }) }
}

fn failure(ledger: &Ledger) -> f64 {
    ledger.entries().iter().map(|e| e.event().mechanism().cost().failure() * e.count() as f64).sum()
}

/// μ of the whole ledger when every event is exactly Gaussian.
#[must_use]
pub fn gdp_mu(ledger: &Ledger) -> Option<f64> {
    let mut square = 0.0;
    for entry in ledger.entries() {
        let mu = entry.event().mechanism().cost().gdp(entry.event().adjacency())?;
        square += mu * mu * entry.count() as f64;
    }
    Some(square.sqrt())
}

/// (order, Rényi divergence) at the standard orders; empty when some event has no curve.
#[must_use]
pub fn rdp_curve(ledger: &Ledger) -> Vec<(f64, f64)> {
    rdp::standard_orders().filter_map(|order| Some((order, rdp::total(ledger, order)?))).collect()
}

/// ε at δ: the smallest sound upper bound.
///
/// # Errors
/// δ outside (0, 1), or events that cannot be added up.
pub fn epsilon(ledger: &Ledger, delta: f64) -> Result<Bound, AccountError> {
    check_delta(delta)?;
    consistent(ledger)?;
    if ledger.entries().is_empty() {
        return Ok(Bound::new(0.0, 0.0, Method::Trivial));
    }
    if let Some(mu) = gdp_mu(ledger) {
        let (lower, upper) = gdp::epsilon(mu, delta);
        return Ok(Bound::new(lower, upper, Method::Exact));
    }
    let left = delta - failure(ledger);
    if left <= 0.0 {
        return Ok(Bound::new(0.0, f64::INFINITY, Method::Trivial));
    }
    let log_delta = round::down(left.ln(), 4.0);
    let upper = rdp::minimise(|order| {
        rdp::total(ledger, order).map_or(f64::INFINITY, |value| rdp::epsilon_tight(order, value, log_delta))
    });
    Ok(Bound::new(0.0, round::up(upper, 64.0), Method::Rdp))
}

/// δ at ε: the smallest sound upper bound.
///
/// # Errors
/// ε negative, or events that cannot be added up.
pub fn delta(ledger: &Ledger, epsilon: f64) -> Result<Bound, AccountError> {
    if !(epsilon >= 0.0 && epsilon.is_finite()) {
        return Err(AccountError::Epsilon { given: epsilon });
    }
    consistent(ledger)?;
    if ledger.entries().is_empty() {
        return Ok(Bound::new(0.0, 0.0, Method::Trivial));
    }
    if let Some(mu) = gdp_mu(ledger) {
        let (lower, upper) = gdp::delta(mu, epsilon);
        return Ok(Bound::new(lower, upper, Method::Exact));
    }
    let log_delta = rdp::minimise(|order| {
        rdp::total(ledger, order).map_or(f64::INFINITY, |value| rdp::log_delta_tight(order, value, epsilon))
    });
    let upper = (round::up(log_delta, 64.0).exp() + failure(ledger)).min(1.0);
    Ok(Bound::new(0.0, upper, Method::Rdp))
}

/// δ at each of the ε given.
///
/// # Errors
/// As [`delta`].
pub fn profile(ledger: &Ledger, epsilons: &[f64]) -> Result<Vec<(f64, Bound)>, AccountError> {
    epsilons.iter().map(|&epsilon| Ok((epsilon, delta(ledger, epsilon)?))).collect()
}

/// Every method's ε at δ side by side, with the reason where one does not apply.
///
/// # Errors
/// As [`epsilon`].
pub fn report(ledger: &Ledger, delta: f64) -> Result<Report, AccountError> {
    let best = epsilon(ledger, delta)?;
    let lines = vec![ReportLine { method: best.method, bound: Ok(best), note: "" }];
    Ok(Report { best, lines })
}

/// The adjacency, unit and view that a consistent, non-empty ledger is counted under.
pub fn scope(ledger: &Ledger) -> Option<(Adjacency, Unit, View)> {
    ledger.entries().first().map(|e| (e.event().adjacency(), e.event().unit(), e.event().view()))
}
