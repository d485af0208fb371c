//! Traces: what they hold, what they must not hold, and that they leave the run as it is.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::path::{Path, PathBuf};

use reticent::accountant::epsilon;
use reticent::simulate::{CheckpointOptions, Parties, Simulated, SimulationJob, SimulationSpec};
use reticent::trace::{PublicData, Trace, Tracing};
use reticent::{Files, Guarantee, Job, Run, Settings, Spec, View};

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"))
}

fn table() -> PathBuf {
    folder().join("patients.csv")
}

fn spec(algorithm: &str) -> Spec {
    Spec::default().with(|it| {
        it.guarantee = Guarantee::default().with(|it| {
            it.epsilon = Some(2.0);
            it.delta = Some(1e-5);
            it.seed = Some(7);
        });
        it.schema = Some(folder().join("patients.toml"));
        it.algorithm = Some(algorithm.to_owned());
        it.penalty = Some("l2:0.1".to_owned());
    })
}

fn job(algorithm: &str) -> Job {
    spec(algorithm).check().unwrap()
}

fn traced(job: &Job, public: Option<&mut PublicData>) -> (Vec<f64>, Trace) {
    let tracing = Tracing::new(1, public);
    let fitted = job.run(&*table(), Run::traced(tracing)).unwrap();
    let trace = fitted.trace.unwrap();
    let weights = fitted.model.coefficients();
    (weights.iter().flat_map(|c| c.values.clone()).collect(), trace)
}

fn names(trace: &Trace) -> Vec<String> {
    trace.columns().into_iter().map(|(name, _)| name).collect()
}

/// Every algorithm: the model and its books are the same to the bit whether somebody watches or not,
/// with public data and without.
#[test]
fn a_run_is_the_same_whether_it_is_traced_or_not() {
    for entry in reticent::internal::admm::catalogue::CATALOGUE {
        if entry.name == "exact" {
            continue;
        }
        let penalty = Some(entry.penalty.to_owned());
        let job = spec(entry.name).with(|it| it.penalty = penalty).check().unwrap();
        let plain = job.fit(&*table()).unwrap().model;
        let mut public = PublicData::of_job(&job, &*table()).unwrap().without_optimum();
        for public in [None, Some(&mut public)] {
            let tracing = Tracing::new(1, public);
            let fitted = job.run(&*table(), Run::traced(tracing)).unwrap();
            let trace = fitted.trace.as_ref().unwrap();
            assert_eq!(fitted.model.coefficients(), plain.coefficients(), "{}", entry.name);
            let (own, other) = (fitted.model.certificate(), plain.certificate());
            assert_eq!(
                (&own.ledger, own.epsilon),
                (&other.ledger, other.epsilon),
                "{}",
                entry.name
            );
            assert_eq!(trace.rows.len() as u64, fitted.iterations, "{}", entry.name);
        }
    }
}

/// The attack: whoever is not told that the table is public must get nothing that was read freely.
#[test]
fn without_public_data_nothing_is_read_freely() {
    let job = spec("sadmm")
        .with(|it| it.guarantee = spec("sadmm").guarantee.with(|it| it.seed = None))
        .check()
        .unwrap();
    let (_, trace) = traced(&job, None);
    assert!(!trace.not_private && trace.note().contains("certificate of the model covers it"));
    let names = names(&trace);
    assert!(names.iter().all(|name| !name.starts_with("nonprivate_")), "{names:?}");
    for name in ["iteration", "passes", "epsilon", "released_norm", "averaged_norm", "residual"] {
        assert!(names.iter().any(|own| own == name), "{name}");
    }
    assert!(trace.rows.iter().all(|row| row.running.is_none() && row.averaged.is_none()));
}

#[test]
fn with_public_data_the_trace_says_that_it_is_not_private_and_measures_what_it_says() {
    let job = job("dp-sgd");
    let mut public = PublicData::of_job(&job, &*table()).unwrap().with_test(&*table()).unwrap();
    let (_, trace) = traced(&job, Some(&mut public));
    assert!(trace.not_private && trace.note().starts_with("NOT PRIVATE"));
    let names = names(&trace);
    let free = ["objective", "gap", "distance", "accuracy", "auc", "log_loss", "rmse", "consensus"];
    for name in &names {
        let read = free.iter().any(|word| name.contains(word));
        assert_eq!(read, name.starts_with("nonprivate_"), "{name}");
    }
    let (optimum, value) = public.optimum().unwrap().cloned().unwrap();
    assert_eq!(public.examine(&optimum).unwrap().gap, Some(0.0));
    for row in &trace.rows {
        let seen = row.running.as_ref().unwrap();
        assert!((seen.objective - seen.gap.unwrap() - value).abs() < 1e-12);
        assert!(seen.gap.unwrap() > -1e-9 && seen.distance.unwrap() > 0.0, "{seen:?}");
        assert_eq!(seen.test.len(), trace.metrics.len());
    }
    // The test table is the table: what `evaluate` says of the model is what the last row says.
    let model = job.fit(&*table()).unwrap().model;
    let reticent::Quality::Classes { accuracy, auc, log_loss, .. } =
        model.evaluate(&table(), None).unwrap()
    else {
        panic!("classes")
    };
    let last = trace.rows.last().unwrap().averaged.as_ref().unwrap();
    for (one, other) in last.test.iter().zip([accuracy, auc, log_loss]) {
        assert!((one - other).abs() < 1e-9, "{one} {other}");
    }
}

#[test]
fn epsilon_rises_to_that_of_the_certificate() {
    for (algorithm, sampling) in
        [("dp-sgd", None), ("dp-sgd", Some("poisson:0.2")), ("vradmm", None)]
    {
        let mut spec = spec(algorithm);
        spec.settings.sampling = sampling.map(|text| text.parse().unwrap());
        let job = spec.check().unwrap();
        let tracing = Tracing::new(7, None);
        let fitted = job.run(&*table(), Run::traced(tracing)).unwrap();
        let trace = fitted.trace.as_ref().unwrap();
        let last = trace.rows.last().unwrap();
        assert_eq!(last.iteration, fitted.iterations);
        let certificate = fitted.model.certificate();
        let counted = certificate.counted.unwrap_or(certificate.epsilon);
        assert!((last.epsilon - counted).abs() < 1e-9, "{} {counted}", last.epsilon);
        assert!(trace.rows.is_sorted_by(|a, b| a.epsilon <= b.epsilon && a.passes < b.passes));
        let share = if sampling.is_some() { 0.2 } else { 1.0 };
        if algorithm == "dp-sgd" {
            assert!((last.passes - share * fitted.iterations as f64).abs() < 1e-6);
        }
    }
}

#[test]
fn what_has_no_trace_is_refused_before_anything_is_asked() {
    let refused = |job: Job| {
        let traced = job.run(&*table(), Run::traced(Tracing::default()));
        traced.map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(job("exact")).contains("it has no noise"));
    let tune = Some(vec!["clip=[0.5,1]".to_owned()]);
    let tuned = spec("dp-sgd").with(|it| {
        it.guarantee = spec("dp-sgd").guarantee.with(|it| it.seed = None);
        it.tune = tune;
    });
    assert!(refused(tuned.check().unwrap()).contains("only the best is released"));
    assert!(PublicData::of_job(&tuned.check().unwrap(), &*table()).is_err());
}

fn simulation(algorithm: &str, trust: View, sampling: Option<&str>) -> SimulationJob {
    let settings = Settings {
        iterations: Some(4),
        sampling: sampling.map(|text| text.parse().unwrap()),
        ..Settings::default()
    };
    // Against one peer a person is protected, of whom there is one for each age.
    let persons = trust == View::Network;
    let user_column = persons.then(|| "age".to_owned());
    let job = spec(algorithm).with(|it| {
        it.guarantee = spec(algorithm).guarantee.with(|it| it.epsilon = Some(8.0));
        it.settings = settings;
        it.user_column = user_column;
    });
    let split = (!persons).then_some(4);
    let parties = Parties::default().with(|it| {
        it.split = split;
        it.trust = Some(trust);
    });
    SimulationSpec::new(job, parties).check().unwrap()
}

/// The attacks: a secret sample shows in the traffic, and against one peer the models of all rounds
/// are more than that peer sees.
#[test]
fn rounds_between_parties_show_what_their_view_covers_and_no_more() {
    let run = |algorithm, trust, sampling, public: Option<&mut PublicData>| {
        let job = simulation(algorithm, trust, sampling);
        let ready = job.open(&*table(), CheckpointOptions::default(), &mut Run::default()).unwrap();
        let tracing = Tracing::new(1, public);
        ready.run(Run::traced(tracing)).unwrap().trace.unwrap()
    };
    let local = run("federated", View::Local, None, None);
    assert!(local.rows.iter().all(|row| row.messages.is_some() && row.iterate_norm.is_some()));
    assert!(local.rows.is_sorted_by(|a, b| a.bytes < b.bytes && a.epsilon < b.epsilon));
    let secret = run("federated", View::Central, Some("poisson:0.5"), None);
    assert!(secret.rows.iter().all(|row| row.messages.is_none() && row.bytes.is_none()));
    assert!(!names(&secret).contains(&"messages".to_owned()));
    let network = run("walk", View::Network, None, None);
    assert!(
        network.rows.iter().all(|row| row.iterate_norm.is_none() && row.averaged_norm.is_none())
    );
    assert!(network.rows.iter().all(|row| row.running.is_none() && row.consensus_error.is_none()));

    let job = simulation("r-admm", View::Local, None);
    let mut public = PublicData::of_simulation(&job, &*table()).unwrap();
    let peers = run("r-admm", View::Local, None, Some(&mut public));
    assert!(peers.not_private && peers.rows.iter().all(|row| row.consensus_error.is_some()));
    assert_eq!(peers.rows.len(), 4);
}

/// Peers take the next step at the deadline of a round. Row k had the models of step k + 1 beside the
/// ε of k steps, and the last one stood there twice.
#[test]
fn a_row_of_peers_is_that_of_its_own_iteration() {
    for algorithm in ["r-admm", "dvp", "m-admm", "mr-admm", "admm-network"] {
        let run = |iterations: u64| {
            let settings = Settings { iterations: Some(iterations), ..Settings::default() };
            let job = spec(algorithm).with(|it| {
                it.guarantee = spec(algorithm).guarantee.with(|it| {
                    it.epsilon = None;
                    it.delta = None;
                });
                it.settings = settings;
                it.noise = Some(0.0);
            });
            let parties = Parties::default().with(|it| it.split = Some(4));
            let job = SimulationSpec::new(job, parties).check().unwrap();
            let mut public = PublicData::of_simulation(&job, &*table()).unwrap();
            let ready =
                job.open(&*table(), CheckpointOptions::default(), &mut Run::default()).unwrap();
            let tracing = Tracing::new(1, Some(&mut public));
            let trace = ready.run(Run::traced(tracing)).unwrap().trace.unwrap();
            let ready =
                job.open(&*table(), CheckpointOptions::default(), &mut Run::default()).unwrap();
            let mut shown = Vec::new();
            let mut show = |_: u32, each: &[Vec<f64>]| shown.push(each.to_vec());
            let done = ready.run_followed(Run::default(), &mut show).unwrap();
            assert_eq!((shown.len() as u64, shown[0].len()), (iterations, done.nodes.len()));
            (trace.rows, shown)
        };
        let (rows, shown) = run(4);
        assert_eq!(rows.len(), 4, "{algorithm}");
        for k in 1..=3_u64 {
            let (row, (shorter, last)) = (&rows[k as usize - 1], run(k));
            let last_row = shorter.last().unwrap();
            assert_eq!((row.iteration, &row.running), (k, &last_row.running), "{algorithm} {k}");
            assert_eq!(row.consensus_error, last_row.consensus_error, "{algorithm} {k}");
            assert_eq!(Some(&shown[k as usize - 1]), last.last(), "{algorithm} {k}");
        }
        assert_ne!(rows[3].running, rows[2].running, "{algorithm}");
    }
}

/// What is minimised beside a weight is that times the mean loss, and the penalty.
#[test]
fn the_objective_of_a_trace_has_the_weight_of_the_loss() {
    let run = |weight: Option<f64>| {
        let settings = Settings { iterations: Some(1), loss_weight: weight, ..Settings::default() };
        let settings = Settings { rho: Some(1.0), proximal: Some(10.0), ..settings };
        let job = spec("dvp").with(|it| {
            it.guarantee = spec("dvp").guarantee.with(|it| {
                it.epsilon = None;
                it.delta = None;
            });
            it.settings = settings;
            it.noise = Some(0.0);
        });
        let job = job.with(|it| it.penalty = Some("none".to_owned()));
        let parties = Parties::default().with(|it| it.split = Some(4));
        let job = SimulationSpec::new(job, parties).check().unwrap();
        let mut public = PublicData::of_simulation(&job, &*table()).unwrap();
        let ready = job.open(&*table(), CheckpointOptions::default(), &mut Run::default()).unwrap();
        let mut length = 0;
        let mut show = |_: u32, each: &[Vec<f64>]| length = each[0].len();
        ready.run_followed(Run::default(), &mut show).unwrap();
        let at = public.examine(&vec![0.0; length]).unwrap();
        (at.objective, at.gap.is_some())
    };
    let (one, gap) = run(None);
    assert!(gap && (one - 2_f64.ln()).abs() < 1e-12);
    let (three, gap) = run(Some(3.0));
    assert!(!gap && (three - 3.0 * one).abs() < 1e-12);
}

/// The attacks on ε so far: who is drawn early has been asked in every round, and who has a small
/// budget spends it in the first ones.
#[test]
fn between_parties_epsilon_is_no_less_than_what_somebody_may_have_spent() {
    let run_with = |algorithm: &str, settings: Settings, small: &[f64]| {
        let settings = Settings { iterations: Some(12), ..settings };
        // With room for the determinants of twelve steps.
        let epsilon = if settings.release.is_some() { 40.0 } else { 8.0 };
        let job = spec(algorithm).with(|it| {
            it.guarantee = spec(algorithm).guarantee.with(|it| {
                it.epsilon = Some(epsilon);
                it.seed = None;
            });
            it.settings = settings;
        });
        let budgets = small.iter().enumerate().map(|(i, own)| (i.to_string(), *own)).collect();
        let parties = Parties::default().with(|it| {
            it.split = Some(4);
            it.trust = Some(View::Local);
            it.budgets = budgets;
        });
        let spec = SimulationSpec::new(job, parties);
        let job = spec.check().unwrap();
        let ready = job.open(&*table(), CheckpointOptions::default(), &mut Run::default()).unwrap();
        let mut done = ready.run(Run::traced(Tracing::default())).unwrap();
        let trace = done.trace.take().unwrap();
        (done, trace)
    };
    let run = |algorithm: &str, sampling: Option<&str>, small: &[f64]| {
        let sampling = sampling.map(|text| text.parse().unwrap());
        run_with(algorithm, Settings { sampling, ..Settings::default() }, small)
    };
    let peers = |algorithm: &str| {
        let release = Some("normal-objective".parse().unwrap());
        let noise_schedule = Some("geometric:0.9".parse().unwrap());
        run_with(algorithm, Settings { release, noise_schedule, ..Settings::default() }, &[])
    };
    for (sampling, small) in [(Some("wor:1"), &[][..]), (None, &[2.0, 2.0, 3.0, 2.0])] {
        let (Simulated { parties, .. }, trace) = run("federated", sampling, small);
        for (round, row) in trace.rows.iter().enumerate() {
            for own in (0..parties.len()).filter_map(|party| parties.party(party)) {
                let asked = own.ledger.front(round as u64 + 1);
                let spent = epsilon(&asked, trace.delta).unwrap().upper;
                assert!(row.epsilon >= spent, "{sampling:?} {round}: {} {spent}", row.epsilon);
            }
        }
        let most = (0..parties.len()).filter_map(|party| Some(parties.party(party)?.epsilon));
        let last = trace.rows.last().unwrap().epsilon;
        assert!((last - most.fold(0.0, f64::max)).abs() < 1e-9, "{last}");
        assert!(trace.certified && trace.note().contains("certificate of the model covers it"));
    }
    // A step of this release writes two events.
    for algorithm in ["dvp", "r-admm"] {
        let (Simulated { model, parties, .. }, trace) = peers(algorithm);
        for (round, row) in trace.rows.iter().enumerate() {
            let fresh = if algorithm == "dvp" { round as u64 + 1 } else { round as u64 / 2 + 1 };
            let written = parties.party(0).unwrap().ledger.front(2 * fresh);
            assert!(row.epsilon >= epsilon(&written, trace.delta).unwrap().upper, "{round}");
        }
        let (last, whole) = (trace.rows.last().unwrap().epsilon, model.certificate().epsilon);
        assert!((last - whole).abs() < 1e-9, "{last} {whole}");
    }
    // Every second step of r-admm is free.
    let (_, trace) = run("r-admm", None, &[]);
    for pair in trace.rows.chunks(2) {
        assert_eq!(pair[0].epsilon, pair[1].epsilon);
    }
    // What has no noise has no ε, and no certificate covers its trace.
    let (_, trace) = run("admm-network", None, &[]);
    assert!(trace.rows.iter().all(|row| row.epsilon == f64::INFINITY));
    assert!(!trace.certified && trace.note().starts_with("NOT CERTIFIED"), "{}", trace.note());
}

/// The attack: a note that leans on a certificate which promises nothing.
#[test]
fn of_a_run_that_is_not_certified_the_trace_says_so() {
    let mut published = spec("mpadmm");
    published.guarantee.seed = None;
    published.settings.as_published = Some(true);
    for spec in [spec("dp-sgd"), published] {
        let (_, trace) = traced(&spec.check().unwrap(), None);
        assert!(!trace.certified && trace.note().starts_with("NOT CERTIFIED"), "{}", trace.note());
    }
    let (_, trace) = traced(
        &spec("dp-sgd")
            .with(|it| it.guarantee = spec("dp-sgd").guarantee.with(|it| it.seed = None))
            .check()
            .unwrap(),
        None,
    );
    assert!(trace.certified && trace.note().contains("certificate of the model covers it"));
}

/// The last row of a run between parties is the model that it publishes.
#[test]
fn the_last_round_is_the_model() {
    let job = simulation("federated", View::Local, None);
    let mut public = PublicData::of_simulation(&job, &*table()).unwrap();
    let ready =
        job.open(Files::one(table()), CheckpointOptions::default(), &mut Run::default()).unwrap();
    let tracing = Tracing::new(1, Some(&mut public));
    let simulated = ready.run(Run::traced(tracing)).unwrap();
    let trace = simulated.trace.as_ref().unwrap();
    // What is published, measured on the table by who has the model alone.
    let reticent::Quality::Classes { log_loss, .. } =
        simulated.model.evaluate(&table(), None).unwrap()
    else {
        panic!("classes")
    };
    let weights = simulated
        .model
        .coefficients()
        .iter()
        .filter(|c| c.name != "(intercept)")
        .flat_map(|c| c.values.clone());
    let penalty = 0.05 * weights.map(|w| w * w).sum::<f64>();
    let last = trace.rows.last().unwrap().running.as_ref().unwrap();
    assert!((last.objective - log_loss - penalty).abs() < 1e-9, "{last:?} {log_loss} {penalty}");
    assert_ne!(trace.rows[2].running.as_ref(), Some(last));
}
