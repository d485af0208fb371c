//! The form of a budget of format 5: the objects of the database, and a line of each kind. What
//! changes here is a new format: it gets a number and a migration, and old files still open.
//!
//! `RETICENT_FREEZE=1 cargo test -p reticent-budget --test budget frozen` writes the files anew.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use reticent_budget::{Import, PaidTable, Promise, Relation, Store, TablePiece};
use rusqlite::Connection;

use crate::common::*;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// A job of each fate, on tables of each kind.
fn fill(path: &Path) {
    let mut store = Store::create(path, Promise::new("clinic", 3.0, 1e-6).unwrap()).unwrap();
    let plan = fit(0.5, 1e-6);
    let file = |whole: u8, relation| PaidTable::file([whole; 32], relation);
    let piece = |whole: u8| TablePiece {
        whole: [whole; 32],
        older: vec![[whole + 100; 32]],
        parts: vec![[whole + 50; 32]],
    };
    let tables = [
        file(1, Relation::Same),
        file(2, Relation::NewEdition),
        file(3, Relation::DisjointPeople),
        PaidTable::files(vec![piece(3), piece(4)], Some([9; 32]), Relation::NewEdition),
        PaidTable::in_memory([5; 32], Relation::NewEdition),
    ];
    for (fate, table) in tables.iter().enumerate() {
        let reservation = store.reserve(&request(&plan, 0.5, table)).unwrap();
        match fate {
            0 => store.settle(&reservation, &plan).unwrap(),
            1 => store.settle_for(&reservation, &plan, Some(&"ab".repeat(32))).unwrap(),
            2 => store.release(reservation).unwrap(),
            3 => store.forfeit(reservation.job()).unwrap(),
            _ => store.beat(&reservation, 3, Some(7)).unwrap(),
        }
    }
    let import =
        Import { label: "elsewhere", asked: (0.1, 1e-6), ledger: &fit(0.1, 1e-6), beyond: false };
    store.import(&import).unwrap();
    store.check().unwrap();
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All that does not depend on the clock and on the key of the file.
fn form(path: &Path) -> String {
    let file = Connection::open(path).unwrap();
    let number = |what: &str| file.query_row(what, [], |row| row.get::<_, i64>(0)).unwrap();
    let mut text = format!(
        "application {:#x}, version {}\n",
        number("PRAGMA application_id"),
        number("PRAGMA user_version")
    );
    let mut objects =
        file.prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").unwrap();
    for object in objects.query_map([], |row| row.get::<_, String>(0)).unwrap() {
        writeln!(text, "{}", object.unwrap()).unwrap();
    }
    let mut lines = file
        .prepare(
            "SELECT number, kind, job, people, charge, body, secret FROM history ORDER BY number",
        )
        .unwrap();
    let mut rows = lines.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let blob = |at| row.get::<_, Option<Vec<u8>>>(at).unwrap();
        writeln!(
            text,
            "{} {} job {:?} people {:?} charge {} secret {}\n  {}",
            row.get::<_, i64>(0).unwrap(),
            row.get::<_, String>(1).unwrap(),
            row.get::<_, Option<i64>>(2).unwrap(),
            row.get::<_, Option<i64>>(3).unwrap(),
            blob(4).map_or("none".to_owned(), |charge| hex(&charge)),
            blob(6).map_or(0, |secret| secret.len()),
            row.get::<_, String>(5).unwrap(),
        )
        .unwrap();
    }
    text
}

#[test]
fn the_form_of_a_budget_is_what_it_was() {
    let place = Place::new();
    fill(&place.path());
    let made = form(&place.path());
    if std::env::var_os("RETICENT_FREEZE").is_some() {
        std::fs::write(golden("format_5.txt"), &made).unwrap();
        std::fs::copy(place.path(), golden("format_5.budget")).unwrap();
    }
    // The program that has made it is named in it, and is no part of its form.
    let version = |version: &str| format!("\"reticent\":\"{version}\"");
    let made = made.replace(&version(env!("CARGO_PKG_VERSION")), &version("0.1.0"));
    assert_eq!(made, std::fs::read_to_string(golden("format_5.txt")).unwrap());
}

#[test]
fn a_budget_of_format_5_is_opened_checked_and_paid_from() {
    let place = Place::new();
    std::fs::copy(golden("format_5.budget"), place.path()).unwrap();
    let mut store = Store::open(&place.path()).unwrap();
    let before = store.check().unwrap();
    assert_eq!(form(&place.path()), std::fs::read_to_string(golden("format_5.txt")).unwrap());
    let statuses: Vec<_> = before.jobs.iter().map(|job| job.status.name()).collect();
    assert_eq!(statuses, ["settled", "settled", "released", "forfeited", "open", "imported"]);
    let _ = reserve(&mut store, 0.1).unwrap();
    assert!(store.check().unwrap().groups[0].counted > before.groups[0].counted);
}
