//! Decentralised ADMM: without noise the optimum, with noise books that are what they must be.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::BTreeMap;

use crate::common::{Job, World};
use reticent_accountant::{Taint, Unit, epsilon};
use reticent_runtime::{NoisePrice, PartyBudget};

const BUDGET: PartyBudget = PartyBudget { epsilon: 2.0, delta: 1e-5 };

const PRIVATE: [&str; 4] = ["r-admm", "mr-admm", "dvp", "m-admm"];
const RELEASES: [&str; 4] = ["gradient", "minimiser", "objective", "normal-objective"];

fn job<'a>(algorithm: &'a str, settings: &'a str, topology: &'a str) -> Job<'a> {
    Job { algorithm, settings, topology, unit: Unit::Record, ..Job::default() }
}

fn settings(rounds: u32, release: &str) -> String {
    format!(r#"{{"iterations": {rounds}, "release": "{release}"}}"#)
}

fn within() -> NoisePrice {
    NoisePrice::Within(BUDGET, BTreeMap::new())
}

/// The relative gap after 200 rounds, or 300 where growing penalties shorten the late steps.
fn check_optimum(world: &World, topologies: &[&str], ways: &[(&str, &str)]) {
    let optimum = world.optimum();
    for topology in topologies {
        for (algorithm, release) in ways {
            let rounds = if algorithm.starts_with('m') { 300 } else { 200 };
            let outcome = world.run(&job(algorithm, &settings(rounds, release), topology));
            let gap = (world.objective(&outcome.parameter) - optimum) / optimum;
            let about = format!(
                "{algorithm} {release}, {topology}, {} parties, {rounds} rounds",
                world.parties
            );
            println!("{about}: {gap:.1e}");
            assert!(gap < 1e-4, "{about}: {gap:e}");
            assert!(outcome.rejections.is_empty(), "{about}: {:?}", outcome.rejections);
        }
    }
}

#[test]
fn without_noise_ten_parties_reach_the_optimum() {
    // Without noise the minimisers of the perturbed objectives are the same as without
    // perturbation.
    let mut ways: Vec<_> =
        PRIVATE.into_iter().flat_map(|name| [(name, "gradient"), (name, "minimiser")]).collect();
    ways.push(("admm-network", "minimiser"));
    let graphs = ["ring", "complete", "erdos-renyi:0.4"];
    check_optimum(&World::even(400, 5, 10), &graphs, &ways);
    check_optimum(&World::skewed(400, 5, 10), &graphs, &ways);
}

#[test]
fn without_noise_a_hundred_parties_reach_the_optimum() {
    let mut ways = PRIVATE.map(|name| (name, "gradient")).to_vec();
    ways.push(("admm-network", "minimiser"));
    check_optimum(&World::even(1000, 5, 100), &["ring"], &ways);
    let skewed = World::skewed(1000, 5, 100);
    check_optimum(&skewed, &["ring", "erdos-renyi:0.08"], &ways);
    // Ten thousand messages a round.
    let outcome = skewed.run(&job("r-admm", &settings(80, "gradient"), "complete"));
    assert!(skewed.gap(&outcome.parameter) < 1e-4);
}

/// RA18, Lemma IV.1, in the books: a round that recycles leaves every ledger as it was.
#[test]
fn even_rounds_add_no_event() {
    let world = World::even(200, 4, 5);
    for release in RELEASES {
        let each = if release == "normal-objective" { 2 } else { 1 };
        let settings = settings(12, release);
        let mut simulation =
            world.prepare(&Job { price: within(), ..job("r-admm", &settings, "ring") });
        let mut round = 0_u64;
        while simulation.step().unwrap() {
            round += 1;
            for party in simulation.nodes().iter().filter_map(|node| node.party()) {
                assert_eq!(
                    party.ledger().total_events(),
                    each * round.div_ceil(2),
                    "{release}, round {round}"
                );
            }
        }
        assert_eq!(round, 12);
        let spent = |algorithm: &str| {
            let outcome = world
                .run(&Job { price: NoisePrice::Noise(5.0), ..job(algorithm, &settings, "ring") });
            epsilon(&outcome.parties[0].ledger, 1e-5).unwrap().upper
        };
        let (recycled, fresh) = (spent("r-admm"), spent("dvp"));
        assert!(recycled < 0.75 * fresh, "{release}: {recycled} {fresh}");
    }
}

#[test]
fn every_party_keeps_to_the_budget_and_uses_it() {
    let world = World::skewed(2000, 4, 10);
    for (algorithm, release) in
        PRIVATE.into_iter().flat_map(|name| RELEASES.map(|release| (name, release)))
    {
        let settings = settings(20, release);
        let outcome =
            world.run(&Job { price: within(), ..job(algorithm, &settings, "barabasi-albert:2") });
        for party in &outcome.parties {
            let spent = epsilon(&party.ledger, BUDGET.delta).unwrap().upper;
            assert!(
                (0.99 * BUDGET.epsilon..=BUDGET.epsilon).contains(&spent),
                "{algorithm} {release}: {spent}"
            );
        }
        assert!(outcome.parameter.iter().all(|v| v.is_finite()));
    }
}

/// Its own gate answers it no more; it goes on with what is public already, and so do the others.
#[test]
fn who_has_a_smaller_budget_stops_and_the_run_goes_on() {
    let world = World::even(300, 4, 10);
    let price = NoisePrice::Within(BUDGET, BTreeMap::from([(3, 1.0), (4, 1e-9)]));
    for (algorithm, events) in [("r-admm", 10), ("dvp", 20)] {
        let outcome = world
            .run(&Job { price: price.clone(), ..job(algorithm, r#"{"iterations": 20}"#, "grid") });
        let counts: Vec<u64> =
            outcome.parties.iter().map(|party| party.ledger.total_events()).collect();
        assert!(epsilon(&outcome.parties[3].ledger, BUDGET.delta).unwrap().upper <= 1.0);
        assert!(counts[3] > 0 && counts[3] < events && counts[4] == 0, "{counts:?}");
        assert!(counts[5..].iter().all(|&count| count == events), "{counts:?}");
    }
}

#[test]
fn without_noise_the_books_say_so() {
    let world = World::even(200, 4, 5);
    let plain = job("admm-network", r#"{"iterations": 5}"#, "star");
    for price in [NoisePrice::Noise(0.0), NoisePrice::Noise(3.0)] {
        let outcome =
            world.run(&Job { price, ..job("admm-network", r#"{"iterations": 5}"#, "star") });
        for party in &outcome.parties {
            assert_eq!(epsilon(&party.ledger, 1e-5).unwrap().upper, f64::INFINITY);
        }
    }
    let error = world.try_prepare(&Job { price: within(), ..plain }).err().unwrap().to_string();
    assert!(error.starts_with("no noise multiplier brings epsilon to 2"), "{error}");
}

#[test]
fn a_whole_party_is_protected_where_that_is_proven() {
    let world = World::even(300, 4, 10);
    fn of(settings: &str) -> Job<'_> {
        Job { price: within(), unit: Unit::User, ..job("r-admm", settings, "ring") }
    }
    for release in ["gradient", "minimiser", "objective"] {
        let outcome = world.run(&of(&settings(4, release)));
        for party in &outcome.parties {
            let spent = epsilon(&party.ledger, BUDGET.delta).unwrap().upper;
            assert!(spent <= BUDGET.epsilon && spent > 0.9 * BUDGET.epsilon, "{release}: {spent}");
        }
    }
    let error = world.try_prepare(&of(&settings(4, "normal-objective"))).err().unwrap().to_string();
    assert_eq!(
        error,
        "release = normal-objective: it protects records; the others protect whole parties too"
    );
}

/// E8: one fresh round of RA18's own mechanism costs ln(1 + βR²/(BΛ)) + 2/z and the share of the
/// solver's radius; the paper prints 2.8 βR²/(BΛ) + 2/z, and only for 2βR² < BΛ.
#[test]
fn the_pure_loss_is_less_than_the_printed_one() {
    let world = World::even(30, 4, 10); // 3 records each, 2 neighbours
    let (z, eta, smoothness, ridge) = (4.0, 0.05, 0.25, 1e-2);
    let x: f64 = smoothness / (3.0 * (ridge + 2.0 * eta * 2.0));
    let pure = |extra: &str| {
        let settings =
            format!(r#"{{"iterations": 2, "release": "objective", "eta": {eta}{extra}}}"#);
        let outcome =
            world.run(&Job { price: NoisePrice::Noise(z), ..job("r-admm", &settings, "ring") });
        let ledger = outcome.parties[0].ledger.clone();
        assert_eq!(ledger.total_events(), 1);
        (epsilon(&ledger, 1e-12).unwrap().upper, ledger.taints().to_vec())
    };
    let (ours, taints) = pure("");
    let exact = x.ln_1p() + 2.0 / z;
    assert!(ours > exact && ours < exact + 0.02 * 2.0 / z, "{ours} {exact}");
    assert!(!taints.contains(&Taint::AsPublished(7)));
    let (printed, taints) = pure(r#", "as-published": true"#);
    assert!((printed - (2.8 * x + 2.0 / z)).abs() < 1e-3, "{printed}");
    assert!(taints.contains(&Taint::AsPublished(7)));
    println!("x = {x:.3}: ours {ours:.4}, printed {printed:.4}");
    assert!((printed - 2.0 / z) / x.ln_1p() > 2.8);
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let world = World { penalty: "l1:1e-2", ..World::even(100, 4, 5) };
    let refusal = |algorithm: &str, settings: &str| {
        let job = Job { price: within(), ..job(algorithm, settings, "ring") };
        world.try_prepare(&job).err().unwrap().to_string()
    };
    let error = refusal("r-admm", r#"{"release": "minimiser"}"#);
    assert!(error.contains("release = gradient handles every convex penalty"), "{error}");
    let error = refusal("mr-admm", r#"{"growth": 0.9}"#);
    assert!(error.starts_with("growth = 0.9: a factor of at least 1"), "{error}");
    assert!(refusal("mr-admm", r#"{"growth": 2, "iterations": 400}"#).starts_with("growth = 2"));
    assert!(refusal("r-admm", r#"{"growth": 1.1}"#).contains("r-admm has no such setting"));
    assert!(refusal("r-admm", r#"{"eta": -1}"#).starts_with("rho = -1"));
    let world = World::even(20, 4, 5); // four records each: one of them bends a step a lot
    let many = Job { price: within(), ..job("r-admm", r#"{"release": "objective"}"#, "ring") };
    let error = world.try_prepare(&many).err().unwrap().to_string();
    assert!(error.contains("set a larger rho, a larger penalty or fewer iterations"), "{error}");
    let steep = r#"{"release": "objective", "noise_schedule": "geometric:1.1"}"#;
    let steep = Job { price: within(), ..job("r-admm", steep, "ring") };
    let error = world.try_prepare(&steep).err().unwrap().to_string();
    assert!(error.contains("with this noise_schedule a step would need"), "{error}");
}

/// A penalty with kinks, which RA18 leaves out: the recycled step keeps it whole.
#[test]
fn a_penalty_with_kinks_is_reached_too() {
    let world = World { penalty: "l1:2e-2", ..World::skewed(400, 5, 10) };
    let outcome = world.run(&job("r-admm", r#"{"iterations": 300}"#, "ring"));
    let gap = world.gap(&outcome.parameter);
    assert!(gap < 1e-4, "{gap:e}");
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let world = World::even(300, 4, 30);
    let job = Job { price: within(), ..job("mr-admm", r#"{"iterations": 10}"#, "erdos-renyi:0.2") };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| world.run(&job)).parameter
    };
    assert_eq!(run(1), run(2));
}
