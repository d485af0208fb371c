//! Whatever goes wrong: no ledger understates, what is resumed comes to the same bits, and nobody
//! moves the mean by more than it may.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{Job, World, ledgers, listen};
use proptest::prelude::*;
use reticent_accountant::{Unit, View};
use reticent_runtime::{Checkpoint, Failures, MessageKind, NoisePrice, PartyBudget};

const BUDGET: PartyBudget = PartyBudget { epsilon: 4.0, delta: 1e-5 };

fn job() -> Job<'static> {
    Job {
        settings: r#"{"iterations": 12, "sampling": "poisson:0.5"}"#,
        price: NoisePrice::Within(BUDGET, BTreeMap::from([(2, 1.0)])),
        ..Job::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// A party has an entry for every different answer that left it: not fewer, whatever happened,
    /// and (as repeated answers are not entered again) not more.
    #[test]
    fn no_ledger_understates(
        [before, after, delay, duplicate, reorder, corrupt, byzantine, restart] in prop::array::uniform8(0.0..0.4_f64),
        seed in any::<u64>(),
    ) {
        let world = World::even(60, 3, 12);
        let failures = Failures { before, after, delay, duplicate, reorder, corrupt, byzantine, restart, seed };
        let mut simulation = world.prepare_amid(&job(), failures);
        let heard = listen(&mut simulation, |envelope| envelope.kind == MessageKind::Answer);
        let outcome = simulation.complete(|_, _| {}).unwrap();
        let heard = heard.lock().unwrap();
        for party in &outcome.parties {
            let answers = heard.get(&party.id.0).map_or(0, BTreeSet::len) as u64;
            prop_assert_eq!(party.answers, answers, "party {}", party.id.0);
            prop_assert!(party.ledger.total_events() >= answers, "party {}", party.id.0);
        }
        prop_assert!(outcome.parameter.iter().all(|x| x.is_finite()));
    }
}

/// What a trace counts on: after so many rounds nobody has more events in its books than the protocol
/// says, and at the end that is the whole plan.
#[test]
fn nobody_is_ahead_of_what_the_rounds_allow() {
    let world = World::even(80, 3, 8);
    let (wor, all) = (r#"{"iterations": 12, "sampling": "wor:2"}"#, r#"{"iterations": 12}"#);
    let jobs = [
        ("federated", View::Local, wor),
        ("federated", View::SecureAggregation, all),
        ("federated", View::Central, all),
        ("dp-admm", View::Local, all),
        ("dp-admm-exact", View::Local, all),
        ("r-admm", View::Local, all),
        ("m-admm", View::Local, all),
        ("r-admm", View::Local, r#"{"iterations": 12, "release": "minimiser"}"#),
        ("r-admm", View::Local, r#"{"iterations": 12, "release": "objective"}"#),
        // Two events a step.
        ("r-admm", View::Local, r#"{"iterations": 12, "release": "normal-objective"}"#),
        ("dvp", View::Local, r#"{"iterations": 12, "release": "normal-objective"}"#),
        (
            "mr-admm",
            View::Local,
            r#"{"iterations": 12, "release": "normal-objective", "noise_schedule": "geometric:0.8"}"#,
        ),
        ("r-admm", View::Local, r#"{"iterations": 12, "as_published": true, "rho": 1}"#),
        ("walk", View::Local, r#"{"iterations": 200}"#),
        ("walk", View::Network, r#"{"iterations": 200}"#),
    ];
    let amid =
        Failures { after: 0.1, delay: 0.1, duplicate: 0.3, restart: 0.3, ..Failures::default() };
    for ((algorithm, view, settings), failures) in
        jobs.iter().flat_map(|job| [(job, Failures::default()), (job, amid)])
    {
        let price = NoisePrice::Noise(2.0);
        let unit = if settings.contains("normal") { Unit::Record } else { Unit::User };
        let job = Job { algorithm, settings, view: *view, unit, price, ..Job::default() };
        let mut run = world.prepare_amid(&job, failures);
        while run.step().unwrap() {
            let most = run.protocol().events_by(run.progress().done);
            let asked = run.reports().iter().map(|party| party.answers).max().unwrap();
            let at = (settings, run.progress());
            assert!(asked <= most, "{algorithm} {view}: {asked} of {most} in {at:?}");
        }
        let whole = run.reports().iter().map(|party| party.ledger.total_events()).max().unwrap();
        let counted = run.protocol().events_by(run.progress().of);
        assert!(counted >= whole, "{algorithm} {view} {settings}: {counted} of {whole}");
    }
}

#[test]
fn each_kind_of_bad_message_is_rejected_by_its_name() {
    let world = World::even(60, 3, 12);
    let names =
        |failures| world.rejections(&Job { price: NoisePrice::Noise(0.0), ..job() }, failures);
    assert_eq!(names(Failures { corrupt: 0.3, ..Failures::default() })[0], "corrupt");
    assert_eq!(names(Failures { duplicate: 0.5, ..Failures::default() }), ["duplicate"]);
    assert_eq!(names(Failures { delay: 0.5, ..Failures::default() }), ["stale"]);
    assert!(
        names(Failures {
            reorder: 1.0,
            before: 0.3,
            after: 0.3,
            restart: 0.5,
            ..Failures::default()
        })
        .is_empty()
    );
}

#[test]
fn a_server_that_restarts_every_round_comes_to_the_same_bits() {
    let world = World::even(60, 3, 12);
    let calm = world.run(&job());
    let stormy =
        world.run_amid(&job(), Failures { restart: 1.0, reorder: 1.0, ..Failures::default() });
    assert_eq!(stormy.parameter, calm.parameter);
    assert_eq!(ledgers(&stormy), ledgers(&calm));
}

#[test]
fn a_run_that_is_killed_and_resumed_comes_to_the_same_bits_and_spends_once() {
    let world = World::even(60, 3, 12);
    let failures =
        Failures { delay: 0.2, after: 0.1, duplicate: 0.2, restart: 0.3, ..Failures::default() };
    world.assert_resumable(&job(), failures, &[0, 1, 5, 11]);
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let world = World::even(60, 3, 12);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run");
    world.prepare(&job()).checkpoint().unwrap().save(&file).unwrap();
    let checkpoint = Checkpoint::load(&file).unwrap();
    let mut other = world.prepare(&Job { seed: 2, ..job() });
    assert!(other.resume(&checkpoint).unwrap_err().to_string().contains("another key"));
    let mut fewer = World::even(60, 3, 11).prepare(&job());
    assert!(fewer.resume(&checkpoint).unwrap_err().to_string().contains("number of parties"));
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    assert!(Checkpoint::load(&file).unwrap_err().to_string().contains("damaged"));
    std::fs::write(&file, b"something else").unwrap();
    assert!(Checkpoint::load(&file).unwrap_err().to_string().contains("not a checkpoint"));
}

#[test]
fn a_party_that_exaggerates_moves_the_mean_no_further_than_it_may() {
    let world = World::even(60, 3, 12);
    let run = |byzantine: f64| {
        let job = Job { settings: r#"{"iterations": 3}"#, price: NoisePrice::Noise(1.0), ..job() };
        world.run_amid(&job, Failures { byzantine, ..Failures::default() }).parameter
    };
    // γ = 4 and C = 1: a message of at most C′(1 + z(√3 + 6)), three rounds.
    let bound = 3.0 * 4.0 * (1.0 + 3.0_f64.sqrt() + 6.0);
    let size = |x: Vec<f64>| x.iter().map(|v| v * v).sum::<f64>().sqrt();
    assert!(size(run(1.0)) <= bound && size(run(1.0)) > size(run(0.0)));
}

/// Whose table has not changed would repeat its noise, in answer to other things: two such runs
/// differ by what their tables do and no noise hides that. So a checkpoint is of its tables, and
/// not of a name.
#[test]
fn a_checkpoint_of_other_tables_is_refused() {
    let world = World::even(40, 3, 5);
    let mut edited = World::even(40, 3, 5);
    edited.data.features[0] += 0.125;
    let mut flipped = World::even(40, 3, 5);
    flipped.data.targets[7] *= -1.0;
    for (algorithm, view, settings) in [
        ("federated", View::Local, r#"{"iterations": 4}"#),
        ("federated", View::Central, r#"{"iterations": 4, "sampling": "poisson:0.5"}"#),
        ("federated", View::SecureAggregation, r#"{"iterations": 4}"#),
        ("walk", View::Network, r#"{"iterations": 300}"#),
        ("r-admm", View::Local, r#"{"iterations": 4}"#),
    ] {
        let budget = PartyBudget { epsilon: 4.0, delta: 1e-5 };
        let price = NoisePrice::Within(budget, BTreeMap::new());
        let job = Job { algorithm, settings, view, price, ..Job::default() };
        let mut first = world.prepare(&job);
        (0..2).for_each(|_| assert!(first.step().unwrap()));
        let checkpoint = first.checkpoint().unwrap();
        for other in [&edited, &flipped] {
            let refused = other.prepare(&job).resume(&checkpoint).unwrap_err().to_string();
            assert!(refused.contains("a table"), "{algorithm} {view}: {refused}");
        }
        world.prepare(&job).resume(&checkpoint).unwrap();
    }
}
