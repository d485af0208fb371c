//! What must not compile does not; beside each case stands a twin that does, and runs, so that a case
//! cannot pass for a reason of its own (a name that moved, a missing import).
//!
//! A case is given to the compiler with the very libraries that this program was linked with, and must
//! be refused with the errors, at the places, that the file beside it says. (A library for that, trybuild,
//! compiles all that the gate depends on once more: minutes.)

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

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::Message;
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};

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
    let stem = |path: PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
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

/// What a case may name, as cargo has built it. `RETICENT_BUILD` has the packages and features that
/// the tests were asked for with, so that nothing is built for this.
fn libraries() -> BTreeMap<String, PathBuf> {
    let asked = std::env::var("RETICENT_BUILD").unwrap_or("-p reticent-oracle".to_owned());
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).arg("build").args(asked.split_whitespace());
    cargo.args(["--test", "oracle", "--quiet", "--message-format=json"]);
    let said = cargo.output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let built = Message::parse_stream(&*said.stdout).filter_map(|message| match message.unwrap() {
        Message::CompilerArtifact(built) => Some(built),
        _ => None,
    });
    let library = |name: &str| name.starts_with("reticent_") || name == "serde";
    built
        .filter(|built| library(&built.target.name) && !built.profile.test)
        .filter_map(|built| {
            let file = built.filenames.iter().find(|file| file.extension() == Some("rlib"))?;
            Some((built.target.name.clone(), file.clone().into_std_path_buf()))
        })
        .collect()
}

/// The errors of a case, each with its place; `None` if it compiles.
fn refused(case: &str, libraries: &BTreeMap<String, PathBuf>, folder: &Path) -> Option<String> {
    let mut rustc = Command::new(std::env::var("RUSTC").unwrap_or("rustc".to_owned()));
    rustc.current_dir(env!("CARGO_MANIFEST_DIR")).arg(format!("tests/compile_fail/{case}.rs"));
    rustc.args(["--edition=2024", "--emit=metadata", "--error-format=json", "--out-dir"]);
    rustc.arg(folder).arg("-L");
    let place = libraries["reticent_oracle"].parent().unwrap();
    rustc.arg(format!("dependency={}", place.display()));
    for (name, file) in libraries {
        rustc.arg("--extern").arg(format!("{name}={}", file.display()));
    }
    let said = rustc.output().unwrap();
    let text = String::from_utf8(said.stderr).unwrap();
    let errors = text.lines().map(|line| serde_json::from_str::<Diagnostic>(line).unwrap());
    let error = |error: Diagnostic| {
        let span = error.spans.iter().find(|span| span.is_primary)?;
        let (file, line, column) = (&span.file_name, span.line_start, span.column_start);
        let code = error.code.as_ref().map(|code| format!("[{}]", code.code)).unwrap_or_default();
        Some(format!("error{code}: {}\n --> {file}:{line}:{column}\n", error.message))
    };
    let errors = errors.filter(|said| said.level == DiagnosticLevel::Error).filter_map(error);
    (!said.status.success()).then(|| errors.collect())
}

#[test]
fn no_case_compiles() {
    let (libraries, folder) = (libraries(), tempfile::tempdir().unwrap());
    for case in names("compile_fail") {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail").join(&case);
        let expected = std::fs::read_to_string(file.with_extension("stderr")).unwrap();
        let errors = refused(&case, &libraries, folder.path());
        assert_eq!(errors.as_deref(), Some(&*expected), "{case}");
    }
}
