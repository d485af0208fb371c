//! The file: whose it is, and every way in which it can be something else.

#![allow(clippy::unwrap_used)]

use std::fs;

use crate::common::*;
use proptest::prelude::*;
use reticent_budget::{BudgetError, PaidTable, Promise, Relation, Store};
use rusqlite::Connection;

fn word(error: &BudgetError) -> &'static str {
    match error {
        BudgetError::Exists(_) => "exists",
        BudgetError::Missing(_) => "missing",
        BudgetError::NotABudget { .. } => "not a budget",
        BudgetError::Newer { .. } => "newer",
        BudgetError::ReadOnly(_) => "read-only",
        BudgetError::Gone(_) => "gone",
        BudgetError::Linked(_) => "linked",
        BudgetError::Busy(_) => "busy",
        BudgetError::Damaged { .. } => "damaged",
        _ => "other",
    }
}

#[test]
fn a_file_that_is_something_else_is_refused_by_name() {
    let place = Place::new();
    let opened = || word(&Store::open(&place.path()).unwrap_err());
    assert_eq!(opened(), "missing");
    for content in [&b""[..], b"age,stroke\n1,yes\n", &[0; 5000]] {
        fs::write(place.path(), content).unwrap();
        assert_eq!(opened(), "not a budget");
        let again = Store::create(&place.path(), Promise::new("x", 1.0, 1e-6).unwrap());
        assert_eq!(word(&again.unwrap_err()), "exists");
        assert_eq!(fs::read(place.path()).unwrap(), content, "nothing is changed");
    }
    fs::remove_file(place.path()).unwrap();
    let other = Connection::open(place.path()).unwrap();
    other.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1);").unwrap();
    assert_eq!(opened(), "not a budget");
    drop(other);
    fs::remove_file(place.path()).unwrap();
    fs::create_dir(place.path()).unwrap();
    assert_eq!(opened(), "not a budget");
}

#[cfg(unix)]
#[test]
fn only_its_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let mut store = place.store(3.0);
    let _ = reserve(&mut store, 0.1).unwrap();
    for entry in fs::read_dir(place.folder()).unwrap() {
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn another_version_is_named() {
    let place = Place::new();
    drop(place.store(3.0));
    let set = |version: i64| {
        let raw = Connection::open(place.path()).unwrap();
        raw.execute_batch(&format!("PRAGMA user_version={version}")).unwrap();
    };
    set(6);
    let error = Store::open(&place.path()).unwrap_err();
    assert!(error.to_string().contains("format version 6") && word(&error) == "newer", "{error}");
    assert_eq!(word(&Store::open_to_read(&place.path()).unwrap_err()), "newer");
    for other in [0, -1, 1, 2] {
        // Versions 1 and 2 have other tables.
        set(other);
        assert_eq!(word(&Store::open(&place.path()).unwrap_err()), "not a budget");
    }
    set(5);
    Store::open(&place.path()).unwrap().check().unwrap();
}

/// A program that knows format 3 refuses a line with a digest as damaged. Before there can be one,
/// the file says a format that such a program names, with what to do.
#[test]
fn no_digest_of_a_certificate_is_written_into_format_3() {
    let place = Place::new();
    let mut store = place.store(3.0);
    let _ = reserve(&mut store, 0.5).unwrap();
    let head = store.check().unwrap().head;
    drop(store);
    let raw = Connection::open(place.path()).unwrap();
    raw.execute_batch("PRAGMA user_version=3").unwrap();
    let version = || -> i64 { raw.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap() };
    // Who looks leaves it so; who writes brings it up to date.
    assert_eq!(Store::open_to_read(&place.path()).unwrap().check().unwrap().head, head);
    assert_eq!(version(), 3);
    let mut store = Store::open(&place.path()).unwrap();
    assert_eq!((version(), store.check().unwrap().head), (5, head));
    let job = reserve(&mut store, 0.5).unwrap();
    store.settle_for(&job, &fit(0.5, 1e-6), Some("sha256:00")).unwrap();
    assert_eq!((version(), store.check().unwrap().jobs.len()), (5, 2));
}

/// Version 1 did not say how far jobs are. Who looks leaves it so; who writes brings it up to date.
#[test]
fn an_older_version_is_read_and_brought_up_to_date() {
    let place = Place::new();
    let mut store = place.store(3.0);
    let _ = reserve(&mut store, 1.0).unwrap();
    let head = store.check().unwrap().head;
    drop(store);
    let raw = Connection::open(place.path()).unwrap();
    raw.execute_batch("DROP TABLE progress; DROP TABLE begun; PRAGMA user_version=1;").unwrap();
    drop(raw);
    let version = || -> i64 {
        let raw = Connection::open(place.path()).unwrap();
        raw.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(Store::open_to_read(&place.path()).unwrap().check().unwrap().head, head);
    assert_eq!(version(), 1);
    let mut store = Store::open(&place.path()).unwrap();
    assert_eq!((version(), store.check().unwrap().head), (5, head));
    let job = reserve(&mut store, 0.5).unwrap();
    store.beat(&job, 1, None).unwrap();
    assert!(store.check().unwrap().jobs[1].progress.is_some());
    drop(store);
    // What is not version 1 word for word is not touched.
    let raw = Connection::open(place.path()).unwrap();
    raw.execute_batch(
        "DROP TABLE progress; DROP TABLE begun; CREATE VIEW progress AS SELECT 1; PRAGMA user_version=1;",
    )
    .unwrap();
    drop(raw);
    assert_eq!(word(&Store::open(&place.path()).unwrap_err()), "not a budget");
    assert_eq!(version(), 1);
}

#[test]
fn a_file_that_was_removed_or_replaced_reserves_nothing() {
    let place = Place::new();
    let mut store = place.store(3.0);
    let kept = place.folder().join("kept");
    fs::rename(place.path(), &kept).unwrap();
    assert_eq!(word(&reserve(&mut store, 0.1).unwrap_err()), "gone");
    fs::copy(&kept, place.path()).unwrap();
    assert_eq!(word(&reserve(&mut store, 0.1).unwrap_err()), "gone");
}

/// What is known after the line was written is not that nothing was.
#[test]
fn a_file_that_went_after_it_was_written_is_not_said_to_have_nothing() {
    let path = std::path::PathBuf::from("clinic.budget");
    let before = BudgetError::Gone(path.clone()).to_string();
    let after = BudgetError::GoneSince(path).to_string();
    assert!(before.contains("nothing was reserved"), "{before}");
    assert!(!after.contains("nothing was") && after.contains("do not query"), "{after}");
}

/// Whoever copies or moves the one file while it is in use has every reservation.
#[test]
fn the_file_alone_has_all_that_was_reserved() {
    let place = Place::new();
    let mut store = place.store(3.0);
    let copy = |name: &str| {
        let to = place.folder().join(name);
        fs::copy(place.path(), &to).unwrap();
        Store::open_to_read(&to).unwrap().check().unwrap().jobs.len()
    };
    assert_eq!(copy("empty"), 0);
    let first = reserve(&mut store, 0.1).unwrap();
    assert_eq!(copy("one"), 1);
    // Somebody who only looks on does not keep it in the log.
    let reader = Store::open_to_read(&place.path()).unwrap();
    assert_eq!(reader.check().unwrap().jobs.len(), 1);
    let _ = reserve(&mut store, 0.1).unwrap();
    assert_eq!(copy("two"), 2);
    store.release(first).unwrap();
    assert_eq!(copy("three"), 2);
}

/// Two names have two logs, and neither knows what the other has reserved.
#[cfg(unix)]
#[test]
fn a_file_with_a_second_name_is_refused() {
    let place = Place::new();
    let mut store = place.store(3.0);
    let second = place.folder().join("second.budget");
    fs::hard_link(place.path(), &second).unwrap();
    assert_eq!(word(&reserve(&mut store, 0.1).unwrap_err()), "linked");
    for path in [place.path(), second.clone()] {
        assert_eq!(word(&Store::open(&path).unwrap_err()), "linked");
        assert_eq!(word(&Store::open_to_read(&path).unwrap_err()), "linked");
    }
    fs::remove_file(second).unwrap();
    let _ = reserve(&mut store, 0.1).unwrap();
}

/// A lock that another process holds for longer than one waits: nothing is reserved, and who looks on
/// is not kept.
#[test]
fn a_lock_that_is_held_is_named() {
    let place = Place::new();
    let mut store = place.store(3.0);
    let first = reserve(&mut store, 0.1).unwrap();
    store.wait_for(std::time::Duration::from_millis(30)).unwrap();
    let other = Connection::open(place.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(word(&reserve(&mut store, 0.1).unwrap_err()), "busy");
    assert_eq!(word(&store.settle(&first, &fit(0.1, 1e-6)).unwrap_err()), "busy");
    assert_eq!(word(&store.forfeit(first.job()).unwrap_err()), "busy");
    assert_eq!(store.check().unwrap().open().count(), 1);
    assert_eq!(Store::open_to_read(&place.path()).unwrap().check().unwrap().jobs.len(), 1);
    other.execute_batch("ROLLBACK").unwrap();
    // The reservation is as good as before.
    store.settle(&first, &fit(0.1, 1e-6)).unwrap();
    let _ = reserve(&mut store, 0.1).unwrap();
    assert_eq!(store.check().unwrap().jobs.len(), 2);
}

/// Somebody who reads for long keeps nobody from writing.
#[test]
fn a_reader_keeps_nobody_from_writing() {
    let place = Place::new();
    let mut store = place.store(3.0);
    store.wait_for(std::time::Duration::from_millis(30)).unwrap();
    let reader = Connection::open(place.path()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM history").unwrap();
    let lines = || -> i64 {
        reader.query_row("SELECT count(*) FROM history", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(lines(), 1);
    let job = reserve(&mut store, 0.1).unwrap();
    store.settle(&job, &fit(0.1, 1e-6)).unwrap();
    assert_eq!(lines(), 1, "one state of the file, however long it is looked at");
    assert_eq!(store.check().unwrap().lines, 4);
}

/// The file and its folder belong to somebody else, who lets everybody read. Root may write all the
/// same, and does this as nobody.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_written_is_named() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    const FILE: &str = "RETICENT_TEST_READ_ONLY";
    if let Ok(path) = std::env::var(FILE) {
        let path = std::path::Path::new(&path);
        let error = Store::open(path).and_then(|mut store| reserve(&mut store, 0.1));
        assert_eq!(word(&error.unwrap_err()), "read-only");
        Store::open_to_read(path).unwrap().check().unwrap();
        return;
    }
    let place = Place::new();
    drop(place.store(3.0));
    let set = |path: &std::path::Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    set(&place.path(), 0o444);
    set(place.folder(), 0o555);
    let own = std::env::current_exe().unwrap();
    let mut child = std::process::Command::new(own);
    child
        .args(["--exact", "file::a_file_that_may_not_be_written_is_named"])
        .env(FILE, place.path());
    if fs::OpenOptions::new().write(true).open(place.path()).is_ok() {
        child.uid(65534).gid(65534);
    }
    let said = child.output();
    set(place.folder(), 0o755);
    match said {
        Ok(said) => {
            let text = String::from_utf8_lossy(&said.stdout);
            assert!(said.status.success() && text.contains("1 passed"), "{text}");
        }
        Err(error) => eprintln!("skipped: this program cannot be run as nobody ({error})"),
    }
}

#[test]
fn who_opened_it_to_read_writes_nothing() {
    let place = Place::new();
    drop(place.store(3.0));
    let mut store = Store::open_to_read(&place.path()).unwrap();
    assert_eq!(word(&reserve(&mut store, 0.1).unwrap_err()), "read-only");
}

#[test]
fn nothing_may_be_added_to_its_tables() {
    for statement in [
        "CREATE TRIGGER zz AFTER INSERT ON history BEGIN SELECT 1; END",
        "CREATE TABLE more (x)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE INDEX i ON history(kind)",
        "DROP TRIGGER history_is_not_shortened",
    ] {
        let place = Place::new();
        drop(place.store(3.0));
        Connection::open(place.path()).unwrap().execute_batch(statement).unwrap();
        assert_eq!(word(&Store::open(&place.path()).unwrap_err()), "not a budget", "{statement}");
    }
    let place = Place::new();
    drop(place.store(3.0));
    let raw = Connection::open(place.path()).unwrap();
    for statement in ["UPDATE history SET body = ''", "DELETE FROM history", "DELETE FROM key"] {
        assert!(raw.execute_batch(statement).is_err(), "{statement}");
    }
}

/// Changes the file behind the store's back, triggers and all put back.
fn forge(place: &Place, statement: &str) {
    let raw = Connection::open(place.path()).unwrap();
    let triggers: Vec<(String, String)> = raw
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for (name, _) in &triggers {
        raw.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    raw.execute_batch(statement).unwrap();
    for (_, sql) in &triggers {
        raw.execute_batch(sql).unwrap();
    }
}

/// Six lines: the promise, a table, two jobs, one of them settled, one given back.
fn filled(place: &Place) -> Store {
    let mut store = place.store(3.0);
    let first = reserve(&mut store, 1.0).unwrap();
    let second = reserve(&mut store, 0.5).unwrap();
    store.settle(&first, &fit(1.0, 1e-6)).unwrap();
    store.release(second).unwrap();
    store
}

#[test]
fn the_first_line_that_does_not_fit_is_named() {
    for (statement, line) in [
        ("UPDATE history SET body = replace(body, '3.0', '9.0') WHERE number = 1", 1),
        ("UPDATE history SET secret = zeroblob(32) WHERE number = 2", 2),
        ("UPDATE history SET people = 2 WHERE number = 2", 2),
        ("UPDATE history SET body = replace(body, '1.0', '0.1') WHERE number = 3", 3),
        ("UPDATE history SET charge = zeroblob(48) WHERE number = 3", 3),
        ("UPDATE history SET charge = NULL WHERE number = 4", 4),
        ("UPDATE history SET time = '2001-01-01T00:00:00Z' WHERE number = 4", 4),
        ("UPDATE history SET kind = 'released' WHERE number = 5", 5),
        ("UPDATE history SET hash = zeroblob(32) WHERE number = 6", 6),
        ("UPDATE history SET kind = 'nothing' WHERE number = 6", 6),
        ("DELETE FROM history WHERE number = 3", 3),
        ("DELETE FROM history WHERE number = 1", 1),
        ("DELETE FROM history", 1),
        ("UPDATE history SET number = 9 WHERE number = 6", 6),
    ] {
        let place = Place::new();
        drop(filled(&place));
        forge(&place, statement);
        let mut store = Store::open(&place.path()).unwrap();
        match store.check() {
            Err(BudgetError::Damaged { line: named, .. }) => assert_eq!(named, line, "{statement}"),
            other => panic!("{statement}: {other:?}"),
        }
        assert!(store.summary().is_err(), "{statement}");
        // Who reserves looks at both ends of the chain and at the balance.
        if [1, 6].contains(&line) {
            assert!(reserve(&mut store, 0.01).is_err(), "{statement}");
        }
    }
    for statement in [
        "DELETE FROM balance",
        "UPDATE balance SET seal = zeroblob(32)",
        "UPDATE balance SET body = replace(body, '3.0', '4.0')",
        // The end is cut off: an older balance would be needed.
        "DELETE FROM history WHERE number = 6",
    ] {
        let place = Place::new();
        drop(filled(&place));
        forge(&place, statement);
        let mut store = Store::open(&place.path()).unwrap();
        assert!(store.check().is_err() && reserve(&mut store, 0.01).is_err(), "{statement}");
    }
    let place = Place::new();
    drop(filled(&place));
    forge(&place, "UPDATE key SET bytes = zeroblob(32)");
    let store = Store::open(&place.path()).unwrap();
    assert!(store.check().is_err() && store.key().is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is done with jobs and tables: the books check, nothing above the ceiling is
    /// admitted, and what is counted is that of the jobs that were not given back.
    #[test]
    fn the_books_check_whatever_is_done(steps in prop::collection::vec((0_u8..6, 0.05_f64..1.5, 1_u8..4), 1..25)) {
        let place = Place::new();
        let mut store = place.store(2.0);
        let mut open = Vec::new();
        for (what, epsilon, table) in steps {
            let relation = match what { 4 => Relation::NewEdition, 5 => Relation::DisjointPeople, _ => Relation::Same };
            match (what, open.pop()) {
                (0, Some((reservation, plan))) => store.settle(&reservation, &plan).unwrap(),
                (1, Some((reservation, _))) => store.release(reservation).unwrap(),
                (2, Some((reservation, _))) => store.forfeit(reservation.job()).unwrap(),
                (_, last) => {
                    open.extend(last);
                    let plan = fit(epsilon, 1e-6);
                    let on = PaidTable::file([table; 32], relation);
                    if let Ok(reservation) = store.reserve(&request(&plan, epsilon, &on)) {
                        open.push((reservation, plan));
                    }
                }
            }
        }
        let summary = store.check().unwrap();
        prop_assert!(summary.kept);
        for group in &summary.groups {
            prop_assert!(group.counted <= 2.0 && group.exact.unwrap() <= group.counted);
        }
        prop_assert_eq!(summary.open().count(), open.len());
        drop(store);
        prop_assert_eq!(Store::open_to_read(&place.path()).unwrap().check().unwrap().head, summary.head);
    }
}

/// A file with a few bytes changed is refused, or says what it said before: it never panics, and
/// never says less.
#[test]
fn a_file_with_changed_bytes_never_says_less() {
    let place = Place::new();
    let whole = filled(&place).check().unwrap();
    let bytes = fs::read(place.path()).unwrap();
    let mut state = 7_u64;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let (mut refused, mut same) = (0, 0);
    for round in 0..400 {
        let mut changed = bytes.clone();
        for _ in 0..=random(3) {
            // Half of them where the content is: most of a page is empty.
            let at = random(bytes.len());
            changed[at] = random(256) as u8;
        }
        if round % 8 == 0 {
            changed.truncate(random(bytes.len()));
        }
        let path = place.folder().join("changed");
        for end in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(place.folder().join(format!("changed{end}")));
        }
        fs::write(&path, &changed).unwrap();
        let said = Store::open_to_read(&path).and_then(|store| store.check());
        match said {
            Ok(summary) => {
                assert_eq!(
                    (summary.head, summary.groups),
                    (whole.head.clone(), whole.groups.clone())
                );
                same += 1;
            }
            Err(_) => refused += 1,
        }
        // Nor does one who writes.
        if let Ok(mut store) = Store::open(&path)
            && reserve(&mut store, 0.01).is_ok()
        {
            // Where a line is spoilt that a reservation does not look at, whoever looks is told.
            if let Ok(summary) = store.summary() {
                assert!(summary.groups[0].counted > whole.groups[0].counted);
            }
        }
    }
    assert!(refused > 50 && same > 10, "{refused} {same}");
}
