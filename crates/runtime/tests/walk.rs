//! The random walk: without noise it comes to the optimum; its books, its cap and its token are
//! what they must be.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::common::{Job, World};
use reticent_accountant::{Mechanism, Taint, Unit, View, epsilon};
use reticent_admm::ProblemFacts;
use reticent_oracle::NoiseKey;
use reticent_problem::{Penalty, Regulariser};
use reticent_runtime::{
    Checkpoint, Failures, MessageKind, NoisePrice, PartyBudget, ProtocolRecipe, Setup,
    SimulatedRun, SimulationOutcome, cap, prepare, wire,
};

const BUDGET: PartyBudget = PartyBudget { epsilon: 4.0, delta: 1e-5 };

fn walk(settings: &str, view: View) -> Job<'_> {
    Job { algorithm: "walk", settings, view, ..Job::default() }
}

fn worlds() -> [(World, &'static str); 4] {
    [
        (World::even(400, 5, 10), "even"),
        (World::even(1000, 5, 100), "even"),
        (World::skewed(400, 5, 10), "skewed"),
        (World::skewed(1000, 5, 100), "skewed"),
    ]
}

#[test]
fn without_noise_the_stateful_walk_reaches_the_optimum() {
    for (world, name) in worlds() {
        let hops = 200 * world.parties;
        let settings = format!(r#"{{"iterations": {hops}, "gamma": 8, "walk": "stateful"}}"#);
        let outcome = world.run(&walk(&settings, View::Local));
        let gap = world.gap(&outcome.parameter);
        println!("stateful {name} {} parties, {hops} steps: {gap:e}", world.parties);
        assert!(gap < 1e-4, "{name} {} parties, {hops} steps: {gap:e}", world.parties);
        assert!(outcome.rejections.is_empty(), "{:?}", outcome.rejections);
    }
}

/// Its fixed point is that of the Moreau envelopes, so γ is small and the steps are many.
#[test]
fn without_noise_the_stateless_walk_reaches_the_optimum() {
    for (world, name) in worlds() {
        let (gamma, lambda) = if world.parties == 10 { (0.05, 0.48) } else { (0.24, 1.0) };
        let settings =
            format!(r#"{{"iterations": 50000, "gamma": {gamma}, "lambda": {lambda}, "inner": 4}}"#);
        let outcome = world.run(&walk(&settings, View::Network));
        let gap = world.gap(&outcome.parameter);
        println!("stateless {name} {} parties, 50000 steps: {gap:e}", world.parties);
        assert!(gap < 1e-4, "{name} {} parties: {gap:e}", world.parties);
    }
}

/// Where records are protected a visit goes as far as their number and the noise allow: half of the time of
/// peers, over twenty visits; elsewhere it is 1/L long, and nothing is clipped.
#[test]
fn how_far_a_visit_goes_follows_from_public_numbers() {
    let world = World::even(400, 5, 10);
    let ran = |settings: &str, unit: Unit, whole_budget: f64| {
        let job = Job { unit, ..walk(settings, View::Local) };
        world.described(&job, |setup| {
            let public = ProblemFacts { whole_budget, ..*setup.recipe.public };
            let recipe = ProtocolRecipe { public: &public, ..setup.recipe };
            let tables = world.table().split_by_user().unwrap();
            let run = prepare(Setup { recipe, ..setup }, NoiseKey::seeded(3), tables).unwrap();
            run.complete(|_, _| {}).unwrap().parameter
        })
    };
    let far = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>();
    // 400/(z√10/2) clips of signal, a quarter of which is the time of peers, over 20 visits; L is a quarter.
    for z in [2.0, 8.0] {
        let gamma = 0.5 * 0.25 * 800.0 / (z * 10_f64.sqrt()) / 20.0 / 0.25;
        let typed = format!(r#"{{"gamma": {gamma}, "clip": 0.5}}"#);
        let (own, given) = (ran("{}", Unit::Record, z), ran(&typed, Unit::Record, z));
        assert!(far(&own, &given) < 1e-9, "{own:?} {given:?}");
        assert!(far(&own, &ran(r#"{"gamma": 4}"#, Unit::Record, z)) > 1e-3, "{own:?}");
    }
    // Hardly any noise: no longer than the inner solver goes, and the whole bound.
    let most = ran(r#"{"gamma": 80, "clip": 1}"#, Unit::Record, 1e-3);
    assert!(far(&ran("{}", Unit::Record, 1e-3), &most) < 1e-9);
    for (settings, unit, z) in [
        ("{}", Unit::User, 2.0),
        ("{}", Unit::Record, 0.0),
        (r#"{"walk": "stateful"}"#, Unit::Record, 2.0),
    ] {
        let typed = settings.replacen('{', r#"{"gamma": 4, "clip": 1, "#, 1).replace(", }", "}");
        assert!(far(&ran(settings, unit, z), &ran(&typed, unit, z)) < 1e-9, "{settings} {unit}");
    }
}

/// Where a peer looks, the observer has a seat too.
fn seats(users: u32, view: View) -> u32 {
    users + u32::from(view == View::Network)
}

fn within(epsilon: f64) -> NoisePrice {
    NoisePrice::Within(PartyBudget { epsilon, ..BUDGET }, BTreeMap::from([(2, 0.3 * epsilon)]))
}

#[test]
fn every_user_keeps_to_its_cap_and_its_budget() {
    let world = World::even(150, 3, 30);
    for (settings, view) in [
        (r#"{"iterations": 600}"#, View::Network),
        (r#"{"iterations": 600}"#, View::Local),
        (r#"{"iterations": 600, "walk": "stateful"}"#, View::Local),
    ] {
        let outcome = world.run(&Job { price: within(4.0), ..walk(settings, view) });
        let most =
            u64::from(cap(reticent_oracle::Sampling::WithoutReplacement(1), seats(30, view), 600));
        for party in &outcome.parties {
            let spent = epsilon(&party.ledger, BUDGET.delta).unwrap().upper;
            let allowed = if party.id.0 == 2 { 1.2 } else { 4.0 };
            assert!(spent <= allowed && party.answers <= most, "{view} {spent}");
            // The plan is counted and not what the path made of it.
            assert!(
                party.ledger.total_events() >= party.answers && party.ledger.total_events() <= most
            );
            if party.id.0 != 2 {
                assert_eq!(party.ledger.total_events(), most);
            }
            assert!(party.ledger.entries().iter().all(|entry| entry.event().view() == view));
            let amplified = party
                .ledger
                .entries()
                .iter()
                .all(|e| matches!(e.event().mechanism(), Mechanism::Iteration(_)));
            assert_eq!(amplified, view == View::Network);
        }
        let contributions: u64 = outcome.parties.iter().map(|party| party.answers).sum();
        assert!(
            (500..=600).contains(&contributions),
            "{view} {contributions} {:?}",
            outcome.rejections
        );
        assert!(outcome.rejections.is_empty(), "{:?}", outcome.rejections);
        assert!(outcome.parties[2].ledger.total_events() < most / 2);
        assert!(outcome.parameter.iter().all(|x| x.is_finite()));
    }
}

/// The model is what a seat without data saw last: it is a token that came to it, and nobody has
/// books for it.
#[test]
fn the_observer_has_no_data_and_the_model_is_the_token_it_saw_last() {
    let world = World::even(60, 3, 5);
    let job = Job { price: within(4.0), ..walk(r#"{"iterations": 300}"#, View::Network) };
    let mut simulation = world.prepare(&job);
    let tokens = listen(&mut simulation);
    let outcome = simulation.complete(|_, _| {}).unwrap();
    assert_eq!(outcome.parties.len(), 5);
    let tokens = tokens.lock().unwrap();
    let to_observer = |said: &&BTreeSet<(u32, u32, Vec<u8>)>| said.iter().any(|one| one.1 == 5);
    let last = tokens.values().rfind(to_observer).unwrap().first().unwrap();
    assert_eq!(wire::unpack::<Vec<f64>>(&last.2).unwrap(), outcome.parameter);
    // It passes on what it got, unless that came last.
    for (number, said) in tokens.iter().filter(|(_, said)| to_observer(said)) {
        let Some(next) = tokens.get(&(number + 1)) else { continue };
        let (said, next) = (said.first().unwrap(), next.first().unwrap());
        assert_eq!((next.0, &next.2), (5, &said.2));
    }
}

/// About (1 + ln n)/n of the divergence: among many users the same budget needs much less noise.
#[test]
fn a_peer_sees_less_than_whoever_sees_every_message() {
    let world = World::even(400, 3, 200);
    let noise = |view| {
        let price = NoisePrice::Within(BUDGET, BTreeMap::new());
        world.prepare(&Job { price, ..walk(r#"{"iterations": 4000}"#, view) }).noise()[0]
    };
    let (network, local) = (noise(View::Network), noise(View::Local));
    assert!(network < 0.5 * local, "{network} {local}");
}

#[test]
fn what_cannot_be_counted_for_a_peer_is_refused_and_local_is_offered() {
    let world = World::even(60, 3, 6);
    let error = |job: Job<'_>| world.try_prepare(&job).err().unwrap().to_string();
    for job in [
        walk(r#"{"walk": "stateful"}"#, View::Network),
        walk(r#"{"clip": 0.5}"#, View::Network),
        Job { loss: "hinge", ..walk("{}", View::Network) },
        Job { loss: "squared", ..walk("{}", View::Network) },
        Job { unit: Unit::Record, ..walk("{}", View::Network) },
    ] {
        let error = error(job);
        assert!(
            error.contains("trust = network") && error.contains("choose trust local"),
            "{error}"
        );
    }
    assert!(error(Job { topology: "ring", ..walk("{}", View::Network) }).contains("complete"));
    assert!(error(walk(r#"{"as-published": true}"#, View::Local)).contains("stateful"));
    for (loss, settings) in [("hinge", "{}"), ("logistic", r#"{"clip": 0.5}"#)] {
        assert!(world.try_prepare(&Job { loss, ..walk(settings, View::Local) }).is_ok());
    }
}

#[test]
fn as_published_the_stateful_walk_claims_theorem_4_and_is_not_certified() {
    let world = World::even(60, 3, 20);
    let settings = r#"{"iterations": 200, "walk": "stateful", "as-published": true}"#;
    let outcome = world.run(&Job { price: within(1.0), ..walk(settings, View::Network) });
    for party in outcome.parties.iter().filter(|party| party.ledger.total_events() > 0) {
        assert!(
            party.ledger.taints().contains(&Taint::AsPublished(12)),
            "{:?}",
            party.ledger.taints()
        );
    }
    let sound =
        world.prepare(&Job { price: within(1.0), ..walk(r#"{"iterations": 200}"#, View::Network) });
    // Who sent the token, and where it goes next, is a function of its path, which is given to the
    // observer: nothing is assumed of either.
    let assumed = sound.protocol().assumptions().join("; ");
    for word in ["sent", "to itself", "secret"] {
        assert!(!assumed.contains(word), "{word}: {assumed}");
    }
    assert!(assumed.contains("the observer alone") && assumed.contains("uniformly"), "{assumed}");
}

/// Every token that was on the wire: number, and what it said and whom it was for.
type Tokens = Arc<Mutex<BTreeMap<u32, BTreeSet<(u32, u32, Vec<u8>)>>>>;

fn listen(simulation: &mut SimulatedRun) -> Tokens {
    let tokens = Tokens::default();
    let ours = Arc::clone(&tokens);
    simulation.listen(Box::new(move |_, bytes| {
        let envelope = wire::decode(bytes, usize::MAX).unwrap();
        if envelope.kind == MessageKind::Token {
            let said = (envelope.from.0, envelope.to.0, envelope.payload);
            ours.lock().unwrap().entry(envelope.round).or_default().insert(said);
        }
    }));
    tokens
}

fn stormy() -> Failures {
    Failures {
        after: 0.01,
        delay: 0.01,
        duplicate: 0.1,
        reorder: 0.5,
        corrupt: 0.01,
        seed: 3,
        ..Failures::default()
    }
}

fn jobs() -> [Job<'static>; 2] {
    [
        Job { price: within(4.0), ..walk(r#"{"iterations": 2000}"#, View::Network) },
        Job {
            price: within(4.0),
            ..walk(r#"{"iterations": 2000, "walk": "stateful"}"#, View::Local)
        },
    ]
}

#[test]
fn a_lost_token_is_sent_again_and_nothing_is_spent_twice() {
    let world = World::even(60, 3, 12);
    for job in jobs() {
        let mut simulation = world.prepare(&job);
        simulation.fail(stormy()).unwrap();
        let tokens = listen(&mut simulation);
        let outcome = simulation.complete(|_, _| {}).unwrap();
        let tokens = tokens.lock().unwrap();
        // One token: each number was said by one user, to one user, in one way.
        assert!(tokens.values().all(|said| said.len() == 1));
        assert!(
            tokens.len() > 300 && tokens.keys().copied().eq(1..=tokens.len() as u32),
            "{}",
            tokens.len()
        );
        // What a user let out beyond the start of the walk is in its books, unless it had nothing
        // left to give.
        let mut sent = BTreeMap::<u32, u64>::new();
        tokens
            .iter()
            .skip(1)
            .for_each(|(_, said)| *sent.entry(said.first().unwrap().0).or_default() += 1);
        let seats = seats(12, job.view);
        let most = u64::from(cap(reticent_oracle::Sampling::WithoutReplacement(1), seats, 2000));
        for party in outcome.parties.iter().filter(|party| party.id.0 != 2) {
            // The very last one goes nowhere.
            let sent = sent.get(&party.id.0).copied().unwrap_or(0);
            let entered = party.answers;
            assert!(
                entered == sent.min(most) || entered == (sent + 1).min(most),
                "{entered} {sent}"
            );
        }
        for name in ["corrupt", "duplicate"] {
            assert!(
                outcome.rejections.keys().any(|rejected| rejected.contains(name)),
                "{:?}",
                outcome.rejections
            );
        }
    }
}

/// A token that waited for the end of a round every 50 steps made a walk between machines as slow as
/// its timer.
#[test]
fn no_token_waits_for_a_deadline() {
    let world = World::even(60, 3, 12);
    let mut simulation =
        world.prepare(&Job { price: within(4.0), ..walk(r#"{"iterations": 200}"#, View::Network) });
    let tokens = listen(&mut simulation);
    // Whoever takes a step sends what comes of it at once, at the end of a round as in it.
    for round in 1..=4 {
        assert!(simulation.step().unwrap());
        let sent = *tokens.lock().unwrap().keys().next_back().unwrap();
        assert_eq!(sent, (50 * round + 1).min(200), "round {round}");
    }
    assert!(simulation.rejections().is_empty(), "{:?}", simulation.rejections());
    // Nothing is sent again that is on its way: 200 tokens and their receipts.
    assert_eq!(simulation.traffic().messages, 400);
}

/// As a timer would have it: whoever awaits a receipt when nothing is on its way sends the same bits
/// to the same seat, and no round is lost.
#[test]
fn a_lost_token_is_sent_again_when_nobody_says_anything() {
    let world = World::even(60, 3, 12);
    let job = Job { price: within(4.0), ..walk(r#"{"iterations": 400}"#, View::Network) };
    let sent = |after: f64| {
        let mut simulation = world.prepare(&job);
        simulation.fail(Failures { after, seed: 3, ..Failures::default() }).unwrap();
        let tokens = listen(&mut simulation);
        assert!(simulation.step().unwrap());
        let said = tokens.lock().unwrap().clone();
        (said, simulation.traffic().messages)
    };
    let (all_lost, messages) = sent(1.0);
    assert!(all_lost.len() == 1 && all_lost[&1].len() == 1 && messages == 50, "{messages}");
    // A tenth of them: still more than half of the steps that the round has time for.
    let (some_lost, _) = sent(0.1);
    assert!(some_lost.len() > 25 && some_lost.values().all(|said| said.len() == 1));
}

#[test]
fn a_walk_that_is_killed_and_resumed_comes_to_the_same_bits_and_spends_once() {
    let world = World::even(60, 3, 12);
    let ledgers = |outcome: &SimulationOutcome| -> Vec<u64> {
        outcome.parties.iter().map(|party| party.answers).collect()
    };
    for job in jobs() {
        let whole = world.run(&job);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        for stop in [0, 1, 20] {
            let mut first = world.prepare(&job);
            (0..stop).for_each(|_| assert!(first.step().unwrap()));
            first.checkpoint().unwrap().save(&file).unwrap();
            // It goes on for a round that nobody will remember, and then it is gone.
            first.step().unwrap();
            drop(first);
            let mut second = world.prepare(&job);
            second.resume(&Checkpoint::load(&file).unwrap()).unwrap();
            let resumed = second.complete(|_, _| {}).unwrap();
            assert_eq!(resumed.parameter, whole.parameter, "stopped at {stop}");
            assert_eq!(ledgers(&resumed), ledgers(&whole));
        }
    }
}

/// A penalty moves the token by parts of a step of the lattice that the noise is on, and what is
/// between two steps of it no noise hides: with l1 the sign of a token that nobody was to see, with
/// a tiny l2 the whole of it.
#[test]
fn a_token_is_on_the_lattice_of_the_noise_whatever_the_penalty() {
    for penalty in ["none", "l1:0.1", "l2:1e-11", "elastic-net:0.01,0.5"] {
        let world = World { penalty, ..World::even(60, 3, 12) };
        let job = Job { price: within(4.0), ..walk(r#"{"iterations": 200}"#, View::Network) };
        let mut simulation = world.prepare(&job);
        let tokens = listen(&mut simulation);
        simulation.complete(|_, _| {}).unwrap();
        // γC in steps of the gate's grid, and 2λ/n of a step.
        let (clip, limit) =
            (4.0 * (1.0 + 1e-9), (2_f64.powi(32) - 0.5 * 3_f64.sqrt() - 1.0) * (1.0 - 2e-12));
        let step = clip / limit / 12.0;
        let mut moved = 0;
        for (_, _, payload) in tokens.lock().unwrap().values().flatten() {
            for t in wire::unpack::<Vec<f64>>(payload).unwrap() {
                let steps: f64 = t / step;
                assert!((steps - steps.round()).abs() < 0.01, "{penalty}: {steps}");
                moved += usize::from(steps != 0.0);
            }
        }
        assert!(moved > 300, "{penalty}: {moved}");
    }
}

/// It says that it is convex, and is not.
#[derive(Debug)]
struct Claims;

impl Penalty for Claims {
    fn name(&self) -> &'static str {
        "l1"
    }

    fn spec(&self) -> String {
        "l1:0.1".to_owned()
    }

    fn value(&self, _y: &[f64], _columns: usize) -> f64 {
        0.0
    }

    fn prox(&self, y: &mut [f64], _columns: usize, _step: f64) {
        y.iter_mut().for_each(|y| *y *= 2.0);
    }

    fn subgradient(&self, _y: &[f64], _columns: usize, out: &mut [f64]) {
        out.fill(0.0);
    }

    fn lipschitz(&self, _rows: usize, _columns: usize) -> f64 {
        0.0
    }
}

/// That later steps hide a contribution rests on a non-expansive prox, and the word of a penalty of
/// one's own is no proof of it.
#[test]
fn a_penalty_of_ones_own_is_not_counted_for_a_peer() {
    let world = World::even(60, 3, 6);
    let build = |view| {
        world.described(&walk("{}", view), |setup| {
            let regulariser =
                Arc::new(Regulariser::plain(Arc::new(Claims) as Arc<dyn Penalty>, world.shape()));
            let recipe = ProtocolRecipe { regulariser: &regulariser, ..setup.recipe };
            let tables = world.table().split_by_user().unwrap();
            prepare(Setup { recipe, ..setup }, NoiseKey::seeded(1), tables).map(|_| ())
        })
    };
    let error = build(View::Network).unwrap_err().to_string();
    assert!(error.contains("which only one of the library is known to be"), "{error}");
    assert!(build(View::Local).is_ok());
}

/// The error of such a prox is not bounded, so that it is not known to be non-expansive.
#[test]
fn a_penalty_whose_prox_is_iterative_is_not_counted_for_a_peer() {
    let world = World { penalty: "nuclear:0.1", ..World::even(60, 3, 6) };
    let build = |view| {
        world.described(&walk("{}", view), |setup| {
            let tables = world.table().split_by_user().unwrap();
            prepare(setup, NoiseKey::seeded(1), tables).map(|_| ())
        })
    };
    let error = build(View::Network).unwrap_err().to_string();
    assert!(error.contains("found by iterations"), "{error}");
    assert!(build(View::Local).is_ok());
}
