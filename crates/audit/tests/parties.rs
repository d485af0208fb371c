//! Algorithms of many parties under attack, in the view that they are certified for: no lower bound
//! above what is certified.
//!
//! Every bound is at 95%, and the seeds are fixed: a test that passes, passes.

use reticent::accountant::{Unit, View};
use reticent::admm::{Release, Settings, WalkState};
use reticent_audit::{AuditMethod, AuditReport, AuditSpec, run};

fn report(spec: &AuditSpec) -> AuditReport {
    let report = run(spec).expect("an ordinary audit");
    println!(
        "{:14} {:8} {:12} certified {:.4} lower {:.4} {:?} on {}",
        report.algorithm,
        report.view.to_string(),
        format!("{:?}", spec.unit),
        report.epsilon_certified,
        report.epsilon_lower,
        report.statistic,
        report.pair
    );
    report
}

fn spec(algorithm: &str, epsilon: f64) -> AuditSpec {
    AuditSpec {
        algorithm: algorithm.to_owned(),
        epsilon,
        delta: 1e-3,
        runs: 3_000,
        seed: Some(5),
        ..AuditSpec::default()
    }
}

/// The attack under this seed and the next ones, until it sees as much as it must. What it sees of a few
/// thousand runs depends on which pair of tables the first of them point at; none may see more than is
/// certified.
fn at_least(least: f64, spec: &AuditSpec) {
    let mut seen = Vec::new();
    for seed in 5..9 {
        let report = report(&AuditSpec { seed: Some(seed), ..spec.clone() });
        assert!(!report.exceeded, "{report:?}");
        assert!(report.epsilon_certified <= 4.0 && report.epsilon_certified > 3.9, "{report:?}");
        seen.push(report.epsilon_lower);
        if report.epsilon_lower >= least {
            return;
        }
    }
    panic!("it sees {seen:?} of {}, less than {least}: {spec:?}", spec.epsilon);
}

#[test]
fn no_algorithm_of_many_parties_leaks_more_than_it_certifies() {
    for epsilon in [1.0, 4.0] {
        for (algorithm, trust, walk, parties, iterations) in [
            ("federated", View::Local, None, 2, 2),
            ("dp-admm", View::Local, None, 2, 3),
            ("dp-admm-exact", View::Local, None, 2, 2),
            ("walk", View::Local, Some(WalkState::Stateful), 2, 4),
            ("walk", View::Local, Some(WalkState::Stateless), 2, 4),
            ("walk", View::Network, Some(WalkState::Stateless), 2, 10),
            ("walk", View::Network, Some(WalkState::Stateless), 5, 20),
        ] {
            let spec = AuditSpec {
                trust: Some(trust),
                walk,
                parties,
                iterations,
                ..spec(algorithm, epsilon)
            };
            let report = report(&spec);
            assert!(!report.exceeded, "{report:?}");
            assert!(
                report.epsilon_certified <= epsilon && report.epsilon_certified > 0.99 * epsilon
            );
            assert_eq!(report.view, trust);
        }
    }
}

/// A server that is trusted, and one that sees masked sums: what is looked at are the means of all
/// rounds, and the model.
#[test]
fn neither_a_trusted_server_nor_masked_sums_leak_more() {
    for (trust, parties, runs) in [(View::Central, 2, 3_000), (View::SecureAggregation, 5, 1_000)] {
        for (epsilon, unit) in
            [(1.0, Unit::User), (4.0, Unit::User), (1.0, Unit::Record), (4.0, Unit::Record)]
        {
            let spec = AuditSpec {
                trust: Some(trust),
                unit: Some(unit),
                parties,
                runs,
                iterations: 2,
                records: (unit == Unit::Record).then_some(8),
                ..spec("federated", epsilon)
            };
            let report = report(&spec);
            assert!(!report.exceeded, "{report:?}");
            assert_eq!(report.view, trust);
        }
    }
}

/// Peers on a graph, whose every broadcast is seen. The released gradient itself is what is looked
/// at.
#[test]
fn no_peer_leaks_more_than_it_certifies() {
    for (algorithm, release) in [
        ("r-admm", Release::Gradient),
        ("mr-admm", Release::Minimiser),
        ("dvp", Release::Gradient),
        ("m-admm", Release::Gradient),
        ("r-admm", Release::Objective),
    ] {
        let spec = spec(algorithm, 4.0);
        // A quarter of the runs picks the pair and another the test, so that a half is counted.
        let report = report(&AuditSpec {
            release: Some(release),
            unit: Some(Unit::Record),
            iterations: 3,
            runs: 6_000,
            ..spec
        });
        assert!(!report.exceeded, "{report:?}");
        assert!(report.epsilon_certified <= 4.0 && report.epsilon_certified > 3.9, "{report:?}");
        // That the attack sees anything: over five seeds the weakest of them, the objective, gives
        // 0.95 to 1.62.
        assert!(report.epsilon_lower > 0.8, "{report:?}");
    }
}

/// The pair is the worst there is, so the bound comes near what is certified: the attack looks in
/// the right place.
#[test]
fn the_attack_finds_most_of_what_is_spent() {
    for (algorithm, trust, unit) in [
        ("walk", View::Local, Unit::User),
        ("federated", View::Local, Unit::User),
        ("federated", View::Central, Unit::User),
        ("dp-admm", View::Local, Unit::User),
        ("dp-admm", View::Local, Unit::Record),
    ] {
        let walk = (algorithm == "walk").then_some(WalkState::Stateless);
        let iterations = if walk.is_some() { 40 } else { 1 };
        let spec = AuditSpec {
            method: AuditMethod::Gdp,
            trust: Some(trust),
            unit: Some(unit),
            walk,
            iterations,
            runs: 6_000,
            ..spec(algorithm, 4.0)
        };
        let report = report(&spec);
        // A user of the walk is visited half as often as its cap allows for, and its last step is
        // not sent.
        let least = if walk.is_some() { 1.0 } else { 3.0 };
        assert!(report.epsilon_lower > least && !report.exceeded, "{report:?}");
    }
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let one_run = AuditSpec { method: AuditMethod::OneRun, ..spec("walk", 1.0) };
    assert!(run(&one_run).unwrap_err().to_string().contains("threshold"));
    let alone = AuditSpec { parties: 1, ..spec("dp-admm", 1.0) };
    assert!(run(&alone).unwrap_err().to_string().contains("another one"));
    let peer = AuditSpec { trust: Some(View::Network), ..spec("dp-admm", 1.0) };
    assert!(run(&peer).unwrap_err().to_string().contains("local"));
}

/// Where whole parties are drawn and a record is protected, the records beside the canary tell
/// whether its party was: aligned with it they are the worst there is, and silent ones show
/// nothing.
#[test]
fn a_party_that_is_drawn_shows_by_its_other_records() {
    for sampling in ["poisson:0.05", "poisson:0.1", "poisson:0.3", "wor:1"] {
        let spec = AuditSpec {
            trust: Some(View::Central),
            unit: Some(Unit::Record),
            sampling: sampling.parse().unwrap(),
            parties: 10,
            records: Some(40),
            runs: 6_000,
            ..spec("federated", 1.0)
        };
        let report = report(&spec);
        assert!(!report.exceeded, "{report:?}");
    }
}

/// What peers may have each for themselves, at its most extreme: the victim with a penalty that
/// holds it a hundred times less than the other, noise that falls or grows tenfold from one release
/// to the next, more noise than its budget asks for, and a start far from zero.
#[test]
fn no_peer_leaks_more_by_what_it_has_for_itself() {
    // Last, what the attack must see at least, so that it is one: with this seed it sees 1.78 to 3.18,
    // and 0.09 in the fifth, where of an ε of 4 two determinants of ln(1 + 1/0.2) are 3.58 (E8), so
    // that the noise is for the little that is left.
    let cases = [
        ("r-admm", Release::Gradient, "10,0.1", "geometric:0.1", 1.2),
        ("r-admm", Release::Minimiser, "10,0.1", "geometric:10", 1.2),
        ("r-admm", Release::Objective, "10,1", "geometric:0.1", 1.2),
        ("r-admm", Release::Objective, "10,1", "geometric:10", 1.2),
        ("mr-admm", Release::Objective, "10,0.1", "geometric:10", 0.0),
        // The same with determinants that are little of the budget.
        ("mr-admm", Release::Objective, "10,10", "geometric:10", 2.4),
        ("m-admm", Release::Gradient, "10,0.1", "geometric:0.1", 1.2),
    ];
    for (algorithm, release, rho, noise_schedule, least) in cases {
        let others = Settings {
            party_rho: Some(rho.parse().expect("a list")),
            noise_schedule: Some(noise_schedule.parse().expect("a schedule")),
            // Steps so short that the canary pulls with all its weight to the last.
            proximal: Some(1e3),
            start: Some(0.2),
            ..Settings::default()
        };
        let report = report(&AuditSpec {
            release: Some(release),
            unit: Some(Unit::Record),
            iterations: 3,
            runs: 6_000,
            others,
            ..spec(algorithm, 4.0)
        });
        assert!(!report.exceeded, "{report:?}");
        assert!(report.epsilon_certified <= 4.0 && report.epsilon_certified > 3.9, "{report:?}");
        assert!(report.epsilon_lower >= least, "{report:?}");
    }
    let others =
        Settings { party_noise: Some("1,2".parse().expect("a list")), ..Settings::default() };
    let quieter =
        report(&AuditSpec { unit: Some(Unit::Record), runs: 6_000, others, ..spec("r-admm", 4.0) });
    assert!(!quieter.exceeded && quieter.epsilon_certified < 2.5, "{quieter:?}");
    // 0.66 of the 1.71 that are left of 4 with twice the noise.
    assert!(quieter.epsilon_lower > 0.4, "{quieter:?}");
}

/// The same with a normal linear term, of which a step writes two events, and for `dvp`.
#[test]
fn no_peer_leaks_more_by_a_normal_linear_term_of_its_own() {
    for (algorithm, release, rho, noise_schedule) in [
        ("r-admm", Release::NormalObjective, "10,1", "geometric:0.5"),
        ("mr-admm", Release::NormalObjective, "10,10", "geometric:2"),
        ("dvp", Release::NormalObjective, "10,10", "geometric:2"),
        ("dvp", Release::Gradient, "10,0.1", "geometric:0.1"),
    ] {
        let others = Settings {
            party_rho: Some(rho.parse().expect("a list")),
            noise_schedule: Some(noise_schedule.parse().expect("a schedule")),
            start: Some(0.2),
            ..Settings::default()
        };
        let attack = AuditSpec {
            release: Some(release),
            unit: Some(Unit::Record),
            loss: "huberised-hinge:0.5".to_owned(),
            iterations: 3,
            runs: 4_000,
            others,
            ..spec(algorithm, 4.0)
        };
        // That the attack sees anything: 0.52 to 1.69 as a rule.
        at_least(0.4, &attack);
    }
}

/// A weight C of the loss (RA18, equation 1), at its ends: a quarter, and as many as the party has
/// records. Every release has C in its sensitivity, and the objectives in their determinants too.
#[test]
fn no_peer_leaks_more_by_the_weight_of_its_loss() {
    // Last, what the attack must see at least of 4, so that it is one: as a rule it sees 1.94 and
    // 2.00 by the gradient, 1.16 and 1.30 by the minimiser, 1.59 to 3.23 by the objective, 0.71 and
    // 0.42 by the normal one.
    let cases = [
        ("r-admm", Release::Gradient, "huber:0.01", 1.2),
        ("mr-admm", Release::Minimiser, "huber:1", 0.8),
        ("m-admm", Release::Objective, "huber:1", 1.0),
        ("r-admm", Release::Objective, "huber:1", 1.0),
        ("dvp", Release::NormalObjective, "logistic", 0.2),
    ];
    for ((algorithm, release, loss, least), weight) in
        cases.into_iter().flat_map(|case| [(case, 0.25), (case, 8.0)])
    {
        let others = Settings {
            loss_weight: Some(weight),
            rho: Some(2.0),
            // Steps so short that the canary pulls with all its weight to the last.
            proximal: Some(1e3),
            ..Settings::default()
        };
        let attack = AuditSpec {
            release: Some(release),
            unit: Some(Unit::Record),
            loss: loss.to_owned(),
            records: Some(8),
            iterations: 3,
            runs: 4_000,
            others,
            ..spec(algorithm, 4.0)
        };
        at_least(least, &attack);
    }
}
