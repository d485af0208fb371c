//! What a wide table costs in coordinates of its own: the second moment of the rows, with its noise, and
//! the change of coordinates. Lines of JSON for benches/wide.py, which has a BLAS product of the same
//! sizes beside them.
//!
//! `wide RECORDS COLUMNS RUNS`; threads by `RAYON_NUM_THREADS`.

mod clock;

use std::hint::black_box;

use clock::best;
use reticent_accountant::{Adjacency, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_oracle::queries::SecondMoment;
use reticent_oracle::{Entropy, Gate, Oracle, PrivacyModel};
use reticent_problem::losses;

/// Numbers without pattern, in [−½, ½).
fn weyl(i: usize) -> f64 {
    (i as f64 * 0.618_033_988_749_894_9).fract() - 0.5
}

fn table(records: usize, columns: usize) -> Table {
    let norm = (columns as f64).sqrt();
    let values = (0..records * columns).map(|i| weyl(i) / norm).collect();
    let targets = (0..records).map(|i| if weyl(7 * i) > 0.0 { 1.0 } else { -1.0 }).collect();
    let rows = Rows::Dense(Dense { rows: records, columns, values });
    let names = (0..columns).map(|j| j.to_string()).collect();
    Table { rows, targets, users: None, weights: None, names }
}

fn main() {
    let given: Vec<usize> = std::env::args().filter_map(|text| text.parse().ok()).collect();
    let &[records, columns, runs] = &given[..] else {
        // Where all benchmarks are run without arguments there is nothing to compare with.
        return println!("wide RECORDS COLUMNS RUNS: asked by benches/wide.py");
    };
    let opening = PrivacyModel {
        adjacency: Adjacency::ReplaceOne,
        unit: Unit::Record,
        view: View::Central,
        public_n: None,
        intercept: 0.0,
    };
    let loss = losses::parse("logistic", None).expect("it is in the catalogue");
    let mut gate = Gate::open(table(records, columns).into(), loss, &opening, Entropy::seeded(1))
        .expect("an ordinary table");
    let query = SecondMoment { row_norm: 1.0, whole: true, noise_multiplier: 1.0 };
    let moment = best(runs, || {
        black_box(gate.ask(&query).expect("an ordinary query"));
    });
    let map: Vec<f64> = (0..columns * columns).map(|at| weyl(3 * at)).collect();
    let images = best(runs, || gate.set_basis(Some(black_box(&map))).expect("finite numbers"));
    for (what, (processor, wall)) in [("moment", moment), ("images", images)] {
        println!("{{\"what\": \"{what}\", \"processor\": {processor}, \"wall\": {wall}}}");
    }
}
