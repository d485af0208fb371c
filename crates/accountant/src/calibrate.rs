//! The smallest noise (or the largest number of steps, or the largest sampling rate) whose *upper*
//! bound fits: what is promised is never overshot.
//!
//! ε falls as the noise grows. A coarse count brackets the answer; then the fine count is brought
//! to the target by the secant rule in logarithms, kept within the bracket. What is returned is
//! always a point whose fine upper bound has been seen to fit, so rounding can only cost noise.
//! Nothing is random: the same plan gives the same answer.

use crate::account::{self, AccountError};
use crate::bound::{Bound, Method};
use crate::ledger::Ledger;
use crate::outward::{Upper, at_least, at_most};
use crate::pld;

/// The noise found and what it costs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Calibration {
    /// Smallest noise multiplier found whose upper bound fits.
    pub noise_multiplier: f64,
    /// The bound there; `upper` is not larger than the target.
    pub epsilon: Bound,
}

/// The number of steps found and what it costs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct StepsCalibration {
    /// Largest number of steps whose upper bound fits.
    pub steps: u64,
    /// The bound there; `upper` is not larger than the target.
    pub epsilon: Bound,
}

/// The sampling rate found and what it costs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RateCalibration {
    /// Largest sampling rate found whose upper bound fits.
    pub rate: f64,
    /// The bound there; `upper` is not larger than the target.
    pub epsilon: Bound,
}

/// The error of a calibration that found no value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// A target nothing can meet.
    #[error("the target epsilon is {given}, but it must be a finite number greater than 0")]
    Target {
        /// The value that was given.
        given: f64,
    },
    /// The plan could not be drawn up.
    #[error("the plan could not be drawn up for {at}: {reason}")]
    Plan {
        /// The value for which it was tried.
        at: f64,
        /// The reason that the plan gave.
        reason: String,
    },
    /// The plan could not be counted.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// Even the most private value tried does not fit.
    #[error(
        "no {what} brings epsilon to {target}: at {tried} it is still {reached}; \
         some event of the plan does not depend on it, so allow more, or spend less on that event"
    )]
    OutOfReach {
        /// The quantity that was varied, in words.
        what: &'static str,
        /// The last value tried.
        tried: f64,
        /// The ε that was asked for.
        target: f64,
        /// The ε that the last value gives.
        reached: f64,
    },
}

/// Relative width of the bracket, and of ε below the target, at which the search ends.
const WIDTH: f64 = 1e-6;
const CLOSE: f64 = 2e-6;

/// A plan, counted coarsely or finely at a given value.
struct Search<P> {
    plan: P,
    target: f64,
    delta: f64,
    what: &'static str,
    /// Counted by this one, and not by the best.
    method: Option<Method>,
}

impl<E: std::fmt::Display, P: FnMut(f64) -> Result<Ledger, E>> Search<P> {
    fn new(plan: P, target: f64, delta: f64, what: &'static str) -> Result<Self, CalibrationError> {
        // plain: a check of what was given, which NaN does not pass
        if !(target > 0.0 && target.is_finite()) {
            return Err(CalibrationError::Target { given: target });
        }
        Ok(Search { plan, target, delta, what, method: None })
    }

    fn cost(&mut self, at: f64, precision: f64, lower: bool) -> Result<Bound, CalibrationError> {
        let ledger =
            (self.plan)(at).map_err(|e| CalibrationError::Plan { at, reason: e.to_string() })?;
        Ok(match self.method {
            None => account::epsilon_with(&ledger, self.delta, precision, lower)?,
            Some(method) => account::epsilon_by(method, &ledger, self.delta)?,
        })
    }

    fn coarse(&mut self, at: f64) -> Result<Upper, CalibrationError> {
        Ok(Upper::new(self.cost(at, pld::COARSE, false)?.upper))
    }

    /// The bound that goes with a value that was seen to fit. Asking for the lower end as well may
    /// have another method answer; the upper end that was seen is the one that counts.
    fn found(&mut self, at: f64) -> Result<Bound, CalibrationError> {
        let both = self.cost(at, pld::FINE, true)?;
        if Upper::new(both.upper).within(self.target) {
            Ok(both)
        } else {
            self.cost(at, pld::FINE, false)
        }
    }

    fn fine(&mut self, at: f64) -> Result<Upper, CalibrationError> {
        Ok(Upper::new(self.cost(at, pld::FINE, false)?.upper))
    }

    /// The smallest x in [from, to] that fits, ε falling in x.
    fn smallest(&mut self, from: f64, start: f64, to: f64) -> Result<f64, CalibrationError> {
        let mut ends = self.bracket(from, start, to)?;
        for _ in 0..40 {
            // plain: places
            if ends.good < ends.bad * 1.001 {
                break;
            }
            let middle = ends.secant(self.target, 0.05);
            ends.replace(middle, self.coarse(middle)?, self.target);
        }
        self.refine(ends, from, to)
    }

    /// By the coarse count: two places of which one fits and the other does not, or of which the
    /// smaller is `from` and fits too.
    fn bracket(&mut self, from: f64, start: f64, to: f64) -> Result<Ends, CalibrationError> {
        let target = self.target;
        let cost = self.coarse(start)?;
        let mut ends = Ends { bad: start, good: start, cost_bad: cost, cost_good: cost };
        if cost.within(target) {
            while ends.cost_bad.within(target) {
                (ends.good, ends.cost_good) = (ends.bad, ends.cost_bad);
                // plain: places, which are chosen here
                if ends.good <= from {
                    break;
                }
                ends.bad = at_least(ends.good / 4.0, from);
                ends.cost_bad = self.coarse(ends.bad)?;
            }
            return Ok(ends);
        }
        loop {
            // plain: places
            if ends.bad >= to {
                return Err(self.out_of_reach(ends.bad, ends.cost_bad));
            }
            ends.good = at_most(ends.bad * 4.0, to);
            ends.cost_good = self.coarse(ends.good)?;
            if ends.cost_good.within(target) {
                return Ok(ends);
            }
            (ends.bad, ends.cost_bad) = (ends.good, ends.cost_good);
        }
    }

    /// The same by the fine count, which is a little below the coarse one: `good` surely fits,
    /// `bad` may.
    fn refine(&mut self, mut ends: Ends, from: f64, to: f64) -> Result<f64, CalibrationError> {
        let target = self.target;
        let slope =
            (ends.cost_good.value() / ends.cost_bad.value()).ln() / (ends.good / ends.bad).ln();
        let slope = if slope.is_finite() { at_most(slope, -0.1) } else { -0.1 };
        ends.cost_good = self.fine(ends.good)?;
        while !ends.cost_good.within(target) {
            // plain: places
            if ends.good >= to {
                return Err(self.out_of_reach(ends.good, ends.cost_good));
            }
            (ends.bad, ends.good) = (ends.good, at_most(ends.good * 1.002, to));
            ends.cost_good = self.fine(ends.good)?;
        }
        ends.bad = at_least(at_most(ends.bad, ends.good / 1.01), at_most(from, ends.good));
        let mut bad_seen = false;
        for _ in 0..60 {
            // plain: places
            let narrow = ends.good <= ends.bad * (1.0 + WIDTH);
            if narrow || !ends.cost_good.within(target * (1.0 - CLOSE)) {
                break;
            }
            let middle = if bad_seen {
                ends.secant(target, 0.02)
            } else {
                // From the good side towards the target, a hair short of it.
                let nearly = target * (1.0 - CLOSE / 2.0) / ends.cost_good.value();
                at_most(at_least(ends.good * nearly.powf(1.0 / slope), ends.bad), ends.good)
            };
            bad_seen |= !ends.replace(middle, self.fine(middle)?, target);
        }
        Ok(ends.good)
    }

    fn out_of_reach(&self, tried: f64, cost: Upper) -> CalibrationError {
        let (what, target) = (self.what, self.target);
        CalibrationError::OutOfReach { what, tried, target, reached: cost.value() }
    }
}

/// Two places with what they cost: `good` is within the target, `bad` is not.
struct Ends {
    bad: f64,
    good: f64,
    cost_bad: Upper,
    cost_good: Upper,
}

impl Ends {
    fn secant(&self, target: f64, share: f64) -> f64 {
        secant(self.bad, self.cost_bad, self.good, self.cost_good, target, share)
    }

    /// Puts a place between them in the place of one, and says whether it fits.
    fn replace(&mut self, at: f64, cost: Upper, target: f64) -> bool {
        let fits = cost.within(target);
        if fits {
            (self.good, self.cost_good) = (at, cost);
        } else {
            (self.bad, self.cost_bad) = (at, cost);
        }
        fits
    }
}

/// Where the line through two points (in logarithms) meets the target, kept away from both ends by
/// a share.
fn secant(bad: f64, cost_bad: Upper, good: f64, cost_good: Upper, target: f64, margin: f64) -> f64 {
    let (cost_bad, cost_good) = (cost_bad.value(), cost_good.value());
    let share = (cost_bad / target).ln() / (cost_bad / cost_good).ln();
    let share =
        if share.is_finite() { at_most(at_least(share, margin), 1.0 - margin) } else { 0.5 };
    bad * (good / bad).powf(share)
}

/// The smallest noise multiplier z for which the upper bound of `plan(z)` at δ is at most `target`.
///
/// # Errors
/// A target that is not positive, a plan that fails or cannot be counted, or a target that no noise
/// reaches.
///
/// # Examples
///
/// ```
/// use reticent_accountant::{
///     Adjacency, Event, EventError, Gaussian, Ledger, Unit, View, calibrate,
/// };
///
/// // The least noise for 100 answers within (1, 1e-6).
/// let plan = |noise: f64| -> Result<Ledger, EventError> {
///     let mut ledger = Ledger::new();
///     let answer = Gaussian::new(noise)?;
///     let event = Event::new(answer, Adjacency::ReplaceOne, Unit::Record, View::Central)?;
///     ledger.append_many(event, 100);
///     Ok(ledger)
/// };
/// let found = calibrate(1.0, 1e-6, plan)?;
/// assert!(found.epsilon.upper <= 1.0 && found.epsilon.upper > 0.999);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn calibrate<E: std::fmt::Display>(
    target: f64,
    delta: f64,
    mut plan: impl FnMut(f64) -> Result<Ledger, E>,
) -> Result<Calibration, CalibrationError> {
    if let Some(found) = in_proportion(target, delta, &mut plan) {
        return Ok(found);
    }
    least_noise(target, delta, plan)
}

/// The smallest noise multiplier for which a plan fits as one method counts it: the noise of a paper
/// that counts by a looser one. Never less than [`calibrate`] finds, but by rounding.
///
/// # Errors
/// As [`calibrate`]; a method that does not apply reaches no target.
pub fn calibrate_by<E: std::fmt::Display>(
    method: Method,
    target: f64,
    delta: f64,
    plan: impl FnMut(f64) -> Result<Ledger, E>,
) -> Result<Calibration, CalibrationError> {
    let mut search = Search::new(plan, target, delta, "noise multiplier")?;
    search.method = Some(method);
    let noise_multiplier = search.smallest(1e-4, 1.0, 1e9)?;
    Ok(Calibration { noise_multiplier, epsilon: search.found(noise_multiplier)? })
}

fn least_noise<E: std::fmt::Display>(
    target: f64,
    delta: f64,
    plan: impl FnMut(f64) -> Result<Ledger, E>,
) -> Result<Calibration, CalibrationError> {
    let mut search = Search::new(plan, target, delta, "noise multiplier")?;
    let noise_multiplier = search.smallest(1e-4, 1.0, 1e9)?;
    Ok(Calibration { noise_multiplier, epsilon: search.found(noise_multiplier)? })
}

/// The same for a plan all of whose noise is in proportion to z, drawn up twice and not for every
/// point of the search: to draw up a plan may be as much work as the run. The plan for 1 is scaled;
/// what is found counts only if the plan for it is, event for event, the one that was counted.
fn in_proportion<E>(
    target: f64,
    delta: f64,
    plan: &mut impl FnMut(f64) -> Result<Ledger, E>,
) -> Option<Calibration> {
    let one = plan(1.0).ok()?;
    let scaled = |z: f64| one.scaled(z).ok_or("an event without noise");
    let found = least_noise(target, delta, scaled).ok()?;
    let counted = one.scaled(found.noise_multiplier)?;
    (plan(found.noise_multiplier).ok()? == counted).then_some(found)
}

/// The largest sampling rate q ≤ `largest` for which the upper bound of `plan(q)` at δ is at most
/// `target`.
///
/// # Errors
/// As [`calibrate`].
///
/// # Examples
///
/// ```
/// use reticent_accountant::{
///     Adjacency, Event, EventError, Ledger, PoissonGaussian, Unit, View, calibrate_rate,
/// };
///
/// // How large may the samples of 100 steps be, with noise of one clip?
/// let plan = |rate: f64| -> Result<Ledger, EventError> {
///     let step = PoissonGaussian::new(1.0, rate)?;
///     let event = Event::new(step, Adjacency::AddRemove, Unit::Record, View::Central)?;
///     let mut ledger = Ledger::new();
///     ledger.append_many(event, 100);
///     Ok(ledger)
/// };
/// let found = calibrate_rate(1.0, 1e-6, 1.0, plan)?;
/// assert!(found.rate > 0.0 && found.rate < 0.1 && found.epsilon.upper <= 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn calibrate_rate<E: std::fmt::Display>(
    target: f64,
    delta: f64,
    largest: f64,
    mut plan: impl FnMut(f64) -> Result<Ledger, E>,
) -> Result<RateCalibration, CalibrationError> {
    let mut search = Search::new(|x: f64| plan(1.0 / x), target, delta, "sampling rate")?;
    let from = 1.0 / at_most(at_least(largest, 1e-12), 1.0);
    let x = search.smallest(from, from, 1e12)?;
    Ok(RateCalibration { rate: 1.0 / x, epsilon: search.found(x)? })
}

/// The largest number of steps, up to `most`, for which the upper bound of `plan(steps)` at δ is at
/// most `target`.
///
/// # Errors
/// As [`calibrate`]; [`CalibrationError::OutOfReach`] when not even one step fits.
///
/// # Examples
///
/// ```
/// use reticent_accountant::{
///     Adjacency, Event, EventError, Gaussian, Ledger, Unit, View, calibrate_steps,
/// };
///
/// // How many answers with noise of 50 clips are within (1, 1e-6)?
/// let plan = |steps: u64| -> Result<Ledger, EventError> {
///     let answer = Gaussian::new(50.0)?;
///     let event = Event::new(answer, Adjacency::ReplaceOne, Unit::Record, View::Central)?;
///     let mut ledger = Ledger::new();
///     ledger.append_many(event, steps);
///     Ok(ledger)
/// };
/// let found = calibrate_steps(1.0, 1e-6, 1_000_000, plan)?;
/// assert!(found.steps > 10 && found.epsilon.upper <= 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn calibrate_steps<E: std::fmt::Display>(
    target: f64,
    delta: f64,
    most: u64,
    mut plan: impl FnMut(u64) -> Result<Ledger, E>,
) -> Result<StepsCalibration, CalibrationError> {
    let mut search = Search::new(|x: f64| plan(x as u64), target, delta, "number of steps")?;
    let first = search.fine(1.0)?;
    if !first.within(target) {
        return Err(CalibrationError::OutOfReach {
            what: "number of steps",
            tried: 1.0,
            target,
            reached: first.value(),
        });
    }
    let (mut good, mut bad) = (1, 1);
    // plain: whole numbers
    while good < most {
        bad = good.saturating_mul(2).min(most);
        if !search.coarse(bad as f64)?.within(target) {
            break;
        }
        good = bad;
    }
    // plain: whole numbers
    while bad - good > 1 + good / 1000 {
        let middle = good + (bad - good) / 2;
        if search.coarse(middle as f64)?.within(target) { good = middle } else { bad = middle }
    }
    // The fine count allows a little more than the coarse one.
    bad = (bad + bad / 100 + 2).min(most.saturating_add(1)).max(good + 1);
    // plain: whole numbers
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if search.fine(middle as f64)?.within(target) { good = middle } else { bad = middle }
    }
    // What fits coarsely nearly always fits finely; one step was seen to.
    // plain: whole numbers
    while good > 1 && !search.fine(good as f64)?.within(target) {
        good -= 1 + (good - 1) / 1000;
    }
    Ok(StepsCalibration { steps: good, epsilon: search.found(good as f64)? })
}
