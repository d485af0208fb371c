//! A coin that comes up with probability 2^(−x), x = `part`/`whole` from 0 to 1, exactly.
//!
//! 2^(−x) = e^(−γ) with γ = x ln 2: coins of probability γ/n for n = 1, 2, … until one fails, of
//! which the first failure is odd with probability e^(−γ) (Canonne, Kamath, Steinke 2020, Algorithm
//! 1). A coin of probability γ/n is three: one of 1/n, one of x, and one of
//! ln 2 = Σ 2^(−k)/k, which draws k from a geometric law and then a coin of 1/k. Proof note:
//! `proofs/exponential-mechanism.md`.

use super::fraction::Digits;

/// True with probability 2^(−`part`/`whole`), for `part` from 0 to `whole`, which is not 0.
#[inline]
pub(crate) fn halving_coin<D: Digits>(part: u64, whole: u64, digits: &mut D) -> bool {
    let mut n = 1;
    loop {
        let up = (n == 1 || digits.below(n) == 0)
            && digits.below(whole) < part
            && logarithm_coin(digits);
        if !up {
            return n % 2 == 1;
        }
        n += 1;
    }
}

/// True with probability ln 2.
#[inline]
pub(super) fn logarithm_coin<D: Digits>(digits: &mut D) -> bool {
    let mut k = 1;
    while digits.below(2) == 1 {
        k += 1;
    }
    digits.below(k) == 0
}
