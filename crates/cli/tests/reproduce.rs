//! `reticent reproduce`: the list, one that needs no data, and what is said where data is missing.
//! The experiments themselves are tested in their crate.

use crate::common::Folder;

#[test]
fn an_experiment_is_listed_run_and_written() {
    let folder = Folder::new();
    let list = folder.reticent("reproduce --list --json").ok().json();
    assert_eq!(list["experiments"].as_array().map(Vec::len), Some(25));
    let said = folder.reticent("reproduce acct-dpa19 --out r --json").ok().json();
    let claims = said["experiments"][0]["claims"].as_array().cloned().unwrap_or_default();
    assert!(claims.len() == 4 && claims.iter().all(|claim| claim["verdict"] == "held"), "{said}");
    let written =
        folder.shell("cat r/README.md r/acct-dpa19/results.json r/acct-dpa19/total.csv").ok().out;
    assert!(written.contains("0.5009") && written.contains("(acct-dpa19/total.svg)"), "{written}");
    let again = folder.reticent("reproduce acct-dpa19 --out r").ok().out;
    assert!(again.contains("(done before)"), "{again}");
    let other = folder.reticent("reproduce acct-dpa19 --quick --out r").ok().out;
    assert!(!other.contains("(done before)"), "another size is another run: {other}");
}

#[test]
fn what_is_not_there_is_said() {
    let folder = Folder::new();
    let unknown = folder.reticent("reproduce ls23-fig1");
    assert_eq!(unknown.code, 2, "{}", unknown.err);
    assert!(unknown.err.contains("ls22-fig1"), "{}", unknown.err);
    let missing = folder.reticent("reproduce dpa19-fig1 --data-dir .");
    assert_eq!(missing.code, 2, "{}", missing.err);
    assert!(missing.err.contains("Adult") && missing.err.contains("UCI"), "{}", missing.err);
}
