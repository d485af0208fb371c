//! Mechanisms are total: whatever the table, an answer with its law. Each test stands on both sides
//! of a limit inside the gate.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::Path;

use reticent::{Error, Fitted, Guarantee, Spec};
use reticent_accountant::Adjacency;
use reticent_admm::Settings;
use reticent_oracle::Law;
use tempfile::TempDir;

const PUBLIC: u64 = 500;

const TABLE: &str = "table.libsvm";

/// `records` records of three features under add-remove, announced as [`PUBLIC`].
fn spec(folder: &Path, records: i32, algorithm: &str) -> Spec {
    let mut text = String::new();
    let uniform = |i: i32, a: f64| (f64::from(i) * a).fract() - 0.5;
    for i in 0..records {
        let (a, b, c) = (uniform(i, 0.754_877_6), uniform(i, 0.569_840_2), uniform(i, 0.328_721_3));
        writeln!(text, "{} 1:{a} 2:{b} 3:{c}", if a > 0.0 { "+1" } else { "-1" }).unwrap();
    }
    std::fs::write(folder.join(TABLE), text).unwrap();
    let mut spec = Spec::default().with(|it| {
        it.guarantee = Guarantee::default().with(|it| {
            it.epsilon = Some(0.1);
            it.delta = Some(1e-5);
            it.adjacency = Some(Adjacency::AddRemove);
            it.public_n = Some(PUBLIC);
        });
        it.features = Some(3);
        it.row_norm = Some(1.0);
        it.algorithm = Some(algorithm.to_owned());
    });
    spec.settings.law = Some(Law::SphericalLaplace);
    if algorithm == "objp" {
        spec.settings.iterations = Some(2);
    }
    spec
}

/// The model is the answer of a mechanism: not refused, and not the zeros that stand for no answer.
fn answers(folder: &TempDir, spec: &Spec) -> Fitted {
    let fitted = spec.check().unwrap().fit(&*folder.path().join(TABLE)).unwrap();
    assert!(fitted.model.certificate().certified);
    assert!(
        fitted.model.coefficients().iter().any(|c| c.values != [0.0]),
        "{:?}",
        fitted.model.coefficients()
    );
    fitted
}

#[test]
fn an_objective_is_answered_on_both_sides_of_twice_the_public_number() {
    let folder = tempfile::tempdir().unwrap();
    for records in [1000, 1001, 1500] {
        for (algorithm, law) in
            [("amp", Law::SphericalLaplace), ("amp", Law::Normal), ("objp", Law::SphericalLaplace)]
        {
            let mut spec = spec(folder.path(), records, algorithm);
            spec.settings.law = Some(law);
            answers(&folder, &spec);
        }
    }
}

/// A refusal of the gate was taken for a run that had diverged: the zero model, certified, on the
/// larger table alone.
#[test]
fn tuning_does_not_turn_a_refusal_into_a_model() {
    let folder = tempfile::tempdir().unwrap();
    for records in [1000, 1001] {
        for algorithm in ["amp", "objp"] {
            let spec = spec(folder.path(), records, algorithm)
                .with(|it| it.tune = Some(vec!["penalty=l2:[1e-4,1e-3]".to_owned()]));
            assert!(
                answers(&folder, &spec).tuned.unwrap().chosen.contains("penalty"),
                "{algorithm} on {records}"
            );
        }
    }
}

/// Second moments, and what is asked along the graph that was learned from them.
#[test]
fn a_learned_graph_is_answered_on_both_sides_as_well() {
    let folder = tempfile::tempdir().unwrap();
    for records in [1000, 1001] {
        let mut spec = spec(folder.path(), records, "sadmm").with(|it| {
            it.graph = Some("private".to_owned());
            it.penalty = Some("l1:1e-3".to_owned());
        });
        spec.settings.law = None;
        assert!(answers(&folder, &spec).model.graph().is_some());
        let spec = spec.with(|it| it.tune = Some(vec!["clip=[0.5,1]".to_owned()]));
        assert!(answers(&folder, &spec).tuned.is_some());
    }
}

/// That the numbers of every run ran away is what the selection released. It is no model, and no
/// certificate says that it is one.
#[test]
fn where_every_run_ran_away_there_is_no_model() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = spec(folder.path(), 100, "dp-sgd");
    spec.guarantee.epsilon = Some(1e-3);
    // The answers of a rehearsal are small, and its iterates stay below the largest of numbers.
    let step = Some("constant:1e308".parse().unwrap());
    spec.settings = Settings { step, iterations: Some(2), ..Settings::default() };
    let spec = spec.with(|it| it.tune = Some(vec!["clip=[0.5,1]".to_owned()]));
    let error = spec.check().unwrap().fit(&*folder.path().join(TABLE)).err().unwrap();
    assert!(matches!(error, Error::Spent { .. }), "{error}");
    assert!(error.to_string().contains("every run ran away"), "{error}");
}
