//! A test of two tables by a threshold, and what its error rates say of ε.
//!
//! For an (ε, δ)-private mechanism and any set S of outcomes P(S | D) ≤ e^ε P(S | D') + δ, so
//!
//! ```text
//! ε ≥ ln( (P(S | D) − δ) / P(S | D') ) ≥ ln( (p̲ − δ) / p̄' )
//! ```
//!
//! with p̲ a lower and p̄' an upper Clopper–Pearson limit, each at error (1 − confidence)/2. S is
//! "the statistic is on this side of the threshold". Statistic, side, threshold and which of the
//! two tables is D are chosen on runs that are not counted afterwards (`search.rs`), so the choice
//! costs no confidence. Proof note: `proofs/audit.md`.

use reticent::internal::accountant::statistics::{lower_bound, upper_bound};

use crate::attack::{AttackStatistic, Scores};

/// A set S, and which of the two tables it speaks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    pub statistic: usize,
    above: bool,
    threshold: f64,
    swapped: bool,
}

/// Limits of P(S | D) from below and P(S | D') from above, or what a [`AttackComparison`] made of each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestLimits {
    pub often: f64,
    pub seldom: f64,
}

impl TestLimits {
    /// The least ε that these limits allow.
    pub fn epsilon(self, delta: f64) -> f64 {
        ((self.often - delta) / self.seldom).ln().max(0.0)
    }
}

/// How tests are compared when one is chosen: each limit is brought to a scale, and both make a
/// value.
pub(crate) struct AttackComparison<V> {
    pub often: fn(f64) -> f64,
    pub seldom: fn(f64) -> f64,
    pub value: V,
}

impl<V: Fn(TestLimits) -> f64> AttackComparison<V> {
    /// By a function of the limits as they are.
    pub fn of(value: V) -> Self {
        AttackComparison { often: |limit| limit, seldom: |limit| limit, value }
    }
}

/// The limit of each count of so many runs, on the scale of a comparison. Thresholds are many times
/// more than counts: a limit is computed once, as a quantile takes a hundred steps.
struct LimitTable {
    trials: f64,
    z: f64,
    scale: fn(f64) -> f64,
    known: Vec<Option<f64>>,
}

impl LimitTable {
    fn new(runs: usize, z: f64, scale: fn(f64) -> f64) -> Self {
        LimitTable { trials: runs as f64, z, scale, known: vec![None; runs + 1] }
    }

    fn at(&mut self, count: usize) -> f64 {
        let (trials, z, scale) = (self.trials, self.z, self.scale);
        *self.known[count].get_or_insert_with(|| scale(wilson(count as f64, trials, z)))
    }
}

impl Test {
    fn holds(&self, scores: &Scores) -> bool {
        let score = scores[self.statistic];
        if self.above { score >= self.threshold } else { score <= self.threshold }
    }

    fn counts(&self, [with, without]: &[Vec<Scores>; 2]) -> [(u64, u64); 2] {
        let (d, other) = if self.swapped { (without, with) } else { (with, without) };
        [d, other].map(|runs| {
            (runs.iter().filter(|scores| self.holds(scores)).count() as u64, runs.len() as u64)
        })
    }

    /// Clopper–Pearson, each limit at the confidence `each`.
    pub fn limits(&self, runs: &[Vec<Scores>; 2], each: f64) -> TestLimits {
        let [(inside, of), (others, of_others)] = self.counts(runs);
        TestLimits {
            often: lower_bound(inside, of, each),
            seldom: upper_bound(others, of_others, each),
        }
    }

    /// Limits that are quick and approximate, for choosing.
    pub fn rough_limits(&self, runs: &[Vec<Scores>; 2], z: f64) -> TestLimits {
        let [(inside, of), (others, of_others)] = self.counts(runs);
        TestLimits {
            often: wilson(inside as f64, of as f64, -z),
            seldom: wilson(others as f64, of_others as f64, z),
        }
    }

    /// The best by a comparison of approximate limits: quick, and what is chosen here is measured
    /// exactly elsewhere. Stricter limits for the choice, to keep it from the thin end of the tail,
    /// were tried: no gain over 8 seeds.
    pub fn choose(
        [with, without]: &[Vec<Scores>; 2],
        z: f64,
        by: &AttackComparison<impl Fn(TestLimits) -> f64>,
    ) -> Self {
        let mut best =
            (f64::NEG_INFINITY, Test { statistic: 0, above: true, threshold: 0.0, swapped: false });
        let tables = |z: f64, scale: fn(f64) -> f64| {
            [with, without].map(|runs| LimitTable::new(runs.len(), z, scale))
        };
        let (mut often, mut seldom) = (tables(-z, by.often), tables(z, by.seldom));
        for statistic in 0..AttackStatistic::ALL.len() {
            let column = |runs: &[Scores], is_with: bool| {
                runs.iter().map(|scores| (scores[statistic], is_with)).collect::<Vec<_>>()
            };
            let mut all = column(with, true);
            all.extend(column(without, false));
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            for above in [false, true] {
                if above {
                    all.reverse();
                }
                let mut inside = [0, 0];
                for tied in all.chunk_by(|a, b| a.0 == b.0) {
                    tied.iter().for_each(|(_, is_with)| inside[usize::from(!is_with)] += 1);
                    for swapped in [false, true] {
                        let (d, other) = (usize::from(swapped), usize::from(!swapped));
                        let limits = TestLimits {
                            often: often[d].at(inside[d]),
                            seldom: seldom[other].at(inside[other]),
                        };
                        let worth = (by.value)(limits);
                        if worth > best.0 {
                            best =
                                (worth, Test { statistic, above, threshold: tied[0].0, swapped });
                        }
                    }
                }
            }
        }
        best.1
    }
}

/// The limit of Wilson (1927): above for z > 0, below for z < 0.
fn wilson(successes: f64, trials: f64, z: f64) -> f64 {
    let (p, zz) = (successes / trials, z * z / trials);
    let spread = z * (p * (1.0 - p) / trials + zz / (4.0 * trials)).sqrt();
    ((p + 0.5 * zz + spread) / (1.0 + zz)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_give_epsilon_and_pay_for_delta() {
        let limits = TestLimits { often: 0.5, seldom: 0.05 };
        assert!((limits.epsilon(0.0) - 10_f64.ln()).abs() < 1e-15);
        assert!((limits.epsilon(0.1) - 8_f64.ln()).abs() < 1e-15);
        assert_eq!(TestLimits { often: 1e-4, seldom: 0.05 }.epsilon(1e-3), 0.0);
    }

    /// Each limit is brought to the scale of μ once, however many thresholds have its count.
    #[test]
    fn a_test_chosen_by_limits_on_a_scale_is_that_of_the_limits_themselves() {
        use crate::reading::{by_mu, mu_above};
        let runs = |of: u32, shift: f64| -> Vec<Scores> {
            let score = |i: u32, k: usize| f64::from((i * 7919 + 31 * k as u32) % 101);
            let one = |i| std::array::from_fn(|k| score(i, k) + if k == 2 { shift } else { 0.0 });
            (0..of).map(one).collect()
        };
        for (of, shift) in [(60, 0.0), (300, 20.0), (250, -45.0), (40, 1e3)] {
            let runs = [runs(300, 0.0), runs(of, shift)];
            let [once, anew] = [
                Test::choose(&runs, 2.0, &by_mu()),
                Test::choose(&runs, 2.0, &AttackComparison::of(mu_above)),
            ];
            assert_eq!(format!("{once:?}"), format!("{anew:?}"), "{of} {shift}");
        }
    }

    #[test]
    fn the_telling_statistic_is_found_on_its_side() {
        let runs = |shift: f64| -> Vec<Scores> {
            let one = |i: i32| {
                let mut scores: Scores = std::array::from_fn(|_| 0.0);
                scores[0] = f64::from(i % 7);
                scores[1] = -f64::from(i % 10) - shift;
                scores
            };
            (0..1000).map(one).collect()
        };
        let runs = [runs(5.0), runs(0.0)];
        let test = Test::choose(&runs, 2.0, &AttackComparison::of(|limits| limits.epsilon(0.0)));
        assert_eq!((test.statistic, test.above != test.swapped), (1, false));
        let TestLimits { often, seldom } = test.limits(&runs, 0.975);
        assert!(often > 0.45 && seldom < 0.01, "{often} {seldom}");
    }
}
