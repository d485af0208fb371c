//! N_ℤ(0, σ²), the discrete Gaussian: P(v) ∝ e^(−v²/2σ²) on the integers (Canonne, Kamath, Steinke
//! 2020).
//!
//! For noise that many parties add to one sum. A rounded Gaussian will not do there: the sum of
//! rounded variates is not the rounded sum, so its law is nobody's. The law of a sum of discrete
//! Gaussians is known to be within a tiny τ of a discrete Gaussian (Kairouz, Liu, Steinke 2021),
//! and the accountant counts that. Proof note: `proofs/noise-distributed.md`.
//!
//! Sampled exactly, with integers alone (algorithm D of Karney 2016 at mean zero, its coin by the
//! series of the exponential). σ = m·2^−s is the binary fraction that the `f64` is.
//!
//! 1. k ≥ 0 with probability ∝ e^(−k²/2), a fair sign, v = ⌈kσ⌉ + j with j uniform on 0 … ⌈σ⌉ − 1.
//! 2. x = v/σ − k = (v·2^s − k·m)/m ≥ 0 is a fraction with denominator m. Start again unless x < 1,
//!    and for v = 0 with the sign − (zero would be counted twice).
//! 3. Keep v with probability e^(−x(2k+x)/2): k + 1 coins of probability e^(−x(2k+x)/(2k+2));
//!    otherwise start again.
//!
//! Every v ≥ 0 has exactly one k = ⌊v/σ⌋ and one j, so it is kept with probability ∝ e^(−k²/2 − kx
//! − x²/2) = e^(−v²/2σ²).

use super::NoiseError;
use super::fraction::Digits;
use super::normal::whole;
use super::scale::GridScale;
use super::sealed::Draw;

/// An integer v with probability proportional to e^(−v²/2σ²), σ = z·2^f in steps of the grid.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct DiscreteGaussian {
    scale: GridScale,
}

impl DiscreteGaussian {
    /// Noise of parameter `sigma` (nearly its standard deviation), on a grid of step
    /// 2^−`fraction_bits`.
    pub fn new(sigma: f64, fraction_bits: u32) -> Result<Self, NoiseError> {
        Ok(Self { scale: GridScale::new(sigma, fraction_bits)? })
    }
}

impl Draw for DiscreteGaussian {
    #[inline]
    fn draw<D: Digits>(&self, digits: &mut D) -> i128 {
        let (mantissa, shift) = self.scale.parts();
        let (m, unit) = (u128::from(mantissa), 1_u128 << shift);
        loop {
            let k = whole(digits);
            let negative = digits.below(2) == 1;
            // At most 2⁵³, the largest σ.
            let j = digits.below(m.div_ceil(unit) as u64);
            let passed = m * u128::from(k);
            let v = passed.div_ceil(unit) + u128::from(j);
            let x = (v << shift) - passed;
            if x >= m || (v == 0 && negative) {
                continue;
            }
            // x < m < 2⁵³.
            if (0..=k).all(|_| exponential_coin(k, x as u64, mantissa, digits)) {
                let size = v as i128;
                return if negative { -size } else { size };
            }
        }
    }
}

/// True with probability e^(−γ), γ = x(2k+x)/(2k+2) ≤ 1 for x = `part`/`whole`: coins of
/// probability γ/n for n = 1, 2, … until one fails; more than n succeed with probability γⁿ/n!, so
/// the first failure is odd with probability e^(−γ) (Canonne, Kamath, Steinke 2020, Algorithm 1).
#[inline]
pub(super) fn exponential_coin<D: Digits>(k: u64, part: u64, whole: u64, digits: &mut D) -> bool {
    let mut n = 1;
    loop {
        let slice = digits.below(2 * k + 2);
        let up = (n == 1 || digits.below(n) == 0)
            && digits.below(whole) < part
            && (slice < 2 * k || (slice == 2 * k && digits.below(whole) < part));
        if !up {
            return n % 2 == 1;
        }
        n += 1;
    }
}
