//! round(bL/g): the Laplace mechanism on the grid.

use super::NoiseError;
use super::exponential::exponential;
use super::fraction::Digits;
use super::scale::GridScale;
use super::sealed::Draw;

/// The integer nearest to b·2^f·L: L an exactly sampled variate with density e^−|t|/2, b the scale
/// (read as the binary fraction that it is) and 2^−f the grid step in units of the clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaplaceGrid {
    scale: GridScale,
}

impl LaplaceGrid {
    /// Noise with mean absolute value `scale`, on a grid of step 2^−`fraction_bits`.
    pub fn new(scale: f64, fraction_bits: u32) -> Result<Self, NoiseError> {
        Ok(Self { scale: GridScale::new(scale, fraction_bits)? })
    }
}

impl Draw for LaplaceGrid {
    #[inline]
    fn draw<D: Digits>(&self, digits: &mut D) -> i128 {
        let (k, mut x) = exponential(digits);
        let size = self.scale.nearest(k, &mut x, digits) as i128;
        if digits.below(2) == 0 { size } else { -size }
    }
}
