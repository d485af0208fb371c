//! Peers among whom messages are lost, late, doubled, changed or far too large.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::BTreeMap;

use crate::common::{Job, World, listen};
use proptest::prelude::*;
use reticent_accountant::Unit;
use reticent_runtime::{Failures, MessageKind, NoisePrice, PartyBudget};

const BUDGET: PartyBudget = PartyBudget { epsilon: 4.0, delta: 1e-5 };

fn job() -> Job<'static> {
    Job {
        algorithm: "r-admm",
        settings: r#"{"iterations": 12}"#,
        topology: "grid",
        unit: Unit::Record,
        price: NoisePrice::Within(BUDGET, BTreeMap::from([(2, 1.0)])),
        ..Job::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Whatever happens to messages, a party says one thing in a round, and has an entry for it
    /// unless its budget was spent before and it said what follows from what it had said.
    #[test]
    fn no_ledger_understates(
        [after, delay, duplicate, reorder, corrupt, byzantine] in prop::array::uniform6(0.0..0.4_f64),
        seed in any::<u64>(),
    ) {
        let world = World::even(90, 3, 9);
        let failures = Failures { after, delay, duplicate, reorder, corrupt, byzantine, seed, ..Failures::default() };
        let mut simulation = world.prepare_amid(&job(), failures);
        // Rounds that touch data.
        let heard = listen(&mut simulation, |envelope| envelope.kind == MessageKind::Share && envelope.round % 2 == 1);
        let outcome = simulation.complete(|_, _| {}).unwrap();
        let heard = heard.lock().unwrap();
        for party in &outcome.parties {
            prop_assert_eq!(heard[&party.id.0].len(), 6);
            let events = party.answers;
            prop_assert!(if party.id.0 == 2 { events < 6 } else { events == 6 }, "{} {events}", party.id.0);
        }
        prop_assert!(outcome.parameter.iter().all(|x| x.is_finite()));
    }
}

#[test]
fn a_run_that_is_killed_and_resumed_comes_to_the_same_bits_and_spends_once() {
    let world = World::even(90, 3, 9);
    let failures = Failures { delay: 0.2, after: 0.1, duplicate: 0.2, ..Failures::default() };
    world.assert_resumable(&job(), failures, &[0, 1, 6, 11]);
}

/// Increments that get lost would leave the dual variables of two ends of an edge at odds for ever,
/// and the model beside the optimum; sums do not.
#[test]
fn a_third_of_the_messages_may_be_lost_and_the_optimum_is_reached() {
    let world = World::skewed(400, 5, 10);
    let plain = Job {
        settings: r#"{"iterations": 400}"#,
        price: NoisePrice::Noise(0.0),
        topology: "ring",
        ..job()
    };
    let gap = world
        .gap(&world.run_amid(&plain, Failures { after: 0.3, ..Failures::default() }).parameter);
    println!("a third lost: {gap:e}");
    assert!(gap < 1e-4, "{gap:e}");
}

#[test]
fn each_kind_of_bad_message_is_rejected_by_its_name() {
    let world = World::even(90, 3, 9);
    let names = |failures| world.rejections(&job(), failures);
    assert_eq!(names(Failures { corrupt: 0.3, ..Failures::default() })[0], "corrupt");
    assert_eq!(names(Failures { duplicate: 0.5, ..Failures::default() }), ["duplicate"]);
    assert_eq!(names(Failures { delay: 0.5, ..Failures::default() }), ["stale"]);
    assert!(names(Failures { reorder: 1.0, after: 0.3, ..Failures::default() }).is_empty());
}
