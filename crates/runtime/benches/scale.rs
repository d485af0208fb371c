//! Cost per round of federated ADMM under the local view, for 1,000, 10,000 and 100,000 users with
//! a tenth asked each round: it must grow with the users asked.
//! `cargo bench -p reticent-runtime --bench scale [-- USERS ROUNDS DIMENSION]`.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use reticent_accountant::{Adjacency, Unit, View};
use reticent_admm::{ProblemFacts, Settings};
use reticent_data::{Dense, Rows, Table};
use reticent_oracle::{NoiseKey, PrivacyModel, PrivateTable};
use reticent_problem::{Regulariser, Shape, losses, penalties};
use reticent_runtime::{NoisePrice, PartyBudget, ProtocolRecipe, Setup, Topology, find, prepare};

/// Records of a user.
const RECORDS: usize = 5;

fn tables(users: usize, columns: usize) -> Vec<PrivateTable> {
    let mut state = 1_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5) / (columns as f64).sqrt()
    };
    let mut table = || {
        let values: Vec<f64> = (0..RECORDS * columns).map(|_| next()).collect();
        let targets =
            values.chunks(columns).map(|row| if row[0] > 0.0 { 1.0 } else { -1.0 }).collect();
        let rows = Rows::Dense(Dense { rows: RECORDS, columns, values });
        PrivateTable::from(Table {
            rows,
            targets,
            users: Some(vec![0; RECORDS]),
            weights: None,
            names: Vec::new(),
        })
    };
    (0..users).map(|_| table()).collect()
}

fn run(users: usize, rounds: u64, columns: usize) {
    let start = Instant::now();
    let shape = Shape { features: columns, outputs: 1, intercept: false };
    let settings = Settings {
        iterations: Some(rounds),
        sampling: Some("poisson:0.1".parse().unwrap()),
        ..Settings::default()
    };
    let public = ProblemFacts {
        shape,
        population: users as u64,
        row_norm: 1.0,
        constant: 0.0,
        numeric: false,
        logistic: true,
        lipschitz: 1.0,
        smoothness: 0.25,
        whole_budget: 0.0,
    };
    let regulariser = Arc::new(Regulariser::plain(penalties::parse("l2:1e-3").unwrap(), shape));
    let records = vec![1; users];
    let topology = Topology::complete(users as u32);
    let recipe = ProtocolRecipe {
        settings: &settings,
        public: &public,
        regulariser: &regulariser,
        records: &records,
        topology: &topology,
        view: View::Local,
        unit: Unit::User,
        public_seed: 1,
    };
    let opening = PrivacyModel {
        adjacency: Adjacency::ReplaceOne,
        unit: Unit::User,
        view: View::Local,
        public_n: None,
        intercept: 0.0,
    };
    let setup = Setup {
        entry: find("federated").unwrap(),
        recipe,
        loss: losses::parse("logistic", None).unwrap().into(),
        opening,
        price: NoisePrice::Within(PartyBudget { epsilon: 8.0, delta: 1e-6 }, BTreeMap::new()),
        job: [0; 32],
    };
    let simulation = prepare(setup, NoiseKey::seeded(1), tables(users, columns)).unwrap();
    let ready = start.elapsed();
    let outcome = simulation.complete(|_, _| {}).unwrap();
    let rounds_time = start.elapsed() - ready;
    println!(
        "{users:>7} users, {rounds} rounds, d = {columns}: ready after {:.2} s, {:.1} ms a round, {:.1} µs a user asked, {} MB moved",
        ready.as_secs_f64(),
        1e3 * rounds_time.as_secs_f64() / rounds as f64,
        1e6 * rounds_time.as_secs_f64() / rounds as f64 / (0.1 * users as f64),
        outcome.traffic.map_or(0, |traffic| traffic.bytes) / 1_000_000
    );
}

fn main() {
    let given: Vec<u64> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    match given[..] {
        [users, rounds, columns] => run(users as usize, rounds, columns as usize),
        _ => [(1_000, 10), (10_000, 10), (100_000, 10)]
            .into_iter()
            .for_each(|(users, rounds)| run(users, rounds, 100)),
    }
}
