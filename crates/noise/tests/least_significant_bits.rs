//! The attack on the last bits of floating-point noise (Mironov, "On significance of the least
//! significant bits for differential privacy", CCS 2012), in its simplest form.
//!
//! A sum is 0 or, on neighbouring data, 1. In `f64`, 1 + noise that lands in (−½, ½) was subtracted
//! from a noise of size at least ½, whose last bit is worth 2⁻⁵³; 0 + noise keeps bits far below
//! that. So a released value with a bit below 2⁻⁵³ *proves* that the sum was 0: ε = ∞ however large
//! the noise multiplier says.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use reticent_noise::Entropy;
use reticent_noise::grid::{GaussianGrid, GridNoise};
use reticent_testkit::statistics::{clopper_pearson, normal_cdf, two_sample_chi_squared};

const RUNS: usize = 200_000;
const STEP: f64 = 1.0 / (1_u64 << 32) as f64;

/// The attacker's test: |y| < ½ and y is not a multiple of 2⁻⁵³.
fn accuses(released: f64) -> bool {
    released.abs() < 0.5 && (released * 2_f64.powi(53)).fract() != 0.0
}

/// What most programs do.
fn naive(sum: f64, entropy: &mut Entropy) -> f64 {
    let mut uniform = || (entropy.below(1 << 53).unwrap() as f64 + 0.5) * 2_f64.powi(-53);
    let (u, v) = (uniform(), uniform());
    sum + (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

fn ours(sum: i64, seed: u64) -> Vec<i64> {
    let mut sums = vec![sum; RUNS];
    GaussianGrid::new(1.0, 32).unwrap().perturb(&mut Entropy::seeded(seed), &mut sums).unwrap();
    sums
}

#[test]
fn naive_noise_is_told_apart_at_once() {
    let mut entropy = Entropy::seeded(31);
    let zero = (0..RUNS).filter(|_| accuses(naive(0.0, &mut entropy))).count();
    let one = (0..RUNS).filter(|_| accuses(naive(1.0, &mut entropy))).count();
    // A quarter of the runs on one side, none on the other: with noise multiplier 1 the true ratio
    // at δ = 0.01 is below e^3; the lower confidence limit here is beyond e^8.
    assert_eq!(one, 0);
    let least = clopper_pearson(zero as u64, RUNS as u64, 0.999).0;
    let most = clopper_pearson(0, RUNS as u64, 0.999).1;
    assert!(least > 0.2 && ((least - 0.01) / most).ln() > 8.0, "{least} {most}");
}

#[test]
fn exact_noise_on_the_grid_is_not() {
    let (zero, one) = (ours(0, 32), ours(1 << 32, 33));
    // The released number is the integer times the step, which is exact in f64 here.
    let accused =
        |values: &[i64]| values.iter().filter(|&&value| accuses(value as f64 * STEP)).count();
    assert_eq!((accused(&zero), accused(&one)), (0, 0));
    // No function of the last bits does better: all of the last eight, and the number of trailing
    // zeros, have the same law for both. False alarm 1e-6 each.
    let low = |values: &[i64]| counts(values, 256, |value| (value & 255) as usize);
    let zeros =
        |values: &[i64]| counts(values, 32, |value| value.trailing_zeros().min(31) as usize);
    let p = two_sample_chi_squared(&low(&zero), &low(&one));
    assert!(p > 1e-6, "low bits: {p}");
    let p = two_sample_chi_squared(&zeros(&zero), &zeros(&one));
    assert!(p > 1e-6, "trailing zeros: {p}");
}

/// And the event on which the naive noise failed has on both sides the probability of the
/// continuous mechanism. False alarm 1e-6 each.
#[test]
fn the_interval_has_its_gaussian_probability() {
    for (sum, seed) in [(0, 34), (1_i64 << 32, 35)] {
        let mean = sum as f64 * STEP;
        let inside =
            ours(sum, seed).iter().filter(|&&value| (value as f64 * STEP).abs() < 0.5).count();
        let truth = normal_cdf(0.5 - mean) - normal_cdf(-0.5 - mean);
        let (low, high) = clopper_pearson(inside as u64, RUNS as u64, 1.0 - 1e-6);
        assert!(low <= truth && truth <= high, "{sum}: {low} {truth} {high}");
    }
}

fn counts(values: &[i64], cells: usize, cell: impl Fn(i64) -> usize) -> Vec<u64> {
    let mut counts = vec![0; cells];
    values.iter().for_each(|&value| counts[cell(value)] += 1);
    counts
}
