//! Federated ADMM with a trusted server, and behind masks.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::common::{Job, World};
use reticent_accountant::{Unit, View, epsilon};
use reticent_runtime::{Failures, MessageKind, NoisePrice, PartyBudget, PartyId, wire};

const BUDGET: PartyBudget = PartyBudget { epsilon: 4.0, delta: 1e-5 };

fn job(view: View, settings: &str) -> Job<'_> {
    Job { view, settings, ..Job::default() }
}

fn private(view: View, settings: &str) -> Job<'_> {
    Job { price: NoisePrice::Within(BUDGET, BTreeMap::new()), ..job(view, settings) }
}

#[test]
fn without_noise_the_optimum_is_reached() {
    for (rows, parties) in [(300, 10), (1000, 100)] {
        for world in [World::even(rows, 5, parties), World::skewed(rows, 5, parties)] {
            for view in [View::Central, View::SecureAggregation] {
                let settings = r#"{"iterations": 10, "gamma": 16, "lambda": 0.9, "inner": 150}"#;
                let outcome = world.run(&job(view, settings));
                let gap = world.gap(&outcome.parameter);
                assert!(gap < 1e-4, "{view} {parties} parties: {gap:e}");
                assert!(outcome.rejections.is_empty(), "{view}: {:?}", outcome.rejections);
            }
        }
    }
}

#[test]
fn a_trusted_server_needs_less_noise_and_everybody_has_the_same_books() {
    let world = World::even(300, 4, 30);
    for settings in [r#"{"iterations": 20}"#, r#"{"iterations": 40, "sampling": "poisson:0.3"}"#] {
        let outcome = world.run(&private(View::Central, settings));
        let spent: Vec<f64> = outcome
            .parties
            .iter()
            .map(|p| epsilon(&p.ledger, BUDGET.delta).unwrap().upper)
            .collect();
        assert_eq!(spent.len(), 30);
        assert!(spent.iter().all(|&e| e == spent[0] && e <= 4.0 && e > 3.9), "{spent:?}");
        assert!(outcome.parties.iter().all(|p| p.terms.population() == 30));
    }
    // The optimum is at a distance from 0 that noise of this size does not hide; under the local
    // view it would.
    let central = world.run(&private(View::Central, r#"{"iterations": 20}"#)).parameter;
    let local = world.run(&private(View::Local, r#"{"iterations": 20}"#)).parameter;
    assert!(
        world.gap(&central) < world.gap(&local),
        "{} {}",
        world.gap(&central),
        world.gap(&local)
    );
}

#[test]
fn what_a_user_entrusts_is_sealed_and_never_the_same_for_others() {
    let world = World::even(60, 3, 6);
    let mut simulation = world.prepare(&private(View::Central, r#"{"iterations": 3}"#));
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let ours = Arc::clone(&seen);
    simulation.listen(Box::new(move |_, bytes| {
        let envelope = wire::decode(bytes, usize::MAX).unwrap();
        if envelope.kind == MessageKind::Answer {
            // Sealed words look uniform: an unsealed block has steps below 2³³, and so many zero
            // bytes.
            assert!(envelope.payload.iter().filter(|&&byte| byte == 0).count() < 6);
            assert!(ours.lock().unwrap().insert(envelope.payload));
        }
    }));
    simulation.complete(|_, _| {}).unwrap();
    assert_eq!(seen.lock().unwrap().len(), 18);
}

#[test]
fn behind_masks_every_member_enters_every_sum() {
    let world = World::even(100, 3, 10);
    let outcome =
        world.run(&private(View::SecureAggregation, r#"{"iterations": 4, "honest": 0.8}"#));
    for party in &outcome.parties {
        let spent = epsilon(&party.ledger, BUDGET.delta).unwrap().upper;
        assert!(spent <= 4.0 && spent > 3.5, "{spent}");
        assert_eq!(party.ledger.total_events(), 4);
        assert_eq!(party.terms.view(), View::SecureAggregation);
    }
}

#[test]
fn masked_sums_survive_those_who_leave_and_nobody_understates() {
    let world = World::even(100, 3, 10);
    let mut simulation = world
        .prepare(&private(View::SecureAggregation, r#"{"iterations": 6, "sampling": "wor:8"}"#));
    simulation
        .fail(Failures { before: 0.03, after: 0.03, duplicate: 0.2, ..Failures::default() })
        .unwrap();
    // A user shows itself in a round when it sends its keys.
    let shown: Arc<Mutex<BTreeMap<u32, BTreeSet<u32>>>> = Arc::default();
    let ours = Arc::clone(&shown);
    simulation.listen(Box::new(move |round, bytes| {
        let envelope = wire::decode(bytes, usize::MAX).unwrap();
        if envelope.kind == MessageKind::Masks && envelope.from != reticent_runtime::SERVER {
            ours.lock().unwrap().entry(envelope.from.0).or_default().insert(round);
        }
    }));
    let outcome = simulation.complete(|_, _| {}).unwrap();
    let shown = shown.lock().unwrap();
    for party in &outcome.parties {
        let rounds = shown.get(&party.id.0).map_or(0, BTreeSet::len) as u64;
        assert_eq!(party.answers, rounds);
        assert!(party.ledger.total_events() >= rounds, "what is certified is the plan");
    }
    assert!(outcome.parameter.iter().any(|&x| x != 0.0));
}

#[test]
fn resumed_runs_come_to_the_same_bits() {
    let world = World::even(60, 3, 8);
    for (view, settings) in [
        (View::Central, r#"{"iterations": 8, "sampling": "poisson:0.5"}"#),
        (View::SecureAggregation, r#"{"iterations": 5, "sampling": "wor:5"}"#),
    ] {
        world.assert_resumable(&private(view, settings), Failures::default(), &[3]);
    }
}

/// A hospital with its patients: where a record is what is protected, a party of many has little to
/// hide of each.
#[test]
fn one_record_of_many_needs_less_noise_than_a_party() {
    let world = World::skewed(2000, 4, 5);
    for view in [View::Central, View::SecureAggregation] {
        let quiet = Job {
            unit: Unit::Record,
            ..job(view, r#"{"iterations": 150, "gamma": 8, "inner": 40}"#)
        };
        let gap = world.gap(&world.run(&quiet).parameter);
        assert!(gap < 1e-4, "{view}: {gap:e}");
        let run = |unit| {
            world.run(&Job { unit, ..private(view, r#"{"iterations": 30, "honest": 0.9}"#) })
        };
        let (record, party) = (run(Unit::Record), run(Unit::User));
        for report in &record.parties {
            let spent = epsilon(&report.ledger, BUDGET.delta).unwrap().upper;
            assert!(spent <= 4.0 && spent > 3.5, "{view}: {spent}");
            assert_eq!(report.terms.unit(), Unit::Record);
            assert_eq!(report.ledger.entries()[0].event().unit(), Unit::Record);
        }
        let (record, party) = (world.gap(&record.parameter), world.gap(&party.parameter));
        assert!(record < 0.01 && party > 10.0 * record, "{view}: {record:e} {party:e}");
    }
}

/// H_α(P ‖ Q) at α = e^ε for P = (1 − q)N(0, σ²) + qN(b, σ²) and Q with b′ in its place, all on one
/// line.
fn exact_delta(rate: f64, sigma: f64, [b, other]: [f64; 2], epsilon: f64) -> f64 {
    let (steps, far) = (200_000, b.abs().max(other.abs()) + 12.0 * sigma);
    let width = 2.0 * far / f64::from(steps);
    let normal =
        |x: f64| (-0.5 * (x / sigma).powi(2)).exp() / (sigma * std::f64::consts::TAU.sqrt());
    let law = |x: f64, b: f64| (1.0 - rate) * normal(x) + rate * normal(x - b);
    let excess = |k: u32| {
        let x = -far + (f64::from(k) + 0.5) * width;
        (law(x, b) - epsilon.exp() * law(x, other)).max(0.0)
    };
    (0..steps).map(|k| excess(k) * width).sum()
}

/// The means that are released in a run.
fn means(world: &World, job: &Job<'_>) -> Vec<Vec<f64>> {
    let mut simulation = world.prepare(job);
    simulation.run(|_, _| {}).unwrap();
    simulation.finish().unwrap();
    simulation.transcript(&[], PartyId(0), PartyId(1))
}

fn of_records(settings: &str) -> Job<'_> {
    Job { unit: Unit::Record, ..job(View::Central, settings) }
}

/// Whether a party was drawn is seen in the mean when its other records are as long as they can be:
/// what is drawn is the party and what is protected one record, so that chance must not be counted
/// as hiding the record. The pair is worked out exactly from the blocks without noise and the noise
/// that is there, whatever the books say.
#[test]
fn a_party_that_is_drawn_shows_itself_and_its_records_pay_for_it() {
    let budget = PartyBudget { epsilon: 1.0, delta: 1e-5 };
    let mut world = World { penalty: "none", ..World::even(400, 400, 10) };
    world.data.features.fill(0.0);
    world.data.targets.fill(1.0);
    let silent = World { data: world.data.clone(), owners: world.owners.clone(), ..world };
    let mine: Vec<usize> = (0..400).filter(|&i| world.owners[i] == 3).collect();
    mine.iter().for_each(|&i| world.data.features[400 * i] = 1.0);
    let everybody = of_records(r#"{"iterations": 1, "clip": 0.1}"#);
    let block = |world: &World| 10.0 * means(world, &everybody)[0][0];
    let b = block(&world);
    world.data.features[400 * mine[0]] = -1.0;
    let other = block(&world);
    assert!(b.abs() > 0.2 && (b - other).abs() > 0.01, "{b} {other}");
    for (sampling, rate) in
        [("poisson:0.1", 0.1), ("poisson:0.3", 0.3), ("wor:1", 0.1), ("full", 1.0)]
    {
        let settings = format!(r#"{{"iterations": 1, "clip": 0.1, "sampling": "{sampling}"}}"#);
        let price = NoisePrice::Within(budget, BTreeMap::new());
        let noise = world.prepare(&Job { price, ..of_records(&settings) }).noise()[0];
        // 400 coordinates of noise alone: within a fifth of its size but for a chance below 1e-7,
        // and that much is allowed.
        let released =
            &means(&silent, &Job { price: NoisePrice::Noise(noise), ..of_records(&settings) })[0];
        let sigma =
            1.2 * 10.0 * rate * (released.iter().map(|x| x * x).sum::<f64>() / 400.0).sqrt();
        for pair in [[b, other], [other, b]] {
            let delta = exact_delta(rate, sigma, pair, budget.epsilon);
            println!("{sampling}: sigma {sigma}, blocks {pair:?}, delta {delta:e}");
            assert!(delta <= budget.delta, "{sampling}: {delta:e} at epsilon 1");
        }
    }
}
