//! Jobs from a specification to a model, on small files.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;

use reticent::{Error, Guarantee, Model, Progress, Quality, Run, Spec, Stage};
use reticent_accountant::{Adjacency, Unit};
use reticent_admm::Settings;
use tempfile::TempDir;

const SIGNS: &str = "signs.libsvm";

/// 400 records whose label is the sign of the first feature, in LIBSVM format.
fn signs(folder: &Path) -> Spec {
    let mut text = String::new();
    for i in 0..400 {
        let (a, b) =
            ((f64::from(i) * 0.754_877).fract() - 0.5, (f64::from(i) * 0.569_84).fract() - 0.5);
        writeln!(text, "{} 1:{a} 2:{b}", if a > 0.0 { "+1" } else { "-1" }).unwrap();
    }
    std::fs::write(folder.join(SIGNS), text).unwrap();
    Spec::default().with(|it| {
        it.guarantee = Guarantee::default().with(|it| {
            it.epsilon = Some(8.0);
            it.delta = Some(1e-5);
            it.seed = Some(7);
        });
        it.features = Some(2);
        it.row_norm = Some(1.0);
    })
}

/// Fits the table of [`signs`].
fn fit(folder: &TempDir, spec: &Spec) -> Result<Model, Error> {
    Ok(spec.check()?.fit(&*folder.path().join(SIGNS))?.model)
}

#[test]
fn a_model_is_learnt_written_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let spec = signs(folder.path());
    let model = fit(&folder, &spec).unwrap();
    let path = model.write(&folder.path().join("out")).unwrap();
    let read = Model::read(&path).unwrap();
    assert_eq!(read, model);
    let Quality::Classes { accuracy, auc, n, .. } =
        read.evaluate(&folder.path().join(SIGNS), None).unwrap()
    else {
        panic!("the target has classes")
    };
    assert_eq!(n, 400);
    assert!(accuracy > 0.85 && auc > 0.9, "{accuracy} {auc}");
}

#[test]
fn the_certificate_says_what_was_asked_for_and_that_a_seed_is_not_private() {
    let folder = tempfile::tempdir().unwrap();
    for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
        let spec = signs(folder.path()).with(|it| {
            it.guarantee = signs(folder.path()).guarantee.with(|it| {
                it.adjacency = Some(adjacency);
                it.public_n = Some(400);
            });
        });
        let certificate = fit(&folder, &spec).unwrap().certificate().clone();
        let counted = certificate.counted.unwrap();
        assert!(counted <= 8.0 && counted > 7.9 && certificate.epsilon.is_infinite(), "{counted}");
        assert_eq!(certificate.adjacency, adjacency);
        assert_eq!(certificate.noise, "seeded, NOT PRIVATE");
        assert!(!certificate.certified);
        let secure = spec.with(|it| it.guarantee.seed = None);
        let certificate = fit(&folder, &secure).unwrap().certificate().clone();
        assert!(certificate.certified, "{:?}", certificate.reasons);
        assert!(certificate.epsilon <= 8.0 && certificate.epsilon > 7.9, "{}", certificate.epsilon);
        assert_eq!(certificate.noise, "secure");
    }
}

#[test]
fn the_same_seed_gives_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let spec = signs(folder.path());
    assert_eq!(fit(&folder, &spec).unwrap(), fit(&folder, &spec).unwrap());
    let other = spec.clone().with(|it| it.guarantee.seed = Some(8));
    assert_ne!(fit(&folder, &spec).unwrap(), fit(&folder, &other).unwrap());
}

#[test]
fn add_remove_without_a_public_count_is_refused_before_the_data_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let spec = signs(folder.path()).with(|it| {
        it.guarantee =
            signs(folder.path()).guarantee.with(|it| it.adjacency = Some(Adjacency::AddRemove))
    });
    let error = spec.check().unwrap_err();
    assert!(error.hint().contains("`public_n = N`"), "{}", error.hint());
}

#[test]
fn sampled_runs_are_counted_as_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    for (sampling, kind) in [("poisson:0.1", "poisson"), ("wor:40", "without")] {
        let mut spec = signs(folder.path());
        spec.settings.sampling = Some(sampling.parse().unwrap());
        spec.settings.iterations = Some(50);
        let certificate = fit(&folder, &spec).unwrap().certificate().clone();
        let ledger = serde_json::to_string(&certificate.ledger).unwrap();
        assert!(ledger.contains(kind), "{ledger}");
        // The second moment of all rows comes first.
        assert_eq!(certificate.ledger.total_events(), 1 + 50);
        assert!(certificate.counted.unwrap() <= 8.0);
    }
}

#[test]
fn a_budget_that_cannot_be_is_refused_even_where_it_is_not_spent() {
    let folder = tempfile::tempdir().unwrap();
    let exact = signs(folder.path()).with(|it| it.algorithm = Some("exact".into()));
    for bad in [
        exact.clone().with(|it| it.guarantee.epsilon = Some(-1.0)),
        exact.clone().with(|it| it.guarantee.delta = Some(2.0)),
    ] {
        assert!(matches!(bad.check(), Err(Error::Value(_))));
    }
    let free = exact.with(|it| {
        it.guarantee.epsilon = None;
        it.guarantee.delta = None;
    });
    assert_eq!(fit(&folder, &free).unwrap().certificate().epsilon, f64::INFINITY);
}

#[test]
fn a_user_column_in_the_schema_protects_persons_without_a_flag() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let columns = "row_norm = 1\n[[column]]\nname = 'a'\nkind = 'numeric'\nlower = 0\nupper = 1\n\
                   [[column]]\nname = 'who'\nkind = 'user'\n\
                   [[column]]\nname = 'b'\nkind = 'target'\nclasses = ['no', 'yes']\n";
    std::fs::write(place("schema.toml"), columns).unwrap();
    std::fs::write(place("rows.csv"), "a,who,b\n0.1,ann,no\n0.9,ann,yes\n0.4,bob,no\n").unwrap();
    let spec = Spec::default().with(|it| {
        it.guarantee = Guarantee::default().with(|it| {
            it.epsilon = Some(1.0);
            it.delta = Some(1e-5);
        });
        it.schema = Some(place("schema.toml"));
    });
    let fit = |spec: &Spec| spec.check().unwrap().fit(&*place("rows.csv")).unwrap().model;
    let certificate = fit(&spec).certificate().clone();
    assert_eq!((certificate.unit, certificate.population), (Unit::User, 2));
    let record = spec.with(|it| it.guarantee.unit = Some(Unit::Record));
    assert_eq!(fit(&record).certificate().population, 3);
}

/// That iterates ran away is an answer computed from the data. Whoever tries again with other
/// settings has learnt from it.
#[test]
fn a_run_that_ends_on_its_way_has_spent_its_budget_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        rho: Some(1e20),
        gamma: Some(1e-10),
        step: Some("constant:1".parse().unwrap()),
        iterations: Some(60),
        ..Settings::default()
    };
    let spec = signs(folder.path()).with(|it| {
        it.algorithm = Some("sadmm".into());
        it.penalty = Some("l1:1".into());
        it.settings = settings;
    });
    let error = fit(&folder, &spec).unwrap_err();
    assert!(error.to_string().contains("no longer finite"), "{error}");
    assert!(
        error.hint().contains("count epsilon = 8 at delta = 1e-5 as spent"),
        "{}",
        error.hint()
    );
    // What is refused before anything is asked costs nothing.
    let none = signs(folder.path()).with(|it| {
        it.guarantee = signs(folder.path()).guarantee.with(|it| {
            it.adjacency = Some(Adjacency::AddRemove);
            it.public_n = Some(400);
        });
        it.algorithm = Some("output-perturbation".into());
        it.penalty = Some("l2:0.01".into());
    });
    let error = fit(&folder, &none).unwrap_err();
    assert!(
        error.to_string().contains("not offered") && !error.hint().contains("spent"),
        "{error}: {}",
        error.hint()
    );
}

/// Who watches a run may stop it. Before the first question that is free; afterwards it is not.
#[test]
fn a_run_that_is_stopped_says_what_it_has_spent_and_leaves_its_books() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = signs(folder.path());
    spec.algorithm = Some("ssadmm".into());
    spec.settings.iterations = Some(20);
    let data = folder.path().join(SIGNS);
    let mut stages = Vec::new();
    let mut hear = |stage| {
        stages.push(stage);
        ControlFlow::Continue(())
    };
    let fitted = spec.check().unwrap().run(&*data, Run::watched(&mut hear));
    assert_eq!(fitted.unwrap().iterations, 20);
    assert_eq!(stages[..3], [Stage::Reading, Stage::Calibrating, Stage::Running]);
    assert_eq!(stages[3..].len(), 20);
    assert_eq!(stages[22], Stage::Iteration(Progress { done: 20, of: 20 }));

    let plan = {
        let job = spec.check().unwrap();
        let ready = job.open(&*data, &mut Run::default()).unwrap();
        let mut plan = ready.plan().unwrap().clone();
        assert!(!ready.taints().is_empty(), "the noise is from a seed");
        ready.taints().iter().for_each(|&taint| plan.taint(taint));
        plan
    };
    assert_eq!(plan.total_events(), 20);
    for at in [Stage::Reading, Stage::Running, Stage::Iteration(Progress { done: 7, of: 20 })] {
        let mut stop = |stage| match stage == at {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let error = spec.check().unwrap().run(&*data, Run::watched(&mut stop)).unwrap_err();
        assert!(error.is_stop(), "{error}");
        match error {
            Error::Spent { epsilon, books, .. } => {
                assert!(matches!(at, Stage::Iteration(_)));
                // Seven of twenty were asked, and all twenty count (proofs/filter.md).
                assert_eq!((epsilon, &*books.unwrap()), (8.0, &plan));
            }
            _ => assert!(!matches!(at, Stage::Iteration(_)), "nothing was asked"),
        }
    }
}

/// What a store of budgets reserves is what the books then have.
#[test]
fn a_job_that_is_ready_says_what_it_will_enter() {
    let folder = tempfile::tempdir().unwrap();
    let job = signs(folder.path()).check().unwrap();
    let data = folder.path().join(SIGNS);
    let ready = job.open(&*data, &mut Run::default()).unwrap();
    let plan = ready.plan().unwrap().entries().to_vec();
    let fitted = ready.run(Run::default()).unwrap();
    assert_eq!(fitted.model.certificate().ledger.entries(), plan);
}

/// Whether a table can be read depends on every record in it, and the program says where it cannot:
/// no noise covers that, so the guarantee is among tables that can be read.
#[test]
fn a_certificate_says_which_tables_it_is_about() {
    let folder = tempfile::tempdir().unwrap();
    let spec = signs(folder.path());
    let certificate = fit(&folder, &spec).unwrap().certificate().clone();
    assert!(
        certificate.assumptions.iter().any(|line| line.contains("can be read under the schema"))
    );
    let data = folder.path().join(SIGNS);
    let text = std::fs::read_to_string(&data).unwrap();
    std::fs::write(&data, text.replacen("+1", "+5", 1)).unwrap();
    assert!(matches!(fit(&folder, &spec), Err(Error::Data(_))));
    std::fs::write(&data, "# nothing\n").unwrap();
    assert!(matches!(fit(&folder, &spec), Err(Error::Data(_))));
}

/// Samples of a few records among thousands: the noise of corrections was in proportion to the
/// sample, where amplification does not go on for ever, and the calibration did not come to an end.
#[test]
fn variance_reduction_takes_small_samples() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.libsvm");
    let text: String = (0..3000)
        .map(|i| format!("{} 1:{}\n", if i % 2 == 0 { "+1" } else { "-1" }, i % 2))
        .collect();
    std::fs::write(&path, text).unwrap();
    for size in ["wor:1", "wor:10", "wor:100", "wor:3000", "poisson:0.003"] {
        let mut spec = signs(folder.path()).with(|it| it.features = Some(1));
        spec.guarantee.epsilon = Some(0.1);
        spec.algorithm = Some("vradmm".into());
        spec.settings.sampling = Some(size.parse().unwrap());
        // A seeded run promises nothing; what its events would cost is what is within the budget.
        let fitted = spec.check().unwrap().fit(&*path).unwrap();
        let counted = fitted.model.certificate().counted.unwrap();
        assert!(counted <= spec.guarantee.epsilon.unwrap(), "{size}: {counted}");
    }
}

/// Noise by hand: the certificate says what it costs, the budget is a limit, and none at all is no
/// guarantee.
#[test]
fn noise_by_hand_is_counted_and_none_is_not_private() {
    let folder = TempDir::new().unwrap();
    let settings = Settings { iterations: Some(10), ..Settings::default() };
    let algorithm = Some("ssadmm".to_owned());
    let spec = signs(folder.path()).with(|it| {
        it.guarantee = signs(folder.path()).guarantee.with(|it| it.seed = None);
        it.algorithm = algorithm;
        it.settings = settings;
    });
    let with = |noise: f64| fit(&folder, &spec.clone().with(|it| it.noise = Some(noise)));

    let model = with(40.0).unwrap();
    let certificate = model.certificate();
    assert!(certificate.certified && certificate.epsilon < 8.0, "{}", certificate.epsilon);
    let half = with(20.0).unwrap().certificate().epsilon;
    assert!(half > certificate.epsilon && half <= 8.0, "{half}");
    let error = with(0.5).unwrap_err();
    assert!(error.is_budget() && error.to_string().contains("noise = 0.5"), "{error}");

    let free = spec.clone().with(|it| {
        it.guarantee.epsilon = None;
        it.guarantee.delta = None;
        it.noise = Some(0.0);
    });
    let model = fit(&folder, &free).unwrap();
    let certificate = model.certificate();
    assert!(!certificate.certified && certificate.epsilon.is_infinite());
    assert_eq!(certificate.noise, "none");

    for (noise, algorithm) in [(-1.0, "ssadmm"), (f64::NAN, "ssadmm"), (1.0, "exact")] {
        let spec = spec.clone().with(|it| {
            it.noise = Some(noise);
            it.algorithm = Some(algorithm.to_owned());
        });
        assert!(spec.check().unwrap_err().to_string().starts_with("noise = "), "{noise}");
    }
}
