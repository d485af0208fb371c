//! The law of the vectors that objective perturbation draws. The spherical Laplace vector is made
//! from normal ones by the identity of `proofs/noise-objective-perturbation.md`: for independent
//! standard normal G ∈ ℝ^d, G′ ∈ ℝ^(d+1), the vector ‖G′‖·G has density ∝ e^(−‖b‖). Fixed seeds;
//! false-alarm rate 1e-6 per assertion, below 1e-4 for the file.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use reticent_noise::Entropy;
use reticent_noise::grid::{GaussianGrid, GridNoise};
use reticent_noise::vectors::{normal, spherical_laplace};
use reticent_testkit::statistics::{chi_squared, gamma_cdf, kolmogorov, normal_cdf};

const DRAWS: usize = 20_000;
const FALSE_ALARM: f64 = 1e-6;

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|v| v * v).sum::<f64>().sqrt()
}

fn draws(dimension: usize) -> Vec<Vec<f64>> {
    let mut entropy = Entropy::seeded(50 + dimension as u64);
    (0..DRAWS).map(|_| spherical_laplace(&mut entropy, dimension).unwrap().values).collect()
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

#[test]
fn the_norm_is_gamma() {
    for dimension in [1, 2, 3, 10, 124] {
        let d = dimension as f64;
        let norms = sorted(draws(dimension).iter().map(|b| norm(b)));
        let p = kolmogorov(&norms, |norm| (gamma_cdf(d, norm), gamma_cdf(d, norm)));
        assert!(p > FALSE_ALARM, "dimension {dimension}: {p}");
        // 50 cells of equal probability.
        let mut counts = [0_u64; 50];
        norms.iter().for_each(|&norm| counts[((gamma_cdf(d, norm) * 50.0) as usize).min(49)] += 1);
        let p = chi_squared(&counts, &[1.0 / 50.0; 50]);
        assert!(p > FALSE_ALARM, "dimension {dimension}: {p}");
    }
}

/// Mean d, variance d, third central moment 2d, each within five standard deviations of its
/// estimator; those have variances d, 2d² + 6d and (at the most) 15d³ + 200d² + 500d over the
/// number of draws.
#[test]
fn the_moments_of_the_norm() {
    for dimension in [1, 3, 10, 124] {
        let (d, count) = (dimension as f64, DRAWS as f64);
        let norms: Vec<f64> = draws(dimension).iter().map(|b| norm(b)).collect();
        let moment = |power: i32| norms.iter().map(|r| (r - d).powi(power)).sum::<f64>() / count;
        for (power, truth, variance) in [
            (1, 0.0, d),
            (2, d, 2.0 * d * d + 6.0 * d),
            (3, 2.0 * d, 15.0 * d.powi(3) + 200.0 * d * d + 500.0 * d),
        ] {
            let (found, room) = (moment(power), 5.0 * (variance / count).sqrt());
            assert!(
                (found - truth).abs() < room,
                "{dimension}, {power}: {found}, not {truth} ± {room}"
            );
        }
    }
}

/// One normal fewer would be wrong, and is seen.
#[test]
fn the_count_of_normals_matters() {
    let (noise, mut entropy) = (GaussianGrid::new(1.0, 32).unwrap(), Entropy::seeded(53));
    let mut steps = [0; 6];
    let norms = sorted((0..DRAWS).map(|_| {
        noise.fill(&mut entropy, &mut steps).unwrap();
        let values = steps.map(|v| v as f64 * 2_f64.powi(-32));
        norm(&values[..3]) * norm(&values[3..])
    }));
    let p = kolmogorov(&norms, |norm| (gamma_cdf(3.0, norm), gamma_cdf(3.0, norm)));
    assert!(p < 1e-9, "{p}");
}

/// In three dimensions every coordinate of a uniform direction is uniform on (−1, 1); in one it is
/// a fair sign; and it does not depend on the norm.
#[test]
fn the_direction_is_uniform() {
    let vectors = draws(3);
    for axis in 0..3 {
        for far in [false, true] {
            // The median of Gamma(3).
            let part = vectors.iter().filter(|b| (norm(b) > 2.674_060_313_754_46) == far);
            let cosines = sorted(part.map(|b| b[axis] / norm(b)));
            let p = kolmogorov(&cosines, |cosine| ((cosine + 1.0) / 2.0, (cosine + 1.0) / 2.0));
            assert!(p > FALSE_ALARM, "axis {axis}: {p}");
        }
    }
    let up = draws(1).iter().filter(|b| b[0] > 0.0).count() as f64;
    assert!((up - DRAWS as f64 / 2.0).abs() < 5.0 * (DRAWS as f64 / 4.0).sqrt(), "{up}");
}

#[test]
fn normal_vectors_are_normal_and_say_how_exact_they_are() {
    let mut entropy = Entropy::seeded(60);
    let near = normal(&mut entropy, DRAWS).unwrap();
    let p = kolmogorov(&sorted(near.values.iter().copied()), |v| (normal_cdf(v), normal_cdf(v)));
    assert!(p > FALSE_ALARM, "{p}");
    // Half a step of 2⁻⁴⁸ in each coordinate, and little more.
    let half_steps = 2_f64.powi(-49) * (DRAWS as f64).sqrt();
    assert!((half_steps..1.2 * half_steps).contains(&near.off), "{}", near.off);
    let near = spherical_laplace(&mut entropy, 124).unwrap();
    assert!(near.off > 0.0 && near.off < 1e-14 * 124.0 * norm(&near.values), "{}", near.off);
}
