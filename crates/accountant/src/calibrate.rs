//! The smallest noise whose *upper* bound fits: what is promised is never overshot.
//!
//! ε falls as the noise grows, so the answer is bracketed by doubling and then bisected on the upper bound itself; the
//! end that fits is returned, so rounding can only cost noise. No random choice, no tolerance on ε: reproducible.

use crate::account::{self, AccountError};
use crate::bound::Bound;
use crate::ledger::Ledger;

/// The noise found and what it costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Smallest noise multiplier found whose upper bound fits.
    pub noise_multiplier: f64,
    /// The bound there; `upper` is not larger than the target.
    pub epsilon: Bound,
}

/// Why no noise was found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CalibrationError {
    /// A target nothing can meet.
    #[error("the target epsilon is {given}, but it must be a finite number greater than 0")]
    Target {
        /// What was given.
        given: f64,
    },
    /// The plan could not be drawn up.
    #[error("the plan could not be drawn up for {at}: {reason}")]
    Plan {
        /// The value tried.
        at: f64,
        /// What the plan said.
        reason: String,
    },
    /// The plan could not be counted.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// Even the largest value tried does not fit.
    #[error(
        "no noise multiplier up to {largest} brings epsilon to {target} (it stays at {reached}): \
             some event of the plan does not depend on the noise; allow more, or spend less on that event"
    )]
    OutOfReach {
        /// The largest value tried.
        largest: f64,
        /// What was asked for.
        target: f64,
        /// What the largest value gives.
        reached: f64,
    },
}

/// Noise multipliers outside this range are not looked at.
const SMALLEST: f64 = 1e-4;
const LARGEST: f64 = 1e8;

/// Relative width at which the bracket is narrow enough.
const WIDTH: f64 = 1e-6;

/// The smallest noise multiplier z for which the upper bound of `plan(z)` at δ is at most `target`.
///
/// # Errors
/// A target that is not positive, a plan that fails or cannot be counted, or a target that no noise reaches.
pub fn calibrate<E: std::fmt::Display>(
    target: f64,
    delta: f64,
    mut plan: impl FnMut(f64) -> Result<Ledger, E>,
) -> Result<Calibration, CalibrationError> {
    if !(target > 0.0 && target.is_finite()) {
        return Err(CalibrationError::Target { given: target });
    }
    let mut cost = |at: f64| -> Result<Bound, CalibrationError> {
        let ledger = plan(at).map_err(|e| CalibrationError::Plan { at, reason: e.to_string() })?;
        Ok(account::epsilon(&ledger, delta)?)
    };
    let fits = |bound: &Bound| bound.upper <= target;
    let mut good = 1.0;
    let mut found = cost(good)?;
    let mut bad;
    if fits(&found) {
        loop {
            bad = good / 4.0;
            let bound = cost(bad)?;
            if !fits(&bound) {
                break;
            }
            (good, found) = (bad, bound);
            if good < SMALLEST {
                return Ok(Calibration { noise_multiplier: good, epsilon: found });
            }
        }
    } else {
        loop {
            bad = good;
            good *= 4.0;
            found = cost(good)?;
            if fits(&found) {
                break;
            }
            if good > LARGEST {
                return Err(CalibrationError::OutOfReach { largest: good, target, reached: found.upper });
            }
        }
    }
    while good > bad * (1.0 + WIDTH) {
        let middle = (good * bad).sqrt();
        let bound = cost(middle)?;
        if fits(&bound) { (good, found) = (middle, bound) } else { bad = middle }
    }
    Ok(Calibration { noise_multiplier: good, epsilon: found })
}
