//! Values a second on one core, the most of some runs, beside the random words that they are made from. A plain program:
//! `cargo bench -p reticent-noise --bench noise`. Lines with tabs are for benches/roofline.py.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use reticent_noise::Entropy;
use reticent_noise::grid::{GaussianGrid, GridNoise, LaplaceGrid};
use std::time::Instant;

const VALUES: usize = 10_000_000;

const RUNS: usize = 5;

/// Values a second, in the best of some runs: other programs of the machine only take away.
fn rate(mut work: impl FnMut()) -> f64 {
    work();
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        work();
        least = least.min(start.elapsed().as_secs_f64());
    }
    VALUES as f64 / least
}

fn report(name: &str, work: impl FnMut()) {
    let rate = rate(work);
    println!("{name:<28} {:>8.2} million a second", rate / 1e6);
    println!("reached\t{name}\t{rate:e}");
}

fn main() {
    let mut entropy = Entropy::secure().expect("the system has random bytes");
    let mut out = vec![0_i64; 10_000];
    let (mut words, mut bytes) = (ChaCha20Rng::from_seed([7; 32]), vec![0; 80_000]);
    let plain = rate(|| (0..VALUES / out.len()).for_each(|_| words.fill_bytes(&mut bytes)));
    println!("words of ChaCha20              {:>6.0} million a second", plain / 1e6);
    println!("roof\twords\t{plain:e}");
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
