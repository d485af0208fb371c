//! |N| for a standard normal N, as k + x with an integer k and a lazily drawn fraction x: algorithm N of Karney,
//! "Sampling exactly from the normal distribution", ACM TOMS 42 (2016), from uniform digits and
//! comparisons alone.
//!
//! 1. k ≥ 0 with probability ∝ e^(−k/2): the number of successes before the first failure of coins
//!    H with P(success) = e^(−1/2).
//! 2. Keep k with probability e^(−k(k−1)/2): k(k−1) further successes; otherwise start again.
//! 3. x uniform on (0, 1).
//! 4. Keep (k, x) with probability e^(−x(2k+x)/2): k + 1 successes of coins B with P =
//!    e^(−x(2k+x)/(2k+2)); otherwise start again.
//!
//! The density of the pair that is kept is ∝ e^(−k/2 − k(k−1)/2 − kx − x²/2) = e^(−(k+x)²/2).

use super::fraction::{Digits, Fraction, descend};

/// The integer and the fraction of the absolute value of a standard normal variate.
#[inline]
pub(crate) fn half_normal<D: Digits>(digits: &mut D) -> (u64, Fraction) {
    'again: loop {
        let k = whole(digits);
        let mut x = Fraction::draw(digits);
        for _ in 0..=k {
            if !step_coin(k, &mut x, digits) {
                continue 'again;
            }
        }
        return (k, x);
    }
}

/// Steps 1 and 2: k ≥ 0 with probability ∝ e^(−k²/2).
#[inline]
pub(super) fn whole<D: Digits>(digits: &mut D) -> u64 {
    'again: loop {
        let mut k = 0_u64;
        while half_coin(digits) {
            k += 1;
        }
        for _ in 0..k * k.saturating_sub(1) {
            if !half_coin(digits) {
                continue 'again;
            }
        }
        return k;
    }
}

/// True with probability e^(−1/2): the run that starts below ½.
#[inline]
pub(super) fn half_coin<D: Digits>(digits: &mut D) -> bool {
    let first = Fraction::draw(digits);
    !first.below_half::<D>() || descend(first, digits)
}

/// True with probability e^(−x(2k+x)/(2k+2)): the run x > U₁ > U₂ > …, each member also kept only
/// with probability (2k+x)/(2k+2), has length ≥ n with probability xⁿ/n! · ((2k+x)/(2k+2))ⁿ.
#[inline]
pub(super) fn step_coin<D: Digits>(k: u64, x: &mut Fraction, digits: &mut D) -> bool {
    let mut next = Fraction::draw(digits);
    if !next.less(x, digits) || !kept(k, x, digits) {
        return true;
    }
    let mut even = false;
    loop {
        let mut last = next;
        next = Fraction::draw(digits);
        if !next.less(&mut last, digits) || !kept(k, x, digits) {
            return even;
        }
        even = !even;
    }
}

/// True with probability (2k + x)/(2k + 2): of 2k + 2 equal slices, 2k are in, one is out, one is
/// split at x.
#[inline]
fn kept<D: Digits>(k: u64, x: &mut Fraction, digits: &mut D) -> bool {
    let slice = digits.below(2 * k + 2);
    slice < 2 * k || (slice == 2 * k && Fraction::draw(digits).less(x, digits))
}
