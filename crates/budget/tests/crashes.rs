//! Many at once, processes that are killed, and a disk that is full. The test program starts itself
//! as the process that reserves.

#![allow(clippy::unwrap_used)]
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::*;
use reticent_budget::{BudgetError, JobStatus, Store};

const FILE: &str = "RETICENT_TEST_BUDGET";
const WHAT: &str = "RETICENT_TEST_WHAT";

/// This program again, as the process `what`.
fn child(shell: &str, path: &Path, what: &str) -> Command {
    let mut command = Command::new("sh");
    let own = std::env::current_exe().unwrap();
    command
        .args(["-c", &format!("{shell} exec \"$0\" --exact crashes::the_process --nocapture -q")]);
    command.arg(own).env(FILE, path).env(WHAT, what);
    command
}

/// Not a test by itself: what the processes do that the tests start.
#[test]
fn the_process() {
    let (Ok(path), Ok(what)) = (std::env::var(FILE), std::env::var(WHAT)) else { return };
    let mut store = Store::open(Path::new(&path)).unwrap();
    let say = |text: String| {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).unwrap();
    };
    loop {
        match reserve(&mut store, 0.02) {
            Ok(reservation) => {
                say(format!("\nreserved {}\n", reservation.job()));
                match store.settle(&reservation, &fit(0.02, 1e-6)) {
                    Ok(()) => say(format!("\nsettled {}\n", reservation.job())),
                    Err(BudgetError::Full(_)) if what == "full" => (),
                    Err(other) => panic!("{other}"),
                }
            }
            Err(BudgetError::DoesNotFit { .. }) => break,
            Err(BudgetError::Full(_)) if what == "full" => {
                say("\nfull 0\n".to_owned());
                break;
            }
            Err(other) => panic!("{other}"),
        }
    }
}

fn numbers(text: &[String], word: &str) -> Vec<u64> {
    let of = |line: &String| line.strip_prefix(word)?.trim().parse().ok();
    text.iter().filter_map(of).collect()
}

#[test]
fn eight_processes_together_stay_below_the_ceiling() {
    let alone = Place::new();
    let mut store = alone.store(0.1);
    let mut fitting = 0;
    while let Ok(reservation) = reserve(&mut store, 0.02) {
        store.settle(&reservation, &fit(0.02, 1e-6)).unwrap();
        fitting += 1;
    }
    let place = Place::new();
    drop(place.store(0.1));
    let children: Vec<_> = (0..8)
        .map(|_| child("", &place.path(), "").stdout(Stdio::piped()).spawn().unwrap())
        .collect();
    let mut admitted = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        admitted += numbers(&lines, "settled ").len();
    }
    assert_eq!(admitted, fitting);
    let summary = Store::open_to_read(&place.path()).unwrap().check().unwrap();
    assert!(summary.groups[0].counted <= 0.1 && summary.groups[0].jobs == fitting);
}

/// What a process said it had is in the books, whenever it was killed.
#[test]
fn a_killed_process_loses_nothing_that_was_handed_out() {
    let place = Place::new();
    drop(place.store(50.0));
    let (mut reserved, mut settled) = (Vec::new(), Vec::new());
    // How long the first needs for its first reservation, on this machine as busy as it is; the others are killed around it.
    let mut usual: Option<Duration> = None;
    for round in 0..30_u64 {
        let began = Instant::now();
        let mut child = child("", &place.path(), "")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (say, first) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            let heard = |line: &String| {
                if line.starts_with("reserved ") {
                    // Who was told once listens no longer.
                    let _ = say.send(());
                }
            };
            out.lines().map_while(Result::ok).inspect(heard).collect()
        });
        match usual {
            None => {
                first.recv_timeout(Duration::from_secs(300)).expect("it reserves");
                usual = Some(began.elapsed());
            }
            Some(usual) => std::thread::sleep(usual.mul_f64((round * 37 % 90) as f64 / 45.0)),
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let lines: Vec<String> = reader.join().unwrap();
        reserved.extend(numbers(&lines, "reserved "));
        settled.extend(numbers(&lines, "settled "));
        let summary = Store::open_to_read(&place.path()).unwrap().check().unwrap();
        assert!(summary.kept);
        for number in &reserved {
            let job = summary.jobs.iter().find(|job| job.number == *number).unwrap();
            assert!(matches!(job.status, JobStatus::Open | JobStatus::Settled));
            assert!(!settled.contains(number) || job.status == JobStatus::Settled);
        }
        assert_eq!(summary.groups[0].jobs, summary.jobs.len());
    }
    assert!(!reserved.is_empty());
}

/// A limit on the size of files stands for a disk that is full.
#[test]
fn a_full_disk_reserves_nothing() {
    let place = Place::new();
    drop(place.store(50.0));
    let output = child("trap '' XFSZ; ulimit -f 200;", &place.path(), "full").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("full 0"), "{text} {}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut store = Store::open(&place.path()).unwrap();
    let summary = store.check().unwrap();
    assert_eq!(summary.jobs.len(), numbers(&lines, "reserved ").len());
    // With room again, it goes on.
    let _ = reserve(&mut store, 0.02).unwrap();
    store.check().unwrap();
}
