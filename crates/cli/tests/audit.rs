//! `reticent audit`, as a user types it.
#![allow(clippy::unwrap_used)]

use crate::common::Folder;

#[test]
fn an_audit_reports_its_bound_beside_what_is_certified() {
    let folder = Folder::new();
    for (method, runs) in [("threshold", 2_000), ("gdp", 2_000), ("one-run", 200)] {
        let line = format!(
            "audit --epsilon 4 --delta 1e-3 --method {method} --runs {runs} --seed 3 --json"
        );
        let report = folder.reticent(&line).ok().json();
        assert_eq!(
            (&report["method"], &report["runs"]),
            (&method.into(), &runs.into()),
            "{report}"
        );
        assert_eq!(
            (&report["view"], &report["confidence"]),
            (&"central".into(), &0.95.into()),
            "{report}"
        );
        let of = |field: &str| report[field].as_f64().unwrap();
        assert!(
            of("epsilon_lower") <= of("epsilon_certified") && of("epsilon_certified") > 3.99,
            "{report}"
        );
        assert_eq!(report["exceeded"], false);
    }
    let said = folder.reticent("audit --epsilon 4 --delta 1e-3 --runs 2000").ok().out;
    assert!(said.contains("certified ε") && said.contains("ε is at least"), "{said}");
}

/// The whole map takes minutes; a part of it is enough to see the table.
#[test]
fn a_part_of_the_map_is_attacked_and_listed() {
    let folder = Folder::new();
    let line = "audit --all --only mpadmm --runs 400 --seed 3";
    let report = folder.reticent(&format!("{line} --json")).ok().json();
    assert_eq!(report["alarms"], 0, "{report}");
    let cells = report["cells"].as_array().unwrap();
    let page = include_str!("../../../docs/guarantees.md");
    let rows = page.lines().filter(|row| row.starts_with("| mpadmm |")).count();
    assert!(
        rows > 0 && cells.len() == rows && cells.iter().all(|cell| cell["cell"][0] == "mpadmm"),
        "{report}"
    );
    let table = folder.reticent(&format!("{line} --markdown")).ok().out;
    assert_eq!(table.lines().filter(|row| row.starts_with("| mpadmm |")).count(), rows, "{table}");
    let refused = folder.reticent("audit --all --epsilon 1");
    assert_eq!(refused.code, 2, "{}", refused.err);
}

#[test]
fn what_an_audit_has_no_use_for_is_refused() {
    let folder = Folder::new();
    for (flags, message) in [
        ("--epsilon 0", "epsilon = 0: it must be a number above 0"),
        ("--epsilon -1 --algorithm federated", "epsilon = -1: it must be a number above 0"),
        (
            "--epsilon 1 --algorithm amp --trust local",
            "amp: it asks for more than sums over records",
        ),
        ("--epsilon 1 --trust network", "trust = network: ssadmm asks a server"),
        ("--epsilon 1 --parties 3", "parties = 3: ssadmm is not for many parties"),
        (
            "--epsilon 1 --algorithm walk --constraint chain",
            "constraint = chain: an algorithm of many parties",
        ),
        ("--epsilon 1 --algorithm walk --sampling poisson:0.5", "walk has no such setting"),
        ("--epsilon 1 --runs -5", "a whole number from 0 is needed"),
    ] {
        let refused = folder.reticent(&format!("audit --delta 1e-3 {flags}"));
        assert!(refused.code == 2 && refused.err.contains(message), "{flags}: {}", refused.err);
    }
}

#[cfg(not(reticent_seeded_bugs))]
#[test]
fn a_defect_cannot_be_switched_on() {
    let folder = Folder::new();
    let error = folder.reticent("audit --epsilon 1 --delta 1e-3 --seeded-bug noise-halved");
    assert_eq!(error.code, 2);
    assert!(error.err.contains("--seeded-bug"), "{}", error.err);
    let error = folder.reticent("audit --algorithm none --epsilon 1 --delta 1e-3");
    assert_eq!(error.code, 2);
    assert!(
        error.err.contains("hint: see `reticent audit --help` for --algorithm"),
        "{}",
        error.err
    );
}

#[cfg(reticent_seeded_bugs)]
#[test]
fn a_defect_raises_the_alarm() {
    let folder = Folder::new();
    let line = "audit --epsilon 1 --delta 1e-3 --runs 2000 --seeded-bug clip-missing";
    let said = folder.reticent(line);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("ALARM"), "{}", said.err);
}
