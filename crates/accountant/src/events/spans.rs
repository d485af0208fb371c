//! What the steps between two sights of a token hide, over all paths of the token.
//!
//! A span is the number of steps from a contribution until the token is next with its maker or with
//! who looks: geometric with parameter 2/n, and either end is as likely. Contributions that nobody
//! sees in between share their noise: they fall into runs of j contributions and G_j steps (the
//! faces of the convex minorant of their count), each of which costs j·max(j/G_j, 1/n) local
//! divergences. By Spitzer's identity, with s = (α − 1)·D_α, the price M = 1 + m of a contribution
//! is the root of
//!
//! > Σ_j φ_j/(j·(2M)^j) = ln 2,   φ_j = E exp(s·max(j²/G_j, j/n)),   G_j a sum of j spans
//!
//! and with φ_j = 1 + x_j this is Σ_j x_j/(j·(2M)^j) = ln(1 + m/(1 + m)), whose left side falls and
//! whose right side rises with m. Proof note: `proofs/iteration.md`.

use crate::outward::{Upper, at_least};
use crate::round::{down, up};

/// Sums of so many spans are computed; those of more are bounded by φ_j ≤ φ_1^j.
const MOST: usize = 12;

/// Lengths up to here are summed one by one, those beyond in blocks that grow by one part in so
/// many.
const FINE: f64 = 128.0;

/// Roundings in a probability, which is a sum of positive terms with few operations each; the
/// exponent of (1 − 2/n)^g is at most `MOST`·n·|ln(1 − 2/n)| and a block more, below 40 (n = 3; 2·`MOST`
/// for many users), and its error a few times as many units.
const ROUNDINGS: f64 = 512.0;

/// Halvings in the search for the root.
const HALVINGS: u32 = 60;

/// The laws of the sums of up to [`MOST`] spans among so many users.
pub(super) struct Spans {
    /// Of j = 1, 2, …: what a run of j contributions costs, and the probability of that.
    laws: Vec<Vec<(f64, f64)>>,
}

impl Spans {
    pub(super) fn new(users: u64) -> Self {
        let n = users as f64;
        let chance = Chance::new(2.0 / n);
        let mut laws = vec![Vec::new(); MOST];
        let mut open: Vec<usize> = (1..=MOST).collect();
        let mut first = 1.0;
        while !open.is_empty() {
            let width = 1.0 + (first / FINE).floor();
            let before = chance.successes(first - 1.0);
            let within = chance.tails(width);
            open.retain(|&j| {
                let count = j as f64;
                let cost = at_least(count * count / first, count / n);
                // All that is longer costs what this does.
                let last = first >= count * n;
                // Fewer than j in the steps before, and the j-th among these.
                let mass = (0..j).map(|i| before[i] * if last { 1.0 } else { within[j - i] });
                let mass = up(mass.sum(), ROUNDINGS);
                if mass > 0.0 && (first >= count || last) {
                    laws[j - 1].push((cost, mass));
                }
                !last
            });
            first += width;
        }
        Spans { laws }
    }

    /// The natural logarithm of M, an upper end, for s = `most`.
    pub(super) fn price(&self, most: f64) -> Upper {
        let excess: Vec<f64> = self.laws.iter().map(|law| excess(law, most)).collect();
        let alone = excess[0];
        // Every run by itself is a way to take shifts off, so M ≤ φ_1.
        let (mut low, mut high) = (0.0, alone);
        for _ in 0..HALVINGS {
            let middle = low + (high - low) / 2.0;
            if holds(&excess, middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Upper::new(up(high.ln_1p(), 8.0))
    }
}

/// E exp(s·cost) − 1, from above.
fn excess(law: &[(f64, f64)], most: f64) -> f64 {
    let sum: f64 = law.iter().map(|(cost, mass)| mass * (most * cost).exp_m1()).sum();
    up(sum, 64.0 + law.len() as f64)
}

/// Whether M = 1 + m is surely at or above the root.
fn holds(excess: &[f64], m: f64) -> bool {
    let u = up(0.5 / (1.0 + m), 4.0);
    let (mut power, mut sum) = (1.0, 0.0);
    for (j, x) in (1..).zip(excess) {
        power *= u;
        sum += x * power / f64::from(j);
    }
    // (φ_1^j − 1)/j ≤ φ_1^j·ln φ_1 for the others, a geometric series.
    let ratio = up((1.0 + excess[0]) * u, 4.0);
    let rest = excess[0].ln_1p() * ratio.powi(excess.len() as i32 + 1) / (1.0 - up(ratio, 4.0));
    let left = Upper::new(up(sum + rest, 256.0));
    ratio < 0.99 && left.within(down((m / (1.0 + m)).ln_1p(), 16.0))
}

/// A step that ends a span with probability p.
struct Chance {
    /// ln(1 − p); −∞ where every step does.
    stay: f64,
    /// p/(1 − p).
    odds: f64,
}

impl Chance {
    fn new(p: f64) -> Self {
        Chance { stay: (-p).ln_1p(), odds: p / (1.0 - p) }
    }

    /// The probability of exactly 0, 1, … ends among so many steps.
    fn successes(&self, steps: f64) -> [f64; MOST + 1] {
        let mut all = [0.0; MOST + 1];
        if self.stay == f64::NEG_INFINITY {
            if steps <= MOST as f64 {
                all[steps as usize] = 1.0;
            }
            return all;
        }
        all[0] = (steps * self.stay).exp();
        for i in 1..=MOST {
            all[i] = all[i - 1] * self.next(steps, i - 1);
        }
        all
    }

    /// The probability of at least 0, 1, … ends among so many steps, from above.
    fn tails(&self, steps: f64) -> [f64; MOST + 1] {
        let exactly = self.successes(steps);
        if self.stay == f64::NEG_INFINITY {
            return std::array::from_fn(|r| if r as f64 <= steps { 1.0 } else { 0.0 });
        }
        let mut all = [1.0; MOST + 1];
        all[1] = -(steps * self.stay).exp_m1();
        for r in 2..=MOST {
            let (mut sum, mut term, mut i) = (0.0, exactly[r], r);
            // The terms fall by more than half from where this stops.
            while term > sum * f64::EPSILON || self.next(steps, i) > 0.5 {
                sum += term;
                term *= self.next(steps, i);
                i += 1;
            }
            all[r] = sum + 2.0 * term;
        }
        all
    }

    /// P(i + 1 ends)/P(i ends) among so many steps; 0 where there are not as many.
    fn next(&self, steps: f64, i: usize) -> f64 {
        let i = i as f64;
        at_least(steps - i, 0.0) / (i + 1.0) * self.odds
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Runs of contributions and steps: the faces of the convex minorant, in which the rate at
    /// which shifts are taken off never falls.
    pub(in crate::events) fn runs(spans: &[u32]) -> Vec<(u32, u32)> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for &span in spans {
            let mut run = (1, span);
            while let Some(before) = runs.pop_if(|before| before.0 * run.1 > run.0 * before.1) {
                run = (run.0 + before.0, run.1 + before.1);
            }
            runs.push(run);
        }
        runs
    }

    /// What contributions with these spans cost that are seen together, in local divergences.
    pub(in crate::events) fn cost(spans: &[u32], users: f64) -> f64 {
        runs(spans).into_iter().map(|(j, steps)| run_cost(j, steps, users)).sum()
    }

    fn run_cost(j: u32, steps: u32, users: f64) -> f64 {
        f64::from(j) * at_least(f64::from(j) / f64::from(steps), 1.0 / users)
    }

    /// All orders of 0, …, m − 1.
    fn permutations(m: usize) -> Vec<Vec<usize>> {
        let Some(last) = m.checked_sub(1) else { return vec![Vec::new()] };
        let grown = |order: Vec<usize>| {
            (0..m).map(move |place| {
                let mut order = order.clone();
                order.insert(place, last);
                order
            })
        };
        permutations(last).into_iter().flat_map(grown).collect()
    }

    /// The cycles of a permutation: how many spans, and how many steps.
    fn cycles(permutation: &[usize], spans: &[u32]) -> Vec<(u32, u32)> {
        let mut seen = vec![false; permutation.len()];
        let mut all = Vec::new();
        for start in 0..permutation.len() {
            let (mut at, mut cycle) = (start, (0, 0));
            while !std::mem::replace(&mut seen[at], true) {
                cycle = (cycle.0 + 1, cycle.1 + spans[at]);
                at = permutation[at];
            }
            if cycle.0 > 0 {
                all.push(cycle);
            }
        }
        all
    }

    /// Spitzer: over all orders of given spans the runs are as the cycles of permutations.
    #[test]
    fn runs_over_all_orders_are_as_cycles_of_permutations() {
        let (users, s) = (8.0, 0.7);
        for spans in [
            vec![1, 1],
            vec![3, 5, 5],
            vec![1, 1, 2, 2],
            vec![7, 2, 4, 4, 2],
            vec![40, 6, 1, 1, 9, 1],
        ] {
            let all = permutations(spans.len());
            let by_runs = all.iter().map(|order| {
                let ordered: Vec<u32> = order.iter().map(|&i| spans[i]).collect();
                (s * cost(&ordered, users)).exp()
            });
            let by_cycles = all.iter().map(|order| {
                let parts = cycles(order, &spans);
                (s * parts.iter().map(|&(j, g)| run_cost(j, g, users)).sum::<f64>()).exp()
            });
            let (runs, cycles): (f64, f64) = (by_runs.sum(), by_cycles.sum());
            assert!((runs / cycles - 1.0).abs() < 1e-12, "{spans:?}: {runs} {cycles}");
        }
    }

    /// Spans of every gap of so many steps that begins with a contribution.
    fn gaps(steps: u32) -> impl Iterator<Item = Vec<u32>> {
        (0..1_u32 << (steps - 1)).map(move |others| {
            let mut spans = vec![1];
            for step in 0..steps - 1 {
                match others >> step & 1 {
                    1 => spans.push(1),
                    _ => spans.last_mut().into_iter().for_each(|last| *last += 1),
                }
            }
            spans
        })
    }

    /// What is paid where every step adds `error` to a distance that is not 0 (`proofs/walk.md`) and
    /// 1 + en times the slope of its run, at least 1/n, is taken off; and what of the distance is left
    /// at the end of a run.
    fn taken_off(spans: &[u32], users: f64, error: f64) -> (f64, f64) {
        let (mut distance, mut paid, mut left): (f64, f64, f64) = (0.0, 0.0, 0.0);
        let mut spans = spans.iter();
        for (j, steps) in runs(spans.as_slice()) {
            let rate =
                (1.0 + error * users) * at_least(f64::from(j) / f64::from(steps), 1.0 / users);
            for &span in spans.by_ref().take(j as usize) {
                for step in 0..span {
                    let added = if step == 0 { 1.0 } else { 0.0 };
                    if added + distance > 1e-12 {
                        distance += added + error;
                    }
                    let off = crate::outward::at_most(rate, distance);
                    (distance, paid) = (distance - off, paid + off * off);
                }
            }
            left = at_least(distance, left);
        }
        (paid, left)
    }

    /// The shift argument on every gap of up to eleven steps: with the roundings of a step all is off
    /// at the end of each run, never more than was added, at (1 + en)² times the cost.
    #[test]
    fn all_is_off_at_the_end_of_a_run_roundings_included() {
        for spans in (1..=11).flat_map(gaps) {
            for users in [2.0, 3.0, 5.0, 8.0] {
                for error in [0.0, 0.01, 0.5] {
                    let (paid, left) = taken_off(&spans, users, error);
                    let most = (1.0 + error * users).powi(2) * cost(&spans, users);
                    let at = format!("{spans:?}, {users} users, {error} a step");
                    assert!(
                        left < 1e-9 && paid <= most * (1.0 + 1e-9),
                        "{at}: {left} {paid} {most}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_law_has_all_its_mass_and_not_more() {
        for users in [2, 3, 5, 10, 1000, 1_000_000, u64::MAX] {
            for (j, law) in (1..).zip(Spans::new(users).laws) {
                let mass: f64 = law.iter().map(|(_, mass)| mass).sum();
                assert!((mass - 1.0).abs() < 1e-11, "{users} users, {j} spans: {mass}");
            }
        }
    }

    #[test]
    fn among_two_users_nothing_is_hidden() {
        let spans = Spans::new(2);
        for s in [1e-6, 0.1, 1.0, 10.0] {
            let price = spans.price(s).value();
            assert!(price >= s && price <= s * (1.0 + 1e-3), "{s}: {price}");
        }
    }

    /// About (1 + ln n)/n of the local divergence, where each contribution by itself would have
    /// 2 ln(n/2)/n.
    #[test]
    fn among_many_users_a_contribution_costs_one_and_ln_n_over_n() {
        for users in [100_u64, 1_000, 100_000] {
            let n = users as f64;
            let price = Spans::new(users).price(1e-3).value() / 1e-3;
            let about = (1.0 + n.ln()) / n;
            assert!(price >= about * 0.999 && price <= about * 1.02, "{users}: {price} {about}");
        }
    }

    #[derive(serde::Deserialize)]
    struct Outside {
        users: u64,
        s: f64,
        price: f64,
        alone: f64,
        simulated: f64,
        error: f64,
    }

    /// Outside values (golden/make_iteration.py): the root by sums over every length, and what twelve
    /// contributions cost on 20,000 random paths. Blocks of lengths cost a hundredth at the most.
    #[test]
    fn prices_are_those_of_outside_values_and_above_what_paths_cost() {
        let text = include_str!("../../../../golden/accountant/iteration.json");
        let all: Vec<Outside> = serde_json::from_str(text).unwrap();
        assert!(all.len() > 20);
        for Outside { users, s, price, alone, simulated, error } in all {
            let said = Spans::new(users).price(s).value();
            let at = format!("{users} users, s {s}: {said} {price}");
            assert!(said >= price * (1.0 - 1e-9) && said <= price * 1.01, "{at}");
            assert!(said <= alone * (1.0 + 1e-3), "{at}");
            // The values are fixed, so this does not fail by chance.
            assert!(said >= simulated - 4.0 * error, "{at}, {simulated}");
        }
    }
}
