//! What the tests of the algorithms share: a gate on simulated rows.

use reticent_accountant::{Adjacency, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_oracle::{Entropy, Gate, PrivacyModel};
use reticent_problem::losses;
use reticent_testkit::generators::Simulated;

/// A gate on `data` for `loss`, with `constant` behind the intercept, 0 for none.
pub fn gate(data: &Simulated, loss: &str, constant: f64) -> Gate {
    let table = Table {
        rows: Rows::Dense(Dense {
            rows: data.rows,
            columns: data.columns,
            values: data.features.clone(),
        }),
        targets: data.targets.clone(),
        users: None,
        weights: None,
        names: (0..data.columns).map(|j| format!("x{j}")).collect(),
    };
    let opening = PrivacyModel {
        adjacency: Adjacency::ReplaceOne,
        unit: Unit::Record,
        view: View::Central,
        public_n: None,
        intercept: constant,
    };
    Gate::open(table.into(), losses::parse(loss, None).unwrap(), &opening, Entropy::seeded(1))
        .unwrap()
}
