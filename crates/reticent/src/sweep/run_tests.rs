//! What a sweep keeps, begins and certifies.

use super::run::TOGETHER;
use super::{SweepFile, SweepKind, SweepTerms};
use crate::model::Model;
use crate::quality::Quality;
use crate::source::Files;

const SCHEMA: &str = "row_norm = 1.0\n[[column]]\nname = \"x\"\nkind = \"numeric\"\nlower = 0\nupper = 1\n\
                      [[column]]\nname = \"y\"\nkind = \"target\"\nclasses = [\"a\", \"b\"]\n";

/// A small table, and a sweep on it.
fn sweep(grid: &str) -> (tempfile::TempDir, SweepFile) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let rows: String = (0..60).map(|i| format!("0.{},{}\n", i % 10, ["a", "b"][i % 2])).collect();
    std::fs::write(at("t.csv"), format!("x,y\n{rows}")).unwrap();
    std::fs::write(at("s.toml"), SCHEMA).unwrap();
    let job = "data = 't.csv'\nschema = 's.toml'\ndelta = 1e-5\niterations = 3\n";
    std::fs::write(at("job.toml"), format!("{job}[sweep]\n{grid}")).unwrap();
    let file = SweepFile::read(&at("job.toml")).unwrap();
    (folder, file)
}

/// `-j 2` was 64 at a time, and a kill lost so many runs that were paid for.
#[test]
fn so_many_runs_are_under_way_as_were_asked_for() {
    let (_folder, file) = sweep("epsilon = [0.5, 1.0]\n");
    for kind in [SweepKind::Paid, SweepKind::Experiment] {
        for (jobs, expected) in [(Some(1), 1), (Some(2), 2), (None, TOGETHER)] {
            let terms = SweepTerms { jobs, kind, test: None, models: None, mark: [0; 32] };
            let ready = file.sweep.open(&file.data, terms).unwrap();
            assert_eq!(ready.at_a_time(), expected, "{kind:?} {jobs:?}");
        }
    }
}

/// A paid sweep measured a model before it was kept: what was wrong with the table to test on lost
/// all that was paid for.
#[test]
fn a_model_is_kept_though_it_cannot_be_measured() {
    let (folder, file) = sweep("epsilon = [0.5]\n");
    let at = |name: &str| folder.path().join(name);
    std::fs::copy(at("t.csv"), at("test.csv")).unwrap();
    let test =
        Files { paths: vec![at("test.csv")], reading: file.data.reading, ..Files::default() };
    let (models, kind, mark) = (at("models"), SweepKind::Paid, [0; 32]);
    let (test, models) = (Some(&test), Some(&*models));
    let terms = SweepTerms { jobs: None, kind, test, models, mark };
    let ready = file.sweep.open(&file.data, terms.clone()).unwrap();
    std::fs::remove_file(at("test.csv")).unwrap();
    assert!(file.sweep.open(&file.data, terms).is_err(), "before it is paid for");
    let mut journal = ready.begin(&at("journal"), None).unwrap();
    ready.run(&mut journal, &|_| Ok(true), &mut |_, _| ()).unwrap();
    let finished = &journal.finished()[&0];
    assert!(finished.failed.is_none() && finished.unmeasured.is_some(), "{finished:?}");
    assert!(at("models/run-00000/model.json").exists());
}

/// The constant behind the intercept was counted twice, which is 0.3 here: all but the AUC was that of
/// another model.
#[test]
fn metrics_of_a_sweep_are_those_of_its_models() {
    let (folder, file) = sweep("epsilon = [20.0]\nseeds = [1, 2]\n");
    let at = |name: &str| folder.path().join(name);
    let rows: String =
        (0..50).map(|i| format!("0.{},{}\n", i % 7, if i % 5 == 0 { "b" } else { "a" })).collect();
    std::fs::write(at("test.csv"), format!("x,y\n{rows}")).unwrap();
    let files = |name: &str| Files::all(vec![at(name)]).with(|it| it.reading = file.data.reading);
    let (models, kind, mark) = (at("models"), SweepKind::Experiment, [0; 32]);
    let test = files("test.csv");
    let terms = SweepTerms { jobs: None, kind, test: Some(&test), models: Some(&models), mark };
    let ready = file.sweep.open(&file.data, terms).unwrap();
    let mut journal = ready.begin(&at("journal"), None).unwrap();
    ready.run(&mut journal, &|_| Ok(true), &mut |_, _| ()).unwrap();
    for (run, finished) in journal.finished() {
        let model = Model::read(&models.join(format!("run-{run:05}/model.json"))).unwrap();
        let log_loss = |name: &str| match model.measure_files(&files(name), None).unwrap().quality {
            Quality::Classes { log_loss, .. } => log_loss,
            other => panic!("{other:?}"),
        };
        for (metric, name) in [("test_log_loss", "test.csv"), ("objective", "t.csv")] {
            let metric = finished.metrics[metric];
            assert!((metric - log_loss(name)).abs() < 1e-9, "{name}: {metric} {}", log_loss(name));
        }
        assert!(model.intercept()[0].abs() > 0.01, "one that counts: {:?}", model.intercept());
    }
}

/// A journal that does not know that a run was begun: whoever keeps it elsewhere does.
#[test]
fn a_run_that_was_begun_elsewhere_is_lost() {
    let (folder, file) = sweep("epsilon = [0.5, 1.0]\n");
    let (kind, mark) = (SweepKind::Paid, [0; 32]);
    let terms = SweepTerms { jobs: Some(1), kind, test: None, models: None, mark };
    let ready = file.sweep.open(&file.data, terms).unwrap();
    let mut journal = ready.begin(&folder.path().join("journal"), None).unwrap();
    ready.run(&mut journal, &|run| Ok(run == 1), &mut |_, _| ()).unwrap();
    let failed = |run: usize| journal.finished()[&run].failed.clone();
    assert!(failed(0).unwrap().contains("not begun again") && failed(1).is_none());
}

/// The attack: to look at a private table as a public one, and to keep the best model with its
/// certificate.
#[test]
fn no_model_that_was_compared_on_the_table_itself_is_certified() {
    for parties in ["", "[parties]\nsplit = 3\n"] {
        let (folder, file) = sweep(&format!("epsilon = [1.0]\n{parties}"));
        let at = |name: &str| folder.path().join(name);
        let models = at("models");
        let kind = SweepKind::Experiment;
        let mark = [0; 32];
        let terms = SweepTerms { jobs: Some(1), kind, test: None, models: Some(&models), mark };
        let ready = file.sweep.open(&file.data, terms).unwrap();
        let mut journal = ready.begin(&at("journal"), None).unwrap();
        ready.run(&mut journal, &|_| Ok(true), &mut |_, _| ()).unwrap();
        let finished = journal.finished().get(&0).unwrap();
        assert!(finished.failed.is_none() && finished.epsilon <= 1.0, "{finished:?}");
        let text = std::fs::read_to_string(models.join("run-00000/model.json")).unwrap();
        let model = Model::from_json(&text).unwrap();
        assert!(!model.certificate().certified, "{parties}");
        assert_eq!(model.certificate().ledger.taints(), [reticent_accountant::Taint::UnpaidRead]);
    }
}
