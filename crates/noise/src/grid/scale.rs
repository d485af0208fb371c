//! round(scale · (k + x)) with nothing rounded on the way.
//!
//! A positive `f64` is m·2^e with 2⁵² ≤ m < 2⁵³. In units of the grid step the scale is m·2^−s, s =
//! −(e + fraction bits), and the class of scales is cut so that 0 ≤ s ≤ 61 and all below fits in
//! 128 bits. Write m·k = q·2^s + r. Then
//!
//! > scale·(k + x) + ½ = q + (r + 2^(s−1) + m·x)/2^s,
//!
//! and with the first 64 bits w of x, m·x = (m·w + m·x')/2⁶⁴ for a new fraction 0 < x' < 1 made of
//! the later bits. The floor is settled unless an integer lies within the last m·x'.

use super::NoiseError;
use super::fraction::{Digits, Fraction};

/// The largest s.
const MOST_SHIFT: i64 = 61;

/// A scale in units of the grid step, exactly m·2^−s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct GridScale {
    mantissa: u64,
    shift: u32,
}

impl GridScale {
    /// The base-2 logarithm of the first scale that is too large, in steps of the grid.
    pub(crate) const MOST_BITS: u32 = 53;

    /// `scale` · 2^`fraction_bits` exactly.
    pub(crate) fn new(scale: f64, fraction_bits: u32) -> Result<Self, NoiseError> {
        let bits = i64::from(fraction_bits);
        let (least, most) = (52 - MOST_SHIFT - bits, i64::from(Self::MOST_BITS) - bits);
        let wrong = NoiseError::Scale { given: scale, fraction_bits, least, most };
        if !(scale.is_normal() && scale > 0.0) {
            return Err(wrong);
        }
        let exponent = (scale.to_bits() >> 52) as i64 - 1075;
        let mantissa = scale.to_bits() & ((1 << 52) - 1) | 1 << 52;
        let shift = -(exponent + bits);
        if !(0..=MOST_SHIFT).contains(&shift) {
            return Err(wrong);
        }
        Ok(Self { mantissa, shift: shift as u32 })
    }

    /// (m, s) of m·2^−s.
    #[inline]
    pub(crate) fn parts(self) -> (u64, u32) {
        (self.mantissa, self.shift)
    }

    /// The integer nearest to scale · (k + x); half-way cases have probability zero.
    #[inline]
    pub(crate) fn nearest<D: Digits>(self, k: u64, x: &mut Fraction, digits: &mut D) -> u128 {
        let m = u128::from(self.mantissa);
        let product = m * u128::from(k);
        let mask = (1_u128 << self.shift) - 1;
        // In units of 2^−(s + 64): at most 2¹²⁵ + 2¹²⁴ + 2¹¹⁷.
        let half = (1_u128 << (self.shift + 64)) >> 1;
        let start = ((product & mask) << 64) + half + m * u128::from(x.word(0, digits));
        let floor = start >> (self.shift + 64);
        let gap = ((floor + 1) << (self.shift + 64)) - start;
        let carry = gap < m && self.reaches(gap, x, digits);
        (product >> self.shift) + floor + u128::from(carry)
    }

    /// Whether m·x' ≥ gap, 0 < gap < m, for the fraction x' made of the words of x after the first.
    /// One word w turns the question into m·x'' ≥ 2⁶⁴·gap − m·w, which is settled unless the right
    /// side is again between 0 and m.
    #[cold]
    fn reaches<D: Digits>(self, mut gap: u128, x: &mut Fraction, digits: &mut D) -> bool {
        let m = u128::from(self.mantissa);
        for index in 1.. {
            let (target, part) = (gap << 64, m * u128::from(x.word(index, digits)));
            if part >= target {
                return true;
            }
            gap = target - part;
            if gap >= m {
                return false;
            }
        }
        false
    }
}
