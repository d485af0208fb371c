//! Many canaries in one run (Steinke, Nasr and Jagielski 2023).
//!
//! m records are each put in or left out (under replace-one: given one target or the other) by the
//! toss of a fair coin. After one fit the adversary guesses r of the coins. For an (ε, δ)-private
//! mechanism the number W of right guesses obeys (their Theorem 5.2, with p = e^ε/(1 + e^ε))
//!
//! ```text
//! P(W ≥ v) ≤ P(B ≥ v) + 2mδ · max_{1 ≤ i ≤ v} P(v − i ≤ B < v)/i        B ~ Binomial(r, p)
//! ```
//!
//! The lower bound is the largest ε at which the right side, at what was observed, is below 1 −
//! confidence. How many coins to guess, and from which statistic, is chosen on a pilot fit with
//! other coins.
//!
//! Each canary points along an axis of its own, so the noise on one says nothing about the others.

use reticent::Error;
use reticent::accountant::{Adjacency, Refused, View};
use reticent::internal::Repeat;
use reticent::internal::accountant::statistics::{binomial_point, binomial_upper_tail};
use reticent_data::{Csr, Rows, Table};
use reticent_oracle::{Entropy, Refusal};

use crate::attack::AttackStatistic;
use crate::report::AuditReport;
use crate::search::FoundPair;
use crate::spec::AuditSpec;

/// Statistics that have a sign.
const TRIED: [AttackStatistic; 4] =
    [AttackStatistic::First, AttackStatistic::Last, AttackStatistic::Sum, AttackStatistic::Model];

/// Shares of the canaries that are guessed, the surest first.
const SHARES: [f64; 5] = [0.02, 0.05, 0.1, 0.25, 0.5];

/// No ε above this is looked for.
const MOST: f64 = 50.0;

/// How guesses are made.
#[derive(Clone, Copy, Debug)]
struct Guess {
    statistic: AttackStatistic,
    /// +1 when a large score speaks for the canary.
    sign: f64,
    /// Guesses of each kind.
    each: usize,
}

/// One fit.
struct CanaryFit {
    coins: Vec<bool>,
    scores: Vec<Vec<f64>>,
}

/// The audit.
pub(crate) fn audit(spec: &AuditSpec) -> Result<AuditReport, Error> {
    if crate::parties::knows(&spec.algorithm) {
        return Err(Refused::new(
            "method",
            "one-run",
            "a run of many parties is attacked with threshold or gdp",
        )
        .into());
    }
    let m = spec.runs as usize;
    let repeat = spec.repeat_on(canaries(&vec![true; m], Adjacency::ReplaceOne), m as u32)?;
    let mut entropy = match spec.seed {
        Some(seed) => Entropy::seeded(seed ^ COINS),
        None => Entropy::secure().map_err(Refusal::from)?,
    };
    let (pilot, fit) = (
        CanaryFit::new(spec, &repeat, &mut entropy, 0)?,
        CanaryFit::new(spec, &repeat, &mut entropy, 1)?,
    );
    let mut best = (-1.0, Guess { statistic: AttackStatistic::First, sign: 1.0, each: m / 2 });
    for (index, statistic) in TRIED.into_iter().enumerate() {
        for sign in [1.0, -1.0] {
            for share in SHARES {
                let each = ((share * m as f64) as usize).clamp(1, m / 2);
                let guess = Guess { statistic, sign, each };
                let bound = spec.bound(2 * each, pilot.right(index, guess));
                if bound > best.0 {
                    best = (bound, guess);
                }
            }
        }
    }
    let guess = best.1;
    let index = TRIED.iter().position(|&tried| tried == guess.statistic).unwrap_or(0);
    let epsilon = spec.bound(2 * guess.each, fit.right(index, guess));
    let found = FoundPair { pair: spec.pairs()[0], statistic: guess.statistic, epsilon };
    spec.report((repeat.epsilon()?, View::Central), found)
}

/// Keeps the coins apart from the noise of seeded runs.
const COINS: u64 = 0x5bd1_e995_0f1e_2d3c;

impl CanaryFit {
    fn new(
        spec: &AuditSpec,
        repeat: &Repeat,
        entropy: &mut Entropy,
        number: u64,
    ) -> Result<Self, Error> {
        let tosses = (0..spec.runs).map(|_| entropy.bernoulli(0.5));
        let coins = tosses.collect::<Result<Vec<_>, _>>().map_err(Refusal::from)?;
        let seen = repeat.run(canaries(&coins, spec.adjacency).into(), number)?;
        let scores = TRIED
            .map(|statistic| (0..coins.len()).map(|j| statistic.of(&seen, j)).collect::<Vec<_>>());
        Ok(CanaryFit { coins, scores: scores.to_vec() })
    }

    /// How many of the guesses are right.
    fn right(&self, index: usize, guess: Guess) -> usize {
        let scores = &self.scores[index];
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| (guess.sign * scores[b]).total_cmp(&(guess.sign * scores[a])));
        let put_in = order[..guess.each].iter().filter(|&&j| self.coins[j]).count();
        let left_out =
            order[order.len() - guess.each..].iter().filter(|&&j| !self.coins[j]).count();
        put_in + left_out
    }
}

/// A table with a canary on every axis whose coin says so.
fn canaries(coins: &[bool], adjacency: Adjacency) -> Table {
    let mut rows =
        Csr { columns: coins.len(), indptr: vec![0], indices: Vec::new(), values: Vec::new() };
    let mut targets = Vec::new();
    for (j, &coin) in coins.iter().enumerate() {
        if coin || adjacency == Adjacency::ReplaceOne {
            rows.indices.push(j as u32);
            rows.values.push(1.0);
            rows.indptr.push(rows.indices.len());
            targets.push(if coin { 1.0 } else { -1.0 });
        }
    }
    Table { rows: Rows::Sparse(rows), targets, users: None, weights: None, names: Vec::new() }
}

impl AuditSpec {
    /// The largest ε that `right` of `guesses` refute.
    fn bound(&self, guesses: usize, right: usize) -> f64 {
        let refuted = |epsilon: f64| {
            self.chance(guesses as u64, right as u64, epsilon) < 1.0 - self.confidence
        };
        if !refuted(0.0) {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, MOST);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if refuted(middle) { low = middle } else { high = middle }
        }
        low
    }

    /// A bound of the probability of so many right guesses under (ε, δ).
    fn chance(&self, guesses: u64, right: u64, epsilon: f64) -> f64 {
        let p = 1.0 / (1.0 + (-epsilon).exp());
        let (mut within, mut most) = (0.0, 0.0_f64);
        for i in 1..=right {
            within += binomial_point(right - i, guesses, p);
            most = most.max(within / i as f64);
        }
        binomial_upper_tail(right, guesses, p) + 2.0 * self.runs as f64 * self.delta * most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guessing_by_coin_refutes_nothing_and_knowing_refutes_much() {
        let spec = AuditSpec { runs: 1000, delta: 1e-6, ..AuditSpec::default() };
        assert_eq!(spec.bound(200, 105), 0.0);
        let all = spec.bound(200, 200);
        // (e^ε/(1 + e^ε))^200 = 0.05 at ε = 4.19
        assert!((4.0..4.2).contains(&all), "{all}");
    }

    #[test]
    fn delta_is_paid_for() {
        let with = |delta| AuditSpec { runs: 1000, delta, ..AuditSpec::default() }.bound(200, 190);
        assert!(with(1e-3) < with(1e-6) && with(1e-6) <= with(1e-9));
    }
}
