//! Reals as integers modulo 2⁶⁴, so that a sum of them can be read back.
//!
//! A value is clipped to |x| ≤ B and cut, towards zero, to a multiple of the step g = 2^−f. With L
//! = ⌊B/g⌋ no member adds more than L steps, and m members, with noise Z on the sum, stay in place
//! when
//!
//! > m·L + T < 2⁶³,  |Z| ≤ T := ⌈12·σ⌉,
//!
//! σ the parameter of the noise of the sum in steps: then the sum lies strictly between −2⁶³ and
//! 2⁶³ and is its own residue. The inequality is checked when the encoding is made. A sum of
//! discrete Gaussians is subgaussian with σ² (Canonne, Kamath, Steinke 2020), so |Z| > 12σ has
//! probability below 2e^(−72) < 2^−102 for a coordinate. Should it happen, the sum wraps: that
//! coordinate is then wrong, but it is a function of the sum with its noise, so privacy does not
//! depend on any of this.
//!
//! Dividing by a power of two is exact and cutting towards zero shortens, so the integers have at
//! most the ℓ₂ norm of the clipped vector over g: what bounds the reals bounds the integers.

/// How many σ of noise there is room for.
const TAILS: f64 = 12.0;

/// 2⁶³.
const HALF: f64 = 9_223_372_036_854_775_808.0;

/// An encoding that could overflow, or is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FixedPointError {
    /// The inequality does not hold.
    #[error(
        "{members} members with values up to {bound} on a grid of 2^-{fraction_bits}, and the noise, need \
         {needed:e} steps, 2^63 is all there is: take fewer fraction bits"
    )]
    Overflow {
        /// The number of members.
        members: u32,
        /// The bound of a value.
        bound: f64,
        /// The number of fraction bits.
        fraction_bits: u32,
        /// Steps that might be needed.
        needed: f64,
    },
    /// A bound below one step.
    #[error(
        "a bound must be finite and at least one step of the grid, 2^-{fraction_bits}, got {bound}"
    )]
    Bound {
        /// The value that was given.
        bound: f64,
        /// The number of fraction bits.
        fraction_bits: u32,
    },
    /// Noise that is no number.
    #[error("the noise of the sum must be a finite number of steps, at least 0, got {0}")]
    Noise(f64),
    /// A grid that is too fine to name.
    #[error("at most 62 fraction bits can be used, got {0}")]
    FractionBits(u32),
}

/// The encoding that all members and the collector agree on.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct FixedPoint {
    fraction_bits: u32,
    bound: f64,
    most: i64,
}

impl FixedPoint {
    /// Values of magnitude at most `bound` on a grid of 2^−`fraction_bits`, for sums of `members`
    /// of them with noise of parameter `noise` (in steps; 0 for none).
    ///
    /// # Errors
    /// When a sum might overflow, or a number is none.
    ///
    /// # Examples
    ///
    /// ```
    /// use reticent_masks::FixedPoint;
    ///
    /// // Sums of ten values of at most 1, on a grid of 2⁻²⁰.
    /// let code = FixedPoint::new(1.0, 20, 10, 0.0)?;
    /// let steps = code.encode(&[0.5, -2.0]);
    /// let sum: Vec<u64> = steps.iter().map(|&step| step as u64).collect();
    /// assert_eq!(code.decode(&sum), [0.5, -1.0]);
    /// # Ok::<(), reticent_masks::FixedPointError>(())
    /// ```
    pub fn new(
        bound: f64,
        fraction_bits: u32,
        members: u32,
        noise: f64,
    ) -> Result<Self, FixedPointError> {
        if fraction_bits > 62 {
            return Err(FixedPointError::FractionBits(fraction_bits));
        }
        let steps = (bound * step_inverse(fraction_bits)).floor();
        if !(bound.is_finite() && steps >= 1.0) {
            return Err(FixedPointError::Bound { bound, fraction_bits });
        }
        if !(noise.is_finite() && noise >= 0.0) {
            return Err(FixedPointError::Noise(noise));
        }
        // Upwards: each of the three roundings is below one part in 2⁵³.
        let needed =
            (f64::from(members) * steps + (TAILS * noise).ceil()) * (1.0 + 8.0 * f64::EPSILON);
        if needed >= HALF {
            return Err(FixedPointError::Overflow { members, bound, fraction_bits, needed });
        }
        Ok(Self { fraction_bits, bound, most: steps as i64 })
    }

    /// The step of the grid.
    #[must_use]
    pub fn step(&self) -> f64 {
        1.0 / step_inverse(self.fraction_bits)
    }

    /// The most steps of one value.
    #[must_use]
    pub fn most(&self) -> i64 {
        self.most
    }

    /// Each value clipped to the bound and cut towards zero; what is not a number is 0.
    #[must_use]
    pub fn encode(&self, values: &[f64]) -> Vec<i64> {
        // A cast truncates, saturates at ±∞ and makes NaN zero.
        values
            .iter()
            .map(|value| {
                (value.clamp(-self.bound, self.bound) * step_inverse(self.fraction_bits)) as i64
            })
            .collect()
    }

    /// As [`FixedPoint::encode`], after the whole vector was shrunk to ℓ₂ norm at most `clip`. The
    /// integers themselves are checked: their norm is at most clip/g whatever the rounding did
    /// before.
    #[must_use]
    pub fn encode_clipped(&self, values: &[f64], clip: f64) -> Vec<i64> {
        let norm = values.iter().map(|value| value * value).sum::<f64>().sqrt();
        let limit = clip * step_inverse(self.fraction_bits);
        let mut factor = if norm > clip { clip / norm } else { 1.0 };
        // One turn nearly always; a turn takes off far more than a rounding can have added.
        for _ in 0..8 {
            let shrunk: Vec<f64> = values.iter().map(|value| value * factor).collect();
            let steps = self.encode(&shrunk);
            if within(&steps, limit) {
                return steps;
            }
            factor *= 1.0 - 1e-9;
        }
        // Infinite entries have no direction.
        vec![0; values.len()]
    }

    /// Reals from a sum modulo 2⁶⁴.
    #[must_use]
    pub fn decode(&self, sum: &[u64]) -> Vec<f64> {
        sum.iter().map(|&value| value as i64 as f64 * self.step()).collect()
    }
}

fn step_inverse(fraction_bits: u32) -> f64 {
    (1_u64 << fraction_bits) as f64
}

/// Whether the ℓ₂ norm is at most `limit`: integers on the left, a square rounded down on the
/// right.
fn within(steps: &[i64], limit: f64) -> bool {
    let square = (limit * limit).next_down();
    let sum = steps.iter().try_fold(0_u128, |sum, &step| {
        let size = u128::from(step.unsigned_abs());
        sum.checked_add(size * size)
    });
    // Above 2⁵³ the conversion may round down by one part in 2⁵³.
    sum.is_some_and(|sum| (sum as f64) * (1.0 + f64::EPSILON) <= square || sum == 0)
}

#[cfg(test)]
mod unit {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_inequality_is_checked_at_both_sides_of_its_edge() {
        // 2 members, 2^f steps each: 2·2^f < 2⁶³ needs f ≤ 61.
        assert!(FixedPoint::new(1.0, 61, 2, 0.0).is_ok());
        assert!(matches!(FixedPoint::new(1.0, 62, 2, 0.0), Err(FixedPointError::Overflow { .. })));
        assert!(FixedPoint::new(1.0, 32, 1 << 20, 1e12).is_ok());
        assert!(matches!(FixedPoint::new(1.0, 32, 2, 1e18), Err(FixedPointError::Overflow { .. })));
        assert!(matches!(FixedPoint::new(0.4, 1, 2, 0.0), Err(FixedPointError::Bound { .. })));
        assert!(matches!(FixedPoint::new(f64::NAN, 1, 2, 0.0), Err(FixedPointError::Bound { .. })));
        assert!(matches!(FixedPoint::new(1.0, 1, 2, f64::NAN), Err(FixedPointError::Noise(_))));
        assert_eq!(FixedPoint::new(1.0, 63, 2, 0.0), Err(FixedPointError::FractionBits(63)));
    }

    #[test]
    fn the_largest_sum_is_read_back() {
        let fixed = FixedPoint::new(1.0, 55, 100, 1e6).unwrap();
        for sign in [1.0, -1.0] {
            let one = fixed.encode(&[sign * 7.0])[0];
            let noise = 12_000_000_i64 * sign as i64;
            let sum = (0..100).fold(noise as u64, |sum, _| sum.wrapping_add(one as u64));
            let found = fixed.decode(&[sum])[0];
            assert!((found - sign * 100.0).abs() < 1e-9, "{found}");
        }
    }

    #[test]
    fn what_is_no_number_adds_nothing() {
        let fixed = FixedPoint::new(2.0, 8, 3, 0.0).unwrap();
        assert_eq!(
            fixed.encode(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0]),
            [0, 512, -512, 0]
        );
        assert_eq!(fixed.encode_clipped(&[f64::INFINITY, 1.0], 1.0), [0, 0]);
        assert_eq!(fixed.encode_clipped(&[f64::NAN, 0.5], 1.0), [0, 128]);
    }

    proptest! {
        /// No vector, however long, is longer on the grid than its clip.
        #[test]
        fn integers_are_never_longer_than_the_clip(
            values in proptest::collection::vec(-1e6_f64..1e6, 1..40), clip in 0.1_f64..50.0, bits in 4_u32..40, tiny in -30_i32..3,
        ) {
            let fixed = FixedPoint::new(64.0, bits, 2, 0.0).unwrap();
            let values: Vec<f64> = values.iter().map(|value| value * 10_f64.powi(tiny)).collect();
            let steps = fixed.encode_clipped(&values, clip);
            let length: f64 = steps.iter().map(|&step| (step as f64 * fixed.step()).powi(2)).sum::<f64>().sqrt();
            prop_assert!(length <= clip * (1.0 + 1e-12));
            let norm = values.iter().map(|value| value * value).sum::<f64>().sqrt();
            let lost = clip.min(norm) - length;
            prop_assert!(lost <= fixed.step() * (values.len() as f64).sqrt() + 1e-8 * clip, "{lost}");
        }

        #[test]
        fn sums_of_encodings_are_sums_of_values(values in proptest::collection::vec(-1.0_f64..1.0, 1..50)) {
            let fixed = FixedPoint::new(1.0, 40, 50, 0.0).unwrap();
            let sum = fixed.encode(&values).iter().fold(0_u64, |sum, &v| sum.wrapping_add(v as u64));
            let found = fixed.decode(&[sum])[0];
            prop_assert!((found - values.iter().sum::<f64>()).abs() <= values.len() as f64 * fixed.step() + 1e-12);
        }
    }
}
