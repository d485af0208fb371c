//! No side doors: nothing is printed, logged or timed, and what comes out has the same events and
//! shapes whatever the data are.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::path::{Path, PathBuf};

use reticent_accountant::{Adjacency, Ledger, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_oracle::queries::{
    ClippedMean, Consensus, ConsensusTerms, Correction, Count, Gradient, Minimiser, Moving,
    PerturbedObjective, Quantile, Score, SecondMoment,
};
use reticent_oracle::{
    Entropy, Gate, Law, Oracle, PrivacyModel, PrivateTable, Quadratic, RecordStatistic, Refusal,
    Rehearsal, Sampling,
};
use reticent_problem::losses;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Where a word occurs in the gate's sources, tests and comments aside.
fn places(word: &str) -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&source, &mut files);
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !file.to_str().unwrap().ends_with("_tests.rs")) {
        let text = std::fs::read_to_string(file).unwrap();
        // A module of tests ends a file; the name of one that has a file of its own may stand before
        // code.
        let tests = |at: &usize| text[*at..].lines().nth(1).is_some_and(|line| line.ends_with('{'));
        let end = text.match_indices("#[cfg(test)]").map(|(at, _)| at).find(tests);
        let code = &text[..end.unwrap_or(text.len())];
        let used = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let name = file.strip_prefix(&source).unwrap().to_str().unwrap().to_owned();
        found.extend(used.filter(|line| line.contains(word)).map(|_| name.clone()));
    }
    found.sort();
    found
}

#[test]
fn one_place_enters_and_one_place_releases() {
    assert_eq!(places(".append("), ["books.rs"]);
    assert_eq!(places(".append_many("), [""; 0]);
    assert_eq!(places("Released::new("), ["books.rs"]);
    assert_eq!(places("Released::made_up("), ["rehearsal.rs"]);
    assert_eq!(places("Released::said_by_parties("), ["noisy/server.rs"]);
    assert_eq!(places(" Released("), ["released.rs"; 4]);
    // The data are handed out behind the books, and for the exit alone.
    assert_eq!(places(".behind()"), ["without_privacy/mod.rs"]);
    assert_eq!(places("Taint::RawRelease"), ["without_privacy/mod.rs"]);
}

/// What is not public text decides nothing: noise, contexts and digests are made from canonical
/// bytes.
#[test]
fn no_encoding_is_a_debug_text() {
    assert_eq!(places("{:?}"), [""; 0]);
    assert_eq!(
        places(":?}"),
        ["gate/select.rs"],
        "a message about a law that cannot be drawn from"
    );
}

#[test]
fn the_source_prints_logs_and_times_nothing() {
    let mut files = Vec::new();
    let gate = Path::new(env!("CARGO_MANIFEST_DIR"));
    sources(&gate.join("src"), &mut files);
    assert!(files.len() > 20);
    let doors = [
        "print!",
        "println!",
        "eprint!",
        "eprintln!",
        "dbg!",
        "stdout()",
        "stderr()",
        "Instant",
        "SystemTime",
        "log::",
        "tracing::",
        "std::fs",
        "std::net",
        "env::var",
        "env::args",
        "env::current",
        "thread_local!",
        "static mut",
    ];
    // The digest of a table's files under a budget's own key is made from the files themselves.
    let files = files.iter().filter(|file| !file.ends_with("fingerprint.rs"));
    for file in files.filter(|file| !file.to_str().unwrap().ends_with("_tests.rs")) {
        let text = std::fs::read_to_string(file).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for (number, line) in code.enumerate() {
            for inbox in doors {
                assert!(
                    !line.contains(inbox),
                    "{}: code line {number} has {inbox}",
                    file.display()
                );
            }
        }
    }
}

const LAWS: [Law; 2] = [Law::Normal, Law::SphericalLaplace];

/// Every query once, some under every sampling; the lengths of the answers.
fn ask_everything(oracle: &mut dyn Oracle) -> Result<Vec<usize>, Refusal> {
    let zeros = vec![0.0; oracle.shape().len()];
    let ones = vec![1.0; zeros.len()];
    let mut lengths = Vec::new();
    for sampling in [
        Sampling::Full,
        Sampling::Poisson(0.5),
        Sampling::Poisson(1e-12),
        Sampling::WithoutReplacement(1),
    ] {
        let params = ClippedMean { clip: 1.0, noise_multiplier: 2.0, sampling };
        let consensus = ConsensusTerms {
            clip: 1.0,
            step: 1.0,
            relaxation: 0.5,
            noise_multiplier: 2.0,
            sampling,
            block_noise: 0.0,
        };
        oracle.open_consensus(&ones)?;
        for answer in [
            oracle.ask(&Gradient { at: &zeros, mean: params })?,
            oracle.ask(&Correction { at: &zeros, from: &ones, mean: params })?,
            oracle.ask(&Consensus { z: &ones, moving: Moving::All, params: consensus })?,
            oracle.ask(&Consensus { z: &zeros, moving: Moving::All, params: consensus })?,
        ] {
            assert!(answer.get().iter().all(|v| v.is_finite()));
            lengths.push(answer.get().len());
        }
    }
    let public = Quadratic { ridge: 0.5, linear: &zeros, penalty: None };
    let params =
        Minimiser { row_norm: 1.0, public, start: &ones, image: false, noise_multiplier: 2.0 };
    lengths.push(oracle.ask(&params)?.get().len());
    let row_norm = 1.0;
    let by_record = oracle.terms().unit() == Unit::Record;
    for law in LAWS.iter().filter(|law| **law != Law::Normal || by_record) {
        let params = PerturbedObjective {
            row_norm,
            smoothness: 0.25,
            public,
            start: &ones,
            law: *law,
            noise_multiplier: 2.0,
        };
        lengths.push(oracle.ask(&params)?.get().len());
    }
    lengths.push(
        oracle
            .ask(&SecondMoment { row_norm: 1.0, whole: false, noise_multiplier: 2.0 })?
            .get()
            .len(),
    );
    let (of, candidates) = (RecordStatistic::RowNorm, &[0.5, 1.0, 2.0, 4.0][..]);
    let params = Quantile { of, fraction: 0.5, candidates, noise_multiplier: 2.0 };
    assert!(candidates.contains(oracle.ask(&params)?.get()));
    let params = Count { of: RecordStatistic::Target, at_most: 0.0, noise_multiplier: 2.0 };
    assert!(oracle.ask(&params)?.get().is_finite());
    assert!(oracle.ask(&Score { at: &ones, noise_multiplier: 2.0 })?.get().is_finite());
    Ok(lengths)
}

fn table(rows: &[[f64; 2]], targets: &[f64], users: Option<Vec<u32>>) -> Table {
    let mut dense = Dense::empty(2);
    rows.iter().for_each(|row| dense.push_sparse(&[0, 1], row));
    Table {
        rows: Rows::Dense(dense),
        targets: targets.to_vec(),
        users,
        weights: None,
        names: vec!["a".into(), "b".into()],
    }
}

fn run(table: Table, unit: Unit) -> (Vec<usize>, Ledger) {
    let opening = PrivacyModel {
        adjacency: Adjacency::ReplaceOne,
        unit,
        view: View::Central,
        public_n: None,
        intercept: 1.0,
    };
    let loss = losses::parse("logistic", None).unwrap();
    let mut gate = Gate::open(table.into(), loss, &opening, Entropy::seeded(1)).unwrap();
    let mut rehearsal = Rehearsal::new(gate.shape(), *gate.terms());
    let rehearsed = ask_everything(&mut rehearsal).unwrap();
    gate.bind(rehearsal.into_plan());
    let lengths = ask_everything(&mut gate).unwrap();
    assert_eq!(lengths, rehearsed);
    (lengths, gate.close().unwrap())
}

#[test]
fn events_and_shapes_do_not_depend_on_the_data() {
    let usual = [[1.0, 0.5], [-0.25, 2.0], [0.0, -1.0]];
    let expected = run(table(&usual, &[1.0, -1.0, 1.0], None), Unit::Record);
    let mut neighbour = usual;
    neighbour[1] = [1e300, -1e-310];
    for (rows, targets) in [
        (neighbour, [1.0, 1.0, 1.0]),
        (usual, [-1.0; 3]),
        ([[0.0; 2]; 3], [1.0, -1.0, 1.0]),
        ([[-0.0, 5e-324]; 3], [1.0, -1.0, 1.0]),
        ([[f64::MAX, f64::MIN]; 3], [1.0, -1.0, 1.0]),
    ] {
        let (lengths, ledger) = run(table(&rows, &targets, None), Unit::Record);
        assert_eq!(lengths, expected.0);
        assert_eq!(ledger.entries(), expected.1.entries());
    }
    // Users: one with many rows, one with few.
    let by_user = run(table(&usual, &[1.0, -1.0, 1.0], Some(vec![0, 0, 1])), Unit::User);
    let other = run(table(&[[1.0, 0.0], [0.0, 0.0]], &[1.0, 1.0], Some(vec![0, 1])), Unit::User);
    assert_eq!(by_user.0, other.0);
    assert_eq!(by_user.1.entries(), other.1.entries());
}

/// `{:?}` of a handle is text that anybody may print: there is nothing of the rows in it, nor of
/// what is computed from them.
#[test]
fn a_handle_on_private_data_shows_none_of_them() {
    let private =
        PrivateTable::from(table(&[[0.123_456_5, 0.5]], &[-0.765_432_5], Some(vec![77_777])));
    let shown = format!("{private:?}");
    assert!(!["123456", "765432", "77777"].iter().any(|value| shown.contains(value)), "{shown}");
    let opening = PrivacyModel {
        adjacency: Adjacency::ReplaceOne,
        unit: Unit::Record,
        view: View::Central,
        public_n: None,
        intercept: 1.0,
    };
    let open = |target| {
        let data = table(&[[0.123_456_5, 0.5]], &[target], None);
        let loss = losses::parse("logistic", None).unwrap();
        let mut gate = Gate::open(data.into(), loss, &opening, Entropy::seeded(1)).unwrap();
        let params = ClippedMean { clip: 1.0, noise_multiplier: 1.0, sampling: Sampling::Full };
        gate.ask(&Gradient { at: &[0.1; 3], mean: params }).unwrap();
        format!("{gate:?}")
    };
    assert_eq!(open(1.0), open(-1.0));
    assert!(!open(1.0).contains("123456"));
}

#[test]
fn one_record_is_enough() {
    let many = run(table(&[[1.0, 0.5]; 3], &[1.0; 3], None), Unit::Record);
    let one = run(table(&[[1.0, 0.5]], &[1.0], None), Unit::Record);
    assert_eq!(one.0, many.0);
    let uses = |ledger: &Ledger| ledger.entries().iter().map(|entry| entry.count()).sum::<u64>();
    assert_eq!(uses(&one.1), uses(&many.1));
}
