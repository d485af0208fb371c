//! The two ends of a bound as types in which what is not a number cannot pass for a small one.
//!
//! Arithmetic hands NaN on, comparisons lose it: `NaN < x` and `NaN >= x` are both false, and
//! `f64::max(NaN, 0.0)` is 0. So a number that decides a bound is an [`Upper`] or a [`Lower`]
//! before anything is compared, and numbers on the way there are kept within limits by [`at_least`]
//! and [`at_most`], which hand NaN on. `clippy.toml` forbids `f64::max`, `f64::min` and
//! `f64::clamp` in this crate; `tests/raw_comparisons.rs` finds raw comparisons where bounds are
//! decided.

use crate::round;

/// An upper end: the truth is not above it. What is not a number is infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Upper(f64);

impl Upper {
    /// Nothing is known.
    pub(crate) const INFINITE: Self = Self(f64::INFINITY);

    pub(crate) fn new(value: f64) -> Self {
        Self(if value.is_nan() { f64::INFINITY } else { value })
    }

    /// An ε: never negative.
    pub(crate) fn epsilon(value: f64) -> Self {
        Self::new(at_least(value, 0.0))
    }

    /// A δ: a probability.
    pub(crate) fn delta(value: f64) -> Self {
        Self::new(at_most(Self::epsilon(value).0, 1.0))
    }

    /// e^log, which is not 0 however small it is: that would be said of something that cannot
    /// happen.
    pub(crate) fn exp(log: f64) -> Self {
        let value = log.exp();
        let vanished = value == 0.0 && log != f64::NEG_INFINITY;
        Self::new(if vanished { f64::from_bits(1) } else { value })
    }

    pub(crate) fn value(self) -> f64 {
        self.0
    }

    /// Moved up by so many roundings.
    pub(crate) fn up(self, operations: f64) -> Self {
        Self::new(round::up(self.0, operations))
    }

    /// Whether the truth is surely not above `limit`; a limit that is no number admits nothing.
    pub(crate) fn within(self, limit: f64) -> bool {
        self.0 <= limit
    }

    /// The better of two ends of the same truth.
    pub(crate) fn least(self, other: Self) -> Self {
        if self.within(other.0) { self } else { other }
    }

    /// The end of the larger of two truths.
    pub(crate) fn largest(self, other: Self) -> Self {
        if self.within(other.0) { other } else { self }
    }
}

/// A lower end: the truth is not below it. What is not a number, and what has overflown, is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lower(f64);

impl Lower {
    /// Nothing is known.
    pub(crate) const ZERO: Self = Self(0.0);
    /// No guarantee at all: said on purpose, never computed.
    pub(crate) const INFINITE: Self = Self(f64::INFINITY);

    pub(crate) fn new(value: f64) -> Self {
        Self(if value.is_finite() { at_least(value, 0.0) } else { 0.0 })
    }

    pub(crate) fn value(self) -> f64 {
        self.0
    }

    /// Whether the truth is surely not below `limit`; a limit that is no number is not reached.
    pub(crate) fn reaches(self, limit: f64) -> bool {
        self.0 >= limit
    }

    /// The better of two ends of the same truth.
    pub(crate) fn largest(self, other: Self) -> Self {
        if self.reaches(other.0) { self } else { other }
    }

    /// Whether one of the two ends must be wrong.
    pub(crate) fn contradicts(self, upper: Upper) -> bool {
        !upper.0.ge(&self.0)
    }
}

/// `value`, or `least` if it is below; what is not a number stays so.
pub(crate) fn at_least(value: f64, least: f64) -> f64 {
    if value < least { least } else { value }
}

/// `value`, or `most` if it is above; what is not a number stays so.
pub(crate) fn at_most(value: f64, most: f64) -> f64 {
    if value > most { most } else { value }
}

/// The largest of numbers, not below `least`; NaN if one of them is.
pub(crate) fn largest(values: impl IntoIterator<Item = f64>, least: f64) -> f64 {
    values
        .into_iter()
        .fold(least, |most, value| if value <= most || most.is_nan() { most } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_ends_on_the_safe_side() {
        let nan = f64::NAN;
        assert_eq!(Upper::new(nan), Upper::INFINITE);
        assert_eq!(Upper::epsilon(nan), Upper::INFINITE);
        assert_eq!(Upper::delta(nan).value(), 1.0);
        assert_eq!(Upper::exp(nan), Upper::INFINITE);
        assert_eq!(Upper::exp(-4e4).value(), 5e-324);
        assert_eq!(Upper::exp(f64::NEG_INFINITY).value(), 0.0);
        assert!(!Upper::new(nan).within(1e300) && !Upper::new(0.0).within(nan));
        assert_eq!(Upper::new(nan).least(Upper::new(2.0)).value(), 2.0);
        assert_eq!(Upper::new(nan).largest(Upper::new(2.0)), Upper::INFINITE);
        assert_eq!(Upper::new(f64::INFINITY).up(0.0), Upper::INFINITE);
        for bad in [nan, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
            assert_eq!(Lower::new(bad), Lower::ZERO);
        }
        assert!(!Lower::new(1.0).reaches(nan));
        assert!(
            Lower::new(1.0).contradicts(Upper::new(0.5))
                && !Lower::new(1.0).contradicts(Upper::new(nan))
        );
        assert!(at_least(nan, 0.0).is_nan() && at_most(nan, 0.0).is_nan());
        assert!(largest([1.0, nan, 2.0], 0.0).is_nan());
        assert_eq!(largest([1.0, 3.0, 2.0], 0.0), 3.0);
        assert_eq!(Upper::epsilon(-1.0).value(), 0.0);
    }
}
