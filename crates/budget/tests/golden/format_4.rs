//! Makes the budgets of format 4 that tests open: `cargo run -p reticent-cli --example format_4 FOLDER`,
//! at commit 72ea3a8, which wrote that format. Kept as the record of what is in them.
use std::path::{Path, PathBuf};

use reticent::internal::tables::fingerprint;
use reticent::accountant::{Adjacency, Ledger, Unit, View};
use reticent_budget::{Promise, Relation, Request, Store, PaidTable, gaussian_job};

/// What Python called every table in memory.
const IN_MEMORY: [u8; 32] = [0; 32];

fn plan(epsilon: f64, unit: Unit) -> Ledger {
    gaussian_job((epsilon, 1e-6), Adjacency::ReplaceOne, unit, View::Central).unwrap()
}

fn main() {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap());
    for (name, first) in [("a.csv", 1), ("b.csv", 2), ("c.csv", 3)] {
        std::fs::write(folder.join(name), format!("x,y\n{first},0\n{first}.5,1\n")).unwrap();
    }
    tables(&folder);
    users(&folder);
}

fn tables(folder: &Path) {
    let promise = Promise::new("clinic", 2.0, 1e-6).unwrap();
    let mut store = Store::create(&folder.join("tables.budget"), promise).unwrap();
    let key = store.key().unwrap();
    let of = |names: &[&str]| {
        let paths: Vec<_> = names.iter().map(|name| folder.join(name)).collect();
        fingerprint(&paths, &key).unwrap()
    };
    let jobs = [
        ("python", IN_MEMORY, Relation::NewEdition, 0.5),
        ("fit of a", of(&["a.csv"]), Relation::NewEdition, 0.4),
        ("fit of b and c", of(&["b.csv", "c.csv"]), Relation::DisjointPeople, 0.6),
        ("python, of b", IN_MEMORY, Relation::NewEdition, 0.7),
        ("left open", IN_MEMORY, Relation::NewEdition, 0.3),
    ];
    for (label, fingerprint, relation, epsilon) in jobs {
        let plan = plan(epsilon, Unit::Record);
        let table = PaidTable { fingerprint, relation };
        let asked = (epsilon, 1e-6);
        let request = Request { label, asked, plan: &plan, table, user: None };
        let reservation = store.reserve(&request).unwrap();
        if label != "left open" {
            store.settle(&reservation, &plan).unwrap();
        }
    }
    store.check().unwrap();
}

fn users(folder: &Path) {
    let promise = Promise { unit: Unit::User, ..Promise::new("clinic", 2.0, 1e-6).unwrap() };
    let mut store = Store::create(&folder.join("groups.budget"), promise).unwrap();
    let plan = plan(0.5, Unit::User);
    let table = PaidTable { fingerprint: IN_MEMORY, relation: Relation::NewEdition };
    let user = Some("groups");
    let request = Request { label: "python", asked: (0.5, 1e-6), plan: &plan, table, user };
    let reservation = store.reserve(&request).unwrap();
    store.settle(&reservation, &plan).unwrap();
    store.check().unwrap();
}
