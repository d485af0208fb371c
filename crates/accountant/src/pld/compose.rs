//! Composition: the tilted measures are multiplied in the frequency domain.
//!
//! The lattice is wrapped to N points, so what the inverse transform returns at a point of the window is the tilted
//! mass there plus that of all its aliases outside. The aliases' total mass is bounded by Chernoff at both edges; it can
//! only add, so the upper bound needs no correction for it inside the window, the lower bound subtracts it.
//!
//! Rounding: each coefficient of a transform of a measure of total mass 1 is off by at most `FFT`·log₂N·u; a power c
//! multiplies the relative error by c. Both are followed coefficient by coefficient (Higham 2002, ch. 24).

use super::dots::Dots;
use super::tilt;
use crate::round::UNIT;
use realfft::RealFftPlanner;
use std::cell::RefCell;

/// Roundings per butterfly level, with room.
const FFT: f64 = 8.0;

/// Coefficients whose logarithm is below this are dropped, and counted as an error of that size.
const NEGLIGIBLE: f64 = -60.0;

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
    /// Mass at infinity of the whole composition.
    pub infinity: f64,
}

/// A length with small factors, not below `least`.
pub(crate) fn length(least: usize) -> usize {
    let power = least.max(64).next_power_of_two();
    [power / 8 * 5, power / 4 * 3, power].into_iter().find(|&n| n >= least).unwrap_or(power)
}

/// Composes measures whose losses are multiples of `step`, tilted by `s`, into `length` points from index `first`.
pub(crate) fn compose(parts: &[(Dots, u64)], step: f64, s: f64, first: i64, length: usize) -> Composed {
    let (forward, inverse) = PLANNER
        .with_borrow_mut(|planner| (planner.plan_fft_forward(length), planner.plan_fft_inverse(length)));
    let levels = (length as f64).log2();
    let error = FFT * levels * UNIT;
    let mut buffer = forward.make_input_vec();
    let mut spectrum = forward.make_output_vec();
    let mut scratch = forward.make_scratch_vec();
    let half = spectrum.len();
    let (mut log_size, mut angle, mut relative) = (vec![0.0; half], vec![0.0; half], vec![0.0; half]);
    let (mut log_norm, mut finite) = (0.0, 0.0);
    let modulus = length as i64;
    for (dots, count) in parts {
        let count = *count as f64;
        let (weights, shift) = tilt::tilted(dots, s);
        let total: f64 = weights.iter().sum();
        log_norm += count * (total.ln() + shift);
        finite += count * (-dots.infinity.min(1.0)).ln_1p();
        buffer.fill(0.0);
        for (&(loss, _), weight) in dots.points.iter().zip(&weights) {
            let index = (loss / step).round() as i64;
            buffer[index.rem_euclid(modulus) as usize] += weight / total;
        }
        // The lengths are the plan's own, the only thing the transform can complain about.
        let _ = forward.process_with_scratch(&mut buffer, &mut spectrum, &mut scratch);
        for (k, value) in spectrum.iter().enumerate() {
            if log_size[k] < NEGLIGIBLE {
                continue;
            }
            let size = value.norm();
            log_size[k] += count * (size + error).ln().min(0.0);
            if log_size[k] < NEGLIGIBLE {
                continue;
            }
            angle[k] += count * value.arg();
            relative[k] += count * (2.0 * error / size.max(error) + 16.0 * UNIT);
        }
    }
    let (mut rounding, mut size_sum) = (0.0, 0.0);
    for (k, value) in spectrum.iter_mut().enumerate() {
        if log_size[k] < NEGLIGIBLE {
            (value.re, value.im) = (0.0, 0.0);
            rounding += 2.0 * NEGLIGIBLE.exp();
            continue;
        }
        let size = log_size[k].exp();
        let (sin, cos) = angle[k].sin_cos();
        (value.re, value.im) = (size * cos, size * sin);
        rounding += 2.0 * size * relative[k].exp_m1().min(2.0);
        size_sum += 2.0 * size;
    }
    spectrum[0].im = 0.0;
    spectrum[half - 1].im = 0.0;
    let mut scratch = inverse.make_scratch_vec();
    let _ = inverse.process_with_scratch(&mut spectrum, &mut buffer, &mut scratch);
    let scale = 1.0 / length as f64;
    let rounding = (rounding + error * size_sum) * scale;
    let start = first.rem_euclid(modulus) as usize;
    buffer.rotate_left(start);
    buffer.iter_mut().for_each(|value| *value = (*value * scale).max(0.0));
    Composed { first, values: buffer, rounding, log_norm, infinity: -finite.exp_m1() }
}
