//! Values a second on one core. A plain program: `cargo bench -p reticent-oracle --bench noise`.

use reticent_noise::Entropy;
use reticent_noise::grid::{GaussianGrid, GridNoise, LaplaceGrid};
use std::time::Instant;

const VALUES: usize = 10_000_000;

fn report(name: &str, mut work: impl FnMut()) {
    work();
    let start = Instant::now();
    work();
    let seconds = start.elapsed().as_secs_f64();
    println!("{name:<28} {:>8.2} million a second", VALUES as f64 / seconds / 1e6);
}

fn main() {
    let mut entropy = Entropy::secure().expect("the system has random bytes");
    let mut out = vec![0_i64; 10_000];
    for multiplier in [1e-3, 1.0, 1e4] {
        let noise = GaussianGrid::new(multiplier, 32).expect("a scale in range");
        report(&format!("gaussian {multiplier:e}"), || {
            for _ in 0..VALUES / out.len() {
                noise.fill(&mut entropy, &mut out).expect("random bytes");
            }
        });
    }
    let noise = LaplaceGrid::new(1.0, 32).expect("a scale in range");
    report("laplace 1", || {
        for _ in 0..VALUES / out.len() {
            noise.fill(&mut entropy, &mut out).expect("random bytes");
        }
    });
    let mut subset = Vec::new();
    report("poisson sample 1% (records)", || {
        entropy.poisson_subset(VALUES, 0.01, &mut subset).expect("a rate")
    });
    report("subset of half (records)", || {
        entropy.subset(VALUES, VALUES / 2, &mut subset).expect("a size in range");
    });
}
