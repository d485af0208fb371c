//! The samplers over digits so small that every path is taken, and the rounding against integers of
//! any size.

use super::discrete::exponential_coin;
use super::exponential::exponential;
use super::fraction::{Digits, Fraction};
use super::halving::{halving_coin, logarithm_coin};
use super::normal::{half_coin, step_coin};
use super::scale::GridScale;
use super::sealed::Draw;
use super::{DiscreteGaussian, GaussianGrid, LaplaceGrid, NoiseError};
use crate::ScoreLevels;
use num_bigint::BigUint;
use proptest::prelude::*;
use reticent_testkit::statistics::{chi_squared, normal_cdf};

/// One-bit digits: `script` first, then ones from a cheap generator; counts how many were used.
struct Bits {
    script: u32,
    length: u32,
    used: u32,
    later: u64,
}

impl Digits for Bits {
    const BITS: u32 = 1;

    fn digit(&mut self) -> u64 {
        self.used += 1;
        if self.used <= self.length {
            return u64::from(self.script >> (self.length - self.used) & 1);
        }
        self.later =
            self.later.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.later >> 63
    }

    fn below(&mut self, bound: u64) -> u64 {
        let bits = bound.next_power_of_two().ilog2();
        loop {
            let value = (0..bits).fold(0, |value, _| value << 1 | self.digit());
            if value < bound {
                return value;
            }
        }
    }
}

/// Bounds on the exact probability of an outcome, from running the algorithm on *every* string of
/// `depth` bits: the share of those that lead to it, and that share plus the share of those that
/// are too short to decide.
fn bracket(depth: u32, outcome: impl Fn(&mut Bits) -> bool) -> (f64, f64) {
    let (mut yes, mut open) = (0.0, 0.0);
    let mut prefixes = vec![(0_u32, 0_u32)];
    while let Some((script, length)) = prefixes.pop() {
        let mut bits = Bits { script, length, used: 0, later: u64::from(script) };
        let result = outcome(&mut bits);
        let mass = 0.5_f64.powi(length as i32);
        if bits.used <= length {
            yes += if result { mass } else { 0.0 };
        } else if length == depth {
            open += mass;
        } else {
            prefixes.extend([(script << 1, length + 1), (script << 1 | 1, length + 1)]);
        }
    }
    (yes, yes + open)
}

#[test]
fn the_half_coin_by_enumeration() {
    let (low, high) = bracket(24, half_coin);
    let truth = (-0.5_f64).exp();
    assert!(low <= truth && truth <= high && high - low < 2e-3, "{low} {high}");
}

#[test]
fn the_integer_of_the_exponential_by_enumeration() {
    for k in 0..3_u64 {
        let (low, high) = bracket(20, |bits| exponential(bits).0 == k);
        let truth = (-(k as f64)).exp() * (1.0 - (-1.0_f64).exp());
        assert!(low <= truth && truth <= high && high - low < 0.12, "{k}: {low} {high}");
    }
}

#[test]
fn the_coin_of_the_discrete_gaussian_by_enumeration() {
    for (k, part, whole) in
        [(0, 1, 2), (0, 3, 4), (1, 1, 4), (1, 3, 4), (3, 1, 2), (0, 0, 4), (2, 0, 4)]
    {
        let (low, high) = bracket(20, |bits| exponential_coin(k, part, whole, bits));
        let (k, x) = (k as f64, part as f64 / whole as f64);
        let truth = (-x * (2.0 * k + x) / (2.0 * k + 2.0)).exp();
        assert!(
            low <= truth && truth <= high && high - low < 0.06,
            "{k} {x}: {low} {truth} {high}"
        );
    }
}

#[test]
fn the_coins_of_the_exponential_mechanism_by_enumeration() {
    let (low, high) = bracket(22, logarithm_coin);
    let truth = std::f64::consts::LN_2;
    assert!(low <= truth && truth <= high && high - low < 0.02, "{low} {high}");
    for (part, whole) in [(0, 1), (1, 1), (1, 2), (1, 4), (3, 4), (2, 3), (4, 4)] {
        let (low, high) = bracket(20, |bits| halving_coin(part, whole, bits));
        let truth = (-(part as f64) / whole as f64).exp2();
        assert!(low <= truth && truth <= high && high - low < 0.1, "{part}/{whole}: {low} {high}");
    }
}

/// Entries whose scores are near one another, far apart, of both signs, on the border of a level and
/// nothing, over one-bit digits, 2·10⁵ draws each; false alarm 1e-6 each.
#[test]
fn the_law_of_the_exponential_mechanism() {
    let mut bits = Bits { script: 0, length: 0, used: 0, later: 17 };
    let cases: [(u64, Vec<i64>); 3] = [
        (10, vec![0, 3, -7, 10, -20, 25]),
        (1, vec![2, -1, 0, 4]),
        (1000, vec![-5, 12, 999, -1001, 400]),
    ];
    for (scale, scores) in cases {
        let levels = ScoreLevels::new(scale, scores.clone()).unwrap();
        let mut counts = vec![0_u64; 2 * scores.len()];
        for _ in 0..200_000 {
            let drawn = levels.drawn(&mut bits);
            counts[2 * drawn.index + usize::from(drawn.positive)] += 1;
        }
        let weight = |score: i64| (score as f64 / scale as f64).exp2();
        let weights: Vec<f64> = scores.iter().flat_map(|&s| [weight(-s), weight(s)]).collect();
        let all: f64 = weights.iter().sum();
        let law: Vec<f64> = weights.iter().map(|weight| weight / all).collect();
        let p = chi_squared(&counts, &law);
        assert!(p > 1e-6, "{scale} {scores:?}: {p}");
    }
}

/// Where one unit stands for the candidates of many levels, which of them it is follows their weights:
/// the first group, of 2³⁰ units, is left out.
#[test]
fn what_one_unit_stands_for_has_its_weight() {
    let levels = ScoreLevels::new(2, vec![120, 55, 57, 51, 0]).unwrap();
    let mut bits = Bits { script: 0, length: 0, used: 0, later: 19 };
    let mut counts = [0_u64; 3];
    for _ in 0..300_000 {
        let unit = (1 << 30) + bits.below(levels.units() - (1 << 30));
        if let Some(drawn) = levels.kept(unit, &mut bits) {
            match (drawn.index, drawn.positive) {
                (1, true) => counts[0] += 1,
                (2, true) => counts[1] += 1,
                (3, true) => counts[2] += 1,
                _ => {}
            }
        }
    }
    let weights = [55.0, 57.0, 51.0].map(|score: f64| (score / 2.0).exp2());
    let all: f64 = weights.iter().sum();
    let p = chi_squared(&counts, &weights.map(|weight| weight / all));
    assert!(p > 1e-6, "{counts:?}: {p}");
}

/// What is drawn follows from scores and words, not from how the scores came about.
#[test]
fn how_scores_came_about_changes_no_draw() {
    let scores: Vec<i64> = (0..200).map(|i| (i * 7919) % 211 - 105).collect();
    let straight = ScoreLevels::new(16, scores.clone()).unwrap();
    let mut moved = ScoreLevels::new(16, vec![0; 200]).unwrap();
    for round in [3, 50, 0] {
        for (index, score) in scores.iter().enumerate().rev() {
            moved.set(index, score - round * (index as i64 % 5));
        }
    }
    assert_eq!(moved.scores(), straight.scores());
    let mut counts = [0; 2];
    for seed in 0..500 {
        let bits = || Bits { script: 0, length: 0, used: 0, later: seed };
        let drawn = straight.drawn(&mut bits());
        assert_eq!(drawn, moved.drawn(&mut bits()), "{seed}");
        counts[usize::from(drawn.positive)] += 1;
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
    assert!(ScoreLevels::new(0, vec![1]).is_none() && ScoreLevels::new(1, Vec::new()).is_none());
}

/// The discrete Gaussian over one-bit digits against its own law, at scales below, at and above one
/// step, with 2·10⁵ draws each; false alarm 1e-6 each.
#[test]
fn the_law_of_the_discrete_gaussian() {
    let mut bits = Bits { script: 0, length: 0, used: 0, later: 13 };
    for sigma in [0.3, 0.5, 1.0, 1.7, 4.0, 6.25] {
        let noise = DiscreteGaussian::new(sigma / 4.0, 2).unwrap();
        let mut counts = [0_u64; 61];
        for _ in 0..200_000 {
            counts[(noise.draw(&mut bits) + 30).clamp(0, 60) as usize] += 1;
        }
        let weight = |v: i32| (-f64::from(v).powi(2) / (2.0 * sigma * sigma)).exp();
        let all: f64 = (-200..=200).map(weight).sum();
        let probabilities: Vec<f64> = (-30..=30).map(|v| weight(v) / all).collect();
        let p = chi_squared(&counts, &probabilities);
        assert!(p > 1e-6, "{sigma}: {p}");
    }
}

/// Step 4 of the normal with a fresh x: ∫₀¹ e^(−x(2k+x)/(2k+2)) dx for one coin, e^(−x(2k+x)/2) for
/// all k + 1.
#[test]
fn the_fraction_of_the_normal_by_enumeration() {
    for k in 0..3_u64 {
        for coins in [1, k + 1] {
            let (low, high) = bracket(20, |bits| {
                let mut x = Fraction::draw(bits);
                (0..coins).all(|_| step_coin(k, &mut x, bits))
            });
            let exponent =
                |x: f64| x * (2.0 * k as f64 + x) / (2.0 * k as f64 + 2.0) * coins as f64;
            let truth =
                (0..10_000).map(|i| (-exponent((f64::from(i) + 0.5) / 1e4)).exp()).sum::<f64>()
                    / 1e4;
            assert!(
                low <= truth && truth <= high && high - low < 0.25,
                "{k} {coins}: {low} {truth} {high}"
            );
        }
    }
}

/// Both grids over one-bit digits, 2·10⁵ draws each; false alarm 1e-6 each.
#[test]
fn ties_do_not_bend_the_law() {
    let cells = 41_i64;
    let middle = |j: i64| j as f64 - (cells / 2) as f64;
    let mut bits = Bits { script: 0, length: 0, used: 0, later: 11 };
    let check = |noise: &dyn Fn(&mut Bits) -> i128, cdf: &dyn Fn(f64) -> f64, bits: &mut Bits| {
        let mut counts = vec![0_u64; cells as usize];
        for _ in 0..200_000 {
            counts
                [(noise(bits) + i128::from(cells / 2)).clamp(0, i128::from(cells - 1)) as usize] +=
                1;
        }
        let edges: Vec<f64> = (1..cells).map(|j| cdf(middle(j) - 0.5)).collect();
        let mut probabilities: Vec<f64> = edges.windows(2).map(|pair| pair[1] - pair[0]).collect();
        probabilities.insert(0, edges[0]);
        probabilities.push(1.0 - edges[edges.len() - 1]);
        chi_squared(&counts, &probabilities)
    };
    let gaussian = GaussianGrid::new(5.3, 0).unwrap();
    let p = check(&|bits| gaussian.draw(bits), &|t| normal_cdf(t / 5.3), &mut bits);
    assert!(p > 1e-6, "gaussian {p}");
    let laplace = LaplaceGrid::new(3.7, 0).unwrap();
    let cdf = |t: f64| if t < 0.0 { 0.5 * (t / 3.7).exp() } else { 1.0 - 0.5 * (-t / 3.7).exp() };
    let p = check(&|bits| laplace.draw(bits), &cdf, &mut bits);
    assert!(p > 1e-6, "laplace {p}");
}

/// Words that a test has chosen; zeros afterwards.
struct Words(std::vec::IntoIter<u64>);

impl Digits for Words {
    const BITS: u32 = 64;

    fn digit(&mut self) -> u64 {
        self.0.next().unwrap_or(0)
    }

    fn below(&mut self, _: u64) -> u64 {
        unreachable!("the rounding draws digits only")
    }
}

const WORDS: u32 = 4;

/// ⌊scale·2^bits·(k + 0.w₁w₂w₃w₄) + ½⌋ in integers of any size.
fn reference(scale: f64, fraction_bits: u32, k: u64, words: &[u64]) -> BigUint {
    let number = words.iter().fold(BigUint::from(k), |sum, &word| (sum << 64_u32) + word);
    let mantissa = scale.to_bits() & ((1 << 52) - 1) | 1 << 52;
    let places = 1075 - (scale.to_bits() >> 52) as u32 - fraction_bits + 64 * WORDS;
    (((number * mantissa) << 1_u32) + (BigUint::from(1_u32) << places)) >> (places + 1)
}

/// The words of the smallest number above k whose multiple reaches the half-integer after it, when
/// there is one.
fn boundary(scale: f64, fraction_bits: u32, k: u64, steps: u64) -> Option<Vec<u64>> {
    let mantissa = scale.to_bits() & ((1 << 52) - 1) | 1 << 52;
    let places = 1075 - (scale.to_bits() >> 52) as u32 - fraction_bits + 64 * WORDS;
    let floor = reference(scale, fraction_bits, k, &[0; WORDS as usize]) + steps;
    let target = ((floor << 1_u32) + 1_u32) << (places - 1);
    let number = (target + mantissa - 1_u32) / mantissa;
    let whole = BigUint::from(k) << (64 * WORDS);
    let fraction = (number >= whole).then(|| number - whole)?;
    let mut words = fraction.to_u64_digits();
    let fits = words.len() <= WORDS as usize;
    words.resize(WORDS as usize, 0);
    fits.then(|| words.into_iter().rev().collect())
}

proptest! {
    #[test]
    fn rounding_is_exact(
        scale in 1e-9_f64..2e6, k in 0_u64..40, random in any::<[u64; WORDS as usize]>(),
        steps in 0_u64..1 << 40, nudge in 0_usize..WORDS as usize, down in any::<bool>(),
    ) {
        let mut cases = vec![random.to_vec()];
        if let Some(mut edge) = boundary(scale, 32, k, steps % (scale * 4e9).max(1.0) as u64) {
            cases.push(edge.clone());
            edge[nudge] = if down { edge[nudge].saturating_sub(1) } else { edge[nudge].saturating_add(1) };
            cases.push(edge);
        }
        for words in cases {
            let expected = reference(scale, 32, k, &words);
            let mut digits = Words(words.into_iter());
            let mut x = Fraction::draw(&mut digits);
            let found = GridScale::new(scale, 32).unwrap().nearest(k, &mut x, &mut digits);
            prop_assert_eq!(BigUint::from(found), expected);
        }
    }
}

#[test]
fn scales_out_of_range_are_refused() {
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320, 2_f64.powi(21), 2_f64.powi(-42)] {
        let refused = GaussianGrid::new(scale, 32);
        assert!(matches!(refused, Err(NoiseError::Scale { least: -41, most: 21, .. })), "{scale}");
    }
    assert!(DiscreteGaussian::new(2_f64.powi(21), 32).is_err());
    assert!(LaplaceGrid::new(2_f64.powi(-41), 32).is_ok());
    assert!(GaussianGrid::new(2_f64.powi(21).next_down(), 32).is_ok());
    let message = GaussianGrid::new(0.0, 32).unwrap_err().to_string();
    assert_eq!(
        message,
        "a noise scale must lie between 2^-41 and 2^21 for a grid with 32 fraction bits, got 0; change the noise \
         multiplier or the grid"
    );
}
