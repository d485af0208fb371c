//! Noise that is what it says: exactly sampled variates, rounded to the grid on which the gate
//! sums.
//!
//! The gate's sums are whole multiples of a public step g, held as integers. Let Y be a continuous
//! variate with the law that the accountant counts, in units of g. Rounding to the nearest integer
//! commutes with adding an integer, so
//!
//! > (integer sum) + round(Y) = round(integer sum + Y) almost surely:
//!
//! what is released is a function of the exact continuous mechanism, and post-processing adds
//! nothing to its cost. Y itself is never written down: its binary digits are drawn one word at a
//! time until they settle the rounding, and the decision what to draw next uses integers only
//! (Karney 2016). No sampler sees data. Proof notes: `proofs/noise-gaussian-grid.md`,
//! `proofs/noise-laplace-grid.md`.
//!
//! The discrete Gaussian (Canonne–Kamath–Steinke 2020) has a profile that is close to, but not, the
//! Gaussian's, and a bound on the difference has to be carried by the accountant. It is here for
//! the one case in which rounding does not commute: noise that is the sum of many parties' shares
//! (`proofs/noise-distributed.md`).

#[cfg(test)]
mod conformance;
mod discrete;
mod exponential;
mod fraction;
mod gaussian;
mod halving;
mod laplace;
mod normal;
mod scale;

pub use discrete::DiscreteGaussian;
pub use gaussian::GaussianGrid;
pub use laplace::LaplaceGrid;

use crate::entropy::{Entropy, EntropyError};
pub(crate) use fraction::Digits;
pub(crate) use halving::halving_coin;
use sealed::Draw;

/// Why a noise distribution cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoiseError {
    /// The scale is not a positive number that the exact arithmetic covers.
    #[error(
        "a noise scale must lie between 2^{least} and 2^{most} for a grid with {fraction_bits} fraction bits, got {given}; \
         change the noise multiplier or the grid"
    )]
    Scale {
        /// The value that was given.
        given: f64,
        /// Fraction bits of the grid.
        fraction_bits: u32,
        /// Base-2 logarithm of the smallest allowed scale.
        least: i64,
        /// Base-2 logarithm of the first scale that is too large.
        most: i64,
    },
}

/// A distribution on the integers, sampled exactly: a discrete one, or a continuous one rounded to
/// the nearest grid point.
pub trait GridNoise: Draw {
    /// Adds fresh noise to each sum. The addition is done in 128 bits and the *result* is cut to
    /// 64: a cut of the released value is post-processing, whatever the noise was.
    fn perturb(&self, entropy: &mut Entropy, sums: &mut [i64]) -> Result<(), EntropyError> {
        entropy.ready()?;
        for sum in sums {
            *sum = saturate(i128::from(*sum) + self.draw(entropy));
        }
        Ok(())
    }

    /// Adds fresh noise to each value modulo 2⁶⁴: for summands of a sum in that ring, where a cut
    /// of one summand would not be a function of the sum.
    fn perturb_modular(
        &self,
        entropy: &mut Entropy,
        values: &mut [u64],
    ) -> Result<(), EntropyError> {
        entropy.ready()?;
        for value in values {
            *value = value.wrapping_add(self.draw(entropy) as u64);
        }
        Ok(())
    }

    /// Fresh noise in every place. For a release use [`GridNoise::perturb`]; here the cut to 64
    /// bits (which needs a normal variate above 2¹⁰) falls on the noise itself.
    fn fill(&self, entropy: &mut Entropy, out: &mut [i64]) -> Result<(), EntropyError> {
        entropy.ready()?;
        for value in out {
            *value = saturate(self.draw(entropy));
        }
        Ok(())
    }

    /// Draws one variate, in steps of the grid.
    fn sample(&self, entropy: &mut Entropy) -> Result<i64, EntropyError> {
        entropy.ready()?;
        Ok(saturate(self.draw(entropy)))
    }
}

impl<T: Draw> GridNoise for T {}

mod sealed {
    /// One exact variate, of any size, from any source of digits. Not public: it does not ask
    /// [`Entropy::ready`].
    ///
    /// [`Entropy::ready`]: crate::entropy::Entropy::ready
    pub trait Draw {
        #[doc(hidden)]
        fn draw<D: super::Digits>(&self, digits: &mut D) -> i128;
    }
}

fn saturate(wide: i128) -> i64 {
    wide.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

impl Digits for Entropy {
    const BITS: u32 = 64;

    #[inline]
    fn digit(&mut self) -> u64 {
        self.word()
    }

    #[inline]
    fn below(&mut self, bound: u64) -> u64 {
        self.word_below(bound)
    }
}
