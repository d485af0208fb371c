//! Noise from a key: the same step says the same and is entered once; anything else has other noise
//! and an entry. Blocks, trusted aggregators and members of masked sums.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::BTreeMap;
use std::sync::Arc;

use reticent_accountant::{Adjacency, Ledger, Taint, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_masks::{AggregationTerms, FixedPoint, NoiseShare};
use reticent_noise::NoiseKey;
use reticent_oracle::queries::{ClippedMean, Count, Residual, ResidualTerms, Score};
use reticent_oracle::{
    AggregatorKey, BlockTerms, EncryptedBlock, Gate, Keyed, OneRecord, Oracle, PrivacyModel,
    RecordStatistic, Refusal, Rehearsal, Sampling, TrustedAggregator, WalkTerms,
};
use reticent_problem::losses::{self, Loss};

fn table(shift: f64) -> Table {
    let values = (0..20).map(|i| (f64::from(i) * 0.37 + shift).sin() / 2.0).collect();
    Table {
        rows: Rows::Dense(Dense { rows: 10, columns: 2, values }),
        targets: (0..10).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect(),
        users: Some(vec![0; 10]),
        weights: None,
        names: Vec::new(),
    }
}

fn gate_on(table: Table, view: View, run: u8, seed: u64) -> Gate<Keyed> {
    gate_for(Unit::User, table, view, run, seed)
}

fn gate_for(unit: Unit, table: Table, view: View, run: u8, seed: u64) -> Gate<Keyed> {
    let opening = PrivacyModel {
        adjacency: Adjacency::ReplaceOne,
        unit,
        view,
        public_n: None,
        intercept: 0.0,
    };
    let loss = losses::parse("logistic", None).unwrap();
    Gate::open_keyed(table.into(), loss, &opening, NoiseKey::seeded(seed), &[run; 32]).unwrap()
}

fn gate() -> Gate<Keyed> {
    gate_on(table(0.0), View::Local, 1, 1)
}

fn params() -> ResidualTerms {
    ResidualTerms {
        clip: 1.0,
        record_clip: 1.0,
        row_norm: 1.0,
        step: 2.0,
        inner: 5,
        noise_multiplier: 2.0,
        walk: None,
    }
}

fn ask(gate: &mut Gate<Keyed>, label: u8, v: f64) -> Vec<f64> {
    gate.begin(&[label; 32]);
    gate.ask(&Residual { v: &[v, 0.0], z: &[0.0, 0.0], params: params() }).unwrap().into_inner()
}

#[test]
fn the_same_step_says_the_same_and_is_entered_once() {
    let mut gate = gate();
    let first = ask(&mut gate, 1, 0.5);
    assert_eq!(ask(&mut gate, 1, 0.5), first);
    assert_eq!(gate.ledger().total_events(), 1);
    let second = ask(&mut gate, 2, 0.5);
    assert_ne!(second, first);
    assert_eq!(gate.ledger().total_events(), 2);
    // Going back is an entry more than needed, never one less, and the same bits.
    assert_eq!(ask(&mut gate, 1, 0.5), first);
    assert_eq!(gate.ledger().total_events(), 3);
}

#[test]
fn whatever_differs_has_other_noise() {
    // A residual of exactly 0 would be the same for both, so the difference of two answers is that
    // of their noises.
    let noise = |mut gate: Gate<Keyed>, label: u8, v: f64| {
        let mut quiet = gate_on(table(0.0), View::Local, 9, 9);
        let exact = quiet
            .ask(&Residual {
                v: &[v, 0.0],
                z: &[0.0, 0.0],
                params: ResidualTerms { noise_multiplier: 0.0, ..params() },
            })
            .unwrap();
        let said = ask(&mut gate, label, v);
        said.iter().zip(exact.get()).map(|(s, e)| s - e).collect::<Vec<f64>>()
    };
    let usual = noise(gate(), 1, 0.5);
    let close = |a: &[f64]| a.iter().zip(&usual).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(close(&noise(gate(), 1, 0.5)));
    assert!(!close(&noise(gate(), 1, 0.5 + 1e-9)));
    assert!(!close(&noise(gate(), 2, 0.5)));
    assert!(!close(&noise(gate_on(table(0.0), View::Local, 2, 1), 1, 0.5)));
    assert!(!close(&noise(gate_on(table(0.0), View::Local, 1, 2), 1, 0.5)));
    assert!(!close(&noise(gate_on(table(1e-12), View::Local, 1, 1), 1, 0.5)));
}

/// Weights of classes change what is answered, and no description of the loss says them: were their
/// noise the same, the difference of two answers would have none.
#[test]
fn other_class_weights_have_other_noise() {
    let opening = PrivacyModel {
        adjacency: Adjacency::ReplaceOne,
        unit: Unit::Record,
        view: View::Central,
        public_n: None,
        intercept: 0.0,
    };
    let fingerprint = |weights: Option<[f64; 2]>| {
        let mut loss: Arc<dyn Loss> = losses::parse("logistic", None).unwrap().into();
        if let Some(weights) = weights {
            loss = Arc::new(losses::Weighted::new(loss, weights.to_vec()).unwrap());
        }
        let key = NoiseKey::seeded(1);
        let gate = Gate::open_keyed(table(0.0).into(), loss, &opening, key, &[1; 32]).unwrap();
        gate.fingerprint().unwrap()
    };
    let all = [None, Some([1.0, 2.0]), Some([2.0, 1.0])].map(fingerprint);
    assert!(all[0] != all[1] && all[0] != all[2] && all[1] != all[2]);
}

#[test]
fn books_survive_and_cannot_be_made_to_say_less() {
    let mut first = gate();
    let said = ask(&mut first, 1, 0.5);
    let books = first.books().clone();
    let text = serde_json::to_string(&books).unwrap();
    let mut second = gate();
    second.recall(&serde_json::from_str(&text).unwrap()).unwrap();
    assert_eq!(second.ledger(), first.ledger());
    assert_eq!(ask(&mut second, 1, 0.5), said);
    assert_eq!(second.ledger().total_events(), 1);
    assert!(matches!(second.recall(&books), Err(Refusal::BooksInUse)));
}

#[test]
fn a_plan_is_not_exceeded_in_any_order() {
    let mut rehearsal = Rehearsal::new(gate().shape(), *gate().terms());
    (0..2).for_each(|_| {
        _ = rehearsal.ask(&Residual { v: &[0.0; 2], z: &[0.0; 2], params: params() }).unwrap()
    });
    let mut gate = gate();
    gate.bind_within(&rehearsal.into_plan()).unwrap();
    ask(&mut gate, 1, 0.1);
    ask(&mut gate, 1, 0.1);
    ask(&mut gate, 2, 0.1);
    gate.begin(&[3; 32]);
    assert!(matches!(
        gate.ask(&Residual { v: &[0.1, 0.0], z: &[0.0; 2], params: params() }),
        Err(Refusal::Exhausted)
    ));
    let other = ResidualTerms { noise_multiplier: 3.0, ..params() };
    assert!(matches!(
        gate.ask(&Residual { v: &[0.1, 0.0], z: &[0.0; 2], params: other }),
        Err(Refusal::Unplanned { .. })
    ));
    assert_eq!(gate.ledger().total_events(), 2);
}

/// The bound of what was used does not hold where an answer decided that no more was used.
#[test]
fn who_may_stop_early_is_charged_the_plan() {
    let mut rehearsal = Rehearsal::new(gate().shape(), *gate().terms());
    (0..2).for_each(|_| {
        _ = rehearsal.ask(&Residual { v: &[0.0; 2], z: &[0.0; 2], params: params() }).unwrap()
    });
    let plan = rehearsal.into_plan();
    let mut gate = gate();
    gate.bind_within(&plan).unwrap();
    ask(&mut gate, 1, 0.1);
    assert_eq!(gate.ledger().total_events(), 1);
    let taints = gate.ledger().taints().to_vec();
    let closed = gate.close().unwrap();
    assert_eq!((closed.entries(), closed.taints()), (plan.entries(), &*taints));
}

const BLOCK: BlockTerms =
    BlockTerms { clip: 1.0, row_norm: 1.0, step: 2.0, inner: 5, relaxation: 0.5, one_record: None };

fn zs() -> Vec<Vec<f64>> {
    (0..5).map(|k| vec![0.3 * f64::from(k), 1.0 - 0.2 * f64::from(k)]).collect()
}

fn encrypted(
    gate: &mut Gate<Keyed>,
    aggregator: &TrustedAggregator,
    round: u32,
    party: u32,
) -> EncryptedBlock {
    gate.begin(&[7; 32]);
    gate.encrypt_block(&aggregator.public_key(), round, party).unwrap()
}

/// The blocks of three parties, in any round.
struct Parties(Vec<Gate<Keyed>>);

impl Parties {
    fn new(unit: Unit, params: &BlockTerms) -> Self {
        let party = |i: u32| {
            let mut gate = gate_for(unit, table(f64::from(i)), View::Central, 1, 1);
            gate.follow(0, &zs(), params).unwrap();
            gate
        };
        Parties((0..3).map(party).collect())
    }

    fn blocks(
        &mut self,
        aggregator: &TrustedAggregator,
        round: u32,
    ) -> BTreeMap<u32, EncryptedBlock> {
        let gates = self.0.iter_mut().zip(0..);
        gates.map(|(gate, party)| (party, encrypted(gate, aggregator, round, party))).collect()
    }
}

fn aggregator() -> TrustedAggregator {
    aggregator_of(BLOCK)
}

fn aggregator_of(params: BlockTerms) -> TrustedAggregator {
    TrustedAggregator::new(3, 2, params, &NoiseKey::seeded(5), &[1; 32])
}

#[test]
fn a_block_does_not_depend_on_when_its_owner_heard_of_the_consensus() {
    let aggregator = aggregator();
    let mut at_once = gate();
    assert_eq!(at_once.follow(0, &zs(), &BLOCK).unwrap(), 5);
    let mut bit_by_bit = gate();
    assert_eq!(bit_by_bit.follow(2, &zs()[2..], &BLOCK).unwrap(), 0);
    assert_eq!(bit_by_bit.follow(0, &zs()[..2], &BLOCK).unwrap(), 2);
    assert_eq!(bit_by_bit.follow(1, &zs()[1..4], &BLOCK).unwrap(), 4);
    assert_eq!(bit_by_bit.follow(0, &zs(), &BLOCK).unwrap(), 5);
    let of = |gate: &mut Gate<Keyed>| encrypted(gate, &aggregator, 1, 0);
    assert_eq!(of(&mut at_once), of(&mut bit_by_bit));
    assert_eq!(at_once.ledger().total_events(), 0);
}

/// In other coordinates it is another block: none of its way is kept, and the basis is in what its
/// box and its noise are drawn from, even before it has moved.
#[test]
fn a_block_starts_anew_in_another_basis() {
    let aggregator = aggregator();
    let swapped = [0.0, 1.0, 1.0, 0.0];
    let mut moved = gate();
    assert_eq!(moved.follow(0, &[], &BLOCK).unwrap(), 0);
    let unmoved = encrypted(&mut moved, &aggregator, 1, 0);
    assert_eq!(moved.follow(0, &zs(), &BLOCK).unwrap(), 5);
    moved.set_basis(Some(&swapped)).unwrap();
    let none = moved.encrypt_block(&aggregator.public_key(), 1, 0);
    assert!(matches!(none, Err(Refusal::BadQuery(_))), "{none:?}");
    assert_eq!(moved.follow(0, &[], &BLOCK).unwrap(), 0);
    assert_ne!(encrypted(&mut moved, &aggregator, 1, 0), unmoved);
    assert_eq!(moved.follow(0, &zs(), &BLOCK).unwrap(), 5);
    let mut fresh = gate();
    fresh.set_basis(Some(&swapped)).unwrap();
    fresh.follow(0, &zs(), &BLOCK).unwrap();
    let [moved, fresh] = [moved, fresh].map(|mut gate| encrypted(&mut gate, &aggregator, 1, 0));
    assert_eq!(moved, fresh);
}

#[test]
fn an_aggregator_releases_the_mean_of_bounded_blocks_and_enters_it() {
    let quiet =
        ClippedMean { clip: BLOCK.bound(), noise_multiplier: 0.0, sampling: Sampling::Full };
    let loud = ClippedMean { noise_multiplier: 1.0, ..quiet };
    let mut aggregator = aggregator();
    let mut parties = Parties::new(Unit::User, &BLOCK);
    let blocks = parties.blocks(&aggregator, 1);
    let mean = aggregator.release(1, &quiet, &blocks).unwrap().into_inner();
    let norm = mean.iter().map(|v| v * v).sum::<f64>().sqrt();
    assert!(norm > 0.0 && norm <= BLOCK.bound(), "{norm}");
    let mut blocks = parties.blocks(&aggregator, 2);
    let one = aggregator.release(2, &loud, &blocks).unwrap();
    assert_eq!(aggregator.release(2, &loud, &blocks).unwrap(), one);
    assert_eq!(aggregator.ledger().total_events(), 2);
    // Somebody stayed away after all. One secret sample, one mean: the events of two would not be
    // independent.
    blocks.remove(&2);
    let sampled_twice = aggregator.release(2, &loud, &blocks);
    assert!(matches!(sampled_twice, Err(Refusal::RoundReleased(2))), "{sampled_twice:?}");
    let blocks = parties.blocks(&aggregator, 1);
    let over = aggregator.release(1, &quiet, &blocks);
    assert!(matches!(over, Err(Refusal::RoundReleased(1))), "{over:?}");
    assert_eq!(aggregator.ledger().total_events(), 2);
    let blocks = parties.blocks(&aggregator, 3);
    assert!(matches!(aggregator.bind_within(&Ledger::new()), Err(Refusal::Exhausted)));
    let mut bound = self::aggregator();
    bound.bind_within(&Ledger::new()).unwrap();
    assert!(matches!(bound.release(3, &loud, &blocks), Err(Refusal::Exhausted)));
}

#[test]
fn an_aggregator_refuses_noise_that_is_none_before_it_enters_anything() {
    let good = ClippedMean { clip: BLOCK.bound(), noise_multiplier: 1.0, sampling: Sampling::Full };
    let mut aggregator = aggregator();
    let blocks = Parties::new(Unit::User, &BLOCK).blocks(&aggregator, 1);
    for noise_multiplier in [-1.0, 1e-9, 1e30, f64::NAN, f64::INFINITY] {
        let given = aggregator.release(1, &ClippedMean { noise_multiplier, ..good }, &blocks);
        assert!(given.is_err(), "{noise_multiplier}: {given:?}");
    }
    assert_eq!(aggregator.ledger().total_events(), 0);
    assert!(aggregator.release(1, &good, &blocks).is_ok());
}

#[test]
fn a_block_is_refused_that_is_not_what_its_party_encrypted_for_the_round() {
    let mut aggregator = aggregator();
    let mut parties = Parties::new(Unit::User, &BLOCK);
    let blocks = parties.blocks(&aggregator, 4);
    assert!(aggregator.admits(4, 0, &blocks[&0]).is_ok());
    let refused = |round, party, block: &EncryptedBlock| {
        let refusal = aggregator.admits(round, party, block).unwrap_err();
        assert!(matches!(refusal, Refusal::ForgedBlock { party: named } if named == party));
    };
    // Another round, another party, and every byte of what travels.
    refused(5, 0, &blocks[&0]);
    refused(4, 1, &blocks[&0]);
    let sent = serde_json::to_value(&blocks[&0]).unwrap();
    for (field, len) in [("sender", 32), ("tag", 16), ("bytes", 16)] {
        for i in 0..len {
            let mut changed = sent.clone();
            let byte = &mut changed[field][i];
            *byte = serde_json::json!(byte.as_u64().unwrap() ^ 1);
            refused(4, 0, &serde_json::from_value(changed).unwrap());
        }
    }
    let mut longer = sent;
    longer["bytes"].as_array_mut().unwrap().push(serde_json::json!(0));
    refused(4, 0, &serde_json::from_value(longer).unwrap());
    let other = TrustedAggregator::new(3, 2, BLOCK, &NoiseKey::seeded(5), &[2; 32]);
    assert!(matches!(other.admits(4, 0, &blocks[&0]), Err(Refusal::ForgedBlock { party: 0 })));
    // A sum is refused as a whole, before anything is entered.
    let mean = ClippedMean { clip: BLOCK.bound(), noise_multiplier: 1.0, sampling: Sampling::Full };
    let again = aggregator.release(5, &mean, &blocks);
    assert!(matches!(again, Err(Refusal::ForgedBlock { party: 0 })), "{again:?}");
    assert_eq!(aggregator.ledger().total_events(), 0);
}

/// Whatever a party has, its own key, its own blocks and the aggregator's public key, opens nothing
/// that another one sent; only the aggregator does, which is made from a key that nobody else has.
#[test]
fn no_party_opens_the_block_of_another() {
    let aggregator = aggregator();
    let blocks = Parties::new(Unit::User, &BLOCK).blocks(&aggregator, 4);
    let told = serde_json::to_value(aggregator.public_key()).unwrap();
    let public: [u8; 32] = serde_json::from_value(told["receiver"].clone()).unwrap();
    let sent: [u8; 32] =
        serde_json::from_value(serde_json::to_value(&blocks[&1]).unwrap()["sender"].clone())
            .unwrap();
    // The parties' keys are seeded with 1.
    let known = [
        NoiseKey::seeded(1),
        NoiseKey::recall(zeroize::Zeroizing::new(public), true),
        NoiseKey::recall(zeroize::Zeroizing::new(sent), true),
    ];
    for key in known {
        for run in [[1; 32], [2; 32]] {
            let pretender = TrustedAggregator::new(3, 2, BLOCK, &key, &run);
            for (&party, block) in &blocks {
                let refused = pretender.admits(4, party, block);
                assert!(matches!(refused, Err(Refusal::ForgedBlock { .. })), "{refused:?}");
            }
        }
    }
    assert!(blocks.iter().all(|(&party, block)| aggregator.admits(4, party, block).is_ok()));
    // What everybody is told travels as bytes, and closes the same.
    assert_eq!(
        serde_json::from_value::<AggregatorKey>(told).unwrap(),
        self::aggregator().public_key()
    );
}

const RECORD: BlockTerms =
    BlockTerms { one_record: Some(OneRecord { fewest: 10, smoothness: 0.25, rounds: 5 }), ..BLOCK };

/// 4000 values at a fixed seed: within 6 standard errors (false alarm below 1e-8).
#[test]
fn where_a_record_is_protected_the_noise_is_for_one_record() {
    let mut aggregator = aggregator_of(RECORD);
    let mut parties = Parties::new(Unit::Record, &RECORD);
    let blocks = parties.blocks(&aggregator, 1);
    let quiet =
        ClippedMean { clip: RECORD.bound(), noise_multiplier: 0.0, sampling: Sampling::Full };
    let centre = aggregator.release(1, &quiet, &blocks).unwrap().into_inner();
    let loud = ClippedMean { noise_multiplier: 3.0, ..quiet };
    let mut square = 0.0;
    for round in 2..2002 {
        let blocks = parties.blocks(&aggregator, round);
        let mean = aggregator.release(round, &loud, &blocks).unwrap().into_inner();
        square += mean.iter().zip(&centre).map(|(m, c)| (m - c) * (m - c)).sum::<f64>();
    }
    let sigma = 3.0 * RECORD.moves() / 2.0 / 3.0;
    assert!(RECORD.moves() < 0.4 * RECORD.bound(), "{} {}", RECORD.moves(), RECORD.bound());
    assert!(((square / 4000.0).sqrt() / sigma - 1.0).abs() < 6.0 / 8000_f64.sqrt());
    assert!(aggregator.ledger().entries().iter().all(|entry| entry.event().unit() == Unit::Record));
}

#[test]
fn a_block_is_good_for_the_terms_that_it_moved_on() {
    let mut gate = gate_for(Unit::Record, table(0.0), View::Central, 1, 1);
    assert_eq!(gate.follow(0, &zs(), &RECORD).unwrap(), 5);
    let refused =
        |result: Result<u32, Refusal>| assert!(matches!(result, Err(Refusal::BadQuery(_))));
    // A sixth z; other terms; an aggregator that counts persons.
    assert!(matches!(gate.follow(5, &[vec![0.0; 2]], &RECORD), Err(Refusal::Diverged(_))));
    refused(gate.follow(0, &zs(), &BLOCK));
    let mut encrypt = |of: TrustedAggregator| gate.encrypt_block(&of.public_key(), 1, 0);
    assert!(matches!(encrypt(aggregator()), Err(Refusal::BadQuery(_))));
    assert!(encrypt(aggregator_of(RECORD)).is_ok());
    // Fewer records than is said, and a loss that bends more.
    let fewer = |fewest, smoothness| BlockTerms {
        one_record: Some(OneRecord { fewest, smoothness, rounds: 5 }),
        ..BLOCK
    };
    let fresh = || gate_for(Unit::Record, table(0.0), View::Central, 1, 1);
    refused(fresh().follow(0, &zs(), &fewer(11, 0.25)));
    refused(fresh().follow(0, &zs(), &fewer(10, 0.24)));
    // Numbers beside which a record is lost in rounding.
    assert!(matches!(fresh().follow(0, &[vec![1e12; 2]], &RECORD), Err(Refusal::Diverged(_))));
}

/// A member that is made twice with the same keys, once for a round that goes on without it and once
/// for one that it stays in, would have both of its secrets shared out: its mask would come off. So
/// what a crash, or whoever asks again, leaves of a round is forfeited.
#[test]
fn nobody_is_a_member_of_one_masked_sum_twice() {
    let fresh = || gate_on(table(0.0), View::SecureAggregation, 1, 1);
    let mask = |gate: &mut Gate<Keyed>, label: u8, round: u64, id: u32| {
        let masks = AggregationTerms::complete([1; 32], round, 5, 3, 2).unwrap();
        let share = NoiseShare::new(&masks, 1, 1e9).unwrap();
        let code = FixedPoint::new(BLOCK.bound(), 30, 5, share.whole()).unwrap();
        gate.follow(0, &zs(), &BLOCK).unwrap();
        gate.begin(&[label; 32]);
        gate.mask(&code, &share, &masks, (id, None))
    };
    let refused = |gate: &mut Gate<Keyed>, label, round, id| {
        let spent = gate.ledger().total_events();
        let refusal = mask(gate, label, round, id).unwrap_err();
        assert!(matches!(refusal, Refusal::RoundReleased(of) if of == round), "{refusal}");
        assert_eq!(gate.ledger().total_events(), spent);
    };
    let mut gate = fresh();
    mask(&mut gate, 1, 1, 0).unwrap();
    // The same; in another place; as another step.
    refused(&mut gate, 1, 1, 0);
    refused(&mut gate, 1, 1, 3);
    refused(&mut gate, 2, 1, 0);
    let kept = serde_json::to_string(gate.books()).unwrap();
    // After a crash the books remember it.
    let mut restarted = fresh();
    restarted.recall(&serde_json::from_str(&kept).unwrap()).unwrap();
    refused(&mut restarted, 1, 1, 0);
    mask(&mut restarted, 3, 2, 0).unwrap();
    refused(&mut restarted, 1, 1, 0);
    assert_eq!(restarted.ledger().total_events(), 2);
}

/// 4000 values at a fixed seed: within 6 standard errors (false alarm below 1e-8).
#[test]
fn noise_that_covers_others_is_that_of_a_residual_and_costs_nothing() {
    let walk = Some(WalkTerms { users: 10, relaxation: 0.5 });
    let params = ResidualTerms { walk, ..params() };
    let mut gate = gate();
    let mut square = 0.0;
    for label in 0_u64..2000 {
        let mut step = [0; 32];
        step[..8].copy_from_slice(&label.to_le_bytes());
        gate.begin(&step);
        let cover = gate.cover(&params).unwrap();
        assert_eq!(gate.cover(&params).unwrap(), cover);
        square += cover.iter().map(|v| v * v).sum::<f64>();
    }
    assert!(((square / 4000.0).sqrt() / 2.0 - 1.0).abs() < 6.0 / 8000_f64.sqrt());
    assert_eq!(gate.ledger().total_events(), 0);
    // Where nothing hides behind anything, there is nothing to cover.
    assert!(matches!(gate.cover(&self::params()), Err(Refusal::BadQuery(_))));
}

/// Both are a one, a number and a noise in canonical bytes, which name no type: with one context for
/// both, the second would be answered without an entry, and their difference without noise.
#[test]
fn questions_of_two_kinds_with_the_same_bytes_have_their_own_noise_and_entries() {
    let one_column = Table {
        rows: Rows::Dense(Dense { rows: 4, columns: 1, values: vec![0.5, -0.5, 0.25, 0.0] }),
        targets: vec![1.0, -1.0, 1.0, -1.0],
        users: None,
        weights: None,
        names: Vec::new(),
    };
    let mut gate = gate_for(Unit::Record, one_column, View::Central, 1, 1);
    let (at, noise_multiplier) = (0.5, 3.0);
    gate.begin(&[7; 32]);
    let score = gate.ask(&Score { at: &[at], noise_multiplier }).unwrap().into_inner();
    let count = Count { of: RecordStatistic::Target, at_most: at, noise_multiplier };
    let count = gate.ask(&count).unwrap().into_inner();
    assert_eq!(gate.books().ledger().total_events(), 2);
    // Two of four targets are at most ½, and one prediction of four is wrong or undecided or none:
    // without noise the difference is a whole number of errors.
    let difference = 4.0 * score - count;
    assert!((difference - difference.round()).abs() > 1e-6, "{difference}");
}

/// The noise of the mean comes from the aggregator's key: if others know that key, no party's
/// certificate holds, though its own key is secret.
#[test]
fn a_seeded_aggregator_taints_the_books_of_its_parties() {
    let opening = PrivacyModel {
        adjacency: Adjacency::ReplaceOne,
        unit: Unit::User,
        view: View::Local,
        public_n: None,
        intercept: 0.0,
    };
    let loss = losses::parse("logistic", None).unwrap();
    let key = NoiseKey::secure().unwrap();
    let mut gate = Gate::open_keyed(table(0.0).into(), loss, &opening, key, &[1; 32]).unwrap();
    gate.follow(0, &zs(), &BLOCK).unwrap();
    assert!(gate.books().ledger().taints().is_empty());
    gate.encrypt_block(&aggregator().public_key(), 1, 0).unwrap();
    assert_eq!(gate.books().ledger().taints(), [Taint::SeededNoise]);
}

/// The event that is entered is about a secret sample: a sum over others than those would be told
/// with more than it costs.
#[test]
fn who_was_not_invited_is_in_no_sum() {
    let mut aggregator = aggregator();
    let blocks = Parties::new(Unit::User, &BLOCK).blocks(&aggregator, 1);
    let seldom = ClippedMean {
        clip: BLOCK.bound(),
        noise_multiplier: 1.0,
        sampling: Sampling::Poisson(0.01),
    };
    assert!(aggregator.invite(1, &seldom).unwrap().len() < blocks.len());
    let refused = aggregator.release(1, &seldom, &blocks);
    assert!(matches!(refused, Err(Refusal::BadQuery(_))), "{refused:?}");
    assert_eq!(aggregator.ledger().total_events(), 0);
}
