//! `reticent sweep` as a user types it: grids, results, the bill, and going on after a kill.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Folder, SCHEMA, wait_until};

/// A table of `n` people, of whom the older are more often ill.
fn folder(n: usize, sweep: &str) -> Folder {
    let folder = Folder::new();
    let mut table = "age,town,ill\n".to_owned();
    for i in 0..n {
        let (age, town) = (i * 37 % 100, if i % 3 == 0 { "A" } else { "B" });
        let ill = if (age + i * 11 % 40) > 70 { "yes" } else { "no" };
        table += &format!("{age},{town},{ill}\n");
    }
    folder.write("t.csv", &table);
    folder.write("s.toml", SCHEMA);
    let job =
        format!("data = 't.csv'\nschema = 's.toml'\ndelta = 1e-5\npenalty = 'l2:0.01'\n{sweep}");
    folder.write("job.toml", job);
    folder
}

fn json(folder: &Folder, name: &str) -> serde_json::Value {
    serde_json::from_str(&folder.read(name)).unwrap()
}

fn lines(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

const GRID: &str = "iterations = 15\n[sweep]\nepsilon = [0.5, 2.0]\nalgorithm = ['dp-sgd', 'ssadmm']\nseeds = [1, 2, 3]\ntest = 't.csv'\n";

#[test]
fn a_grid_has_a_line_for_each_run_and_mean_and_spread_for_each_point() {
    let folder = folder(300, GRID);
    let said = folder
        .reticent("sweep job.toml --public-data --out out --plot accuracy --json")
        .ok()
        .json();
    assert_eq!((said["runs"].as_u64(), said["done"].as_u64()), (Some(12), Some(12)));
    let out = folder.path().join("out");
    let runs = lines(&out.join("runs.csv"));
    assert_eq!(runs.len(), 13);
    let at = |name: &str| runs[0].iter().position(|own| own == name).unwrap();
    let (epsilon, accuracy) = (at("epsilon"), at("nonprivate_test_accuracy"));
    assert!(runs[1..].iter().all(|row| {
        let counted: f64 = row[at("counted_epsilon")].parse().unwrap();
        let asked: f64 = row[epsilon].parse().unwrap();
        counted <= asked && counted > 0.98 * asked
    }));
    // Mean and spread by hand, of the first point.
    let own: Vec<f64> = runs[1..]
        .iter()
        .filter(|row| row[epsilon] == "0.5" && row[at("algorithm")] == "dp-sgd")
        .map(|row| row[accuracy].parse().unwrap())
        .collect();
    assert_eq!(own.len(), 3);
    let mean = own.iter().sum::<f64>() / 3.0;
    let deviation = (own.iter().map(|a| (a - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
    let means = lines(&out.join("summary.csv"));
    assert_eq!(means.len(), 5);
    let of = |name: &str| -> f64 {
        let at = means[0].iter().position(|own| own == name).unwrap();
        let row = means.iter().find(|row| row[0] == "dp-sgd" && row[1] == "0.5").unwrap();
        row[at].parse().unwrap()
    };
    assert!((of("nonprivate_test_accuracy_mean") - mean).abs() < 1e-12);
    assert!((of("nonprivate_test_accuracy_deviation") - deviation).abs() < 1e-12);
    let picture = std::fs::read_to_string(out.join("accuracy.svg")).unwrap();
    assert!(picture.contains("ssadmm") && picture.contains("dp-sgd") && picture.contains("ε"));
    assert!(out.join("NOT-PRIVATE.txt").exists());
    // Again: refused, and nothing is lost; going on finds nothing to do.
    assert_eq!(folder.reticent("sweep job.toml --public-data --out out").code, 2);
    let again = folder
        .reticent("sweep job.toml --public-data --out out --resume --parquet --json")
        .ok()
        .json();
    assert_eq!(again["points"], said["points"]);
    assert!(out.join("runs.parquet").exists());
}

/// A run of a sweep is the fit of the same job, to the bit.
#[test]
fn a_run_of_a_sweep_is_the_fit_that_it_names() {
    let folder = folder(300, GRID);
    folder.reticent("sweep job.toml --public-data --models --out out -j 3").ok();
    let fit = "fit t.csv --schema s.toml --delta 1e-5 --penalty l2:0.01 --iterations 15 --algorithm ssadmm \
               --epsilon 2.0 --seed 2 --out one";
    folder.reticent(fit).ok();
    let read = |path: &str| json(&folder, path);
    let swept = read("out/models/run-00010/model.json");
    assert_eq!(swept["weights"], read("one/model.json")["weights"]);
    assert_eq!(swept["intercept"], read("one/model.json")["intercept"]);
}

/// The attack on a sweep over private data: to have it done without paying for all of it.
#[test]
fn a_sweep_on_private_data_is_charged_in_full_or_refused() {
    let private = "iterations = 10\n[sweep]\nepsilon = [0.5, 1.0]\nrepeats = 2\n";
    let folder = folder(300, private);
    let refused = folder.reticent("sweep job.toml --out out");
    assert_eq!(refused.code, 2);
    assert!(
        refused.err.contains("releases 4 models") && refused.err.contains("epsilon = 3"),
        "{}",
        refused.err
    );
    assert!(!folder.path().join("out/journal.jsonl").exists());

    folder.reticent("budget new small.json --epsilon 1.5 --delta 1e-4").ok();
    assert_eq!(folder.reticent("sweep job.toml --out out --budget small.json").code, 3);
    assert!(!folder.path().join("out/journal.jsonl").exists(), "nothing was begun");

    folder.reticent("budget new b.json --epsilon 4 --delta 1e-4").ok();
    let paid = folder.reticent("sweep job.toml --out out --budget b.json --json").ok().json();
    assert_eq!(paid["done"].as_u64(), Some(4));
    // Four models at 0.5, 0.5, 1 and 1: Gaussian noise composes to more than one of them and to less
    // than the sum.
    let counted = paid["budget"]["counted"].as_f64().unwrap();
    assert!(counted > 1.0 && counted < 3.0, "{counted}");
    for run in 0..4 {
        let model = json(&folder, &format!("out/models/run-0000{run}/model.json"));
        assert_eq!(model["certificate"]["certified"], true);
    }
    let names = lines(&folder.path().join("out/runs.csv"))[0].clone();
    assert!(
        names.iter().all(|name| !name.contains("objective")),
        "nothing is read freely: {names:?}"
    );
}

/// The attack on a sweep that goes on: another table in place of the one that was paid for, or no
/// budget at all.
#[test]
fn a_sweep_on_private_data_goes_on_with_its_table_and_no_other() {
    let folder = ended_on_its_way();
    folder.reticent("budget new other.json --epsilon 4 --delta 1e-4").ok();
    let table = folder.read("t.csv");
    let killed = folder.read("out/journal.jsonl");
    let refused = |command: &str, said: &str| {
        let answer = folder.reticent(command);
        assert!(answer.code == 2 && answer.err.contains(said), "{command}: {}", answer.err);
        assert_eq!(folder.read("out/journal.jsonl"), killed, "nothing was begun");
    };
    refused("sweep job.toml --out out --resume", "--budget");
    refused("sweep job.toml --out out --resume --public-data", "stays so");
    refused("sweep job.toml --out out --resume --budget other.json", "not what it was");
    folder.write("t.csv", table.replacen("yes", "no", 1));
    refused("sweep job.toml --out out --resume --budget b.json", "not what it was");
    folder.write("t.csv", &table);
    let counted = || {
        let summary = folder.reticent("budget show b.json --json").ok().json();
        (summary["groups"][0]["counted"].clone(), summary["jobs"][0]["state"].clone())
    };
    let (before, open) = counted();
    assert!(before.is_number() && open == "open", "{before} {open}");
    let on = folder.reticent("sweep job.toml --out out --resume --budget b.json --json").ok();
    let on = on.json();
    assert_eq!((on["done"].as_u64(), on["lost"].as_u64()), (Some(2), Some(1)));
    assert!(folder.path().join("out/models/run-00002/model.json").exists());
    assert_eq!(counted(), (before, "settled".into()));
    // It is over, and its results may be written again.
    folder.reticent("sweep job.toml --out out --resume --budget b.json --parquet").ok();
}

/// A sweep on private data of which the first run is done, the second is lost, as its model could not
/// be written, and the third was not begun.
fn ended_on_its_way() -> Folder {
    let folder = folder(300, "iterations = 10\n[sweep]\nepsilon = [0.3, 0.5, 1.0]\n");
    folder.reticent("budget new b.json --epsilon 4 --delta 1e-4").ok();
    std::fs::create_dir_all(folder.path().join("out/models")).unwrap();
    folder.write("out/models/run-00001", "in the way");
    let said = folder.reticent("sweep job.toml --out out --budget b.json -j 1");
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("models may have been written"), "{}", said.err);
    assert!(folder.path().join("out/models/run-00000/model.json").exists());
    std::fs::remove_file(folder.path().join("out/models/run-00001")).unwrap();
    folder
}

/// The attack: the first line of a journal in another folder, so that every model is written again
/// with other noise and nothing is charged; while the job is open, and when it is over.
#[test]
fn a_copy_of_a_journal_begins_nothing_that_was_begun() {
    let folder = ended_on_its_way();
    let head = |into: &str| {
        let journal = folder.read("out/journal.jsonl");
        std::fs::create_dir_all(folder.path().join(into)).unwrap();
        let first = journal.lines().next().unwrap().to_owned() + "\n";
        folder.write(&format!("{into}/journal.jsonl"), first);
    };
    head("open");
    let on = folder.reticent("sweep job.toml --out open --resume --budget b.json --json").ok();
    let on = on.json();
    assert_eq!((on["done"].as_u64(), on["failed"].as_u64()), (Some(3), Some(2)));
    for (run, there) in [(0, false), (1, false), (2, true)] {
        let model = format!("open/models/run-0000{run}/model.json");
        assert_eq!(folder.path().join(model).exists(), there, "{run}");
    }
    // It is settled now: nothing is left for the folder that it was begun in, nor for a new one.
    head("over");
    for out in ["out", "over"] {
        let command = format!("sweep job.toml --out {out} --resume --budget b.json");
        let refused = folder.reticent(&command);
        assert!(
            refused.code == 2 && refused.err.contains("there is no open job"),
            "{}",
            refused.err
        );
        assert!(!folder.path().join(out).join("models/run-00002").exists());
    }
}

/// A bill was charged and no model written, because the table to test on was not there.
#[test]
fn a_test_table_that_is_not_there_is_refused_before_anything_is_charged() {
    let folder = folder(300, "iterations = 10\n[sweep]\nepsilon = [0.5, 1.0]\n");
    folder.reticent("budget new b.json --epsilon 4 --delta 1e-4").ok();
    let said = folder.reticent("sweep job.toml --out out --budget b.json --test nowhere.csv");
    assert!(said.code == 2 && said.err.contains("nowhere.csv"), "{}", said.err);
    let summary = folder.reticent("budget show b.json --json").ok().json();
    assert_eq!(summary["jobs"].as_array().map(Vec::len), Some(0), "{summary}");
    assert!(!folder.path().join("out/journal.jsonl").exists());
}

/// Models that are out when the disk fails stay counted.
#[test]
fn a_sweep_that_ends_on_its_way_has_spent_its_bill() {
    let folder = folder(300, "iterations = 10\n[sweep]\nepsilon = [0.5, 1.0]\n");
    folder.reticent("budget new b.json --epsilon 4 --delta 1e-4").ok();
    // A file where the folder of the second model is to be.
    std::fs::create_dir_all(folder.path().join("out/models")).unwrap();
    folder.write("out/models/run-00001", "in the way");
    let said = folder.reticent("sweep job.toml --out out --budget b.json -j 1");
    assert_eq!(said.code, 2, "{}", said.err);
    let summary = folder.reticent("budget show b.json --json").ok().json();
    assert!(summary.to_string().contains("\"counted\":1."), "{summary}");
}

#[test]
fn what_cannot_be_is_refused_before_a_table_is_read() {
    for (sweep, said) in [
        ("", "no table [sweep]"),
        ("[sweep]\nepsilon = []\n", "the list is empty"),
        ("[sweep]\nepsilon = 1\n", "a list is needed"),
        ("[sweep]\nschema = ['a']\n", "cannot be varied"),
        ("[sweep]\ncurves = [2, 4]\n", "cannot be varied"),
        // Knots would follow the budget of each run, and the table is read once.
        (
            "curves = 'auto'\npublic_n = 10\n[sweep]\nepsilon = [1, 9]\n",
            "runs of a sweep read one table",
        ),
        ("[sweep]\nepsilon = [1]\nrepeats = 0\n", "repeats = N"),
        ("[sweep]\nepsilon = [1]\nseeds = [-1]\n", "at least 0"),
        ("[sweep]\nepsilon = [1, -1]\n", "(at epsilon = -1)"),
        ("epsilon = 1\n[sweep]\nalgorithm = ['dp-sgd', 'nonsense']\n", "nonsense"),
    ] {
        let folder = folder(10, sweep);
        std::fs::remove_file(folder.path().join("t.csv")).unwrap();
        let answer = folder.reticent("sweep job.toml --public-data --out out");
        assert_eq!(answer.code, 2, "{sweep}");
        assert!(answer.err.contains(said), "{sweep}: {}", answer.err);
    }
    let seeded = folder(10, "[sweep]\nepsilon = [1]\nseeds = [1]\n");
    seeded.reticent("budget new b.json --epsilon 4 --delta 1e-4").ok();
    let answer = seeded.reticent("sweep job.toml --out out --budget b.json");
    assert!(answer.code == 2 && answer.err.contains("seed"), "{}", answer.err);
}

/// Killed at some moment and gone on with, an experiment has the results of one that was not.
#[test]
fn a_sweep_goes_on_after_a_kill() {
    let grid = "iterations = 60\n[sweep]\nepsilon = [0.5, 1.0, 2.0]\nalgorithm = ['general']\nseeds = [1, 2, 3, 4, 5, 6]\n";
    let whole = folder(400, grid);
    let kept = whole.reticent("sweep job.toml --public-data --out out --json").ok().json();
    let killed = folder(400, grid);
    kill_after_two_runs(&killed, "--public-data");
    let on = killed.reticent("sweep job.toml --public-data --out out --resume --json").ok().json();
    assert_eq!(on["points"], kept["points"], "to the bit");
}

/// What was begun stays begun after a kill, what was done stays as it is, and a kill loses no more
/// runs than were under way.
#[test]
fn a_sweep_that_was_paid_for_goes_on_after_a_kill() {
    let grid =
        "iterations = 60\n[sweep]\nepsilon = [0.1, 0.2]\nalgorithm = ['general']\nrepeats = 6\n";
    let folder = folder(400, grid);
    folder.reticent("budget new b.json --epsilon 8 --delta 1e-3").ok();
    kill_after_two_runs(&folder, "--budget=b.json");
    let model = |run: usize| format!("out/models/run-{run:05}/model.json");
    let first = folder.read(&model(0));
    let on =
        folder.reticent("sweep job.toml --budget b.json --out out --resume --json").ok().json();
    let count = |name: &str| on[name].as_u64().unwrap();
    assert_eq!(count("done") + count("lost"), 12);
    assert!(count("lost") + count("failed") <= 1, "{on}");
    assert_eq!(folder.read(&model(0)), first);
    let made = (0..12).filter(|&run| folder.path().join(model(run)).exists()).count();
    assert!(made >= 11, "{made}");
    let summary = folder.reticent("budget show b.json --json").ok().json();
    assert_eq!(summary["jobs"][0]["state"], "settled");
}

/// Begins a sweep, one run after the other, and kills it when two of them are done.
fn kill_after_two_runs(folder: &Folder, on: &str) {
    let mut child = Command::new(common_program())
        .args(["sweep", "job.toml", on, "--out", "out", "-j", "1"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let journal = folder.path().join("out/journal.jsonl");
    wait_until(|| {
        std::fs::read_to_string(&journal).is_ok_and(|text| text.matches("done").count() >= 2)
    });
    child.kill().unwrap();
    child.wait().unwrap();
}

fn common_program() -> std::path::PathBuf {
    assert_cmd::cargo::cargo_bin("reticent")
}

#[test]
fn runs_between_parties_are_swept_too() {
    let grid = "epsilon = 8\niterations = 3\n[parties]\nsplit = 4\n[sweep]\ntrust = ['local', 'secure-aggregation']\nseeds = [1, 2]\n";
    let folder = folder(200, grid);
    let said = folder.reticent("sweep job.toml --public-data --out out --json").ok().json();
    assert_eq!(said["done"].as_u64(), Some(4));
    assert_eq!(said["points"][1]["settings"]["trust"], "secure-aggregation");
    assert!(said["points"][0]["metrics"]["objective"]["mean"].as_f64().unwrap() > 0.0);
}

/// A sweep has the graph that it began with, whatever its file says by now.
#[test]
fn a_sweep_does_not_go_on_with_another_graph() {
    let sweep = "algorithm = 'sadmm'\niterations = 3\nconstraint = 'graph:edges.txt'\n[sweep]\nepsilon = [0.5, 2.0]\n";
    let folder = folder(60, sweep);
    folder.write("edges.txt", "age town=A\n");
    folder.reticent("sweep job.toml --public-data --out out").ok();
    folder.write("edges.txt", "age town=B\n");
    let said = folder.reticent("sweep job.toml --public-data --out out --resume");
    assert!(said.code == 2 && said.err.contains("another sweep"), "{}", said.err);
    folder.write("edges.txt", "age town=A\n");
    folder.reticent("sweep job.toml --public-data --out out --resume").ok();
}
