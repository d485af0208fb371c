//! Runs between parties that end on their way.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::ops::ControlFlow;
use std::path::Path;

use reticent::simulate::{Keep, Parties, SimulationJob, SimulationSpec};
use reticent::{Error, Settings, Spec, Stage, View, unwatched};

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"))
}

fn job() -> SimulationJob {
    let simulation = SimulationSpec {
        job: Spec {
            schema: Some(folder().join("patients.toml")),
            algorithm: Some("federated".to_owned()),
            epsilon: Some(8.0),
            delta: Some(1e-5),
            settings: Settings { iterations: Some(3), ..Settings::default() },
            ..Spec::default()
        },
        parties: Parties { split: Some(4), trust: Some(View::Local), ..Parties::default() },
        ..SimulationSpec::default()
    };
    simulation.check().unwrap()
}

/// Parties have released by then, whatever the disk says.
#[test]
fn a_checkpoint_that_cannot_be_saved_after_a_round_has_spent_the_budget() {
    let nowhere = tempfile::tempdir().unwrap().path().join("gone/run");
    let keep = Keep { checkpoint: Some(&nowhere), resume: false };
    let error = job().run(&*folder().join("patients.csv"), keep, &mut unwatched).unwrap_err();
    assert!(
        matches!(&error, Error::Spent { why, .. } if matches!(**why, Error::Run(_))),
        "{error}"
    );
    assert!(error.hint().contains("count epsilon = 8"), "{}", error.hint());
}

/// Who stops a run pays from the first round on, and nothing before it.
#[test]
fn a_run_between_parties_that_is_stopped_has_spent_the_budget_after_a_round_alone() {
    for (at_round, spent) in [(false, false), (true, true)] {
        let mut stop = |stage| match matches!(stage, Stage::Iteration(_)) == at_round {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let error = job().run(&*folder().join("patients.csv"), Keep::default(), &mut stop);
        let error = error.unwrap_err();
        assert!(error.is_stop(), "{error}");
        assert_eq!(matches!(error, Error::Spent { .. }), spent);
    }
}
