//! What half of the updates being free buys: the table of docs/decentralised.md, to be printed
//! again with `cargo run --release -p reticent-runtime --example decentralised`.

#![allow(clippy::unwrap_used)] // shares the helpers of the tests

#[path = "../tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;

use common::{Job, World};
use reticent_accountant::Unit;
use reticent_runtime::{NoisePrice, PartyBudget};

const SEEDS: u64 = 5;

fn main() {
    let world = World::skewed(4000, 10, 20);
    let optimum = world.optimum();
    println!(
        "release          rounds  ε     {}",
        ALGORITHMS.map(|name| format!("{name:>9}")).join(" ")
    );
    for release in ["gradient"] {
        for rounds in [20, 40] {
            for epsilon in [0.25, 0.5, 1.0, 2.0] {
                let gaps = ALGORITHMS.map(|algorithm| {
                    let settings = format!(r#"{{"iterations": {rounds}, "release": "{release}"}}"#);
                    let of = |seed| {
                        let job = Job {
                            algorithm,
                            settings: &settings,
                            unit: Unit::Record,
                            topology: "erdos-renyi:0.3",
                            price: NoisePrice::Within(
                                PartyBudget { epsilon, delta: 1e-5 },
                                BTreeMap::new(),
                            ),
                            seed,
                            ..Job::default()
                        };
                        (world.objective(&world.run(&job).parameter) - optimum) / optimum
                    };
                    (1..=SEEDS).map(of).sum::<f64>() / SEEDS as f64
                });
                println!(
                    "{release:16} {rounds:6}  {epsilon:3}  {}",
                    gaps.map(|gap| format!("{gap:9.4}")).join(" ")
                );
            }
        }
    }
}

const ALGORITHMS: [&str; 4] = ["r-admm", "mr-admm", "dvp", "m-admm"];
