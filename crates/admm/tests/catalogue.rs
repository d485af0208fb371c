//! What every algorithm of the catalogue must do: follow its plan, and refuse what it cannot use.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::common::gate;
use reticent_accountant::calibrate;
use reticent_admm::catalogue::{AlgorithmEntry, AlgorithmKind, Build, CATALOGUE, Recipe, find};
use reticent_admm::{Algorithm, ProblemFacts, Progress, Refused, Settings, unwatched};
use reticent_oracle::{Oracle, Refusal, Rehearsal};
use reticent_problem::{Constraint, Regulariser, Shape, losses, penalties};
use reticent_testkit::generators;

/// For each setting a value that can be, and one that cannot.
const VALUES: &[(&str, &str, Option<&str>)] = &[
    ("iterations", "3", Some("0")),
    ("outer", "2", Some("0")),
    ("inner", "2", Some("0")),
    ("sampling", r#""poisson:0.5""#, None),
    ("schedule", r#""blocks:7""#, None),
    ("clip", "0.5", Some("-1")),
    ("clip_share", "0", Some("1")),
    ("step", r#""sqrt:0.1""#, None),
    ("momentum", "0.9", Some("-1")),
    ("precondition", "0.1", Some("1")),
    ("rho", "0.3", Some("0")),
    ("proximal", "1.5", Some("-2")),
    ("gamma", "1.5", Some("-2")),
    ("dual_step", "0.5", Some("0")),
    ("growth", "1.01", Some("0.5")),
    ("loss_weight", "2", Some("0")),
    ("party_rho", r#""0.5,1""#, None),
    ("party_noise", r#""1,2""#, None),
    ("noise_schedule", r#""geometric:0.9""#, None),
    ("start", "0.1", Some("-1")),
    ("release", r#""gradient""#, None),
    ("smoothing", "0.5", Some("-0.5")),
    ("relaxation", "0.25", Some("1.5")),
    ("strong_convexity", "0", Some("-1")),
    ("radius", "2", Some("0")),
    ("diameter", "2", Some("0")),
    ("walk", r#""stateful""#, None),
    ("average", r#""weighted""#, None),
    ("shrinkage", "0", Some("-1")),
    ("shrink", "false", None),
    ("law", r#""spherical-laplace""#, None),
    ("honest", "0.9", Some("0")),
    ("noise_constant", "2", Some("0")),
    ("as_published", "true", None),
];

fn private() -> impl Iterator<Item = (&'static AlgorithmEntry, Build)> {
    CATALOGUE.iter().filter_map(|entry| match entry.kind {
        AlgorithmKind::Private(build) => Some((entry, build)),
        AlgorithmKind::Exact => None,
    })
}

struct Case {
    loss: &'static str,
    penalty: String,
    constraint: Option<Constraint>,
    shape: Shape,
    settings: String,
}

impl Case {
    /// With a penalty that has kinks, or the one that the algorithm can handle.
    fn new(entry: &AlgorithmEntry) -> Self {
        let case = Case {
            loss: "logistic",
            penalty: "l1:0.01".to_owned(),
            constraint: None,
            shape: Shape { features: 6, outputs: 1, intercept: true },
            settings: "{}".to_owned(),
        };
        match entry.kind {
            AlgorithmKind::Private(build) if case.build(build, 1.0).is_err() => {
                Case { penalty: entry.penalty.to_owned(), ..case }
            }
            _ => case,
        }
    }

    fn build(&self, build: Build, noise_multiplier: f64) -> Result<Box<dyn Algorithm>, Refused> {
        let loss = losses::parse(self.loss, Some(3)).unwrap();
        let constraint =
            self.constraint.clone().unwrap_or(Constraint::identity(self.shape.features));
        let penalty = penalties::parse(&self.penalty).unwrap();
        build(&Recipe {
            settings: &serde_json::from_str::<Settings>(&self.settings).unwrap(),
            public: &ProblemFacts {
                shape: self.shape,
                population: 100,
                row_norm: 2_f64.sqrt(),
                constant: 1.0,
                numeric: loss.target() == reticent_problem::LossTarget::Real,
                logistic: loss.name() == "logistic",
                lipschitz: loss.lipschitz(),
                smoothness: loss.smoothness(),
                whole_budget: 1.0,
            },
            regulariser: &Arc::new(Regulariser::new(penalty, constraint, self.shape).unwrap()),
            noise_multiplier,
        })
    }

    #[track_caller]
    fn refused(&self, build: Build) -> String {
        self.build(build, 1.0).map(|_| ()).unwrap_err().to_string()
    }
}

fn one(name: &str, value: &str) -> String {
    format!("{{\"{name}\": {value}}}")
}

#[test]
fn every_setting_has_a_value_here_and_every_entry_takes_settings_that_exist() {
    let names: Vec<&str> = VALUES.iter().map(|v| v.0).collect();
    assert_eq!(names, Settings::ALL.iter().map(|s| s.name).collect::<Vec<_>>());
    for entry in CATALOGUE {
        assert!(entry.takes.iter().all(|name| names.contains(name)), "{}", entry.name);
    }
}

#[test]
fn every_algorithm_can_handle_its_penalty_and_says_whether_it_needs_one() {
    for (entry, build) in private() {
        let with = |penalty: &str| {
            let case = Case { penalty: penalty.to_owned(), ..Case::new(entry) };
            case.build(build, 1.0).is_ok()
        };
        assert!(with(entry.penalty), "{}", entry.name);
        assert_eq!(with("none"), !entry.needs_penalty, "{}", entry.name);
    }
}

#[test]
fn settings_are_taken_or_refused_by_name() {
    for (entry, build) in private() {
        for (name, good, bad) in VALUES {
            let given = |value: &str| match *name {
                // It is a part of what is published, and of nothing else.
                "noise_constant" => format!("{{\"{name}\": {value}, \"as_published\": true}}"),
                _ => one(name, value),
            };
            let mut case = Case { settings: given(good), ..Case::new(entry) };
            if !entry.takes.contains(name) {
                let message = case.refused(build);
                let expected = format!("{} has no such setting", entry.name);
                assert!(message.starts_with(name) && message.contains(&expected), "{message}");
                continue;
            }
            case.build(build, 1.0).map(|_| ()).unwrap();
            if let Some(bad) = bad {
                case.settings = given(bad);
                let message = case.refused(build);
                assert!(message.starts_with(&format!("{name} = {bad}: ")), "{message}");
            }
        }
    }
}

/// Every algorithm tells of each iteration in turn, and ends when it is told to.
#[test]
fn a_run_tells_of_its_iterations_and_can_be_stopped() {
    for (entry, build) in private() {
        let case = Case::new(entry);
        let terms =
            gate(&generators::logistic(100, generators::dense(6, 1.0, 5), 5), "logistic", 1.0);
        let perform = |stop: u64| {
            let mut algorithm = case.build(build, 4.0).unwrap();
            let iterations = algorithm.iterations();
            let mut rehearsal = Rehearsal::new(case.shape, *terms.terms());
            let mut told = 0;
            let mut last = Vec::new();
            let end = algorithm.run(&mut rehearsal, &mut |Progress { done, of }, at| {
                told += 1;
                last = at.published();
                assert_eq!(at.running().len(), case.shape.len(), "{}", entry.name);
                assert!(at.residual().is_none_or(f64::is_finite), "{}", entry.name);
                assert_eq!((done, of), (told, iterations), "{}", entry.name);
                if done == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            // What an observer is shown last is what is published, to the bit.
            assert!(end.as_ref().is_ok_and(|x| *x == last) || stop > 0, "{}", entry.name);
            (end, told, iterations)
        };
        let (end, told, iterations) = perform(0);
        assert!(end.is_ok() && told == iterations, "{}", entry.name);
        let (end, told, _) = perform(1);
        assert!(matches!(end, Err(Refusal::Stopped)) && told == 1, "{}", entry.name);
    }
}

/// A calibration does not rehearse for every noise that it tries: where all noise is in proportion,
/// it rehearses once to know the plan and once to see that it is the plan of the noise found.
#[test]
fn a_calibration_rehearses_twice_where_noise_is_in_proportion() {
    let data = generators::logistic(100, generators::dense(6, 1.0, 5), 5);
    let terms = *gate(&data, "logistic", 1.0).terms();
    let mut more = Vec::new();
    for (entry, build) in private() {
        let case = Case::new(entry);
        let mut rehearsed = 0;
        let plan = |noise: f64| {
            rehearsed += 1;
            let mut rehearsal = Rehearsal::new(case.shape, terms);
            case.build(build, noise).unwrap().run(&mut rehearsal, &mut unwatched)?;
            Ok::<_, Refusal>(rehearsal.into_plan())
        };
        let found = calibrate(1.0, 1e-5, plan).unwrap();
        assert!(found.epsilon.upper <= 1.0 && found.epsilon.upper > 0.99, "{}", entry.name);
        if rehearsed > 2 {
            more.push(entry.name);
        }
    }
    // The corrections of vradmm have a least noise.
    assert!(more.iter().all(|name| *name == "vradmm"), "{more:?}");
}

/// The plan is made without data; the run with data and noise has the same events in the same
/// order, which the gate itself insists on.
#[test]
fn a_run_is_its_rehearsal() {
    let data = generators::logistic(100, generators::dense(6, 1.0, 5), 5);
    for (entry, build) in private() {
        let takes = |name: &&str| entry.takes.contains(name);
        let shares =
            ["0", "0.2"].into_iter().filter(|share| *share == "0" || takes(&"precondition"));
        let samplings = ["full", "poisson:0.3", "wor:20"];
        for (share, sampling) in shares.flat_map(|share| samplings.map(|drawn| (share, drawn))) {
            let mut case = Case::new(entry);
            let (sampling, share) =
                (format!("\"sampling\": \"{sampling}\""), format!("\"precondition\": {share}"));
            let given: Vec<String> = [("sampling", sampling), ("precondition", share)]
                .into_iter()
                .filter_map(|(name, text)| takes(&name).then_some(text))
                .collect();
            case.settings = format!("{{{}}}", given.join(", "));
            let mut gate = gate(&data, case.loss, 1.0);
            let mut algorithm = case.build(build, 4.0).unwrap();
            let mut rehearsal = Rehearsal::new(Oracle::shape(&gate), *gate.terms());
            algorithm.run(&mut rehearsal, &mut unwatched).unwrap();
            let plan = rehearsal.into_plan();
            gate.bind(plan.clone());
            let mut algorithm = case.build(build, 4.0).unwrap();
            let x = algorithm.run(&mut gate, &mut unwatched).unwrap();
            assert!(x.len() == 7 && x.iter().all(|v| v.is_finite()), "{}: {x:?}", entry.name);
            assert_eq!(gate.ledger().entries(), plan.entries(), "{}", entry.name);
        }
    }
}

#[test]
fn penalties_that_are_not_convex_are_for_those_that_can() {
    for (entry, build) in private() {
        let case = Case { penalty: "mcp:0.1".to_owned(), ..Case::new(entry) };
        if ["auto", "ssadmm", "mpadmm", "dp-sgd", "dp-cd"].contains(&entry.name) {
            case.build(build, 1.0).map(|_| ()).unwrap();
        } else {
            let message = case.refused(build);
            assert!(message.starts_with("penalty = mcp:"), "{}: {message}", entry.name);
        }
    }
}

#[test]
fn constraints_are_for_those_that_can() {
    for (entry, build) in private() {
        let case = Case { constraint: Some(Constraint::chain(6).unwrap()), ..Case::new(entry) };
        if ["auto", "dp-sgd", "sadmm", "vradmm"].contains(&entry.name) {
            case.build(build, 1.0).map(|_| ()).unwrap();
        } else {
            assert!(case.refused(build).starts_with("constraint = chain: "), "{}", entry.name);
        }
    }
}

/// What speaks of the coordinates of the table has no meaning in others.
#[test]
fn coordinates_of_its_own_are_refused_beside_what_they_take_the_place_of() {
    for (entry, build) in private().filter(|(entry, _)| entry.takes.contains(&"precondition")) {
        let mut case = Case::new(entry);
        let others = [
            ("smoothing", "2"),
            ("strong_convexity", "0.1"),
            ("proximal", "2"),
            ("gamma", "2"),
            ("as_published", "true"),
        ];
        for (name, value) in others.into_iter().filter(|(name, _)| entry.takes.contains(name)) {
            case.settings = format!("{{\"precondition\": 0.1, \"{name}\": {value}}}");
            let message = case.refused(build);
            assert!(
                message.starts_with("precondition = 0.1: ") && message.contains(name),
                "{}: {message}",
                entry.name
            );
            case.settings = format!("{{\"precondition\": 0, \"{name}\": {value}}}");
            case.build(build, 1.0).map(|_| ()).unwrap();
        }
        case.settings = one("precondition", "0.1");
        case.penalty = "mcp:0.1".to_owned();
        assert!(case.refused(build).starts_with("penalty = mcp:"), "{}", entry.name);
    }
}

#[test]
fn smoothing_is_for_one_output() {
    for name in ["sadmm", "vradmm"] {
        let entry = find(name).unwrap();
        let AlgorithmKind::Private(build) = entry.kind else { panic!("{name}") };
        let shape = Shape { features: 6, outputs: 3, intercept: true };
        let mut case = Case { loss: "multinomial", shape, ..Case::new(entry) };
        case.build(build, 1.0).map(|_| ()).unwrap();
        case.settings = one("smoothing", "2");
        let message = case.refused(build);
        assert!(
            message.starts_with("smoothing = 2: ") && message.contains("3 outputs"),
            "{message}"
        );
    }
}

/// A chain has full row rank, a graph with the features themselves below it full column rank: both
/// have a left or a right inverse. A matrix with neither is refused.
#[test]
fn the_strongly_convex_vradmm_needs_full_rank() {
    let entry = find("vradmm").unwrap();
    let AlgorithmKind::Private(build) = entry.kind else { panic!("vradmm") };
    let mut case = Case { settings: one("strong_convexity", "0.1"), ..Case::new(entry) };
    case.constraint = Some(Constraint::chain(6).unwrap());
    case.build(build, 1.0).map(|_| ()).unwrap();
    let graph = reticent_problem::Graph::new(
        6,
        vec![reticent_problem::Edge { from: 0, to: 1, weight: 1.0 }],
    );
    case.constraint = Some(Constraint::graph(&graph.unwrap()));
    case.build(build, 1.0).map(|_| ()).unwrap();
    let twice = reticent_problem::SparseMatrix::from_triplets(
        2,
        6,
        &[(0, 0, 1.0), (0, 1, 0.3), (1, 0, 2.0), (1, 1, 0.6)],
    );
    case.constraint = Some(Constraint::from_matrix(twice));
    assert!(case.refused(build).contains("full rank"));
    case.settings = one("strong_convexity", "0");
    case.build(build, 1.0).map(|_| ()).unwrap();
}

/// The open constant belongs to the published noise, which is all that it changes.
#[test]
fn the_open_constant_is_for_the_published_version() {
    let entry = find("vradmm").unwrap();
    let AlgorithmKind::Private(build) = entry.kind else { panic!("vradmm") };
    let mut case = Case { settings: one("noise_constant", "2"), ..Case::new(entry) };
    assert!(case.refused(build).starts_with("noise_constant = 2: "), "{}", case.refused(build));
    let mut printed = |constant: &str| {
        let sampling = r#""sampling": "wor:20", "outer": 3, "inner": 10, "as_published": true"#;
        case.settings = format!("{{\"noise_constant\": {constant}, {sampling}}}");
        case.build(build, 1.0).unwrap().printed_noise(0.5, 1e-3).unwrap().unwrap()
    };
    // z = (b/2n)√(c₂ S m ln(1/δ))/ε, with b = 20 of n = 100.
    let by_hand = 0.1 * (30.0 * 1e3_f64.ln()).sqrt() / 0.5;
    assert!((printed("1") - by_hand).abs() < 1e-12);
    assert!((printed("4") - 2.0 * by_hand).abs() < 1e-12);
}
