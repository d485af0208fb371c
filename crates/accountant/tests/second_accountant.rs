//! The first accountant against a second one that shares no code with it. Note: `proofs/second-accountant.md`.

#![allow(clippy::unwrap_used)]

mod second;

use reticent_accountant::*;
use second::cases::{Plan, Random};
use second::{Interval, Pair};
use std::io::Write;

/// What was found, and how sure the second accountant was.
#[derive(Default)]
struct Findings {
    violations: Vec<String>,
    decided: usize,
    undecided: usize,
    precise: usize,
    interval: usize,
}

impl Findings {
    /// `claim` says that a truth is at most (or at least) a value: the interval decides, or is too wide to.
    fn check(&mut self, below: bool, truth: Interval, value: f64, what: impl Fn() -> String) {
        if !truth.consistent() {
            self.violations.push(format!("the second accountant contradicts itself: {truth:?}: {}", what()));
        } else if if below { truth.low > value } else { truth.high < value } {
            self.violations.push(format!("{} but ln of the truth is in {truth:?}, asked {value}", what()));
        } else if if below { truth.high <= value } else { truth.low >= value } {
            self.decided += 1;
        } else {
            self.undecided += 1;
        }
        if truth.width() <= 1e-3 { self.precise += 1 } else { self.interval += 1 }
    }

    /// ε(δ) is within a bound ⟺ δ(upper) ≤ δ ≤ δ(lower).
    fn epsilon(&mut self, pair: &Pair, delta: f64, bound: Bound, what: &dyn Fn() -> String) {
        let asked = delta.ln();
        if bound.upper.is_finite() {
            let truth = pair.ln_delta(bound.upper, &[asked]);
            self.check(true, truth, asked, || format!("{}: epsilon at {delta:e} is at most {:e}", what(), bound.upper));
        }
        if bound.lower > 0.0 {
            let truth = pair.ln_delta(bound.lower, &[asked]);
            self.check(false, truth, asked, || format!("{}: epsilon at {delta:e} is at least {:e}", what(), bound.lower));
        }
    }

    fn delta(&mut self, pair: &Pair, epsilon: f64, bound: Bound, what: &dyn Fn() -> String) {
        let asked = [bound.lower.ln(), bound.upper.ln()];
        let truth = pair.ln_delta(epsilon, &asked);
        self.check(true, truth, asked[1], || format!("{}: delta at {epsilon:e} is at most {:e}", what(), bound.upper));
        self.check(false, truth, asked[0], || format!("{}: delta at {epsilon:e} is at least {:e}", what(), bound.lower));
    }

    fn at_least(&mut self, upper: f64, lower: f64, what: impl Fn() -> String) {
        if upper < lower {
            self.violations.push(format!("{}: an upper bound of {upper:e} and a lower bound of {lower:e}", what()));
        }
    }
}

/// Something that costs at least as much, and why it does: all are proven in the note.
fn dearer(plan: &Plan, index: usize) -> Plan {
    plan.map(|mechanism, count| match (index % 3, mechanism) {
        (0, _) => (mechanism.clone(), count * 10),
        (1, Mechanism::Gaussian(g)) => (Gaussian::new(g.noise_multiplier() * 0.9).unwrap().into(), count),
        (1, Mechanism::PoissonGaussian(p)) => {
            (PoissonGaussian::new(p.noise_multiplier() * 0.9, p.rate()).unwrap().into(), count)
        }
        (2, Mechanism::PoissonGaussian(p)) => {
            (PoissonGaussian::new(p.noise_multiplier(), (p.rate() * 1.1).min(1.0)).unwrap().into(), count)
        }
        _ => (mechanism.clone(), count + 1),
    })
}

fn one(index: usize, random: &mut Random, found: &mut Findings) {
    let plan = Plan::random(random);
    let delta_asked = random.spread((1e-12, 1e-3), (1e-300, 0.5));
    let epsilon_asked = random.spread((0.1, 10.0), (1e-6, 1e6));
    let (ledger, pair) = (plan.ledger(), plan.pair());
    let name = || format!("case {index}: {plan:?}");
    let clock = std::time::Instant::now();
    let by_delta = epsilon(&ledger, delta_asked).unwrap();
    let first = clock.elapsed();
    let clock = std::time::Instant::now();
    found.epsilon(&pair, delta_asked, by_delta, &name);
    if std::env::var("RETICENT_LOUD").is_ok() {
        eprintln!("{index} first {first:?} second {:?} {by_delta:?} {}", clock.elapsed(), name());
    }
    // Half of the questions near to where the answer is neither 0 nor 1.
    let near = by_delta.upper.clamp(1e-6, 1e6) * (0.2 + random.uniform());
    let epsilon_asked = if random.chance(0.5) { near } else { epsilon_asked };
    let clock = std::time::Instant::now();
    let lap = |what: &str| {
        if std::env::var("RETICENT_LOUD").is_ok() {
            eprintln!("    {what} {:?}", clock.elapsed());
        }
    };
    let by_epsilon = delta(&ledger, epsilon_asked).unwrap();
    lap("delta by first");
    found.delta(&pair, epsilon_asked, by_epsilon, &name);
    lap("delta by second");
    // Between runs.
    let stronger = epsilon(&ledger, delta_asked / 10.0).unwrap();
    found.at_least(stronger.upper, by_delta.lower, || format!("{}: delta from {delta_asked:e} to a tenth", name()));
    let further = delta(&ledger, epsilon_asked * 1.5).unwrap();
    found.at_least(by_epsilon.upper, further.lower, || format!("{}: epsilon from {epsilon_asked:e} by half", name()));
    let more = dearer(&plan, index);
    let cost = epsilon(&more.ledger(), delta_asked).unwrap();
    found.at_least(cost.upper, by_delta.lower, || format!("{}: against {more:?} at {delta_asked:e}", name()));
    lap("between");
    if index % 4 == 0 {
        let report = report(&ledger, delta_asked).unwrap();
        let bounds: Vec<_> = report.lines.iter().filter_map(|line| line.bound.as_ref().ok()).collect();
        for a in &bounds {
            for b in &bounds {
                found.at_least(a.upper, b.lower, || format!("{}: {:?} and {:?} at {delta_asked:e}", name(), a.method, b.method));
            }
            if a.upper < by_delta.upper {
                found.epsilon(&pair, delta_asked, **a, &|| format!("{} by {:?}", name(), a.method));
            }
        }
    }
    lap("report");
    if index % 10 == 0 {
        calibrated(index, random, found);
    }
}

/// What calibration gives is recounted by the second accountant.
fn calibrated(index: usize, random: &mut Random, found: &mut Findings) {
    let target = random.spread((0.1, 10.0), (1e-3, 1e4));
    let delta_asked = random.spread((1e-12, 1e-3), (1e-100, 0.5));
    let rate = random.spread((1e-3, 1.0), (1e-7, 1.0));
    let count = random.spread((1.0, 1e4), (1.0, 1e6)) as u64;
    let adjacency = if random.chance(0.5) { Adjacency::AddRemove } else { Adjacency::ReplaceOne };
    let plan = |z: f64| -> Result<Plan, EventError> {
        Ok(Plan { adjacency, steps: vec![(PoissonGaussian::new(z, rate)?.into(), count)] })
    };
    let name = || format!("case {index}: calibrate to ({target:e}, {delta_asked:e}), {count} × poisson {rate:e}, {adjacency}");
    match calibrate(target, delta_asked, |z| plan(z).map(|plan| plan.ledger())) {
        Ok(answer) => {
            let truth = plan(answer.noise_multiplier).unwrap().pair().ln_delta(target, &[delta_asked.ln()]);
            found.check(true, truth, delta_asked.ln(), || format!("{}: z = {:e}", name(), answer.noise_multiplier));
        }
        // A target below what the least noise gives is an answer, and no guarantee.
        Err(CalibrationError::OutOfReach { .. }) => {}
        Err(error) => found.violations.push(format!("{}: {error}", name())),
    }
}

#[test]
fn the_first_accountant_holds_against_the_second() {
    let cases: usize = std::env::var("RETICENT_CASES").map_or(200, |n| n.parse().unwrap());
    let seed: u64 = std::env::var("RETICENT_SEED").map_or(6, |n| n.parse().unwrap());
    let from: usize = std::env::var("RETICENT_FROM").map_or(0, |n| n.parse().unwrap());
    let loud = std::env::var("RETICENT_LOUD").is_ok();
    let mut found = Findings::default();
    for index in from..cases {
        let start = std::time::Instant::now();
        one(index, &mut Random(seed.wrapping_mul(1 << 32).wrapping_add(index as u64 * 7919)), &mut found);
        if loud {
            for v in found.violations.drain(..) {
                eprintln!("VIOLATION {v}");
            }
            eprintln!("{index} {:?}", start.elapsed());
        }
    }
    let _ = std::io::stderr().flush();
    println!(
        "{cases} cases: {} claims decided, {} undecided; {} precise truths, {} intervals",
        found.decided, found.undecided, found.precise, found.interval
    );
    assert!(found.violations.is_empty(), "{} violations\n{}", found.violations.len(), found.violations.join("\n"));
}
