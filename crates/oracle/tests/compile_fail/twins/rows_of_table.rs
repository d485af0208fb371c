//! A private table goes into a gate.

use reticent_accountant::{Adjacency, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_oracle::{Entropy, Gate, PrivacyModel, PrivateTable};
use reticent_problem::losses;

pub fn main() {
    let mut rows = Dense::empty(1);
    rows.push_sparse(&[0], &[1.0]);
    let table = Table {
        rows: Rows::Dense(rows),
        targets: vec![1.0],
        users: None,
        weights: None,
        names: vec!["x".to_owned()],
    };
    let opening = PrivacyModel {
        adjacency: Adjacency::ReplaceOne,
        unit: Unit::Record,
        view: View::Central,
        public_n: None,
        intercept: 0.0,
    };
    let loss = losses::parse("logistic", None).unwrap();
    let gate = Gate::open(PrivateTable::from(table), loss, &opening, Entropy::seeded(1)).unwrap();
    assert!(gate.ledger().entries().is_empty());
}
