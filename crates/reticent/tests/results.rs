//! The files of a run are of one run, whoever else writes there and whenever somebody is killed. The
//! test program starts itself as the process that writes.
#![allow(clippy::unwrap_used)]
#![cfg(unix)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reticent::internal::{check_folder, write_results};
use reticent::penalties::L2;
use reticent::tables::{Dataset, Schema, Target};
use reticent::{Fit, Model, Solver, verify};

const FOLDER: &str = "RETICENT_TEST_FOLDER";
const TIMES: &str = "RETICENT_TEST_TIMES";

/// A model whose numbers depend on where the classes part.
fn model(at: f64) -> Model {
    let schema = Schema::bounded(&[(0.0, 9.0)], Target::classes(["no", "yes"]).unwrap()).unwrap();
    let x: Vec<f64> = (0..10).map(f64::from).collect();
    let y: Vec<u32> = x.iter().map(|&x| u32::from(x > at)).collect();
    let job = Fit::new(schema).penalty(L2::new(0.1).unwrap()).solver(Solver::exact());
    let table = Dataset::dense(&x, 10, 1).unwrap().with_targets(&y).unwrap();
    job.check().unwrap().fit(&table).unwrap().model
}

/// Not a test by itself: what the processes do that the tests start.
#[test]
fn the_process() {
    let (Ok(folder), Ok(times)) = (std::env::var(FOLDER), std::env::var(TIMES)) else { return };
    let own = f64::from(std::process::id() % 7);
    let models = [model(1.0 + own), model(2.0 + own)];
    for i in 0..times.parse().unwrap() {
        models[i % 2].write(Path::new(&folder)).unwrap();
    }
}

fn start(folder: &Path, times: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "results::the_process", "-q"])
        .env(FOLDER, folder)
        .env(TIMES, times.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn whole() -> BTreeSet<String> {
    ["certificate.json", "model.json"].map(str::to_owned).into()
}

#[test]
fn four_writers_at_once_leave_one_pair() {
    let place = tempfile::tempdir().unwrap();
    for round in 0..2 {
        // The first time the folder is not there yet.
        let out = place.path().join(format!("out{round}"));
        let writers: Vec<Child> = (0..4).map(|_| start(&out, 25)).collect();
        for mut writer in writers {
            assert!(writer.wait().unwrap().success());
        }
        let found = verify(&out, None).unwrap();
        assert!(found.holds(), "{:?}", found.checks);
        assert_eq!(names(&out), whole());
    }
    assert_eq!(names(place.path()).len(), 2, "{:?}", names(place.path()));
}

/// How long it takes until a writer has made its folder, on this machine as busy as it is.
fn until_there(out: &Path) -> Duration {
    let began = Instant::now();
    let mut writer = start(out, 1_000_000);
    while !out.exists() && began.elapsed() < Duration::from_secs(300) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let took = began.elapsed();
    writer.kill().unwrap();
    writer.wait().unwrap();
    took
}

/// Wherever it is killed, there is no file yet or files of one run; and the next run takes away what
/// was left half-written.
#[test]
fn a_killed_writer_leaves_files_of_one_run() {
    let place = tempfile::tempdir().unwrap();
    let usual = until_there(&place.path().join("first"));
    let (mut whole_pairs, mut alone) = (0, 0);
    for round in 0..60_u64 {
        let out = place.path().join(format!("out{}", round / 4));
        let mut writer = start(&out, 1_000_000);
        std::thread::sleep(usual.mul_f64(0.3 + (round * 37 % 61) as f64 / 25.0));
        writer.kill().unwrap();
        writer.wait().unwrap();
        if !out.exists() {
            continue;
        }
        // In a folder that is there, there is a model, and it holds.
        let found = verify(&out, None).unwrap();
        assert!(found.holds(), "{:?}", found.checks);
        match out.join("certificate.json").exists() {
            true => whole_pairs += 1,
            false => alone += 1,
        }
        if round % 4 == 3 {
            model(3.0).write(&out).unwrap();
            assert_eq!(names(&out), whole());
        }
    }
    assert!(whole_pairs + alone > 20, "{whole_pairs} and {alone}");
}

#[test]
fn files_of_an_earlier_run_do_not_stay_beside_those_of_a_later() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    write_results(&model(1.0), Some("[{\"party\": 0, \"epsilon\": 1.0}]\n"), &out).unwrap();
    assert!(out.join("parties.json").exists());
    std::fs::write(out.join("notes.txt"), "mine").unwrap();
    model(2.0).write(&out).unwrap();
    let mut left = whole();
    left.insert("notes.txt".to_owned());
    assert_eq!(names(&out), left);
    // What somebody else calls so is theirs.
    std::fs::write(out.join("parties.json"), "guests").unwrap();
    model(1.0).write(&out).unwrap();
    assert_eq!(std::fs::read_to_string(out.join("parties.json")).unwrap(), "guests");
}

#[test]
fn a_folder_that_is_looked_at_first_is_left_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    check_folder(place.path()).unwrap();
    check_folder(&place.path().join("a/b")).unwrap();
    assert!(names(place.path()).is_empty());
    let path = model(1.0).write(&place.path().join("a/b")).unwrap();
    assert_eq!(path, place.path().join("a/b/model.json"));
    assert_eq!(names(place.path()), BTreeSet::from(["a".to_owned()]));
    assert_eq!(names(&place.path().join("a")), BTreeSet::from(["b".to_owned()]));
}

/// Results are as readable as other files.
#[test]
fn others_may_read_a_result() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("usual"), "").unwrap();
    std::fs::create_dir(place.path().join("folder")).unwrap();
    let mode = |name: &str| {
        std::fs::metadata(place.path().join(name)).unwrap().permissions().mode() & 0o777
    };
    for _ in 0..2 {
        model(1.0).write(&place.path().join("out")).unwrap();
        assert_eq!(mode("out"), mode("folder"));
        assert_eq!(mode("out/model.json"), mode("usual"));
        assert_eq!(mode("out/certificate.json"), mode("usual"));
    }
}
