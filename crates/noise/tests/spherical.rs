//! The identity of `proofs/noise-objective-perturbation.md`: for independent standard normal G ∈ ℝ^d, G′ ∈ ℝ^(d+1), the
//! vector ‖G′‖·G has density ∝ e^(−‖b‖). False-alarm rate 1e-6 per assertion.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use reticent_noise::Entropy;
use reticent_noise::grid::{GaussianGrid, GridNoise};
use reticent_testkit::statistics::{gamma_cdf, kolmogorov};

const DRAWS: usize = 20_000;

/// The norms, and the first coordinates of the directions.
fn draw(dimension: usize, others: usize) -> (Vec<f64>, Vec<f64>) {
    let (noise, mut entropy) = (GaussianGrid::new(1.0, 32).unwrap(), Entropy::seeded(50 + dimension as u64));
    let mut normal = vec![0; dimension + others];
    let mut pairs = (0..DRAWS).map(|_| {
        noise.fill(&mut entropy, &mut normal).unwrap();
        let values: Vec<f64> = normal.iter().map(|&value| value as f64 * 2_f64.powi(-32)).collect();
        let norm = |part: &[f64]| part.iter().map(|value| value * value).sum::<f64>().sqrt();
        let (direction, radius) = values.split_at(dimension);
        (norm(direction) * norm(radius), direction[0] / norm(direction))
    });
    let (mut norms, mut cosines): (Vec<f64>, Vec<f64>) = pairs.by_ref().unzip();
    norms.sort_by(f64::total_cmp);
    cosines.sort_by(f64::total_cmp);
    (norms, cosines)
}

#[test]
fn the_norm_is_gamma() {
    for dimension in [1, 2, 3, 10] {
        let (norms, _) = draw(dimension, dimension + 1);
        let at = |norm: f64| gamma_cdf(dimension as f64, norm);
        let p = kolmogorov(&norms, |norm| (at(norm), at(norm)));
        assert!(p > 1e-6, "dimension {dimension}: {p}");
    }
}

/// One normal fewer would be wrong, and is seen.
#[test]
fn the_count_of_normals_matters() {
    let (norms, _) = draw(3, 3);
    let p = kolmogorov(&norms, |norm| (gamma_cdf(3.0, norm), gamma_cdf(3.0, norm)));
    assert!(p < 1e-9, "{p}");
}

/// In three dimensions a coordinate of a uniform direction is uniform on (−1, 1).
#[test]
fn the_direction_is_uniform() {
    let (_, cosines) = draw(3, 4);
    let p = kolmogorov(&cosines, |cosine| ((cosine + 1.0) / 2.0, (cosine + 1.0) / 2.0));
    assert!(p > 1e-6, "{p}");
}
