//! round(σN/g): the Gaussian mechanism on the grid.

use super::NoiseError;
use super::fraction::Digits;
use super::normal::half_normal;
use super::scale::GridScale;
use super::sealed::Draw;

/// The integer nearest to z·2^f·N: N an exactly sampled standard normal, z the noise multiplier
/// that the accountant was told (read as the binary fraction that it is) and 2^−f the grid step in
/// units of the clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianGrid {
    scale: GridScale,
}

impl GaussianGrid {
    /// Noise of standard deviation `noise_multiplier`, on a grid of step 2^−`fraction_bits`.
    pub fn new(noise_multiplier: f64, fraction_bits: u32) -> Result<Self, NoiseError> {
        Ok(Self { scale: GridScale::new(noise_multiplier, fraction_bits)? })
    }

    /// The first noise multiplier that is too large for a grid of step 2^−`fraction_bits`.
    pub const fn limit(fraction_bits: u32) -> f64 {
        // A power of two below 2⁶⁴, which is one in 64 bits of floating point.
        (1_u64 << (GridScale::MOST_BITS - fraction_bits)) as f64
    }
}

impl Draw for GaussianGrid {
    #[inline]
    fn draw<D: Digits>(&self, digits: &mut D) -> i128 {
        let (k, mut x) = half_normal(digits);
        let size = self.scale.nearest(k, &mut x, digits) as i128;
        if digits.below(2) == 0 { size } else { -size }
    }
}
