//! `eˣ` for many numbers at once.
//!
//! The library's `exp` is a call for each number; this is straight-line arithmetic that compilers
//! turn into vector instructions. `eˣ = 2ᵏ·eʳ` with `k` the integer nearest to `x/ln 2`,
//! `|r| ≤ ln 2/2`, and `eʳ` by its Taylor polynomial of degree 13, whose remainder is below
//! 2·10⁻¹⁷.

/// Beyond these, `eˣ` is 0 or ∞ for every purpose, and 2ᵏ would leave the range of a double.
const LIMIT: f64 = 708.0;

/// Adding it leaves the nearest integer in the low bits of a double.
const MAGIC: f64 = 6_755_399_441_055_744.0; // 1.5·2⁵²

/// ln 2 in two parts: the first has few enough bits for `k·LN2_HIGH` to be exact.
const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Within a few units in the last place of `eˣ` for `|x| ≤ 708`; the value there beyond; NaN for
/// NaN.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let x = x.clamp(-LIMIT, LIMIT);
    let shifted = x * std::f64::consts::LOG2_E + MAGIC;
    let k = shifted - MAGIC;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    let mut sum = 1.0 / 6_227_020_800.0;
    for coefficient in [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        sum = sum * r + coefficient;
    }
    // The low bits of `shifted` are k; moved up by 52 they are the exponent of 2ᵏ.
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    sum * power
}

#[cfg(test)]
mod tests {
    use super::exp;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_exponential(x in prop_oneof![-708.0..708.0f64, -1.0..1.0f64, -1e-8..1e-8f64]) {
            let reference = x.exp();
            prop_assert!((exp(x) - reference).abs() <= 4.0 * f64::EPSILON * reference, "{} {}", exp(x), reference);
        }
    }

    #[test]
    fn the_tails_stay_in_range() {
        assert!(exp(-1e300) > 0.0 && exp(-1e300) < 1e-300);
        assert!(exp(1e300) > 1e300 && exp(1e300).is_finite());
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f64::NAN).is_nan());
    }
}
