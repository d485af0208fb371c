//! What a ledger costs a [`Filter`](crate::Filter): the few numbers that the filter compares, so
//! that a long history is counted by adding them up and not by going through its events again.
//!
//! μ adds up by squares, failures and the divergences at the filter's own orders add up as they
//! are, all rounded up. Which orders they are at is fixed by the filter's budget, so a charge means
//! something to the filter that made it and to no other. Proof note: `proofs/filter.md`.

use crate::outward::Upper;
use crate::round;
use crate::tally::{Tally, length};

/// How many orders a filter tracks.
pub(crate) const ORDERS: usize = 4;

/// The cost of a ledger under one filter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Charge {
    /// μ, when every event is exactly Gaussian.
    pub(crate) mu: Option<f64>,
    /// The probability that some event fails altogether.
    pub(crate) failure: f64,
    /// The Rényi divergences at the filter's orders, when every event has a curve.
    pub(crate) divergences: Option<[f64; ORDERS]>,
}

impl Charge {
    /// Of nothing.
    pub const ZERO: Self = Self { mu: Some(0.0), failure: 0.0, divergences: Some([0.0; ORDERS]) };

    /// Of what has no guarantee: no filter admits it.
    pub const INFINITE: Self = Self { mu: None, failure: 1.0, divergences: None };

    /// How many bytes a charge is written in.
    pub const BYTES: usize = 8 * (2 + ORDERS);

    pub(crate) fn of(tally: &Tally, orders: &[f64; ORDERS]) -> Self {
        let mu = tally.gdp().map(|mu| Upper::new(mu).up(8.0 + tally.parts.len() as f64).value());
        let mu = if tally.parts.is_empty() { Some(0.0) } else { mu };
        let at =
            |curve: &dyn Fn(f64) -> f64| orders.map(|order| Upper::epsilon(curve(order)).value());
        let divergences = tally.rdp().map(|curve| at(&curve));
        let divergences = if tally.parts.is_empty() { Some([0.0; ORDERS]) } else { divergences };
        Self { mu, failure: tally.failure(), divergences }
    }

    /// Of both together.
    #[must_use]
    pub fn compose(&self, other: &Self) -> Self {
        let mu = self.mu.zip(other.mu).map(|(one, two)| match (one, two) {
            (mu, 0.0) | (0.0, mu) => mu,
            _ => Upper::new(length(&[(one, 1), (two, 1)])).up(8.0).value(),
        });
        let divergences = self
            .divergences
            .zip(other.divergences)
            .map(|(one, two)| std::array::from_fn(|i| sum(one[i], two[i])));
        Self { mu, failure: Upper::delta(sum(self.failure, other.failure)).value(), divergences }
    }

    /// The larger of both, part by part: for people of whom nobody is in both. Where a filter
    /// admits it, it admits either.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let larger = |one: f64, two: f64| Upper::new(one).largest(Upper::new(two)).value();
        let divergences = self
            .divergences
            .zip(other.divergences)
            .map(|(one, two)| std::array::from_fn(|i| larger(one[i], two[i])));
        Self {
            mu: self.mu.zip(other.mu).map(|(one, two)| larger(one, two)),
            failure: larger(self.failure, other.failure),
            divergences,
        }
    }

    /// μ of the whole, when every event is exactly Gaussian.
    #[must_use]
    pub fn mu(&self) -> Option<f64> {
        self.mu
    }

    /// Bit by bit, to be kept beside the ledger. What is not there is written as "not a number".
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let none = [f64::NAN; ORDERS];
        let mut numbers = vec![self.mu.unwrap_or(f64::NAN), self.failure];
        numbers.extend(self.divergences.unwrap_or(none));
        let mut bytes = [0; Self::BYTES];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_bits().to_le_bytes());
        }
        bytes
    }

    /// The charge that [`Charge::to_bytes`] wrote; `None` for bytes that it never writes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::BYTES] = bytes.try_into().ok()?;
        let mut numbers = [0.0; 2 + ORDERS];
        for (number, place) in numbers.iter_mut().zip(bytes.chunks_exact(8)) {
            *number = f64::from_bits(u64::from_le_bytes(place.try_into().ok()?));
        }
        let known = |number: f64| number.is_sign_positive() && !number.is_nan();
        let [mu, failure, divergences @ ..] = numbers;
        let mu = if mu.is_nan() { None } else { Some(mu) };
        let none = divergences.iter().all(|number| number.is_nan());
        let divergences = if none { None } else { Some(divergences) };
        let fine = mu.is_none_or(known)
            && known(failure)
            && Upper::new(failure).within(1.0)
            && divergences.is_none_or(|all| all.into_iter().all(known));
        fine.then_some(Self { mu, failure, divergences })
    }

    /// Whether it is the other but for what another processor's arithmetic may change in it.
    #[must_use]
    pub fn agrees_with(&self, other: &Self) -> bool {
        const TOLERANCE: f64 = 1e-9;
        let near = |one: f64, two: f64| {
            one == two || Upper::new((one - two).abs()).within(TOLERANCE * round::up(one, 1.0))
        };
        let mu = match (self.mu, other.mu) {
            (Some(one), Some(two)) => near(one, two),
            (one, two) => one == two,
        };
        let divergences = match (self.divergences, other.divergences) {
            (Some(one), Some(two)) => one.into_iter().zip(two).all(|(one, two)| near(one, two)),
            (one, two) => one == two,
        };
        mu && divergences && near(self.failure, other.failure)
    }
}

/// Rounded up, but nothing and nothing is nothing.
fn sum(one: f64, two: f64) -> f64 {
    match (one, two) {
        (number, 0.0) | (0.0, number) => number,
        _ => Upper::new(one + two).up(2.0).value(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_back_or_refused() {
        let charge =
            Charge { mu: Some(0.5), failure: 1e-9, divergences: Some([0.1, 0.2, 0.3, f64::MAX]) };
        for charge in [charge, Charge::ZERO, Charge::INFINITE, Charge { mu: None, ..charge }] {
            assert_eq!(Charge::from_bytes(&charge.to_bytes()), Some(charge));
            assert!(charge.agrees_with(&charge));
        }
        let spoiled = |place: usize, number: f64| {
            let mut bytes = charge.to_bytes();
            bytes[8 * place..8 * place + 8].copy_from_slice(&number.to_bits().to_le_bytes());
            Charge::from_bytes(&bytes)
        };
        for (place, number) in
            [(0, -1.0), (1, f64::NAN), (1, -1e-9), (1, 1.5), (2, -0.0), (3, f64::NAN), (5, -1.0)]
        {
            assert_eq!(spoiled(place, number), None, "{place} {number}");
        }
        assert_eq!(Charge::from_bytes(&charge.to_bytes()[1..]), None);
    }

    #[test]
    fn sums_are_never_below_their_parts() {
        let one = Charge { mu: Some(3.0), failure: 0.25, divergences: Some([0.1; ORDERS]) };
        let two = Charge { mu: Some(4.0), failure: 0.5, divergences: Some([0.2; ORDERS]) };
        let both = one.compose(&two);
        assert!(both.mu.unwrap() >= 5.0 && both.mu.unwrap() < 5.0 + 1e-12);
        assert!(both.divergences.unwrap()[0] >= 0.3 && both.failure >= 0.75);
        assert_eq!(one.compose(&Charge::ZERO), one);
        assert_eq!(Charge::ZERO.compose(&Charge::ZERO), Charge::ZERO);
        let larger = Charge { mu: Some(1.0), ..two }.or(&one);
        assert_eq!((larger.mu, larger.failure, larger.divergences), (one.mu, 0.5, two.divergences));
        assert_eq!((one.or(&one), one.or(&Charge::ZERO)), (one, one));
        assert_eq!(one.or(&Charge::INFINITE), Charge::INFINITE);
        let bare = one.compose(&Charge::INFINITE);
        assert_eq!((bare.mu, bare.failure, bare.divergences), (None, 1.0, None));
        assert!(!one.agrees_with(&two) && !one.agrees_with(&bare));
    }
}
