//! Composition: the tilted measures are multiplied in the frequency domain.
//!
//! The lattice is wrapped to N points, so what the inverse transform returns at a point of the
//! window is the tilted mass there plus that of all its aliases outside. The aliases' total mass is
//! bounded by Chernoff at both edges; it can only add, so the upper bound needs no correction for
//! it inside the window, the lower bound subtracts it.
//!
//! Rounding: each coefficient of a transform of a measure of total mass 1 is off by at most
//! `FFT`·log₂N·u; a power c multiplies the relative error by c. Both are followed coefficient by
//! coefficient (Higham 2002, ch. 24).

use super::discretise::Dots;
use super::tilt;
use crate::outward::{Lower, Upper, at_least, at_most};
use crate::round::{UNIT, down};
use realfft::RealFftPlanner;
use realfft::num_complex::Complex64;
use std::cell::RefCell;

/// Roundings per butterfly level, with room.
const FFT: f64 = 8.0;

/// Coefficients below this are dropped, and counted as an error of that size.
const NEGLIGIBLE: f64 = 1e-26;

/// Counts up to this are multiplied out, larger ones go through logarithms.
const MULTIPLIED_OUT: u64 = 64;

thread_local! {
    /// Twiddle factors are worth keeping between calls.
    static PLANNER: RefCell<RealFftPlanner<f64>> = RefCell::new(RealFftPlanner::new());
}

/// The tilted composed law on a window of the lattice.
pub(crate) struct Composed {
    /// Lattice index of the first value.
    pub first: i64,
    /// Tilted mass, aliases included, each within `rounding` of the truth.
    pub values: Vec<f64>,
    pub rounding: f64,
    /// ln of what the tilted masses have to be multiplied with, besides e^{−sℓ}.
    pub log_norm: f64,
    /// Mass at infinity of the whole composition, from above and from below.
    pub infinity: f64,
    pub infinity_below: f64,
}

/// A length with small factors, not below `least`.
pub(crate) fn length(least: usize) -> usize {
    let power = least.max(64).next_power_of_two();
    [power / 8 * 5, power / 4 * 3, power].into_iter().find(|&n| n >= least).unwrap_or(power)
}

/// |z|; coefficients are at most 1 and tiny ones are dropped, so no care against overflow is needed.
fn size_of(value: Complex64) -> f64 {
    value.norm_sqr().sqrt()
}

/// A coefficient to the power `count`, and by how much the result can be off when the coefficient
/// is off by `error`: (|f| + e)^c − |f|^c ≤ c·e·(|f| + e)^{c−1}, and sixteen roundings per factor.
fn power(value: Complex64, count: u64, error: f64) -> (Complex64, f64) {
    let size = size_of(value) + error;
    let times = count as f64;
    if count <= MULTIPLIED_OUT {
        let rest = size.powi(count as i32 - 1);
        return (value.powu(count as u32), times * rest * (error + 16.0 * UNIT * size));
    }
    let log_size = size.ln();
    let rest = ((times - 1.0) * log_size).exp();
    if rest < NEGLIGIBLE {
        return (Complex64::new(0.0, 0.0), rest * (1.0 + 1e-6));
    }
    let (sin, cos) = (times * value.arg()).sin_cos();
    let power = (times * size_of(value).ln()).exp();
    (Complex64::new(power * cos, power * sin), times * rest * (error + 16.0 * UNIT * size))
}

/// One more factor, which is off by at most `change`, into a product that is off by at most `doubt`.
fn multiply(product: &mut Complex64, doubt: &mut f64, (power, change): (Complex64, f64)) {
    if product.re == 0.0 && product.im == 0.0 {
        return;
    }
    let size = size_of(*product);
    *doubt = *doubt * (size_of(power) + change) + size * change;
    *product *= power;
    if size * size_of(power) < NEGLIGIBLE {
        *product = Complex64::new(0.0, 0.0);
        *doubt += NEGLIGIBLE;
    }
}

/// Composes measures whose losses are multiples of `step`, tilted by `s`, into `length` points from
/// index `first`.
pub(crate) fn compose(
    parts: &[(Dots, u64)],
    step: f64,
    s: f64,
    first: i64,
    length: usize,
) -> Composed {
    let (forward, inverse) = PLANNER.with_borrow_mut(|planner| {
        (planner.plan_fft_forward(length), planner.plan_fft_inverse(length))
    });
    let levels = (length as f64).log2();
    let error = FFT * levels * UNIT;
    let mut buffer = forward.make_input_vec();
    let mut spectrum = forward.make_output_vec();
    let mut scratch = forward.make_scratch_vec();
    let half = spectrum.len();
    // The product so far, and by how much it can be off.
    let mut product = vec![Complex64::new(1.0, 0.0); half];
    let mut doubt = vec![0.0_f64; half];
    let (mut log_norm, mut finite) = (0.0, 0.0);
    let modulus = length as i64;
    for (discretise, count) in parts {
        let (weights, shift) = tilt::tilted(discretise, s);
        let total: f64 = weights.iter().sum();
        log_norm += *count as f64 * (total.ln() + shift);
        finite += *count as f64 * (-at_most(discretise.infinity, 1.0)).ln_1p();
        buffer.fill(0.0);
        for (&(loss, _), weight) in discretise.points.iter().zip(&weights) {
            let index = (loss / step).round() as i64;
            buffer[index.rem_euclid(modulus) as usize] += weight / total;
        }
        // The lengths are the plan's own, the only thing the transform can complain about.
        let _ = forward.process_with_scratch(&mut buffer, &mut spectrum, &mut scratch);
        for ((value, product), doubt) in spectrum.iter().zip(&mut product).zip(&mut doubt) {
            multiply(product, doubt, power(*value, *count, error));
        }
    }
    spectrum.copy_from_slice(&product);
    let rounding: f64 = 2.0 * doubt.iter().sum::<f64>();
    let size_sum: f64 = 2.0 * product.iter().map(|value| size_of(*value)).sum::<f64>();
    spectrum[0].im = 0.0;
    spectrum[half - 1].im = 0.0;
    let mut scratch = inverse.make_scratch_vec();
    let _ = inverse.process_with_scratch(&mut spectrum, &mut buffer, &mut scratch);
    let scale = 1.0 / length as f64;
    let rounding = (rounding + error * size_sum) * scale;
    // Nothing at infinity stays nothing.
    let (mass, operations) = (-finite.exp_m1(), 8.0 + parts.len() as f64);
    let infinity = if finite == 0.0 { 0.0 } else { Upper::delta(mass).up(operations).value() };
    let infinity_below = Lower::new(down(mass, operations)).value();
    let start = first.rem_euclid(modulus) as usize;
    buffer.rotate_left(start);
    buffer.iter_mut().for_each(|value| *value = at_least(*value * scale, 0.0));
    Composed { first, values: buffer, rounding, log_norm, infinity, infinity_below }
}
