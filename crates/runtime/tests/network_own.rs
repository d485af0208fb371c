//! What peers have each for themselves: η_i, noise, a schedule of it, a start, a model.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::BTreeMap;

use crate::common::{Job, World};
use reticent_accountant::{LedgerEntry, Unit, epsilon};
use reticent_runtime::{NoisePrice, PartyBudget, SimulationOutcome};

const BUDGET: PartyBudget = PartyBudget { epsilon: 2.0, delta: 1e-5 };
const RELEASES: [&str; 4] = ["gradient", "minimiser", "objective", "normal-objective"];

fn job<'a>(algorithm: &'a str, settings: &'a str, topology: &'a str) -> Job<'a> {
    Job { algorithm, settings, topology, unit: Unit::Record, ..Job::default() }
}

fn within() -> NoisePrice {
    NoisePrice::Within(BUDGET, BTreeMap::new())
}

fn spent(outcome: &SimulationOutcome) -> Vec<f64> {
    let upper = |ledger| epsilon(ledger, BUDGET.delta).unwrap().upper;
    outcome.parties.iter().map(|party| upper(&party.ledger)).collect()
}

/// The distance from one model to another.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// One dual step for all keeps the sum of the λ_i at 0: with steps of their own the peers would end
/// elsewhere. Penalties grow slowly here: at 1.01 a round they stop everybody, with one η as with
/// several, before the optimum is near (gaps of 2e-6 and 1e-4, which 400 rounds more hardly change).
#[test]
fn without_noise_unequal_penalties_and_any_start_reach_the_optimum() {
    let world = World::skewed(400, 5, 6);
    let optimum = world.optimum();
    for rho in ["[0.05, 0.1, 0.2, 0.05, 0.4, 0.1]", r#""degree:0.2""#] {
        for (algorithm, release, rounds) in [
            ("r-admm", "gradient", 300),
            ("mr-admm", "minimiser", 400),
            ("dvp", "minimiser", 200),
            ("m-admm", "gradient", 400),
            ("admm-network", "minimiser", 200),
        ] {
            let growth = if algorithm.starts_with('m') { r#", "growth": 1.002"# } else { "" };
            let settings = format!(
                r#"{{"iterations": {rounds}, "release": "{release}", "party_rho": {rho}, "start": 1{growth}}}"#
            );
            let outcome = world.run(&job(algorithm, &settings, "erdos-renyi:0.5"));
            let gap = (world.objective(&outcome.parameter) - optimum) / optimum;
            println!("{algorithm} {release} {rho}: {gap:.1e}");
            assert!(gap < 1e-6, "{algorithm} {release} {rho}: {gap:e}");
            for node in &outcome.nodes {
                let far = apart(node, &outcome.parameter);
                assert!(far < 0.01, "{algorithm} {release} {rho}: {far}");
            }
        }
    }
}

/// A list of equal numbers is one number, to the bit, in the noise and in the model.
#[test]
fn equal_penalties_are_one_penalty() {
    let world = World::even(200, 4, 4);
    for algorithm in ["r-admm", "mr-admm", "dvp", "m-admm"] {
        let run = |rho: &str| {
            let settings = format!(r#"{{"iterations": 6, {rho}}}"#);
            let outcome =
                world.run(&Job { price: within(), ..job(algorithm, &settings, "complete") });
            (outcome.parameter, outcome.nodes)
        };
        let one = run(r#""rho": 0.25"#);
        assert_eq!(run(r#""party_rho": [0.25, 0.25, 0.25, 0.25]"#), one, "{algorithm}");
        assert_eq!(run(r#""party_rho": "degree:0.75""#), one, "{algorithm}");
    }
}

/// Where the price of a step depends on η_i (E8), each has its own noise, and all keep to the
/// budget and use it.
#[test]
fn every_party_keeps_to_its_budget_whatever_its_penalty_and_the_schedule() {
    let world = World::skewed(2000, 4, 5);
    for release in RELEASES {
        for schedule in ["constant", "geometric:0.7", "geometric:1.4"] {
            let settings = format!(
                r#"{{"iterations": 9, "release": "{release}", "party_rho": [0.02, 0.05, 0.1, 1, 5],
                     "noise_schedule": "{schedule}", "start": 0.5}}"#
            );
            let job = Job { price: within(), ..job("r-admm", &settings, "ring") };
            let mut simulation = world.prepare(&job);
            let noise = simulation.noise().to_vec();
            simulation.run(|_, _| {}).unwrap();
            let outcome = simulation.close_after(|_| {}).unwrap();
            for spent in spent(&outcome) {
                assert!((0.99 * 2.0..=2.0).contains(&spent), "{release} {schedule}: {spent}");
            }
            let own = noise.iter().any(|z| *z != noise[0]);
            assert_eq!(own, release.contains("objective"), "{release}: {noise:?}");
        }
    }
}

/// Each entry of the books is that of its own step: two of the same noise at most.
#[test]
fn the_schedule_is_in_the_books_event_by_event() {
    let world = World::even(200, 4, 5);
    let entries = |algorithm: &str, settings: &str| -> Vec<LedgerEntry> {
        let price = NoisePrice::Noise(8.0);
        let outcome = world.run(&Job { price, ..job(algorithm, settings, "ring") });
        outcome.parties[0].ledger.entries().to_vec()
    };
    let flat = entries("r-admm", r#"{"iterations": 9}"#);
    let falling = entries("r-admm", r#"{"iterations": 9, "noise_schedule": "geometric:0.5"}"#);
    assert_eq!((flat.len(), falling.len()), (1, 5), "{falling:?}");
    // The first step is the one that the schedule leaves as it is, in all of them.
    assert_eq!(falling[0].event(), flat[0].event());
    let cost = |settings: &str| {
        let price = NoisePrice::Noise(8.0);
        spent(&world.run(&Job { price, ..job("r-admm", settings, "ring") }))[0]
    };
    // Late noise of an eighth and a sixteenth costs more than eight times as much.
    let (flat, falling) = (
        cost(r#"{"iterations": 9}"#),
        cost(r#"{"iterations": 9, "noise_schedule": "geometric:0.5"}"#),
    );
    assert!(falling > 5.0 * flat, "{falling} {flat}");
    // Every round of dvp touches data, every second one of r-admm.
    let settings = r#"{"iterations": 4, "noise_schedule": "geometric:2"}"#;
    assert_eq!(entries("dvp", settings).len(), 4);
    assert_eq!(entries("r-admm", settings).len(), 2);
}

/// A party that takes more noise than its budget asks for spends less, and the others what they do
/// without it.
#[test]
fn more_noise_of_a_party_is_less_epsilon_of_that_party_alone() {
    let world = World::even(300, 4, 4);
    for release in RELEASES {
        let run = |extra: &str| {
            let settings = format!(r#"{{"iterations": 3, "release": "{release}"{extra}}}"#);
            let price = within();
            let simulation = world.prepare(&Job { price, ..job("r-admm", &settings, "ring") });
            let noise = simulation.noise().to_vec();
            (noise, spent(&simulation.complete(|_, _| {}).unwrap()))
        };
        let (noise, plain) = run("");
        let (more, less) = run(r#", "party_noise": [1, 2, 1, 4]"#);
        assert_eq!((more[0], more[1], more[3]), (noise[0], 2.0 * noise[1], 4.0 * noise[3]));
        assert_eq!((less[0], less[2]), (plain[0], plain[2]), "{release}");
        assert!(less[3] < less[1] && less[1] < plain[1], "{release}: {less:?} {plain:?}");
    }
}

/// Where peers begin is public: it follows from the public seed, not from the noise, and moves no
/// entry of the books.
#[test]
fn a_start_is_drawn_apart_from_the_noise() {
    let world = World::even(200, 4, 4);
    let run = |settings: &str, seed: u64, price: NoisePrice| {
        world.run(&Job { price, seed, ..job("r-admm", settings, "ring") })
    };
    let (zero, random) = (r#"{"iterations": 1}"#, r#"{"iterations": 1, "start": 0.1}"#);
    let free = |settings, seed| run(settings, seed, NoisePrice::Noise(0.0)).nodes;
    assert_ne!(free(zero, 1), free(random, 1));
    assert_eq!(free(random, 1), free(random, 2), "no noise, and another seed of it");
    let ledger = |settings| run(settings, 1, within()).parties.remove(0).ledger;
    assert_eq!(ledger(zero), ledger(random));
}

/// A peer's model is what it has broadcast last, and the mean of all is the model of the run.
#[test]
fn the_model_of_a_peer_is_its_last_broadcast() {
    use reticent_runtime::wire;
    use std::sync::{Arc, Mutex};

    let world = World::even(200, 4, 5);
    for (algorithm, rounds) in [("r-admm", 4), ("r-admm", 5), ("dvp", 3)] {
        let settings = format!(r#"{{"iterations": {rounds}}}"#);
        let mut simulation =
            world.prepare(&Job { price: within(), ..job(algorithm, &settings, "ring") });
        let heard: Arc<Mutex<BTreeMap<u32, Vec<f64>>>> = Arc::default();
        let ours = Arc::clone(&heard);
        simulation.listen(Box::new(move |_, bytes| {
            let envelope = wire::decode(bytes, wire::LONGEST).unwrap();
            let (f, _): (Vec<f64>, Vec<f64>) = wire::unpack(&envelope.payload).unwrap();
            ours.lock().unwrap().insert(envelope.from.0, f);
        }));
        let outcome = simulation.complete(|_, _| {}).unwrap();
        let heard: Vec<Vec<f64>> = heard.lock().unwrap().values().cloned().collect();
        assert_eq!(outcome.nodes, heard, "{algorithm} {rounds}");
        let mean = |j: usize| heard.iter().map(|f| f[j]).sum::<f64>() / 5.0;
        for (j, value) in outcome.parameter.iter().enumerate() {
            assert!((value - mean(j)).abs() < 1e-12);
        }
    }
}

/// What a party keeps with a server, or a token that one party may see, is not shown. The providers
/// of `dp-admm` have models of their own by what they sent (`star.rs`).
#[test]
fn nobody_else_has_models_of_single_parties() {
    let world = World::even(60, 3, 4);
    for algorithm in ["federated", "walk"] {
        let settings = r#"{"iterations": 4}"#;
        let job = Job { unit: Unit::User, ..job(algorithm, settings, "complete") };
        assert!(world.run(&job).nodes.is_empty(), "{algorithm}");
    }
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let world = World::even(100, 4, 3);
    let refusal = |algorithm: &str, settings: &str| {
        let job = Job { price: within(), ..job(algorithm, settings, "ring") };
        world.try_prepare(&job).err().unwrap().to_string()
    };
    for (algorithm, settings, words) in [
        (
            "r-admm",
            r#"{"party_rho": [1, 2]}"#,
            "party_rho = 1,2: there are 3 parties, and one number",
        ),
        ("r-admm", r#"{"party_rho": [1, 2, 3], "rho": 1}"#, "rho is given too"),
        (
            "r-admm",
            r#"{"party_noise": [1, 2, 0.5]}"#,
            "party_noise = 1,2,0.5: at least 1 is needed",
        ),
        ("r-admm", r#"{"party_noise": [1]}"#, "party_noise = 1: there are 3 parties"),
        ("dvp", r#"{"noise_schedule": "geometric:2"}"#, "over 100 steps the noise may change"),
        ("r-admm", r#"{"start": -1}"#, "start = -1: a number of at least 0"),
        ("admm-network", r#"{"noise_schedule": "constant"}"#, "admm-network has no such setting"),
        ("federated", r#"{"start": 1}"#, "federated has no such setting"),
        ("federated", r#"{"party_rho": "degree:1"}"#, "federated has no such setting"),
    ] {
        let error = refusal(algorithm, settings);
        assert!(error.contains(words), "{error}");
    }
}
