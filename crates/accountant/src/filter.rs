//! Budgets that are spent as one goes, each step chosen after seeing the results of the steps
//! before.
//!
//! **Filter**: fixes (ε, δ) beforehand; asks before each step and refuses the one that would
//! overspend. For Rényi divergences of a fixed order the costs may be chosen adaptively and simply
//! add up (Feldman–Zrnic 2021, Thm. 4.3), so the filter keeps one budget per order: the largest sum
//! that the tight conversion turns into (ε, δ). It fixes the order in advance: the one at which the
//! sum would last longest is not known then, so several orders are tracked, δ shared among them
//! evenly, and a step is refused when no order has room left. (The transcript at the last of
//! several stopping times is the transcript of one of them, so the δ of the filters add up.) While
//! every step is Gaussian the exact filter Σμ² ≤ μ*² applies as well (Whitehouse et al. 2023), with
//! half of δ. Proof note: `proofs/filter.md`.
//!
//! **Odometer**: says what has been spent so far, at any step, one chosen by looking at the results
//! included. The ordinary bound of the ledger would not do: who spends little after a bad surprise
//! and more after a good one has its reading exceeded with more than δ, even at a step fixed in
//! advance. So a ladder of filters is kept in mind, δ shared among them, and the reading is the
//! smallest rung that has admitted everything.
//!
//! The state is the ledger itself: it survives serialisation exactly, and nothing is summed twice.

use crate::account::{self, AccountError};
use crate::bound::{Bound, Method};
use crate::charge::{Charge, ORDERS};
use crate::event::Event;
use crate::ledger::Ledger;
use crate::outward::{Lower, Upper};
use crate::tally::Tally;
use crate::{gdp, rdp};
use serde::{Deserialize, Serialize};

/// The orders that are tracked: those at which ln(1/δ)/(α−1) is these shares of ε. Fixed by the
/// budget, not by what is seen.
const CONVERSION_SHARES: [f64; ORDERS] = [0.35, 0.55, 0.75, 0.95];
/// Of δ: the exact Gaussian filter, which is the commonest case, and for each order the conversion
/// and the failures. Together they are 1, without rounding.
const GAUSSIAN_SHARE: f64 = 0.5;
const ORDER_SHARE: f64 = 3.0 / 32.0;
const FAILURE_SHARE: f64 = 1.0 / 32.0;

/// The odometer's ladder: budgets from the lowest up, four to each doubling.
const LOWEST: f64 = 1.0 / 256.0;
const RUNGS: u32 = 64;

/// A step that does not fit, or a budget that is none.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The step would overspend; the filter is unchanged.
    #[error(
        "the step \"{event}\" does not fit into what is left of the budget ({epsilon}, {delta}): stop here, or use more noise"
    )]
    Exhausted {
        /// The step that was refused, in words.
        event: String,
        /// The ε of the budget.
        epsilon: f64,
        /// The δ of the budget.
        delta: f64,
    },
    /// An invalid budget.
    #[error(
        "the budget is ({epsilon}, {delta}), but epsilon must be greater than 0 and delta in (0, 1)"
    )]
    Budget {
        /// The value that was given.
        epsilon: f64,
        /// The value that was given.
        delta: f64,
    },
    /// The step speaks of another adjacency, unit or view, or of a mechanism without a curve.
    #[error("the step cannot be counted: {0}")]
    Uncountable(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFilter {
    epsilon: f64,
    delta: f64,
    spent: Ledger,
}

/// A budget (ε, δ) and what has been spent of it, by steps that may each be chosen after the
/// results of those before were seen.
///
/// # Examples
///
/// ```
/// use reticent_accountant::{Adjacency, Event, Filter, FilterError, Gaussian, Unit, View};
///
/// let mut filter = Filter::new(1.0, 1e-6)?;
/// let look = Event::new(Gaussian::new(20.0)?, Adjacency::AddRemove, Unit::Record, View::Central)?;
/// let mut looks = 0;
/// while filter.admits(&look, 1)? {
///     filter.spend(look.clone(), 1)?;
///     looks += 1;
/// }
/// assert!(looks > 10);
/// assert!(matches!(filter.spend(look, 1), Err(FilterError::Exhausted { .. })));
/// assert_eq!(filter.spent().total_events(), looks);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawFilter")]
pub struct Filter {
    epsilon: f64,
    delta: f64,
    spent: Ledger,
}

impl TryFrom<RawFilter> for Filter {
    type Error = FilterError;
    fn try_from(raw: RawFilter) -> Result<Self, FilterError> {
        let filter = Filter { spent: raw.spent, ..Filter::new(raw.epsilon, raw.delta)? };
        if filter.fits(&filter.spent)? {
            Ok(filter)
        } else {
            Err(FilterError::Uncountable("it is overspent".into()))
        }
    }
}

impl Filter {
    /// The rule that turns a ledger into a [`Charge`] and a charge into a yes or no: another number
    /// whenever the orders or the shares of δ change, for then charges that were kept mean nothing.
    pub const RULE: u32 = 2;

    /// Nothing spent yet.
    ///
    /// # Errors
    /// ε not positive, δ outside (0, 1).
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, FilterError> {
        // plain: a check of what was given, which NaN does not pass
        if epsilon > 0.0 && epsilon.is_finite() && delta > 0.0 && delta < 1.0 {
            Ok(Self { epsilon, delta, spent: Ledger::new() })
        } else {
            Err(FilterError::Budget { epsilon, delta })
        }
    }

    /// Whether a ledger as a whole is within the budget, its steps having been chosen adaptively.
    fn fits(&self, ledger: &Ledger) -> Result<bool, FilterError> {
        self.covers(&self.charge(ledger)?)
    }

    /// The orders that are tracked. The budget fixes them, and nothing that is seen.
    fn orders(&self) -> [f64; ORDERS] {
        let log_delta = (ORDER_SHARE * self.delta).ln();
        CONVERSION_SHARES.map(|share| 1.0 - log_delta / (share * self.epsilon))
    }

    /// The cost of a ledger under this filter.
    ///
    /// # Errors
    /// A ledger that cannot be counted, or is no guarantee.
    pub fn charge(&self, ledger: &Ledger) -> Result<Charge, FilterError> {
        account::consistent(ledger).map_err(|e| FilterError::Uncountable(e.to_string()))?;
        if let Some(taint) = ledger.taints().first() {
            return Err(FilterError::Uncountable(taint.to_string()));
        }
        Ok(Charge::of(&Tally::of(ledger), &self.orders()))
    }

    /// The ε that is compared with the budget's: the filter admits while it is not above. It is no
    /// bound of what was spent, see [`Filter::odometer`]; ∞ where nothing is known.
    #[must_use]
    pub fn reading(&self, charge: &Charge) -> f64 {
        let gaussian =
            charge.mu.map_or(Upper::INFINITE, |mu| gdp::epsilon(mu, GAUSSIAN_SHARE * self.delta).1);
        // Failures have a share of their own, fixed beforehand: a trade between the two that
        // depends on what was seen would not be covered by the theorem.
        if !Upper::new(charge.failure).within(FAILURE_SHARE * self.delta) {
            return gaussian.value();
        }
        let log_delta = (ORDER_SHARE * self.delta).ln();
        let at = |(order, divergence)| {
            Upper::new(rdp::epsilon_tight(order, divergence, log_delta)).up(64.0)
        };
        charge
            .divergences
            .iter()
            .flat_map(|divergences| self.orders().into_iter().zip(*divergences))
            .map(at)
            .fold(gaussian, Upper::least)
            .value()
    }

    /// Whether all that has this charge is within the budget, its steps having been chosen
    /// adaptively.
    ///
    /// # Errors
    /// When some mechanism has no Rényi curve, so that more budget would not help.
    pub fn covers(&self, charge: &Charge) -> Result<bool, FilterError> {
        let within = Upper::new(self.reading(charge)).within(self.epsilon);
        let failing = !Upper::new(charge.failure).within(FAILURE_SHARE * self.delta);
        if within || failing || charge.divergences.is_some() {
            Ok(within)
        } else {
            Err(FilterError::Uncountable("some mechanism has no Rényi curve".into()))
        }
    }

    /// Whether the step fits; changes nothing.
    ///
    /// # Errors
    /// When the step cannot be counted together with what was spent.
    pub fn admits(&self, event: &Event, count: u64) -> Result<bool, FilterError> {
        let mut next = self.spent.clone();
        next.append_many(event.clone(), count);
        self.fits(&next)
    }

    /// Books the step if it fits.
    ///
    /// # Errors
    /// [`FilterError::Exhausted`] if it does not, and the filter is unchanged.
    pub fn spend(&mut self, event: Event, count: u64) -> Result<(), FilterError> {
        if !self.admits(&event, count)? {
            let (epsilon, delta) = (self.epsilon, self.delta);
            return Err(FilterError::Exhausted { event: event.to_string(), epsilon, delta });
        }
        self.spent.append_many(event, count);
        Ok(())
    }

    /// The events that have been paid for so far.
    #[must_use]
    pub fn spent(&self) -> &Ledger {
        &self.spent
    }

    /// The budget (ε, δ).
    #[must_use]
    pub fn budget(&self) -> (f64, f64) {
        (self.epsilon, self.delta)
    }

    /// The spending so far at δ, although each step may have been chosen after seeing the results
    /// before: see the note on odometers above. ∞ beyond the ladder.
    ///
    /// # Errors
    /// δ outside (0, 1).
    pub fn odometer(&self, delta: f64) -> Result<Bound, AccountError> {
        Self::odometer_of(&self.spent, delta)
    }

    /// The odometer of any ledger whose steps were chosen adaptively.
    ///
    /// # Errors
    /// δ outside (0, 1).
    pub fn odometer_of(ledger: &Ledger, delta: f64) -> Result<Bound, AccountError> {
        account::check_delta(delta)?;
        if ledger.entries().is_empty() {
            return Ok(Bound::new(Lower::ZERO, Upper::epsilon(0.0), Method::Trivial));
        }
        let share = delta / f64::from(RUNGS);
        let admits = |epsilon: &f64| {
            let rung = Self { epsilon: *epsilon, delta: share, spent: Ledger::new() };
            rung.fits(ledger).unwrap_or(false)
        };
        let reading = (0..RUNGS).map(|k| LOWEST * 2.0_f64.powf(f64::from(k) / 4.0)).find(admits);
        Ok(match reading {
            Some(epsilon) => Bound::new(Lower::ZERO, Upper::epsilon(epsilon), Method::Rdp),
            None => Bound::new(Lower::ZERO, Upper::INFINITE, Method::Trivial),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Charges that were kept mean nothing under other shares or orders: whoever changes one of
    /// these numbers gives the rule another number too.
    #[test]
    fn the_rule_has_another_number_whenever_what_it_says_changes() {
        let shares = [GAUSSIAN_SHARE, ORDER_SHARE, FAILURE_SHARE];
        assert_eq!((Filter::RULE, ORDERS, shares), (2, 4, [0.5, 0.09375, 0.03125]));
        assert_eq!(CONVERSION_SHARES, [0.35, 0.55, 0.75, 0.95]);
        assert_eq!(shares[0] + ORDERS as f64 * (shares[1] + shares[2]), 1.0);
    }
}
