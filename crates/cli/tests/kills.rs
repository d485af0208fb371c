//! kill −9 at random points of a fit with a budget. The store never says less than it did, no model
//! is there that is not counted, and the history checks.
//!
//! `RETICENT_KILLS=500 cargo test -p reticent-cli --test cli kills -- --nocapture` for more of them.
#![allow(clippy::unwrap_used)]
#![cfg(unix)]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, SCHEMA, csv};
use serde_json::Value;

/// As many points as there are where nothing else is said.
const KILLS: u64 = 40;

/// The noise of all of them fits into one budget; most of the time is spent between the reservation
/// and the end.
const FIT: &str = "fit t.csv --schema s.toml --delta 1e-6 --epsilon 0.3 --algorithm dp-sgd --iterations 400 --budget \
                   b.budget --quiet";

fn start(folder: &Folder, out: &str) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin("reticent"))
        .args(FIT.split(' '))
        .args(["--out", out])
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Numbers without pattern, the same in every run.
struct Delays(u64);

impl Delays {
    fn next(&mut self, most: Duration) -> Duration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        most.mul_f64((self.0 >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

#[test]
fn a_killed_fit_is_counted_if_it_handed_anything_out() {
    let kills = std::env::var("RETICENT_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    let folder = Folder::new();
    folder.write("s.toml", SCHEMA);
    folder.write("t.csv", csv(200));
    folder.reticent("budget new b.budget --epsilon 60 --delta 1e-6").ok();
    let began = Instant::now();
    assert!(start(&folder, "whole").wait().unwrap().success());
    let whole = began.elapsed();
    let check = || folder.reticent("budget check b.budget --json").ok().json();
    let counted_in = |object: &Value| object["groups"][0]["counted"].as_f64().unwrap();
    let (mut delays, mut counted) = (Delays(12), counted_in(&check()));
    let [mut none, mut open, mut settled, mut models, mut again] = [0; 5];
    for round in 0..kills {
        let out = format!("m{round}");
        let mut child = start(&folder, &out);
        std::thread::sleep(delays.next(whole.mul_f64(1.1)));
        child.kill().unwrap();
        child.wait().unwrap();
        let object = check();
        let jobs = object["jobs"].as_array().unwrap();
        let label = format!("fit to {out}");
        let own = jobs.iter().find(|job| job["label"] == label.as_str());
        match own.map(|job| job["state"].as_str().unwrap()) {
            None => none += 1,
            Some("open") => open += 1,
            Some("settled") => settled += 1,
            Some(other) => panic!("{round}: {other}"),
        }
        // Whatever was reserved is counted, and nothing that was counted is lost.
        let now = counted_in(&object);
        assert!(now >= counted && (now > counted) == own.is_some(), "{round}: {counted} {now}");
        counted = now;
        assert_eq!(object["groups"][0]["jobs"], jobs.len());
        // What was kept is delivered to who asks again; nothing is charged, and nothing is left behind.
        let kept = own.map(|job| format!("b.budget-kept-{}", job["job"]));
        if kept.as_ref().is_some_and(|kept| folder.path().join(kept).exists()) {
            again += 1;
            assert!(start(&folder, &out).wait().unwrap().success());
            let object = check();
            assert_eq!(object["jobs"].as_array().unwrap().len(), jobs.len(), "{round}: paid twice");
            let own = object["jobs"].as_array().unwrap().iter().find(|job| job["label"] == *label);
            assert_eq!(own.unwrap()["state"], "settled");
            assert!(folder.path().join(&out).join("model.json").exists());
            assert!(!folder.path().join(kept.unwrap()).exists());
        }
        for file in ["model.json", "certificate.json"] {
            let file = folder.path().join(&out).join(file);
            if file.exists() {
                models += 1;
                assert!(own.is_some(), "{round}: a model that is not counted");
                let text = std::fs::read_to_string(&file).unwrap();
                serde_json::from_str::<Value>(&text).unwrap();
            }
        }
    }
    eprintln!(
        "{kills} kills within {whole:?}: {none} before anything was reserved, {open} open, {settled} settled, \
         {again} delivered when asked again, {models} files handed out"
    );
    // With room again for who comes next, whatever was left behind.
    assert!(start(&folder, "last").wait().unwrap().success());
    let object = check();
    assert_eq!(object["jobs"].as_array().unwrap().len() as u64, kills - none + 2);
}
