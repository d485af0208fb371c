//! A table in shards: the same integers as in one piece, whoever is started anew; and workers that are
//! not what they enrolled as.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::sync::{Arc, Mutex};

use reticent_accountant::{Adjacency, Unit, View};
use reticent_data::{Csr, Dense, Rows, Table};
use reticent_oracle::queries::{ClippedMean, Gradient};
use reticent_oracle::{
    Entropy, Gate, Oracle, PrivacyModel, PrivateTable, Refusal, Sampling, Shard, ShardSeat,
    ShardedRows, Shards, self_test,
};
use reticent_problem::losses::{self, Loss};

const COLUMNS: usize = 3;
const KEY: [u8; 32] = [9; 32];
const BUILD: [u8; 32] = [4; 32];

/// What becomes of the workers before they are asked, and of what they say: the number of the question,
/// all workers, and afterwards the answers.
type Before = fn(usize, &mut [Shard]);
type After = fn(usize, &mut Vec<Vec<u8>>);

#[derive(Debug)]
struct Workers {
    shards: Mutex<(usize, Vec<Shard>)>,
    before: Before,
    after: After,
    heard: Arc<Mutex<Vec<(usize, usize)>>>,
}

impl Shards for Workers {
    fn count(&self) -> usize {
        self.shards.lock().unwrap().1.len()
    }

    fn ask(&self, requests: &[(usize, &[u8])]) -> Result<Vec<Vec<u8>>, Refusal> {
        let (asked, shards) = &mut *self.shards.lock().unwrap();
        *asked += 1;
        (self.before)(*asked, shards);
        let said = requests.iter().map(|&(k, request)| {
            let answer = shards[k].answer(request)?;
            assert_eq!(shards[k].answer(request)?, answer, "the same answer however often");
            self.heard.lock().unwrap().push((request.len(), answer.len()));
            Ok::<_, Refusal>(answer)
        });
        let mut said = said.collect::<Result<Vec<_>, _>>()?;
        (self.after)(*asked, &mut said);
        Ok(said)
    }
}

fn table(from: usize, to: usize, users: bool) -> Table {
    let value = |at: usize| ((at * 37 + 11) % 23) as f64 / 11.0 - 1.0;
    let mut dense = Dense::empty(COLUMNS);
    let mut numbers: Vec<u32> = (from..to).map(|i| (i / 3) as u32).collect();
    let first = numbers.first().copied().unwrap_or(0);
    numbers.iter_mut().for_each(|number| *number -= first);
    for i in from..to {
        dense.push_sparse(&[0, 1, 2], &[value(3 * i), value(3 * i + 1), value(3 * i + 2)]);
    }
    Table {
        rows: Rows::Dense(dense),
        targets: (from..to).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect(),
        users: users.then_some(numbers),
        weights: None,
        names: vec![String::new(); COLUMNS],
    }
}

fn opening(adjacency: Adjacency, unit: Unit) -> PrivacyModel {
    PrivacyModel { adjacency, unit, view: View::Central, public_n: Some(30), intercept: 0.5 }
}

fn loss() -> Arc<dyn Loss> {
    losses::parse("logistic", Some(2)).unwrap().into()
}

/// The worker at a seat, which has read a file that stands for `rows`.
fn shard(rows: Table, opening: &PrivacyModel, (number, of, split): (u32, u32, bool)) -> Shard {
    let files = vec![[if split { 0 } else { 50 + number as u8 }; 32]];
    let seat = ShardSeat { number, of, split };
    Shard::new(rows.into(), (loss(), opening), seat, (files, &KEY, &BUILD)).unwrap()
}

/// Workers with these parts of a table of 30 records.
fn parts(cuts: &[usize], opening: &PrivacyModel) -> Vec<Shard> {
    let users = opening.unit == Unit::User;
    let of = cuts.len() as u32 - 1;
    let one = |(k, ends): (usize, &[usize])| {
        shard(table(ends[0], ends[1], users), opening, (k as u32, of, false))
    };
    cuts.windows(2).enumerate().map(one).collect()
}

type Enrolled = Result<ShardedRows, Refusal>;

fn enrol(shards: Vec<Shard>, opening: &PrivacyModel, (before, after): (Before, After)) -> Enrolled {
    let (shards, heard) = (Mutex::new((0, shards)), Arc::default());
    let engine = Box::new(Workers { shards, before, after, heard });
    ShardedRows::enrol(engine, (opening, &*loss()), (COLUMNS, &BUILD))
}

const AS_THEY_ARE: (Before, After) = (|_, _| (), |_, _| ());

fn gate(rows: ShardedRows, opening: &PrivacyModel) -> Gate {
    Gate::open_sharded(rows, loss(), opening, Entropy::seeded(4)).unwrap()
}

fn refused(found: Result<impl Sized, Refusal>, shard: usize, word: &str) {
    let why = found.map(drop).unwrap_err();
    assert!(matches!(why, Refusal::Shard { shard: k, .. } if k == shard), "{why}");
    assert!(why.to_string().contains(word), "{why}");
}

/// A gradient in a basis of its own: what a worker that is started anew has lost.
fn in_a_basis(gate: &mut Gate) -> Result<Vec<f64>, Refusal> {
    let map: Vec<f64> = (0..16).map(|at| ((at * 29 + 7) % 17) as f64 / 8.0 - 1.0).collect();
    gate.set_basis(Some(&map))?;
    let mean = ClippedMean { clip: 0.4, noise_multiplier: 1.5, sampling: Sampling::Full };
    let mut all = Vec::new();
    for at in [[0.3, -0.2, 0.5, 0.1], [0.1, 0.0, -0.4, 0.2]] {
        all.extend(gate.ask(&Gradient { at: &at, mean })?.into_inner());
    }
    Ok(all)
}

#[test]
fn shards_answer_with_the_bits_of_one_table() {
    for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
        let opening = opening(adjacency, Unit::Record);
        let whole: PrivateTable = table(0, 30, false).into();
        let mut pooled = Gate::open(whole, loss(), &opening, Entropy::seeded(4)).unwrap();
        let expected = super::holders::answers(&mut pooled);
        // One, two, four; some of them empty.
        for cuts in [&[0, 30][..], &[0, 11, 30], &[0, 1, 14, 15, 30], &[0, 0, 30, 30]] {
            let rows = enrol(parts(cuts, &opening), &opening, AS_THEY_ARE).unwrap();
            let mut gate = gate(rows, &opening);
            assert_eq!(super::holders::answers(&mut gate), expected, "{cuts:?}");
            assert_eq!((gate.ledger(), gate.terms()), (pooled.ledger(), pooled.terms()));
        }
    }
}

/// Every worker reads one table and keeps its part: records in their order, whole persons.
#[test]
fn one_table_is_split_without_a_record_lost_or_a_person_cut() {
    for (unit, of) in [
        (Unit::Record, 1),
        (Unit::Record, 4),
        (Unit::Record, 40),
        (Unit::User, 3),
        (Unit::User, 14),
    ] {
        let opening = opening(Adjacency::ReplaceOne, unit);
        let whole = || table(0, 30, unit == Unit::User);
        let mut pooled = Gate::open(whole().into(), loss(), &opening, Entropy::seeded(4)).unwrap();
        let shards: Vec<Shard> = (0..of).map(|k| shard(whole(), &opening, (k, of, true))).collect();
        let mut gate = gate(enrol(shards, &opening, AS_THEY_ARE).unwrap(), &opening);
        let expected = in_a_basis(&mut pooled).unwrap();
        assert_eq!(in_a_basis(&mut gate).unwrap(), expected, "{unit} in {of}");
        if unit == Unit::Record {
            gate.set_basis(None).unwrap();
            pooled.set_basis(None).unwrap();
            let sampling = Sampling::Poisson(0.4);
            let mean = ClippedMean { clip: 0.4, noise_multiplier: 1.5, sampling };
            let ask =
                |gate: &mut Gate| gate.ask(&Gradient { at: &[0.1; 4], mean }).unwrap().into_inner();
            assert_eq!(ask(&mut gate), ask(&mut pooled), "a sample, {of} shards");
        }
    }
}

/// The worst that one unit can do, in a shard of its own or among others: one clip if it comes or goes, two
/// if it takes another's place; also if it moves others to another shard.
#[test]
fn one_record_moves_the_sum_of_all_shards_by_no_more_than_is_counted() {
    let clip = 0.4;
    let mean = ClippedMean { clip, noise_multiplier: 0.0, sampling: Sampling::Full };
    let far = |from: usize, to: usize, target: f64| {
        let mut rows = table(from, to, false);
        let Rows::Dense(dense) = &mut rows.rows else { unreachable!() };
        dense.push_sparse(&[0, 1, 2], &[1e6, -1e6, 1e6]);
        rows.targets.push(target);
        rows
    };
    let sum = |parts: Vec<Table>, split: bool, adjacency| {
        let opening = opening(adjacency, Unit::Record);
        let of = parts.len() as u32;
        let made =
            parts.into_iter().zip(0..).map(|(rows, k)| shard(rows, &opening, (k, of, split)));
        let mut gate = gate(enrol(made.collect(), &opening, AS_THEY_ARE).unwrap(), &opening);
        let n = gate.terms().population() as f64;
        let mean = gate.ask(&Gradient { at: &[0.0; 4], mean }).unwrap().into_inner();
        mean.into_iter().map(|mean| mean * n).collect::<Vec<f64>>()
    };
    let moved = |a: Vec<f64>, b: Vec<f64>| {
        a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    let some = || table(0, 12, false);
    for from in [30, 20] {
        let [one, two] = [1.0, -1.0]
            .map(|target| sum(vec![some(), far(from, 30, target)], false, Adjacency::ReplaceOne));
        let moved = moved(one, two);
        assert!(moved <= 2.0 * clip * (1.0 + 1e-9) && moved > 1.99 * clip, "{moved}");
    }
    // Of one table in three sections: without its last record others are elsewhere.
    let [one, none] = [far(0, 12, 1.0), table(0, 12, false)]
        .map(|rows| sum(vec![rows.clone(), rows.clone(), rows], true, Adjacency::AddRemove));
    let moved = moved(one, none);
    assert!(moved <= clip * (1.0 + 1e-9) && moved > 0.99 * clip, "{moved}");
}

/// A worker that is started anew has read its rows again and lost its basis: the same bits.
#[test]
fn a_worker_that_is_started_anew_changes_no_bit() {
    let opening = opening(Adjacency::ReplaceOne, Unit::Record);
    let cuts = [0, 11, 30];
    let quiet = enrol(parts(&cuts, &opening), &opening, AS_THEY_ARE).unwrap();
    let expected = in_a_basis(&mut gate(quiet, &opening)).unwrap();
    let killed: Before = |asked, shards| {
        if asked >= 4 {
            let opening = self::opening(Adjacency::ReplaceOne, Unit::Record);
            shards[1] = shard(table(11, 30, false), &opening, (1, 2, false));
        }
    };
    // Once is enough: from then on before every question, so that the basis is never there.
    let rows = enrol(parts(&cuts, &opening), &opening, (killed, |_, _| ())).unwrap();
    let why = in_a_basis(&mut gate(rows, &opening)).unwrap_err();
    assert!(why.to_string().contains("too often"), "{why}");
    let once: Before = |asked, shards| {
        if asked == 4 || asked == 7 {
            let opening = self::opening(Adjacency::ReplaceOne, Unit::Record);
            shards[1] = shard(table(11, 30, false), &opening, (1, 2, false));
        }
    };
    let rows = enrol(parts(&cuts, &opening), &opening, (once, |_, _| ())).unwrap();
    assert_eq!(in_a_basis(&mut gate(rows, &opening)).unwrap(), expected);
}

/// Other rows, other terms, another seat or another build in mid-run.
#[test]
fn a_worker_that_is_replaced_in_mid_run_ends_it() {
    let opening = opening(Adjacency::ReplaceOne, Unit::Record);
    let others: [Before; 4] = [
        |asked, shards| {
            if asked == 4 {
                let opening = self::opening(Adjacency::ReplaceOne, Unit::Record);
                shards[1] = shard(table(12, 31, false), &opening, (1, 2, false));
            }
        },
        |asked, shards| {
            if asked == 4 {
                let opening = self::opening(Adjacency::AddRemove, Unit::Record);
                shards[1] = shard(table(11, 30, false), &opening, (1, 2, false));
            }
        },
        |asked, shards| {
            if asked == 4 {
                shards.swap(0, 1);
            }
        },
        |asked, shards| {
            if asked == 4 {
                let opening = self::opening(Adjacency::ReplaceOne, Unit::Record);
                let seat = ShardSeat { number: 1, of: 2, split: false };
                let own = (vec![[51; 32]], &KEY, &[5; 32]);
                let rows: PrivateTable = table(11, 30, false).into();
                shards[1] = Shard::new(rows, (loss(), &opening), seat, own).unwrap();
            }
        },
    ];
    for (number, other) in others.into_iter().enumerate() {
        let rows = enrol(parts(&[0, 11, 30], &opening), &opening, (other, |_, _| ())).unwrap();
        let mut gate = gate(rows, &opening);
        refused(in_a_basis(&mut gate), usize::from(number != 2), "replaced");
        let mean = ClippedMean { clip: 0.4, noise_multiplier: 1.5, sampling: Sampling::Full };
        let again = gate.ask(&Gradient { at: &[0.0; 4], mean }).unwrap_err();
        assert!(matches!(again, Refusal::ShardEngine(_)), "nobody is asked again: {again}");
    }
}

/// Bits that were changed on their way, in every part of an answer; a second answer in place of the first.
#[test]
fn an_answer_with_other_bits_is_none() {
    let opening = opening(Adjacency::ReplaceOne, Unit::Record);
    let changes: [After; 4] = [
        |asked, said| {
            if asked == 3 {
                *said[1].last_mut().unwrap() ^= 1;
            }
        },
        |asked, said| {
            if asked == 3 {
                said[1][40] ^= 1;
            }
        },
        |asked, said| {
            if asked == 3 {
                let len = said[1].len() - 8;
                said[1].truncate(len);
            }
        },
        |asked, said| {
            if asked == 3 {
                said[1].clear();
            }
        },
    ];
    let mean = ClippedMean { clip: 0.4, noise_multiplier: 1.5, sampling: Sampling::Full };
    for change in changes {
        let rows = enrol(parts(&[0, 11, 30], &opening), &opening, (|_, _| (), change)).unwrap();
        let mut gate = gate(rows, &opening);
        refused(gate.ask(&Gradient { at: &[0.0; 4], mean }), 1, "changed on its way");
        // It was asked for: the books have it.
        assert_eq!(gate.ledger().total_events(), 1);
    }
    let lost: After = |asked, said| said.truncate(if asked == 3 { 1 } else { 2 });
    let rows = enrol(parts(&[0, 11, 30], &opening), &opening, (|_, _| (), lost)).unwrap();
    assert!(gate(rows, &opening).ask(&Gradient { at: &[0.0; 4], mean }).is_err());
}

#[test]
fn a_worker_of_another_kind_is_refused_before_a_row_is_asked_for() {
    let own = opening(Adjacency::ReplaceOne, Unit::Record);
    let seat = |number| ShardSeat { number, of: 2, split: false };
    let first = || shard(table(0, 11, false), &own, (0, 2, false));
    let second = |opening: &PrivacyModel, seat, build: &[u8; 32], file: u8| {
        let rows: PrivateTable = table(11, 30, false).into();
        Shard::new(rows, (loss(), opening), seat, (vec![[file; 32]], &KEY, build)).unwrap()
    };
    let with = |shard| enrol(vec![first(), shard], &own, AS_THEY_ARE);
    assert!(with(second(&own, seat(1), &BUILD, 51)).is_ok());
    refused(with(second(&own, seat(1), &[5; 32], 51)), 1, "another build");
    refused(
        with(second(&opening(Adjacency::AddRemove, Unit::Record), seat(1), &BUILD, 51)),
        1,
        "other terms",
    );
    refused(with(second(&own, seat(0), &BUILD, 51)), 1, "seat");
    // The file of the first shard.
    refused(with(second(&own, seat(1), &BUILD, 50)), 1, "twice");
    let nobody = enrol(Vec::new(), &own, AS_THEY_ARE).unwrap_err();
    assert!(matches!(nobody, Refusal::ShardEngine(_)), "{nobody}");
}

/// Another mathematics library: the digest in the greeting is another, and all of it is bound together.
#[test]
fn a_worker_that_computes_other_numbers_is_refused() {
    let opening = opening(Adjacency::ReplaceOne, Unit::Record);
    let found = self_test();
    assert_eq!(found, self_test());
    // Where the digest is in the bytes of a greeting, it is changed; what binds it is not.
    let other: After = |_, said| {
        let found = self_test();
        let at = said[1].windows(32).position(|part| part == found).unwrap();
        said[1][at] ^= 1;
    };
    refused(enrol(parts(&[0, 11, 30], &opening), &opening, (|_, _| (), other)), 1, "changed");
}

/// More or fewer units than its sums are over; parts of other tables; more than sums are exact for.
#[test]
fn a_shard_that_lies_about_its_size_is_refused() {
    let opening = opening(Adjacency::ReplaceOne, Unit::Record);
    // After it was enrolled with other rows, before it is asked to count: its identity is another.
    let grown: Before = |asked, shards| {
        if asked == 2 {
            let opening = self::opening(Adjacency::ReplaceOne, Unit::Record);
            shards[1] = shard(table(11, 31, false), &opening, (1, 2, false));
        }
    };
    refused(enrol(parts(&[0, 11, 30], &opening), &opening, (grown, |_, _| ())), 1, "replaced");
    let part = |rows: Table, k| shard(rows, &opening, (k, 2, true));
    let shards = vec![part(table(0, 30, false), 0), part(table(0, 29, false), 1)];
    refused(enrol(shards, &opening, AS_THEY_ARE), 0, "go together");
}

/// Under add-remove no length of a message follows from how many units a shard has.
#[test]
fn lengths_do_not_tell_sizes() {
    let lengths = |cuts: &[usize]| {
        let opening = opening(Adjacency::AddRemove, Unit::Record);
        let heard = Arc::<Mutex<Vec<(usize, usize)>>>::default();
        let shards = Mutex::new((0, parts(cuts, &opening)));
        let engine =
            Workers { shards, before: |_, _| (), after: |_, _| (), heard: Arc::clone(&heard) };
        let terms = (&opening, &*loss());
        let rows = ShardedRows::enrol(Box::new(engine), terms, (COLUMNS, &BUILD)).unwrap();
        let mut gate = gate(rows, &opening);
        in_a_basis(&mut gate).unwrap();
        let sampling = Sampling::Poisson(0.4);
        let mean = ClippedMean { clip: 0.4, noise_multiplier: 1.5, sampling };
        let sampled = gate.ask(&Gradient { at: &[0.0; 4], mean }).unwrap_err();
        assert!(matches!(sampled, Refusal::SampleTellsSizes), "{sampled}");
        heard.lock().unwrap().clone()
    };
    assert_eq!(lengths(&[0, 1, 2]), lengths(&[0, 11, 30]));
}

/// What no driver asks is no request, and weights are not proven for shards.
#[test]
fn requests_that_cannot_be_are_refused() {
    let own = opening(Adjacency::ReplaceOne, Unit::Record);
    let mut one = shard(table(0, 11, false), &own, (0, 1, false));
    for request in [&[][..], &[0, 0], &[9], &[2, 0, 0]] {
        assert!(one.answer(request).is_err(), "{request:?}");
    }
    let mut weighted = table(0, 11, false);
    weighted.weights = Some(vec![0.5; 11]);
    let seat = ShardSeat { number: 0, of: 1, split: false };
    let made = Shard::new(weighted.into(), (loss(), &own), seat, (Vec::new(), &KEY, &BUILD));
    assert!(matches!(made, Err(Refusal::Weighted)));
    let seat = ShardSeat { number: 1, of: 1, split: false };
    let rows: PrivateTable = table(0, 11, false).into();
    assert!(Shard::new(rows, (loss(), &own), seat, (Vec::new(), &KEY, &BUILD)).is_err());
    let mut sparse = Csr::empty(COLUMNS);
    sparse.push(&[1], &[0.5]);
    let rows = Table { rows: Rows::Sparse(sparse), ..table(0, 1, false) };
    let shards = vec![shard(rows, &own, (0, 1, false))];
    assert!(enrol(shards, &own, AS_THEY_ARE).is_ok());
}
