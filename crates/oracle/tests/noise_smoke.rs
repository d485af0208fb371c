//! The first two moments of both grids, 10⁵ draws at a fixed seed; six-sigma limits (false alarm below 1e-8).

use reticent_oracle::entropy::Entropy;
use reticent_oracle::noise::{GaussianGrid, GridNoise, LaplaceGrid};

#[test]
fn moments_are_those_of_the_continuous_laws() {
    let mut entropy = Entropy::seeded(1);
    let mut out = vec![0_i64; 100_000];
    GaussianGrid::new(1.0, 32).unwrap().fill(&mut entropy, &mut out).unwrap();
    let unit = (1_u64 << 32) as f64;
    let square = out.iter().map(|&v| (v as f64 / unit).powi(2)).sum::<f64>() / 1e5;
    assert!((square - 1.0).abs() < 6.0 * (2.0 / 1e5_f64).sqrt(), "{square}");
    LaplaceGrid::new(2.0, 32).unwrap().fill(&mut entropy, &mut out).unwrap();
    let size = out.iter().map(|&v| (v as f64 / unit).abs()).sum::<f64>() / 1e5;
    assert!((size - 2.0).abs() < 6.0 * 2.0 / 1e5_f64.sqrt(), "{size}");
}
