//! What each adversary sees is what is counted for it: cases in which more was to be seen than the
//! books said.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::common::{Job, World};
use reticent_accountant::{Unit, View, epsilon};
use reticent_oracle::NoiseKey;
use reticent_runtime::{
    Agreement, Checkpoint, Envelope, Failures, MessageKind, Node, NoisePrice, PartyBudget, PartyId,
    RunId, SERVER, SimulatedRun, SimulationOutcome, wire,
};

const BUDGET: PartyBudget = PartyBudget { epsilon: 4.0, delta: 1e-5 };

fn job(view: View, settings: &str) -> Job<'_> {
    Job {
        view,
        settings,
        price: NoisePrice::Within(BUDGET, BTreeMap::from([(2, 2.0)])),
        ..Job::default()
    }
}

type Heard = Arc<Mutex<Vec<Envelope>>>;

fn listen(simulation: &mut SimulatedRun) -> Heard {
    let heard = Heard::default();
    let ours = Arc::clone(&heard);
    simulation.listen(Box::new(move |_, bytes| {
        ours.lock().unwrap().push(wire::decode(bytes, usize::MAX).unwrap());
    }));
    heard
}

/// The trusted server's sample is secret, also from those who are in it.
#[test]
fn the_invited_are_not_told_who_else_is_invited() {
    let world = World::even(60, 3, 12);
    let mut simulation =
        world.prepare(&job(View::Central, r#"{"iterations": 1, "sampling": "poisson:0.5"}"#));
    let heard = listen(&mut simulation);
    simulation.step().unwrap();
    let heard = heard.lock().unwrap();
    let asks: Vec<&Envelope> = heard.iter().filter(|e| e.kind == MessageKind::Ask).collect();
    assert!(asks.len() > 2);
    assert!(asks.iter().all(|ask| ask.payload == asks[0].payload), "an ask depends on the sample");
}

/// A user with a smaller budget of its own keeps to it under every trust.
#[test]
fn a_user_stops_at_its_own_budget_whoever_keeps_the_books() {
    let world = World::even(60, 3, 10);
    for (view, settings) in [
        (View::Local, r#"{"iterations": 10}"#),
        (View::SecureAggregation, r#"{"iterations": 6}"#),
        (View::Central, r#"{"iterations": 10}"#),
        (View::Central, r#"{"iterations": 10, "sampling": "poisson:0.6"}"#),
    ] {
        let mut simulation = world.prepare(&job(view, settings));
        let heard = listen(&mut simulation);
        let outcome = simulation.complete(|_, _| {}).unwrap();
        let spent =
            |party: usize| epsilon(&outcome.parties[party].ledger, BUDGET.delta).unwrap().upper;
        assert!(spent(2) <= 2.0 && spent(2) > 0.0, "{view}: {}", spent(2));
        assert!(spent(1) > 3.0 && spent(1) <= 4.0, "{view}: {}", spent(1));
        let heard = heard.lock().unwrap();
        let rounds = |party: u32| {
            let said = heard.iter().filter(|e| e.from.0 == party);
            let said = said.filter(|e| matches!(e.kind, MessageKind::Answer | MessageKind::Masks));
            said.map(|e| e.round).collect::<BTreeSet<u32>>()
        };
        let allowed = outcome.parties[2].ledger.total_events();
        assert!(
            rounds(2).last().is_none_or(|&last| u64::from(last) <= allowed),
            "{view}: {:?}",
            rounds(2)
        );
        assert!(rounds(1).last() > rounds(2).last(), "{view}");
    }
}

/// A masked round that is done again with other survivors would open a second sum of the same
/// shares of noise; a trusted server's would be a second mean of the same sample.
#[test]
fn a_resumed_round_repeats_its_misfortunes_too() {
    let world = World::even(60, 3, 12);
    let failures = Failures {
        before: 0.02,
        after: 0.02,
        delay: 0.02,
        duplicate: 0.1,
        reorder: 0.3,
        ..Failures::default()
    };
    for (view, settings) in [
        (View::Central, r#"{"iterations": 8, "sampling": "poisson:0.5"}"#),
        (View::SecureAggregation, r#"{"iterations": 8, "sampling": "wor:9"}"#),
    ] {
        let start = || {
            let mut simulation = world.prepare(&job(view, settings));
            simulation.fail(failures).unwrap();
            simulation
        };
        let whole = start().complete(|_, _| {}).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        for stop in [2, 5] {
            let mut first = start();
            (0..stop).for_each(|_| assert!(first.step().unwrap()));
            first.checkpoint().unwrap().save(&file).unwrap();
            let mut second = start();
            second.resume(&Checkpoint::load(&file).unwrap()).unwrap();
            let resumed = second.complete(|_, _| {}).unwrap();
            assert_eq!(resumed.parameter, whole.parameter, "{view}, stopped at {stop}");
            let events =
                |o: &SimulationOutcome| o.parties.iter().map(|p| p.answers).collect::<Vec<_>>();
            assert_eq!(events(&resumed), events(&whole), "{view}");
        }
    }
}

/// A budget for somebody who is not there is a mistake, and its owner would think it kept.
#[test]
fn a_budget_for_nobody_is_refused() {
    let world = World::even(60, 3, 6);
    let price = NoisePrice::Within(BUDGET, BTreeMap::from([(6, 1.0)]));
    let error = world.try_prepare(&Job { price, ..Job::default() }).err().unwrap().to_string();
    assert!(error.contains("from 0 to 5"), "{error}");
}

/// How many messages there were tells how many were invited.
#[test]
fn the_traffic_of_a_secret_sample_is_not_told() {
    let world = World::even(60, 3, 10);
    let told = |view, settings| world.run(&job(view, settings)).traffic.is_some();
    assert!(!told(View::Central, r#"{"iterations": 1, "sampling": "poisson:0.5"}"#));
    assert!(!told(View::Central, r#"{"iterations": 3, "sampling": "wor:4"}"#));
    assert!(told(View::Central, r#"{"iterations": 1}"#));
    assert!(told(View::Local, r#"{"iterations": 1, "sampling": "poisson:0.5"}"#));
}

/// A mean over nobody is no number, and would tell that the person has no records.
#[test]
fn a_person_without_records_is_refused() {
    let mut world = World::even(60, 3, 6);
    world.owners.iter_mut().filter(|owner| **owner == 3).for_each(|owner| *owner = 0);
    let error =
        |unit| world.try_prepare(&Job { algorithm: "dp-admm", unit, ..Job::default() }).err();
    assert!(error(Unit::User).unwrap().to_string().contains("without records"));
    assert!(error(Unit::Record).is_none());
}

/// The node of party 0 of a `federated` run under local trust, for who plays the server.
fn user_alone(world: &World, noise: f64) -> Box<dyn Node> {
    let settings = r#"{"iterations": 3}"#;
    let job = Job { settings, price: NoisePrice::Noise(noise), ..Job::default() };
    let table = world.table().split_by_user().unwrap().swap_remove(0);
    let mut agreement = world.described(&job, |setup| Agreement::new(setup, [7; 32])).unwrap();
    agreement.node(PartyId(0), table, NoiseKey::seeded(0)).unwrap()
}

/// Whatever a server sends, a user says one thing in a round, of bounded length, has an entry for
/// it, and stops in the end.
#[test]
fn a_server_that_does_as_it_likes_gets_what_is_counted() {
    let user = &mut user_alone(&World::even(60, 3, 6), 1.0);
    let ask = |round: u32, attempt: u16, z: f64, u: f64| Envelope {
        run: RunId::from(&[7; 32]),
        round,
        attempt,
        from: SERVER,
        to: PartyId(0),
        kind: MessageKind::Ask,
        payload: wire::pack(&(vec![z; 3], vec![u; 3])).unwrap(),
    };
    let entered = |user: &dyn Node| user.party().unwrap().ledger().total_events();
    for (z, u) in [(f64::NAN, 0.0), (0.0, f64::NAN), (f64::INFINITY, 0.0), (1e308, -1e308)] {
        assert_eq!(user.on_message(&ask(1, 0, z, u)).unwrap_err().name(), "refused by the gate");
        assert_eq!(entered(&**user), 0);
    }
    let huge = user.on_message(&ask(1, 0, 1e300, -1e300)).unwrap();
    let said: Vec<f64> = wire::unpack(&huge[0].payload).unwrap();
    // γ = 4 and C = 1: a message of at most 4(1 + √3 + 6), but for a chance of 10⁻⁸.
    assert!(said.iter().map(|v| v * v).sum::<f64>().sqrt() < 4.0 * (7.0 + 3.0_f64.sqrt()));
    assert_eq!(user.on_message(&ask(1, 1, 0.0, 0.0)).unwrap_err().name(), "conflicting");
    assert_eq!(user.on_message(&ask(1, 1, 1e300, -1e300)).unwrap()[0].payload, huge[0].payload);
    assert_eq!(entered(&**user), 1);
    let kinds: Vec<MessageKind> =
        (2..6).map(|round| user.on_message(&ask(round, 0, 0.0, 0.0)).unwrap()[0].kind).collect();
    assert_eq!(
        kinds,
        [MessageKind::Answer, MessageKind::Answer, MessageKind::Declined, MessageKind::Declined]
    );
    assert_eq!(user.on_message(&ask(2, 9, 0.0, 0.0)).unwrap_err().name(), "stale");
    assert_eq!(entered(&**user), 3);
}
