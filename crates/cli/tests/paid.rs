//! What was paid for is not lost: paths are checked before a reservation, and a result that cannot be
//! written is kept beside its budget until the same job asks again.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, SCHEMA, csv, wait_until};
use serde_json::Value;

const FIT: &str =
    "fit t.csv --schema s.toml --epsilon 0.5 --delta 1e-6 --iterations 5 --budget b.budget";
const COUNT: &str = "count t.csv --schema s.toml --epsilon 0.5 --delta 1e-6 --budget b.budget";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.toml", SCHEMA);
    folder.write("t.csv", csv(200));
    folder.write("file", "no folder");
    folder.reticent("budget new b.budget --epsilon 20 --delta 1e-5").ok();
    folder
}

fn jobs(folder: &Folder) -> usize {
    let shown = folder.reticent("budget show b.budget --json").ok().json();
    shown["jobs"].as_array().unwrap().len()
}

fn kept(folder: &Folder) -> Vec<String> {
    let all = std::fs::read_dir(folder.path()).unwrap();
    let names = all.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.contains("-kept-")).collect()
}

#[test]
fn every_path_is_checked_before_anything_is_reserved() {
    let folder = folder();
    folder
        .reticent("fit t.csv --schema s.toml --epsilon 1 --delta 1e-6 --iterations 5 --out m")
        .ok();
    let simulate = "simulate --data t.csv --schema s.toml --epsilon 1 --delta 1e-6 --split 4 --iterations 2 \
                    --budget b.budget";
    let evaluate = "evaluate m t.csv --epsilon 0.5 --delta 1e-6 --budget b.budget";
    for line in [
        format!("{FIT} --out file/m"),
        format!("{FIT} --trace file/t.csv"),
        format!("{FIT} --trace file/t.parquet"),
        format!("{FIT} --sign file/key"),
        format!("{COUNT} --out file/c.json"),
        format!("{evaluate} --out file/e.json"),
        format!("{simulate} --out file/m"),
        format!("{simulate} --trace file/t.csv"),
        format!("{simulate} --checkpoint file/c"),
    ] {
        let said = folder.reticent(&line);
        assert!(said.code == 2 && jobs(&folder) == 0, "{line}: {} {}", said.code, said.err);
        assert!(kept(&folder).is_empty());
    }
    // Folders that can be made are made, as for a model.
    for (at, line) in [
        format!("{FIT} --out new/a/m --trace new/b/t.csv"),
        format!("{FIT} --out new/a/m2 --trace new/c/t.parquet"),
        format!("{simulate} --out new/d/m --trace new/e/t.csv --checkpoint new/f/c"),
        format!("{evaluate} --out new/g/e.json"),
    ]
    .iter()
    .enumerate()
    {
        folder.reticent(line).ok();
        assert!(jobs(&folder) == at + 1 && kept(&folder).is_empty(), "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_result_that_could_not_be_written_is_kept_and_charged_once() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let said = folder.reticent(&format!("{COUNT} --out /dev/full --json"));
    assert_eq!(said.code, 4, "{}", said.err);
    let first = said.json();
    assert!(first["error"].as_str().unwrap().contains("b.budget is charged for it, once"));
    let [file] = &kept(&folder)[..] else { panic!("{:?}", kept(&folder)) };
    let mode = std::fs::metadata(folder.path().join(file)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let whole = folder.read(file);

    // Another job, another table and a file that somebody changed get nothing.
    folder.write("other.csv", csv(201));
    for (line, changed) in [
        (COUNT.replace("0.5", "0.6"), false),
        (COUNT.replace("t.csv", "other.csv") + " --new-edition", false),
        (format!("{COUNT} --by-class"), false),
        (COUNT.to_owned(), true),
    ] {
        if changed {
            folder.write(file, whole.replace("\"count\":", "\"count\":1"));
        }
        let before = jobs(&folder);
        let said = folder.reticent(&format!("{line} --json")).ok().json();
        assert_eq!(jobs(&folder), before + 1, "{line}");
        assert!(said["budget"]["delivered_again"].is_null(), "{line}");
        assert_eq!(kept(&folder), std::slice::from_ref(file), "{line}");
    }
    folder.write(file, &whole);

    // The same job gets it, wherever it is to be written, and pays nothing.
    let before = jobs(&folder);
    let said = folder.reticent(&format!("{COUNT} --out new/c.json --json")).ok();
    let second = said.json();
    assert_eq!((jobs(&folder), kept(&folder).len()), (before, 0));
    assert_eq!(
        (&first["count"], &first["budget"]["job"]),
        (&second["count"], &second["budget"]["job"])
    );
    assert_eq!(second["budget"]["delivered_again"], true);
    assert!(said.err.contains("nothing was charged again"), "{}", said.err);
    assert!(folder.read("new/c.json").contains("\"certified\": true"));

    // What was delivered is delivered: the next is another release.
    folder.reticent(COUNT).ok();
    assert_eq!(jobs(&folder), before + 1);
}

/// With another --out the same job was charged again without a word, though its result was kept.
#[test]
#[cfg(target_os = "linux")]
fn a_fit_that_is_kept_is_not_charged_again_for_another_folder() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("small")).unwrap();
    let Some(said) = on_a_full_disk(&folder, &format!("{FIT} --out small/m")) else {
        eprintln!("skipped: no mounts without privileges");
        return;
    };
    assert_eq!((said.code, kept(&folder).len()), (4, 1), "{}", said.err);
    let said = folder.reticent(&format!("{FIT} --out other"));
    assert_eq!((said.code, jobs(&folder)), (2, 1), "{}", said.err);
    assert!(said.err.contains("of b.budget (fit to small/m)"), "{}", said.err);
    assert!(said.err.contains("it would be charged again"), "{}", said.err);
    // Under its name it is delivered; after that another folder is another release.
    let said = folder.reticent(&format!("{FIT} --out small/m")).ok();
    assert!(said.err.contains("nothing was charged again"), "{}", said.err);
    assert_eq!((jobs(&folder), kept(&folder).len()), (1, 0));
    folder.reticent(&format!("{FIT} --out other")).ok();
    assert_eq!(jobs(&folder), 2);
}

#[test]
#[cfg(target_os = "linux")]
fn figures_that_nobody_could_read_are_kept() {
    let folder = folder();
    let said = folder.shell(&format!("reticent {COUNT} > /dev/full"));
    assert!(said.code == 4 && said.err.contains("kept in b.budget-kept-"), "{}", said.err);
    let said = folder.reticent(COUNT).ok();
    assert!(said.out.contains("standard deviation") && jobs(&folder) == 1);
    assert!(kept(&folder).is_empty());
    // The report of a fit is no result: the model was written.
    assert_eq!(folder.shell(&format!("reticent {FIT} --out m > /dev/full")).code, 2);
    assert!(kept(&folder).is_empty());
}

/// A disk with room for nothing; false where this system does not let us make one.
#[cfg(target_os = "linux")]
fn on_a_full_disk(folder: &Folder, line: &str) -> Option<crate::common::Said> {
    let possible = folder.shell("unshare -rm true").code == 0;
    let mounted = "mount -t tmpfs -o size=4k tmpfs small && head -c 4096 /dev/zero > small/taken";
    possible.then(|| folder.shell(&format!("unshare -rm sh -c '{mounted}; reticent {line}'")))
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_loses_no_model() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("small")).unwrap();
    let line = format!("{FIT} --out small/m --json --quiet");
    let Some(said) = on_a_full_disk(&folder, &line) else {
        eprintln!("skipped: no mounts without privileges");
        return;
    };
    assert_eq!(said.code, 4, "{}{}", said.out, said.err);
    let first: Value = said.json();
    assert!(first["error"].as_str().unwrap().contains("kept in b.budget-kept-"), "{first}");
    assert_eq!((jobs(&folder), kept(&folder).len()), (1, 1));
    let second = folder.reticent(&line).ok().json();
    assert_eq!((jobs(&folder), kept(&folder).len()), (1, 0));
    assert_eq!(first["digest"], second["digest"]);
    assert_eq!(second["replaced"], false);
    folder.reticent("verify small/m").ok();
    // A trace that could not be written keeps the run; the model is not one that replaces another.
    let line = format!("{FIT} --out m --trace small/t.csv --json");
    let said = on_a_full_disk(&folder, &line).unwrap();
    assert!(said.code == 4 && folder.path().join("m/model.json").exists(), "{}", said.err);
    let second = folder.reticent(&line).ok().json();
    assert_eq!((second["replaced"].as_bool(), jobs(&folder)), (Some(false), 2));
    assert!(folder.path().join("small/t.csv").exists());
    // Without a budget there is no place to keep it: it is shown.
    let line =
        "fit t.csv --schema s.toml --epsilon 1 --delta 1e-6 --iterations 5 --out small/n --quiet";
    let said = on_a_full_disk(&folder, line).unwrap();
    assert!(said.code == 4 && said.out.contains("\"coefficients\""), "{}{}", said.out, said.err);
}

/// What is in a file that the job names is part of what was asked, and not only the file's name.
#[test]
#[cfg(target_os = "linux")]
fn a_kept_result_is_not_delivered_to_a_job_with_another_graph() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("small")).unwrap();
    let line = format!(
        "{FIT} --algorithm sadmm --penalty l1:1e-3 --constraint graph:edges.txt --out small/m --json"
    );
    folder.write("edges.txt", "age town=A\n");
    let Some(said) = on_a_full_disk(&folder, &line) else {
        eprintln!("skipped: no mounts without privileges");
        return;
    };
    assert_eq!((said.code, kept(&folder).len()), (4, 1), "{}{}", said.out, said.err);
    folder.write("edges.txt", "age town=B\n");
    let other = folder.reticent(&line).ok().json();
    assert!(other["budget"]["delivered_again"].is_null(), "{other}");
    assert_eq!((jobs(&folder), kept(&folder).len()), (2, 1));
    folder.write("edges.txt", "age town=A\n");
    let same = folder.reticent(&line).ok().json();
    assert_eq!(same["budget"]["delivered_again"], true);
    assert_eq!((jobs(&folder), kept(&folder).len()), (2, 0));
}

/// It was read to its end by the job, and waited for by whoever wanted to know it again.
#[test]
#[cfg(unix)]
fn a_table_from_a_pipe_is_refused_before_it_is_read() {
    let folder = folder();
    assert_eq!(folder.shell("mkfifo pipe.csv").code, 0);
    for line in [COUNT, FIT] {
        let line = line.replace("t.csv", "pipe.csv");
        let said = folder.shell(&format!("timeout 300 reticent {line}"));
        assert!(said.code == 2 && said.err.contains("a pipe or a device"), "{}", said.err);
    }
    assert_eq!(jobs(&folder), 0);
}

/// A pipe that nobody reads from stops the job where it is settled and not delivered.
#[test]
#[cfg(unix)]
fn a_kill_between_settling_and_delivery_neither_loses_nor_doubles() {
    use std::process::{Command, Stdio};
    let folder = folder();
    assert_eq!(folder.shell("mkfifo pipe").code, 0);
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("reticent"))
        .args(COUNT.split(' ').chain(["--out", "pipe"]))
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let state = || {
        let shown = folder.reticent("budget show b.budget --json").ok().json();
        shown["jobs"][0]["state"].as_str().unwrap_or_default().to_owned()
    };
    wait_until(|| state() == "settled");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((state().as_str(), kept(&folder).len()), ("settled", 1));
    let said = folder.reticent(&format!("{COUNT} --json")).ok().json();
    assert_eq!(said["budget"]["delivered_again"], true);
    assert_eq!((jobs(&folder), kept(&folder).len()), (1, 0));
}
