//! A standard exponential variate as k + x with an integer k and a lazily drawn fraction x (von
//! Neumann 1951).
//!
//! Draw x; keep it with probability e^−x, otherwise add one to k and draw another. A trial fails
//! with probability 1 − ∫e^−x = e⁻¹, so (k, x) has density e^−k · e^−x.

use super::fraction::{Digits, Fraction, even_run_below};

/// The integer and the fraction of a standard exponential variate.
#[inline]
pub(crate) fn exponential<D: Digits>(digits: &mut D) -> (u64, Fraction) {
    let mut k = 0;
    loop {
        let mut x = Fraction::draw(digits);
        if even_run_below(&mut x, digits) {
            return (k, x);
        }
        k += 1;
    }
}
