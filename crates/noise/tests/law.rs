//! The law of the grid noise at scales from 10⁻³ to 10⁴ clips: χ², Kolmogorov–Smirnov, moments, low
//! bits, tails. Fixed seeds. Each assertion has a false-alarm rate of 1e-6 or less, the file of
//! less than 1e-4.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use reticent_noise::Entropy;
use reticent_noise::grid::{GaussianGrid, GridNoise, LaplaceGrid};
use reticent_testkit::statistics::{
    binomial_lower_tail, binomial_upper_tail, chi_squared, kolmogorov, normal_cdf, normal_quantile,
};

const FALSE_ALARM: f64 = 1e-6;
const DRAWS: usize = 200_000;

fn laplace_cdf(t: f64) -> f64 {
    if t < 0.0 { 0.5 * t.exp() } else { 1.0 - 0.5 * (-t).exp() }
}

fn laplace_quantile(p: f64) -> f64 {
    if p < 0.5 { (2.0 * p).ln() } else { -(2.0 - 2.0 * p).ln() }
}

struct Law {
    name: &'static str,
    draw: fn(f64, u32, &mut Entropy, &mut [i64]),
    cdf: fn(f64) -> f64,
    quantile: fn(f64) -> f64,
    /// E[X²] and E[X⁴] of the standard variate, and the largest standard deviation of their
    /// estimators per √draw.
    moments: [(i32, f64, f64); 4],
}

const LAWS: [Law; 2] = [
    Law {
        name: "gaussian",
        draw: |z, bits, entropy, out| {
            GaussianGrid::new(z, bits).unwrap().fill(entropy, out).unwrap()
        },
        cdf: normal_cdf,
        quantile: normal_quantile,
        moments: [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)],
    },
    Law {
        name: "laplace",
        draw: |b, bits, entropy, out| {
            LaplaceGrid::new(b, bits).unwrap().fill(entropy, out).unwrap()
        },
        cdf: laplace_cdf,
        quantile: laplace_quantile,
        moments: [(1, 0.0, 2.0), (2, 2.0, 20.0), (3, 0.0, 720.0), (4, 24.0, 39744.0)],
    },
];

#[test]
fn the_law_at_every_scale() {
    for (seed, law) in LAWS.iter().enumerate() {
        for scale in [1e-3, 0.1, 1.0, 37.5, 1e4] {
            let mut out = vec![0; DRAWS];
            (law.draw)(scale, 32, &mut Entropy::seeded(100 + seed as u64), &mut out);
            let unit = scale * 2_f64.powi(32);
            // 100 cells of equal probability, their edges rounded to the grid as the noise is.
            let mut counts = [0_u64; 100];
            for &value in &out {
                counts[((law.cdf)(value as f64 / unit) * 100.0) as usize] += 1;
            }
            let edges: Vec<f64> =
                (1..100).map(|j| (law.quantile)(j as f64 / 100.0) * unit).collect();
            let reached: Vec<f64> =
                edges.iter().map(|edge| (law.cdf)((edge.ceil() - 0.5) / unit)).collect();
            let mut probabilities = vec![reached[0]];
            probabilities.extend(reached.windows(2).map(|pair| pair[1] - pair[0]));
            probabilities.push(1.0 - reached[98]);
            let p = chi_squared(&counts, &probabilities);
            assert!(p > FALSE_ALARM, "χ² of {} at {scale}: {p}", law.name);

            out.sort_unstable();
            let p = kolmogorov(&out, |value| {
                let at = |side: f64| (law.cdf)((value as f64 + side) / unit);
                (at(-0.5), at(0.5))
            });
            assert!(p > FALSE_ALARM, "Kolmogorov of {} at {scale}: {p}", law.name);

            for (power, mean, variance) in law.moments {
                let found =
                    out.iter().map(|&v| (v as f64 / unit).powi(power)).sum::<f64>() / DRAWS as f64;
                let allowed = 6.0 * (variance / DRAWS as f64).sqrt();
                assert!(
                    (found - mean).abs() < allowed,
                    "moment {power} of {} at {scale}: {found}",
                    law.name
                );
            }

            let mut low = [0_u64; 256];
            out.iter().for_each(|value| low[(value & 255) as usize] += 1);
            let p = chi_squared(&low, &[1.0 / 256.0; 256]);
            assert!(p > FALSE_ALARM, "low bits of {} at {scale}: {p}", law.name);
        }
    }
}

/// A grid so coarse that the rounding is most of what is seen: P(j) = F((j + ½)/s) − F((j − ½)/s).
#[test]
fn the_rounding_is_to_the_nearest() {
    for law in &LAWS {
        for scale in [0.3, 0.71, 2.5] {
            let mut out = vec![0; DRAWS];
            (law.draw)(scale, 0, &mut Entropy::seeded(7), &mut out);
            let mut counts = [0_u64; 41];
            out.iter().for_each(|value| counts[(value + 20).clamp(0, 40) as usize] += 1);
            let at = |j: i32| (law.cdf)((f64::from(j) - 20.5) / scale);
            let probabilities: Vec<f64> = (0..41).map(|j| at(j + 1) - at(j)).collect();
            let p = chi_squared(&counts, &probabilities);
            assert!(p > FALSE_ALARM, "{} at {scale}: {p}", law.name);
        }
    }
}

/// Successive values are independent: the signs and halves of four in a row take their 256 patterns
/// equally often.
#[test]
fn successive_values_are_independent() {
    for law in &LAWS {
        let mut out = vec![0; DRAWS];
        (law.draw)(1.0, 32, &mut Entropy::seeded(8), &mut out);
        let median = (law.quantile)(0.75) * 2_f64.powi(32);
        let mut counts = [0_u64; 256];
        for four in out.chunks_exact(4) {
            let bit = |value: &i64| {
                usize::from(*value < 0) << 1 | usize::from((value.abs() as f64) < median)
            };
            counts[four.iter().fold(0, |pattern, value| pattern << 2 | bit(value))] += 1;
        }
        let p = chi_squared(&counts, &[1.0 / 256.0; 256]);
        assert!(p > FALSE_ALARM, "{}: {p}", law.name);
    }
}

/// Two-sided tails of probability 10⁻³ to 10⁻⁶, exact binomial limits, 2.4·10⁷ draws of each law.
#[test]
fn the_tails() {
    const MANY: usize = 24_000_000;
    for law in &LAWS {
        let levels = [1e-3, 1e-4, 1e-5, 1e-6];
        let limits = levels.map(|p| ((law.quantile)(p / 2.0) * 2_f64.powi(32)).abs().ceil());
        let tails = limits.map(|limit| 2.0 * (law.cdf)(-(limit - 0.5) / 2_f64.powi(32)));
        let mut entropy = Entropy::seeded(9);
        let mut out = vec![0; 100_000];
        let mut counts = [0_u64; 4];
        for _ in 0..MANY / out.len() {
            (law.draw)(1.0, 32, &mut entropy, &mut out);
            for &value in &out {
                let size = value.unsigned_abs() as f64;
                if size >= limits[0] {
                    counts
                        .iter_mut()
                        .zip(limits)
                        .for_each(|(count, limit)| *count += u64::from(size >= limit));
                }
            }
        }
        for ((level, count), tail) in levels.into_iter().zip(counts).zip(tails) {
            let above = binomial_upper_tail(count, MANY as u64, tail);
            let below = binomial_lower_tail(count, MANY as u64, tail);
            assert!(above.min(below) > FALSE_ALARM / 2.0, "{} beyond {level}: {count}", law.name);
        }
    }
}

#[test]
fn perturb_adds_the_noise_and_saturates_the_sum() {
    let noise = GaussianGrid::new(1.0, 32).unwrap();
    let (mut plain, mut moved) = (vec![0; 1000], vec![1_i64 << 50; 1000]);
    noise.perturb(&mut Entropy::seeded(4), &mut plain).unwrap();
    noise.perturb(&mut Entropy::seeded(4), &mut moved).unwrap();
    assert!(plain.iter().zip(&moved).all(|(a, b)| a + (1 << 50) == *b));
    let mut full = vec![i64::MAX; 1000];
    noise.perturb(&mut Entropy::seeded(4), &mut full).unwrap();
    assert!(plain.iter().zip(&full).all(|(noise, sum)| *sum == i64::MAX.saturating_add(*noise)));
}

/// In the ring of integers modulo 2⁶⁴ nothing is cut: what is taken off again leaves zero.
#[test]
fn modular_noise_is_the_noise_modulo_two_to_the_64() {
    let noise = GaussianGrid::new(1.0, 32).unwrap();
    let (mut plain, mut ring) = (vec![0_i64; 1000], vec![u64::MAX; 1000]);
    noise.fill(&mut Entropy::seeded(4), &mut plain).unwrap();
    noise.perturb_modular(&mut Entropy::seeded(4), &mut ring).unwrap();
    assert!(
        plain.iter().zip(&ring).all(|(noise, value)| value.wrapping_sub(u64::MAX) == *noise as u64)
    );
    assert!(plain.iter().any(|noise| *noise > 0) && plain.iter().any(|noise| *noise < 0));
}
