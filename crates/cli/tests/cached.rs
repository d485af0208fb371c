//! `--cache DIR` as a user types it: the same files as without it, and nothing left behind.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, SCHEMA, Said, csv, visits, visits_schema};

const FIT: &str = "--schema schema.toml --target ill --epsilon 1 --delta 1e-5 --seed 3";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("schema.toml", SCHEMA);
    folder.write("t.csv", csv(300));
    std::fs::create_dir(folder.path().join("cache")).unwrap();
    folder
}

fn left_behind(folder: &Folder) -> usize {
    std::fs::read_dir(folder.path().join("cache")).unwrap().count()
}

/// The same command with and without a cache, and the file that both write.
fn same(folder: &Folder, line: &str, file: &str) -> [Said; 2] {
    let plain = folder.reticent(&format!("{line} --out plain")).ok();
    let cached = folder.reticent(&format!("{line} --out cached --cache cache")).ok();
    assert_eq!(
        folder.read(&format!("cached{file}")),
        folder.read(&format!("plain{file}")),
        "{line}"
    );
    assert_eq!(left_behind(folder), 0);
    [plain, cached]
}

#[test]
fn a_cached_table_gives_the_files_of_the_table_in_memory() {
    let folder = folder();
    let model = "/model.json";
    let [plain, cached] = same(&folder, &format!("fit t.csv {FIT}"), model);
    assert_eq!(cached.out.replace("cached/", "plain/"), plain.out);
    let several =
        format!("fit t.csv t.csv {FIT} --algorithm dp-sgd --sampling poisson:0.2 --force");
    same(&folder, &several, model);
    folder.write("visits.csv", visits(300, 40));
    folder.write("visits.toml", visits_schema());
    let people = "fit visits.csv --schema visits.toml --epsilon 1 --delta 1e-5 --seed 3 --force";
    same(&folder, people, model);
    let piped = format!("reticent fit - {FIT} --cache cache --out piped < t.csv");
    folder.shell(&piped).ok();
    folder.reticent(&format!("fit t.csv {FIT} --out one")).ok();
    assert_eq!(folder.read("piped/model.json"), folder.read("one/model.json"));
}

#[test]
fn questions_about_a_cached_table_have_the_answers_of_the_table_in_memory() {
    let folder = folder();
    let terms = "--schema schema.toml --epsilon 1 --delta 1e-5 --seed 3";
    for question in ["count t.csv", "mean t.csv --column age", "quantile t.csv --column age"] {
        let plain = folder.reticent(&format!("{question} {terms}")).ok();
        let cached = folder.reticent(&format!("{question} {terms} --cache cache")).ok();
        assert_eq!(cached.out, plain.out, "{question}");
    }
    folder.reticent(&format!("fit t.csv {FIT} --out m")).ok();
    let evaluate = "evaluate m t.csv --epsilon 1 --delta 1e-5 --seed 3 --json";
    let plain = folder.reticent(evaluate).ok().json();
    assert_eq!(folder.reticent(&format!("{evaluate} --cache cache")).ok().json(), plain);
}

/// What needs the table in memory is refused by name, and costs nothing.
#[test]
fn what_a_cached_table_is_not_for_is_refused_before_anything_is_paid() {
    let folder = folder();
    folder.reticent("budget new b.budget --epsilon 9 --delta 1e-4").ok();
    folder.write(
        "job.toml",
        "data = 't.csv'\nschema = 'schema.toml'\ntarget = 'ill'\nepsilon = 1\ndelta = 1e-5\ncache = 'cache'\n\
         [parties]\nsplit = 3\n",
    );
    let fit = "--schema schema.toml --target ill --epsilon 1 --delta 1e-5 --out m --cache cache";
    for (line, said) in [
        (format!("fit t.csv {fit} --algorithm objp --budget b.budget"), "asks for more than sums"),
        (format!("fit t.csv {fit} --algorithm exact"), "asks for more than sums"),
        ("simulate job.toml --out m".to_owned(), "on a table in memory"),
        (
            format!("fit t.csv {}", fit.replace("--cache cache", "--cache none")),
            "cannot be written",
        ),
    ] {
        let refused = folder.reticent(&line);
        assert!(refused.code != 0 && refused.err.contains(said), "{line}: {refused:?}");
    }
    let spent = folder.reticent("budget show b.budget --json").ok().json();
    assert_eq!(spent["jobs"].as_array().map(Vec::len), Some(0), "{spent}");
    // The help offers the flag where it is taken, and not where it is refused.
    let offers =
        |command: &str| folder.reticent(&format!("{command} --help")).ok().out.contains("--cache");
    assert!(offers("fit") && !offers("simulate"));
}

/// Killed while it reads or scans, it leaves no file: the cache never has a name.
#[test]
#[cfg(unix)]
fn a_killed_fit_leaves_nothing_of_its_cache() {
    let folder = folder();
    folder.write("big.csv", csv(60_000));
    let start = || {
        let line =
            format!("fit big.csv {FIT} --algorithm dp-sgd --iterations 5000 --out k --cache cache");
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("reticent"));
        command.args(line.split(' ')).current_dir(folder.path()).stderr(Stdio::null());
        command.stdout(Stdio::null()).spawn().unwrap()
    };
    for delay in [30, 120, 500] {
        let mut child = start();
        let until = Instant::now() + Duration::from_millis(delay);
        while Instant::now() < until {
            assert_eq!(left_behind(&folder), 0, "it has no name while it runs");
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(left_behind(&folder), 0);
    }
}
