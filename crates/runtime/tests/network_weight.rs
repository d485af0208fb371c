//! The weight C of the mean loss of peers (RA18, equation 1).

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::BTreeMap;

use crate::common::{Job, World};
use reticent_accountant::{Taint, Unit, epsilon};
use reticent_runtime::{NoisePrice, PartyBudget};

const BUDGET: PartyBudget = PartyBudget { epsilon: 2.0, delta: 1e-5 };
const RELEASES: [&str; 4] = ["gradient", "minimiser", "objective", "normal-objective"];
const PRIVATE: [&str; 4] = ["r-admm", "mr-admm", "dvp", "m-admm"];

fn job<'a>(algorithm: &'a str, settings: &'a str) -> Job<'a> {
    Job { algorithm, settings, topology: "ring", unit: Unit::Record, ..Job::default() }
}

fn within() -> NoisePrice {
    NoisePrice::Within(BUDGET, BTreeMap::new())
}

/// The distance from one model to another.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// O with C is C times O without it and with r/C, η/C, γ/C: the same models without noise, the same
/// noise, and the same books.
#[test]
fn a_weight_is_all_the_rest_divided_by_it() {
    const C: f64 = 16.0;
    let weighted = World { penalty: "l2:1.6e-1", ..World::skewed(800, 4, 5) };
    let plain = World { penalty: "l2:1e-2", ..World::skewed(800, 4, 5) };
    for (algorithm, release) in
        PRIVATE.into_iter().flat_map(|name| RELEASES.map(|release| (name, release)))
    {
        let settings = |c: f64| {
            format!(
                r#"{{"iterations": 6, "release": "{release}", "rho": {}, "proximal": {}, "loss_weight": {c}, "start": 0.3}}"#,
                0.05 * c,
                0.2 * c
            )
        };
        let (with, without) = (settings(C), settings(1.0));
        let free = weighted.run(&job(algorithm, &with)).parameter;
        let far = apart(&free, &plain.run(&job(algorithm, &without)).parameter);
        assert!(far < 1e-9, "{algorithm} {release}: {far:e}");
        let priced = |world: &World, settings: &str| {
            let run = world.prepare(&Job { price: within(), ..job(algorithm, settings) });
            let noise = run.noise().to_vec();
            (noise, run.reports().into_iter().map(|party| party.ledger).collect::<Vec<_>>())
        };
        let (noise, books) = priced(&weighted, &with);
        let (expected, plain) = priced(&plain, &without);
        let off = noise.iter().zip(&expected).map(|(z, e)| (z / e - 1.0).abs()).fold(0.0, f64::max);
        assert!(off < 1e-6, "{algorithm} {release}: {noise:?} {expected:?}");
        for (book, plain) in books.iter().zip(&plain) {
            let spent = |ledger| epsilon(ledger, BUDGET.delta).unwrap().upper;
            assert!((spent(book) / spent(plain) - 1.0).abs() < 1e-6, "{algorithm} {release}");
        }
    }
}

/// Where η and γ are left to the defaults they grow with C, so that no release runs away.
#[test]
fn defaults_that_fit_the_weight_reach_the_optimum() {
    let world = World::skewed(2000, 5, 10);
    // 40 · mean loss + 1e-2 r is 40 times mean loss + 2.5e-4 r.
    let scaled = World { penalty: "l2:2.5e-4", ..World::skewed(2000, 5, 10) };
    for release in ["gradient", "minimiser"] {
        let settings =
            format!(r#"{{"iterations": 400, "release": "{release}", "loss_weight": 40}}"#);
        let gap = scaled.gap(&world.run(&job("r-admm", &settings)).parameter);
        assert!(gap < 1e-4, "{release}: {gap:e}");
        let other = world.gap(&world.run(&job("r-admm", &settings)).parameter);
        assert!(other > 1e-3, "{release}: it is another optimum: {other:e}");
    }
}

/// E8 with C: ln(1 + CβR²/(BΛ)) + 2/z against the printed 2.8 CβR²/(BΛ) + 2/z, which the paper has
/// for 2CβR² < BΛ alone.
#[test]
fn the_weight_is_in_the_pure_loss_and_in_the_printed_condition() {
    let world = World::even(300, 4, 10); // 30 records each, 2 neighbours
    let (z, eta, smoothness, ridge) = (4.0, 0.05, 0.25, 1e-2);
    let x = |c: f64| -> f64 { c * smoothness / (30.0 * (ridge + 2.0 * eta * 2.0)) };
    let prepared = |c: f64, extra: &str| {
        let settings = format!(
            r#"{{"iterations": 2, "release": "objective", "eta": {eta}, "C": {c}{extra}}}"#
        );
        world.try_prepare(&Job { price: NoisePrice::Noise(z), ..job("r-admm", &settings) })
    };
    let pure = |c: f64, extra: &str| {
        let ledger = prepared(c, extra).unwrap().reports().remove(0).ledger;
        assert_eq!(ledger.total_events(), 1);
        (epsilon(&ledger, 1e-12).unwrap().upper, ledger.taints().to_vec())
    };
    for c in [0.5, 1.0, 10.0, 30.0] {
        let exact = x(c).ln_1p() + 2.0 / z;
        let (ours, taints) = pure(c, "");
        assert!(ours > exact && ours < exact + 0.02 * 2.0 / z, "C = {c}: {ours} {exact}");
        assert!(!taints.contains(&Taint::AsPublished(7)));
    }
    for c in [0.5, 1.0, 10.0] {
        assert!(x(c) < 0.5);
        let (printed, taints) = pure(c, r#", "as-published": true"#);
        let exact = 2.8 * x(c) + 2.0 / z;
        assert!((printed - exact).abs() < 1e-3, "C = {c}: {printed} {exact}");
        assert!(taints.contains(&Taint::AsPublished(7)));
    }
    assert!(x(30.0) > 0.5);
    let error = prepared(30.0, r#", "as-published": true"#).err().unwrap().to_string();
    assert!(
        error.contains("set a larger rho, a smaller loss_weight or a larger penalty"),
        "{error}"
    );
}

/// Every party keeps to its budget and uses it, whatever the weight.
#[test]
fn every_party_keeps_to_its_budget_whatever_the_weight() {
    let world = World::even(4000, 4, 6);
    for release in RELEASES {
        for weight in ["0.1", "100"] {
            let settings = format!(
                r#"{{"iterations": 9, "release": "{release}", "loss_weight": {weight}, "start": 0.5}}"#
            );
            let outcome = world.run(&Job { price: within(), ..job("r-admm", &settings) });
            for party in &outcome.parties {
                let spent = epsilon(&party.ledger, BUDGET.delta).unwrap().upper;
                assert!((1.98..=2.0).contains(&spent), "{release} {weight}: {spent}");
            }
        }
    }
}

#[test]
fn a_weight_that_cannot_be_is_refused_in_words() {
    let world = World::even(100, 4, 5); // 20 records each
    let refusal = |job: Job<'_>| world.try_prepare(&job).err().unwrap().to_string();
    for (settings, words) in [
        (r#"{"loss_weight": 0}"#, "loss_weight = 0: a number above 0 is needed"),
        (
            r#"{"loss_weight": 21}"#,
            "at most that of the records of a party is needed, and one has 20",
        ),
        // 20 L/2 = 2.5 is more than 2ηV + γ = 0.3.
        (
            r#"{"loss_weight": 20, "rho": 0.05, "proximal": 0.1}"#,
            "proximal = 0.1: with loss_weight = 20 a step along a released gradient may be at most 4.00e-1 long, and \
             this one is 3.33e0; set proximal to 2.3000 or more, leave it out, or choose release = objective",
        ),
    ] {
        let error = refusal(job("r-admm", settings));
        assert!(error.contains(words), "{error}");
    }
    for settings in [
        r#"{"loss_weight": 20, "rho": 0.05, "proximal": 2.31}"#,
        r#"{"loss_weight": 20, "rho": 0.05, "proximal": 0.1, "release": "minimiser"}"#,
        r#"{"loss_weight": 20, "rho": 0.05}"#,
    ] {
        assert!(world.try_prepare(&job("r-admm", settings)).is_ok(), "{settings}");
    }
    let whole = Job { unit: Unit::User, ..job("r-admm", r#"{"loss_weight": 2}"#) };
    assert!(refusal(whole).contains("a secret where whole parties are protected"));
    assert!(
        refusal(job("federated", r#"{"loss_weight": 2}"#))
            .contains("federated has no such setting")
    );
}
