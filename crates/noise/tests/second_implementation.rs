//! Agreement with the samplers of prio (Canonne–Kamath–Steinke's discrete Gaussian and discrete
//! Laplace).
//!
//! At a scale of 1000 grid steps the rounded continuous laws and the discrete ones are within 1e-6
//! of each other in total variation (about 1/(12·1000²)), far below what 6·10⁴ draws can see.
//! False-alarm rate 1e-6 per assertion.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use prio::dp::Rational;
use prio::dp::distributions::{DiscreteGaussian, DiscreteLaplace};
use rand::distr::Distribution;
use reticent_noise::Entropy;
use reticent_noise::grid::{self, GaussianGrid, GridNoise, LaplaceGrid};
use reticent_testkit::statistics::{two_sample_chi_squared, two_sample_kolmogorov};

const DRAWS: usize = 60_000;

fn agree(name: &str, mut ours: Vec<i64>, mut theirs: Vec<i64>) {
    let count = |values: &[i64]| {
        let mut counts = vec![0_u64; 128];
        values
            .iter()
            .for_each(|value| counts[(value.div_euclid(100) + 64).clamp(0, 127) as usize] += 1);
        counts
    };
    let p = two_sample_chi_squared(&count(&ours), &count(&theirs));
    assert!(p > 1e-6, "{name}: χ² {p}");
    ours.sort_unstable();
    theirs.sort_unstable();
    let p = two_sample_kolmogorov(&ours, &theirs);
    assert!(p > 1e-6, "{name}: Kolmogorov {p}");
}

fn thousand() -> Rational {
    Rational::from_unsigned(1000_u64, 1_u64).unwrap()
}

#[test]
fn gaussian() {
    let mut ours = vec![0; DRAWS];
    GaussianGrid::new(62.5, 4).unwrap().fill(&mut Entropy::seeded(21), &mut ours).unwrap();
    let (sampler, mut rng) =
        (DiscreteGaussian::new(thousand()).unwrap(), ChaCha20Rng::from_seed([1; 32]));
    let theirs = (0..DRAWS).map(|_| i64::try_from(&sampler.sample(&mut rng)).unwrap()).collect();
    agree("gaussian", ours, theirs);
}

/// The same law on both sides, at a scale where the steps are seen: 7/2 of them.
#[test]
fn discrete_gaussian() {
    for (seed, sigma, rational) in [(25, 3.5, (7_u64, 2_u64)), (26, 100.25, (401, 4))] {
        let mut ours = vec![0; DRAWS];
        grid::DiscreteGaussian::new(sigma, 0)
            .unwrap()
            .fill(&mut Entropy::seeded(seed), &mut ours)
            .unwrap();
        let sampler =
            DiscreteGaussian::new(Rational::from_unsigned(rational.0, rational.1).unwrap())
                .unwrap();
        let mut rng = ChaCha20Rng::from_seed([3; 32]);
        let mut theirs: Vec<i64> =
            (0..DRAWS).map(|_| i64::try_from(&sampler.sample(&mut rng)).unwrap()).collect();
        let count = |values: &[i64]| {
            let mut counts = vec![0_u64; 128];
            values.iter().for_each(|value| counts[(value + 64).clamp(0, 127) as usize] += 1);
            counts
        };
        let p = two_sample_chi_squared(&count(&ours), &count(&theirs));
        assert!(p > 1e-6, "{sigma}: χ² {p}");
        ours.sort_unstable();
        theirs.sort_unstable();
        let p = two_sample_kolmogorov(&ours, &theirs);
        assert!(p > 1e-6, "{sigma}: Kolmogorov {p}");
    }
}

#[test]
fn laplace() {
    let mut ours = vec![0; DRAWS];
    LaplaceGrid::new(62.5, 4).unwrap().fill(&mut Entropy::seeded(22), &mut ours).unwrap();
    let (sampler, mut rng) =
        (DiscreteLaplace::new(thousand()).unwrap(), ChaCha20Rng::from_seed([2; 32]));
    let theirs = (0..DRAWS).map(|_| i64::try_from(&sampler.sample(&mut rng)).unwrap()).collect();
    agree("laplace", ours, theirs);
}

/// The comparison has teeth: five per cent more noise is seen.
#[test]
#[should_panic(expected = "wider")]
fn a_wrong_scale_is_seen() {
    let (mut right, mut wrong) = (vec![0; DRAWS], vec![0; DRAWS]);
    GaussianGrid::new(62.5, 4).unwrap().fill(&mut Entropy::seeded(23), &mut right).unwrap();
    GaussianGrid::new(62.5 * 1.05, 4).unwrap().fill(&mut Entropy::seeded(24), &mut wrong).unwrap();
    agree("wider", right, wrong);
}
