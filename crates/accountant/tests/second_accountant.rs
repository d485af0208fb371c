//! The first accountant against a second one that shares no code with it. Note:
//! `proofs/second-accountant.md`.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod second;

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};

use reticent_accountant::*;
use second::cases::{Plan, Random};
use second::loss::{Kind, Law};
use second::{Case, Interval, Pair, atoms, contour, crude, lattice};

/// The second accountant's own rounding of its parameters (2/z, say): a claim about the very end of
/// a bounded loss is not judged by its last bit.
const HAIR: f64 = 1e-15;

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
    fn and(self, other: Self) -> Self {
        Findings {
            violations: [self.violations, other.violations].concat(),
            decided: self.decided + other.decided,
            undecided: self.undecided + other.undecided,
            precise: self.precise + other.precise,
            interval: self.interval + other.interval,
        }
    }

    /// `claim` says that a truth is at most (or at least) a value: the interval decides, or is too
    /// wide to.
    fn check(&mut self, below: bool, truth: Interval, value: f64, what: impl Fn() -> String) {
        if !truth.consistent() {
            self.violations
                .push(format!("the second accountant contradicts itself: {truth:?}: {}", what()));
        } else if if below { truth.low > value } else { truth.high < value } {
            self.violations
                .push(format!("{} but ln of the truth is in {truth:?}, asked {value}", what()));
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
            let truth = pair.ln_delta(bound.upper * (1.0 + HAIR), &[asked]);
            self.check(true, truth, asked, || {
                format!("{}: epsilon at {delta:e} is at most {:e}", what(), bound.upper)
            });
        }
        if bound.lower > 0.0 {
            let truth = pair.ln_delta(bound.lower * (1.0 - HAIR), &[asked]);
            self.check(false, truth, asked, || {
                format!("{}: epsilon at {delta:e} is at least {:e}", what(), bound.lower)
            });
        }
    }

    fn delta(&mut self, pair: &Pair, epsilon: f64, bound: Bound, what: &dyn Fn() -> String) {
        let asked = [bound.lower.ln(), bound.upper.ln()];
        let truth = pair.ln_delta(epsilon, &asked);
        self.check(true, truth, asked[1], || {
            format!("{}: delta at {epsilon:e} is at most {:e}", what(), bound.upper)
        });
        self.check(false, truth, asked[0], || {
            format!("{}: delta at {epsilon:e} is at least {:e}", what(), bound.lower)
        });
    }

    fn at_least(&mut self, upper: f64, lower: f64, what: impl Fn() -> String) {
        if upper < lower {
            self.violations.push(format!(
                "{}: an upper bound of {upper:e} and a lower bound of {lower:e}",
                what()
            ));
        }
    }
}

/// Something that costs at least as much, and why it does: all are proven in the note.
fn dearer(plan: &Plan, index: usize) -> Plan {
    plan.map(|mechanism, count| match (index % 3, mechanism) {
        (0, _) => (mechanism.clone(), count * 10),
        (1, Mechanism::Gaussian(g)) => {
            (Gaussian::new(g.noise_multiplier() * 0.9).unwrap().into(), count)
        }
        (1, Mechanism::PoissonGaussian(p)) => {
            (PoissonGaussian::new(p.noise_multiplier() * 0.9, p.rate()).unwrap().into(), count)
        }
        (2, Mechanism::PoissonGaussian(p)) => (
            PoissonGaussian::new(p.noise_multiplier(), (p.rate() * 1.1).min(1.0)).unwrap().into(),
            count,
        ),
        _ => (mechanism.clone(), count + 1),
    })
}

fn one(index: usize, random: &mut Random, found: &mut Findings) {
    let plan = Plan::random(random);
    let delta_asked = random.spread((1e-12, 1e-3), (1e-300, 0.5));
    let epsilon_asked = random.spread((0.1, 10.0), (1e-6, 1e6));
    let (ledger, pair) = (plan.ledger(), plan.pair());
    let name = || format!("case {index}: {plan:?}");
    let by_delta = epsilon(&ledger, delta_asked).unwrap();
    found.epsilon(&pair, delta_asked, by_delta, &name);
    // Half of the questions near to where the answer is neither 0 nor 1.
    let near = by_delta.upper.clamp(1e-6, 1e6) * (0.2 + random.uniform());
    let epsilon_asked = if random.chance(0.5) { near } else { epsilon_asked };
    let by_epsilon = delta(&ledger, epsilon_asked).unwrap();
    found.delta(&pair, epsilon_asked, by_epsilon, &name);
    // Between runs: one of three arguments each time.
    match index % 3 {
        0 => {
            let stronger = epsilon(&ledger, delta_asked / 10.0).unwrap();
            let what = || format!("{}: delta from {delta_asked:e} to a tenth", name());
            found.at_least(stronger.upper, by_delta.lower, what);
        }
        1 => {
            let further = delta(&ledger, epsilon_asked * 1.5).unwrap();
            let what = || format!("{}: epsilon from {epsilon_asked:e} by half", name());
            found.at_least(by_epsilon.upper, further.lower, what);
        }
        _ => {
            let more = dearer(&plan, index / 3);
            let cost = epsilon(&more.ledger(), delta_asked).unwrap();
            let what = || format!("{}: against {more:?} at {delta_asked:e}", name());
            found.at_least(cost.upper, by_delta.lower, what);
        }
    }
    if index.is_multiple_of(4) {
        let report = report(&ledger, delta_asked).unwrap();
        let bounds: Vec<_> =
            report.lines.iter().filter_map(|line| line.bound.as_ref().ok()).collect();
        for a in &bounds {
            for b in &bounds {
                found.at_least(a.upper, b.lower, || {
                    format!("{}: {:?} and {:?} at {delta_asked:e}", name(), a.method, b.method)
                });
            }
            if a.upper < by_delta.upper {
                found.epsilon(&pair, delta_asked, **a, &|| format!("{} by {:?}", name(), a.method));
            }
        }
    }
    if index.is_multiple_of(10) {
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
    let name = || {
        format!(
            "case {index}: calibrate to ({target:e}, {delta_asked:e}), {count} × poisson {rate:e}, {adjacency}"
        )
    };
    match calibrate(target, delta_asked, |z| plan(z).map(|plan| plan.ledger())) {
        Ok(answer) => {
            let truth =
                plan(answer.noise_multiplier).unwrap().pair().ln_delta(target, &[delta_asked.ln()]);
            found.check(true, truth, delta_asked.ln(), || {
                format!("{}: z = {:e}", name(), answer.noise_multiplier)
            });
        }
        // A target below what the least noise gives is an answer, and no guarantee.
        Err(CalibrationError::OutOfReach { .. }) => {}
        Err(error) => found.violations.push(format!("{}: {error}", name())),
    }
}

#[test]
fn the_first_accountant_holds_against_the_second() {
    let number = |name: &str, usual: u64| std::env::var(name).map_or(usual, |n| n.parse().unwrap());
    let (cases, seed, from) =
        (number("RETICENT_CASES", 200), number("RETICENT_SEED", 6), number("RETICENT_FROM", 0));
    let next = AtomicU64::new(from);
    let some = || {
        let mut found = Findings::default();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= from + cases {
                return found;
            }
            one(index as usize, &mut Random((seed << 32) + index * 7919), &mut found);
            // Thousands of cases take minutes: the first one that fails says so at once.
            assert!(
                found.violations.is_empty(),
                "{}\nagain: RETICENT_SEED={seed} RETICENT_FROM={index} RETICENT_CASES=1",
                found.violations.join("\n")
            );
            if (index + 1 - from).is_multiple_of(100) {
                println!("cases of seed {seed} hold up to about {index}");
            }
        }
    };
    // Each case has a seed of its own, so that it does not matter who takes it.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let found = std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(some)).collect();
        let parts =
            all.into_iter().map(|part| part.join().unwrap_or_else(|why| resume_unwind(why)));
        parts.fold(Findings::default(), Findings::and)
    });
    println!(
        "{cases} cases of seed {seed}: {} claims decided, {} undecided; {} precise truths, {} intervals",
        found.decided, found.undecided, found.precise, found.interval
    );
    // A second accountant that cannot say anything would find nothing; of a single case it may not.
    assert!(
        found.undecided < found.decided || cases < 100,
        "{} undecided, {} decided",
        found.undecided,
        found.decided
    );
}

#[derive(serde::Deserialize)]
struct Golden {
    cases: Vec<GoldenCase>,
}

#[derive(serde::Deserialize)]
struct GoldenCase {
    gaussian: f64,
    laws: Vec<GoldenLaw>,
    epsilon: f64,
    ln_delta: f64,
}

#[derive(serde::Deserialize)]
struct GoldenLaw {
    kind: String,
    count: f64,
    #[serde(default)]
    q: f64,
    #[serde(default)]
    mu: f64,
    #[serde(default)]
    r: f64,
    #[serde(default)]
    e: f64,
}

fn golden() -> Vec<(Case, f64, f64)> {
    let golden: Golden =
        serde_json::from_str(include_str!("../../../golden/accountant/second.json")).unwrap();
    let law = |law: GoldenLaw| {
        let mixture = |kind| Law::Mixture { kind, q: law.q, mu: law.mu };
        let it = match law.kind.as_str() {
            "removal" => mixture(Kind::Removal),
            "addition" => mixture(Kind::Addition),
            "exchange" => mixture(Kind::Exchange),
            "symmetric" => mixture(Kind::Symmetric),
            "laplace" => Law::Laplace(law.r),
            "response" => Law::Response(law.e),
            other => panic!("no such law: {other}"),
        };
        (it, law.count)
    };
    let case = |case: GoldenCase| {
        let laws = case.laws.into_iter().map(law).collect();
        (Case { gaussian: case.gaussian, laws, ln_kept: 0.0 }, case.epsilon, case.ln_delta)
    };
    golden.cases.into_iter().map(case).collect()
}

#[test]
fn the_second_accountant_agrees_with_mpmath() {
    for (case, epsilon, want) in golden() {
        let got = case.ln_delta(epsilon, &[]);
        // The reference is rounded to a float.
        let slack = 1e-15 * (1.0 + want.abs());
        assert!(
            got.low <= want + slack && want - slack <= got.high,
            "{case:?} at {epsilon}: {got:?}, not {want}"
        );
        // Two Poisson events have neither a closed form nor a moment function that falls off.
        let wide = if case.laws.iter().any(|(_, count)| *count == 2.0) { 2e-2 } else { 1e-6 };
        assert!(got.width() < wide, "{case:?} at {epsilon}: {got:?} is wide");
    }
}

/// The moments of many responses come back to all their size along the line; samples in between
/// had missed it, and the second accountant contradicted the first.
#[test]
fn responses_that_are_in_phase_again_are_seen() {
    let responses = (Law::Response(0.075_651_526_433_354_47), 1_597_408.0);
    let seldom = (Law::Mixture { kind: Kind::Removal, q: 1.9e-6, mu: 0.256 }, 1.0);
    let case = |laws| Case { gaussian: 0.0, laws, ln_kept: 0.0 };
    // One event of a loss of 1e-6 adds less than the interval of the others is wide.
    let alone = atoms::delta(&case(vec![responses]), 4976.08).unwrap();
    let both = case(vec![seldom, responses]);
    let got = contour::delta(&both, 4976.08, &contour::Saddle::of(&both, 4976.08), 2e5);
    assert!(got.low <= alone.high && alone.low <= got.high, "{got:?} without {alone:?}");
    assert!(got.width() < 1e-2, "{got:?}");
}

/// Where nothing falls along the line, what is left of a sum is a sum and not an integral: the
/// truth is about 6.6e-6 here, and the interval began at 3.4e-4.
#[test]
fn what_a_contour_leaves_out_is_in_its_interval() {
    let law = |z: f64, q: f64| Law::Mixture { kind: Kind::Removal, q, mu: 1.0 / z };
    let laws = vec![(law(0.032_922, 2.814_4e-9), 131.0), (law(7.021_76, 9.866_1e-6), 11.0)];
    let (case, epsilon) = (Case { gaussian: 0.0, laws, ln_kept: 0.0 }, 6.486e-7);
    let got = contour::delta(&case, epsilon, &contour::Saddle::of(&case, epsilon), 1.5e6);
    assert!(got.low < (6.5e-6_f64).ln() && got.high > (6.6e-6_f64).ln(), "{got:?}");
}

/// e^{−μ²/2} sinh(μx) is 0 · ∞ for little noise: an eighth of the mass was lost.
#[test]
fn a_lattice_of_little_noise_has_all_of_the_mass() {
    let law = Law::Mixture { kind: Kind::Exchange, q: 1.524_3e-8, mu: 634.3256 };
    let (case, epsilon) =
        (Case { gaussian: 0.0, laws: vec![(law, 807.0)], ln_kept: 0.0 }, 201_405.28);
    let saddle = contour::Saddle::of(&case, epsilon);
    let got = lattice::delta(&case, epsilon, &saddle, |_: &Interval| false);
    let least = crude::some_event(&case, epsilon).low;
    assert!(got.consistent() && got.high >= least && got.width() < 1.0, "{got:?}, {least}");
}

/// The contour, the lattice and the bounds from single events are different computations of the
/// same thing.
#[test]
fn the_ways_of_the_second_accountant_agree() {
    for (case, epsilon, want) in golden() {
        if case.laws.is_empty() {
            continue;
        }
        let saddle = contour::Saddle::of(&case, epsilon);
        let ways = [
            ("chernoff", contour::chernoff(&case, epsilon, &saddle)),
            ("contour", contour::delta(&case, epsilon, &saddle, 2e5)),
            ("some event", crude::some_event(&case, epsilon)),
            ("lattice", lattice::delta(&case, epsilon, &saddle, |x: &Interval| x.width() < 0.1)),
        ];
        for (name, got) in ways {
            assert!(
                got.low <= want + 1e-8 && want - 1e-8 <= got.high,
                "{name}: {case:?} at {epsilon}: {got:?}, not {want}"
            );
        }
    }
}
