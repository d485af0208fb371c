//! What must not compile does not; beside each case stands a twin that does, and runs, so that a case cannot pass for
//! a reason of its own (a name that moved, a missing import).

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

#[path = "compile_fail/twins/ledger_appended.rs"]
mod ledger_appended;
#[path = "compile_fail/twins/ledger_rewritten.rs"]
mod ledger_rewritten;
#[path = "compile_fail/twins/loss_of_ones_own.rs"]
mod loss_of_ones_own;
#[path = "compile_fail/twins/noise_used_twice.rs"]
mod noise_used_twice;
#[path = "compile_fail/twins/oracle_of_ones_own.rs"]
mod oracle_of_ones_own;
#[path = "compile_fail/twins/query_outside.rs"]
mod query_outside;
#[path = "compile_fail/twins/released_deserialised.rs"]
mod released_deserialised;
#[path = "compile_fail/twins/released_forged.rs"]
mod released_forged;
#[path = "compile_fail/twins/released_from_raw.rs"]
mod released_from_raw;
#[path = "compile_fail/twins/rows_of_gate.rs"]
mod rows_of_gate;
#[path = "compile_fail/twins/rows_of_table.rs"]
mod rows_of_table;
#[path = "compile_fail/twins/solver_with_closure.rs"]
mod solver_with_closure;

use std::collections::BTreeSet;
use std::path::Path;

const TWINS: &[(&str, fn())] = &[
    ("ledger_appended", ledger_appended::main as fn()),
    ("ledger_rewritten", ledger_rewritten::main as fn()),
    ("loss_of_ones_own", loss_of_ones_own::main as fn()),
    ("noise_used_twice", noise_used_twice::main as fn()),
    ("oracle_of_ones_own", oracle_of_ones_own::main as fn()),
    ("query_outside", query_outside::main as fn()),
    ("released_deserialised", released_deserialised::main as fn()),
    ("released_forged", released_forged::main as fn()),
    ("released_from_raw", released_from_raw::main as fn()),
    ("rows_of_gate", rows_of_gate::main as fn()),
    ("rows_of_table", rows_of_table::main as fn()),
    ("solver_with_closure", solver_with_closure::main as fn()),
];

fn names(folder: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let stem = |path: std::path::PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    let files = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|e| e == "rs")).filter_map(stem).collect()
}

#[test]
fn every_case_has_a_twin_that_runs() {
    let listed: BTreeSet<String> = TWINS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names("compile_fail"), listed);
    assert_eq!(names("compile_fail/twins"), listed);
    TWINS.iter().for_each(|(_, twin)| twin());
}

#[test]
fn no_case_compiles() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
