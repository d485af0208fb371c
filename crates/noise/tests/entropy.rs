//! The law of the discrete samples: coins, uniform integers, Poisson samples, samples without
//! replacement. Fixed seeds; each assertion has a false-alarm rate of 1e-6.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use reticent_noise::{Entropy, NoiseKey};
use reticent_testkit::statistics::{chi_squared, clopper_pearson};
use std::collections::HashMap;

const CONFIDENCE: f64 = 1.0 - 1e-6;

#[test]
fn coins() {
    let mut entropy = Entropy::seeded(41);
    for rate in [1e-9, 1e-3, 0.25, 1.0 / 3.0, 0.999] {
        let trials = 1_000_000;
        let heads = (0..trials).filter(|_| entropy.bernoulli(rate).unwrap()).count() as u64;
        let (low, high) = clopper_pearson(heads, trials, CONFIDENCE);
        assert!(low <= rate && rate <= high, "{rate}: {heads}");
    }
    assert!((0..10_000).all(|_| entropy.bernoulli(1.0).unwrap()));
    assert!((0..10_000).all(|_| !entropy.bernoulli(0.0).unwrap()));
    assert!((0..10_000).all(|_| !entropy.bernoulli(f64::from_bits(1)).unwrap()));
}

#[test]
fn uniform_integers() {
    let mut entropy = Entropy::seeded(42);
    for bound in [2_u64, 3, 7, 100] {
        let mut counts = vec![0; bound as usize];
        (0..100_000).for_each(|_| counts[entropy.below(bound).unwrap() as usize] += 1);
        let p = chi_squared(&counts, &vec![1.0 / bound as f64; bound as usize]);
        assert!(p > 1e-6, "{bound}: {p}");
    }
    assert_eq!(entropy.below(1).unwrap(), 0);
    // Three quarters of 2⁶⁴: without the refusals the three residues would get 2 : 1 : 1 of the
    // words.
    let third = 1_u64 << 62;
    let mut counts = [0; 3];
    (0..100_000).for_each(|_| counts[(entropy.below(3 * third).unwrap() % 3) as usize] += 1);
    let p = chi_squared(&counts, &[1.0 / 3.0; 3]);
    assert!(p > 1e-6, "{p}");
}

/// All 2⁴ samples of 4 records, and the sizes and the members of large ones.
#[test]
fn poisson_samples() {
    let (mut entropy, mut sample) = (Entropy::seeded(43), Vec::new());
    let mut counts = [0_u64; 16];
    for _ in 0..100_000 {
        entropy.poisson_subset(4, 0.3, &mut sample).unwrap();
        assert!(sample.is_sorted_by(|a, b| a < b));
        counts[sample.iter().map(|record| 1 << record).sum::<usize>()] += 1;
    }
    let probability = |set: usize| {
        0.3_f64.powi(set.count_ones() as i32) * 0.7_f64.powi(4 - set.count_ones() as i32)
    };
    let p = chi_squared(&counts, &(0..16).map(probability).collect::<Vec<_>>());
    assert!(p > 1e-6, "{p}");
    entropy.poisson_subset(2_000_000, 0.01, &mut sample).unwrap();
    let (low, high) = clopper_pearson(sample.len() as u64, 2_000_000, CONFIDENCE);
    assert!(low <= 0.01 && 0.01 <= high, "{}", sample.len());
    let mut parts = [0; 50];
    sample.iter().for_each(|record| parts[*record as usize / 40_000] += 1);
    assert!(chi_squared(&parts, &[0.02; 50]) > 1e-6);
    for (rate, size) in [(0.0, 0), (1.0, 1000)] {
        entropy.poisson_subset(1000, rate, &mut sample).unwrap();
        assert_eq!(sample.len(), size);
    }
}

/// All 4! orders of four, by χ² at a false-alarm rate of 1e-6.
#[test]
fn orders() {
    let mut entropy = Entropy::seeded(47);
    let mut seen: HashMap<Vec<u32>, u64> = HashMap::new();
    for _ in 0..50_000 {
        *seen.entry(entropy.order(4).unwrap()).or_default() += 1;
    }
    assert_eq!(seen.len(), 24);
    assert!(seen.keys().all(|order| (0..4).all(|number| order.contains(&number))));
    let p = chi_squared(&seen.into_values().collect::<Vec<_>>(), &[1.0 / 24.0; 24]);
    assert!(p > 1e-6, "{p}");
    assert!(entropy.order(0).unwrap().is_empty());
}

/// All C(7, 3) = 35 samples of 3 of 7, and the members of large ones.
#[test]
fn samples_without_replacement() {
    let (mut entropy, mut sample) = (Entropy::seeded(44), Vec::new());
    let mut seen: HashMap<Vec<u32>, u64> = HashMap::new();
    for _ in 0..100_000 {
        entropy.subset(7, 3, &mut sample).unwrap();
        assert!(sample.len() == 3 && sample.is_sorted_by(|a, b| a < b));
        *seen.entry(sample.clone()).or_default() += 1;
    }
    assert_eq!(seen.len(), 35);
    let p = chi_squared(&seen.into_values().collect::<Vec<_>>(), &[1.0 / 35.0; 35]);
    assert!(p > 1e-6, "{p}");
    let mut parts = [0; 100];
    for _ in 0..200 {
        entropy.subset(1000, 400, &mut sample).unwrap();
        assert_eq!(sample.len(), 400);
        sample.iter().for_each(|record| parts[*record as usize / 10] += 1);
    }
    assert!(chi_squared(&parts, &[0.01; 100]) > 1e-6);
    for (n, m) in [(0, 0), (5, 0), (64, 64), (65, 65)] {
        entropy.subset(n, m, &mut sample).unwrap();
        assert_eq!(sample, (0..m as u32).collect::<Vec<_>>());
    }
}

/// A seed keeps its meaning from one version to the next. The numbers come from a separate ChaCha20
/// in Python.
#[test]
fn seeds_are_stable() {
    let mut entropy = Entropy::seeded(1);
    let found: Vec<u64> = (0..3).map(|_| entropy.below(1_000_000_007).unwrap()).collect();
    let mut fork = entropy.fork().unwrap();
    assert_eq!(
        (found, fork.below(1_000_000_007).unwrap()),
        (vec![924_156_449, 995_500_486, 415_244_946], 368_541_286)
    );
    assert!(entropy.is_seeded() && fork.is_seeded() && !Entropy::secure().unwrap().is_seeded());
}

#[test]
fn secure_streams_do_not_repeat() {
    let mut streams = [Entropy::secure().unwrap(), Entropy::secure().unwrap()];
    let [a, b] = &mut streams;
    let (x, y): (Vec<u64>, Vec<u64>) =
        (0..64).map(|_| (a.below(1 << 63).unwrap(), b.below(1 << 63).unwrap())).unzip();
    assert!(x.iter().all(|word| !y.contains(word)));
}

/// Noise used twice is no noise: under two keys, and in two contexts, forks have nothing in common.
#[test]
fn forks_under_other_keys_and_in_other_contexts_are_others() {
    let mut seen = Vec::new();
    for seed in [1, 2] {
        for context in [[3; 32], [4; 32]] {
            let mut entropy = NoiseKey::seeded(seed).entropy(&context);
            let mut streams = [entropy.fork().unwrap(), entropy.fork().unwrap(), entropy];
            seen.extend(streams.iter_mut().map(|stream| stream.below(u64::MAX).unwrap()));
        }
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count, "words of 64 bits are all different");
}
