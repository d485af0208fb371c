//! Federated ADMM: without noise it comes to the optimum; with noise its books are what they must
//! be.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::BTreeMap;

use crate::common::{Job, World};
use reticent_accountant::{Taint, Unit, View, epsilon, rdp_curve};
use reticent_runtime::{NoisePrice, PartyBudget};

#[test]
fn without_noise_the_optimum_is_reached() {
    for (world, name) in [
        (World::even(400, 5, 10), "even"),
        (World::even(1000, 5, 100), "even"),
        (World::skewed(400, 5, 10), "skewed"),
        (World::skewed(1000, 5, 100), "skewed"),
    ] {
        for (settings, rounds) in [
            (r#"{"iterations": 100, "gamma": 8}"#, 100),
            (r#"{"iterations": 400, "gamma": 8, "sampling": "poisson:0.3"}"#, 400),
        ] {
            let outcome = world.run(&Job { settings, ..Job::default() });
            let gap = world.gap(&outcome.parameter);
            println!("{name} {} parties, {rounds} rounds: {gap:e}", world.parties);
            assert!(gap < 1e-4, "{name} {} parties, {rounds} rounds: {gap:e}", world.parties);
            assert!(outcome.rejections.is_empty(), "{:?}", outcome.rejections);
        }
    }
}

const BUDGET: PartyBudget = PartyBudget { epsilon: 4.0, delta: 1e-5 };

#[test]
fn every_user_keeps_to_the_budget_and_uses_what_it_was_asked_for() {
    let world = World::even(300, 4, 30);
    let price = NoisePrice::Within(BUDGET, BTreeMap::new());
    for (settings, least) in
        [(r#"{"iterations": 20}"#, 3.99), (r#"{"iterations": 50, "sampling": "poisson:0.2"}"#, 0.5)]
    {
        for unit in [Unit::User, Unit::Record] {
            let outcome =
                world.run(&Job { settings, unit, price: price.clone(), ..Job::default() });
            for party in &outcome.parties {
                let spent = epsilon(&party.ledger, BUDGET.delta).unwrap().upper;
                assert!(spent <= BUDGET.epsilon && spent >= least, "{spent}");
            }
        }
    }
}

#[test]
fn who_has_a_smaller_budget_stops_and_the_run_goes_on() {
    let world = World::even(300, 4, 30);
    let price = NoisePrice::Within(BUDGET, BTreeMap::from([(3, 1.0), (4, 1e-9)]));
    let outcome = world.run(&Job { settings: r#"{"iterations": 20}"#, price, ..Job::default() });
    let events: Vec<u64> = outcome.parties.iter().map(|party| party.answers).collect();
    assert!(epsilon(&outcome.parties[3].ledger, BUDGET.delta).unwrap().upper <= 1.0);
    assert!(events[3] > 0 && events[3] < 10 && events[4] == 0, "{events:?}");
    assert!(events[5..].iter().all(|&events| events == 20));
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let world = World::even(300, 4, 30);
    let price = NoisePrice::Within(BUDGET, BTreeMap::new());
    let job =
        Job { settings: r#"{"iterations": 10, "sampling": "wor:7"}"#, price, ..Job::default() };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| world.run(&job)).parameter
    };
    assert_eq!(run(1), run(2));
    let other = Job { seed: 2, price: job.price.clone(), ..job };
    assert_ne!(world.run(&other).parameter, run(1));
}

/// FP23, Theorem 3: 16αKL²γ²/(σ²n²) for K rounds with samples of less than a fifth of the users,
/// whoever is in them; with σ = 2zγL that is 4αK/(zn)². The noise of a message had 1/m² alone, n/(2m)
/// times the divergence.
#[test]
fn as_published_a_sample_has_the_factor_of_theorem_3() {
    let world = World::even(300, 4, 30);
    let (z, rounds) = (0.5, 40_u64);
    for sampling in ["wor:3", "poisson:0.1"] {
        let settings = format!(
            r#"{{"iterations": {rounds}, "as-published": true, "sampling": "{sampling}"}}"#
        );
        let price = NoisePrice::Noise(z);
        let job = Job { settings: &settings, view: View::Central, price, ..Job::default() };
        let ledger = world.prepare(&job).reports().remove(0).ledger;
        assert_eq!(ledger.total_events(), rounds);
        assert!(ledger.taints().contains(&Taint::AsPublished(3)));
        let claimed = 4.0 * rounds as f64 / (30.0 * z).powi(2);
        for (order, divergence) in rdp_curve(&ledger) {
            assert!((divergence / (order * claimed) - 1.0).abs() < 1e-9, "{order}: {divergence}");
        }
    }
    let settings = r#"{"as-published": true, "sampling": "wor:6"}"#;
    let job = Job { settings, view: View::Central, ..Job::default() };
    let error = world.try_prepare(&job).err().unwrap().to_string();
    assert!(error.contains("samples of less than a fifth of the users"), "{error}");
}

/// E14: as printed the prox is applied to its own result, so that the limit is shrunk again and again.
#[test]
fn as_published_the_consensus_is_shrunk_more_than_once() {
    let world = World { penalty: "l1:1e-2", ..World::even(300, 4, 30) };
    let model = |extra: &str| {
        let settings = format!(r#"{{"iterations": 300{extra}}}"#);
        let view = if extra.is_empty() { View::Local } else { View::Central };
        world.run(&Job { settings: &settings, view, ..Job::default() }).parameter
    };
    let (ours, printed) = (model(""), model(r#", "as-published": true"#));
    assert!(world.gap(&ours) < 1e-4, "{:e}", world.gap(&ours));
    let norm = |x: &[f64]| x.iter().map(|x| x.abs()).sum::<f64>();
    assert!(norm(&printed) < 0.9 * norm(&ours), "{} {}", norm(&printed), norm(&ours));
    assert!(world.gap(&printed) > 1e-3);
}

#[test]
fn as_published_is_flagged_and_claims_too_little() {
    let world = World::even(300, 4, 30);
    let price = NoisePrice::Within(BUDGET, BTreeMap::new());
    let settings = r#"{"iterations": 20, "as-published": true}"#;
    let job = Job { settings, view: View::Central, price: price.clone(), ..Job::default() };
    let outcome = world.run(&job);
    for party in &outcome.parties {
        assert!(party.ledger.taints().contains(&Taint::AsPublished(3)));
    }
    // The noise of a message is a thirtieth of what the local view needs, that of the mean of 30
    // less by √30 than it must be.
    let ours = world
        .prepare(&Job { settings: r#"{"iterations": 20}"#, price, ..Job::default() })
        .noise()[0];
    let theirs = world.prepare(&job).noise()[0];
    assert!((ours / theirs / 30.0 - 1.0).abs() < 1e-3, "{ours} {theirs}");
}

/// How often a party is asked is up to the server, who may look at its answers first, or to a
/// chance that is seen: the sum of what was used is then no bound, and what a certificate counts is
/// what the party was ready for.
#[test]
fn what_is_certified_is_the_plan_and_not_what_was_used_of_it() {
    let world = World::even(60, 3, 12);
    for (view, sampling) in [
        (View::Local, "poisson:0.3"),
        (View::Local, "wor:2"),
        (View::SecureAggregation, "wor:8"),
        (View::Central, "poisson:0.3"),
    ] {
        let settings = format!(r#"{{"iterations": 20, "sampling": "{sampling}"}}"#);
        let price = NoisePrice::Within(BUDGET, BTreeMap::new());
        let outcome = world.run(&Job { settings: &settings, view, price, ..Job::default() });
        let planned = outcome.parties[0].ledger.total_events();
        assert!(
            outcome.parties.iter().all(|party| party.ledger.total_events() == planned),
            "{view} {sampling}"
        );
        let spent = epsilon(&outcome.parties[0].ledger, BUDGET.delta).unwrap().upper;
        assert!(
            spent > 0.99 * BUDGET.epsilon && spent <= BUDGET.epsilon,
            "{view} {sampling}: {spent}"
        );
        assert!(outcome.parties.iter().any(|party| party.answers < planned), "{view} {sampling}");
    }
}
