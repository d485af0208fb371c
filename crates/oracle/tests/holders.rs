//! Rows that several parties hold: the same integers as one table, closed on their way, and asked for
//! sums alone.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::sync::{Arc, Mutex};

use reticent_accountant::{Adjacency, Taint, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_oracle::queries::{
    BinCounts, Bins, ClippedMean, ColumnSums, Coordinate, Correction, Count, Curvature, Errors,
    Gradient, Histogram, LogOddsLine, Quantile, Residual, ResidualTerms, Score, SecondMoment,
};
use reticent_oracle::{
    Carrier, Digest, Entropy, EntrustKey, EntrustedTable, Gate, HeldRows, NoiseKey, Oracle,
    PrivacyModel, RecordStatistic, Refusal, Sampling, SumAggregator,
};
use reticent_problem::losses::{self, Loss};

const RUN: Digest = [3; 32];
const COLUMNS: usize = 3;

/// What may be done to an answer on its way.
type Tamper = fn(u32, Vec<u8>) -> Vec<u8>;

/// Who was asked, what, and what it said.
type Exchanged = (u32, Vec<u8>, Vec<u8>);
type Heard = Arc<Mutex<Vec<Exchanged>>>;

#[derive(Debug)]
struct Lines {
    tables: Vec<Mutex<EntrustedTable>>,
    tamper: Tamper,
    heard: Heard,
}

impl Carrier for Lines {
    fn exchange(&self, party: u32, round: u32, request: Vec<u8>) -> Result<Vec<u8>, Refusal> {
        let mut table = self.tables[party as usize].lock().unwrap();
        let answer = table.answer(round, &request)?;
        assert!(table.answer(round, &request).is_err(), "a round is answered once");
        self.heard.lock().unwrap().push((party, request, answer.clone()));
        Ok((self.tamper)(party, answer))
    }
}

fn table(rows: &[([f64; COLUMNS], f64)]) -> Table {
    let mut dense = Dense::empty(COLUMNS);
    rows.iter().for_each(|(row, _)| dense.push_sparse(&[0, 1, 2], row));
    Table {
        rows: Rows::Dense(dense),
        targets: rows.iter().map(|(_, target)| *target).collect(),
        users: None,
        weights: None,
        names: vec![String::new(); COLUMNS],
    }
}

fn rows(count: usize) -> Vec<([f64; COLUMNS], f64)> {
    let value = |at: usize| ((at * 37 + 11) % 23) as f64 / 11.0 - 1.0;
    let row = |i: usize| [value(3 * i), value(3 * i + 1), value(3 * i + 2)];
    (0..count).map(|i| (row(i), if i % 3 == 0 { 1.0 } else { -1.0 })).collect()
}

fn opening(adjacency: Adjacency) -> PrivacyModel {
    let (unit, view, public_n) = (Unit::Record, View::Central, Some(30));
    PrivacyModel { adjacency, unit, view, public_n, intercept: 0.5 }
}

fn loss() -> Arc<dyn Loss> {
    losses::parse("logistic", Some(2)).unwrap().into()
}

fn greeted(
    parts: &[&[([f64; COLUMNS], f64)]],
    opening: &PrivacyModel,
    to: &EntrustKey,
) -> (Vec<Mutex<EntrustedTable>>, Vec<Vec<u8>>) {
    let one = |(part, number): (&&[_], u32)| {
        let key = NoiseKey::seeded(u64::from(number) + 50);
        let made = EntrustedTable::new(table(part).into(), loss(), opening, (&key, number), to);
        let (table, greeting) = made.unwrap();
        (Mutex::new(table), greeting)
    };
    parts.iter().zip(0..).map(one).unzip()
}

fn held(
    parts: &[&[([f64; COLUMNS], f64)]],
    opening: &PrivacyModel,
    tamper: Tamper,
) -> (HeldRows, Heard) {
    let aggregator = SumAggregator::new(&NoiseKey::seeded(1), &RUN);
    let (tables, greetings) = greeted(parts, opening, &aggregator.public_key());
    let heard = Heard::default();
    let lines = Box::new(Lines { tables, tamper, heard: Arc::clone(&heard) });
    (aggregator.admit(&greetings, (COLUMNS, true), lines).unwrap(), heard)
}

fn as_it_is(_: u32, answer: Vec<u8>) -> Vec<u8> {
    answer
}

fn between(parts: &[&[([f64; COLUMNS], f64)]], adjacency: Adjacency) -> Gate {
    let opening = opening(adjacency);
    let (rows, _) = held(parts, &opening, as_it_is);
    Gate::open_held(rows, loss(), &opening, Entropy::seeded(4)).unwrap()
}

/// One of each question that is a sum, sampled and not, in coordinates of its own and as rows came.
pub(super) fn answers(gate: &mut Gate) -> Vec<f64> {
    let (at, from) = ([0.3, -0.2, 0.5, 0.1], [0.1, 0.0, -0.4, 0.2]);
    let mean = |sampling| ClippedMean { clip: 0.4, noise_multiplier: 1.5, sampling };
    let full = mean(Sampling::Full);
    let z = 0.7;
    let mut said = gate.ask(&Gradient { at: &at, mean: full }).unwrap().into_inner();
    // A sample among rows that others hold needs a public number of records.
    let counted = gate.terms().adjacency() == Adjacency::ReplaceOne;
    let samples = [Sampling::Poisson(0.4), Sampling::WithoutReplacement(7)];
    for sampling in samples.into_iter().filter(|_| counted) {
        said.extend(gate.ask(&Gradient { at: &at, mean: mean(sampling) }).unwrap().into_inner());
    }
    let poisson = mean(if counted { Sampling::Poisson(0.5) } else { Sampling::Full });
    said.extend(
        gate.ask(&Correction { at: &at, from: &from, mean: poisson }).unwrap().into_inner(),
    );
    said.push(gate.ask(&Coordinate { at: &at, index: 2, mean: poisson }).unwrap().into_inner());
    let moment = SecondMoment { row_norm: 1.0, whole: true, noise_multiplier: z };
    said.extend(gate.ask(&moment).unwrap().into_inner());
    let map: Vec<f64> = (0..16).map(|at| ((at * 29 + 7) % 17) as f64 / 8.0 - 1.0).collect();
    gate.set_basis(Some(&map)).unwrap();
    said.extend(gate.ask(&Gradient { at: &at, mean: full }).unwrap().into_inner());
    gate.set_basis(None).unwrap();
    let bent = Curvature { at: &at, row_norm: 1.0, most: 0.25, noise_multiplier: z };
    said.extend(gate.ask(&bent).unwrap().into_inner());
    let of = RecordStatistic::Feature(1);
    said.push(gate.ask(&Count { of, at_most: 0.1, noise_multiplier: z }).unwrap().into_inner());
    let (candidates, fraction) = (&[-0.5, 0.0, 0.5][..], 0.5);
    let median = Quantile { of, fraction, candidates, noise_multiplier: z };
    said.push(gate.ask(&median).unwrap().into_inner());
    said.push(gate.ask(&Score { at: &at, noise_multiplier: z }).unwrap().into_inner());
    let edges = &[-0.5, 0.5][..];
    let spread = Histogram { at: &at, cut: 0.0, edges, noise_multiplier: z };
    said.extend(gate.ask(&spread).unwrap().into_inner());
    let line = LogOddsLine { at: &at, line: [1.0, 0.2], most: 2.0, noise_multiplier: z };
    said.extend(gate.ask(&line).unwrap().into_inner());
    let bins = [Bins::Edges { feature: 0, edges: vec![0.0] }];
    said.extend(gate.ask(&BinCounts { of: &bins, noise_multiplier: z }).unwrap().into_inner());
    let sums = ColumnSums { features: &[2, 0], counted: true, noise_multiplier: z };
    said.extend(gate.ask(&sums).unwrap().into_inner());
    said
}

/// However the rows are dealt, answers have the bits of one table, and the books its entries.
#[test]
fn rows_that_are_dealt_to_parties_answer_with_the_bits_of_one_table() {
    let all = rows(30);
    let singles: Vec<_> = all.chunks(1).collect();
    let deals: [Vec<&[_]>; 5] = [
        vec![&all[..]],
        vec![&all[..10], &all[10..20], &all[20..]],
        vec![&[][..], &all[..1], &[], &all[1..], &[]],
        vec![&all[..9], &all[9..]],
        singles,
    ];
    for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
        let opening = opening(adjacency);
        let pooled = table(&all).into();
        let mut pooled = Gate::open(pooled, loss(), &opening, Entropy::seeded(4)).unwrap();
        let expected = answers(&mut pooled);
        for parts in &deals {
            let mut gate = between(parts, adjacency);
            assert_eq!(answers(&mut gate), expected, "{} parties", parts.len());
            assert_eq!(gate.ledger(), pooled.ledger());
            assert_eq!(gate.terms(), pooled.terms());
        }
    }
}

/// The worst that one record can do, in a party of its own or among others: one clip if it comes or
/// goes, two if it takes another's place.
#[test]
fn one_record_moves_the_sum_of_all_parties_by_no_more_than_is_counted() {
    let far = [1e6, -1e6, 1e6];
    let base = rows(12);
    let clip = 0.4;
    let mean = ClippedMean { clip, noise_multiplier: 0.0, sampling: Sampling::Full };
    let at = [0.0; COLUMNS + 1];
    let sum = |parts: &[&[([f64; COLUMNS], f64)]], adjacency| {
        let mut gate = between(parts, adjacency);
        let n = gate.terms().population() as f64;
        let mean = gate.ask(&Gradient { at: &at, mean }).unwrap().into_inner();
        mean.into_iter().map(|mean| mean * n).collect::<Vec<f64>>()
    };
    let apart =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    for (yes, no) in [(vec![(far, 1.0)], vec![(far, -1.0)])] {
        // Alone in its party, and with others in it.
        let mut with = base[6..].to_vec();
        with.push(yes[0]);
        let mut other = base[6..].to_vec();
        other.push(no[0]);
        for (one, two) in [(&yes, &no), (&with, &other)] {
            let one = sum(&[&base, one], Adjacency::ReplaceOne);
            let two = sum(&[&base, two], Adjacency::ReplaceOne);
            let moved = apart(&one, &two);
            assert!(moved <= 2.0 * clip * (1.0 + 1e-9) && moved > 1.99 * clip, "{moved}");
        }
        let one = sum(&[&base, &yes], Adjacency::AddRemove);
        let gone = sum(&[&base, &[]], Adjacency::AddRemove);
        let moved = apart(&one, &gone);
        assert!(moved <= clip * (1.0 + 1e-9) && moved > 0.99 * clip, "{moved}");
    }
}

/// What is changed on its way, said for another party or repeated from another round ends the run.
#[test]
fn what_is_changed_on_its_way_is_refused() {
    let all = rows(9);
    let flipped: Tamper = |party, mut answer| {
        if party == 1 {
            let last = answer.len() - 1;
            answer[last] ^= 1;
        }
        answer
    };
    let cut: Tamper = |party, answer| if party == 1 { Vec::new() } else { answer };
    let opening = opening(Adjacency::ReplaceOne);
    let mean = ClippedMean { clip: 1.0, noise_multiplier: 1.0, sampling: Sampling::Full };
    for tamper in [flipped, cut] {
        let (rows, _) = held(&[&all[..4], &all[4..]], &opening, tamper);
        let mut gate = Gate::open_held(rows, loss(), &opening, Entropy::seeded(1)).unwrap();
        let refused = gate.ask(&Gradient { at: &[0.0; 4], mean }).unwrap_err();
        assert!(matches!(refused, Refusal::ForgedBlock { party: 1 }), "{refused}");
    }
    // A greeting is of one run and one party.
    let aggregator = SumAggregator::new(&NoiseKey::seeded(1), &RUN);
    let (tables, greetings) = greeted(&[&all[..4], &all[4..]], &opening, &aggregator.public_key());
    let lines = || {
        let tables = Vec::new();
        Box::new(Lines { tables, tamper: as_it_is, heard: Heard::default() })
    };
    let swapped = [greetings[1].clone(), greetings[0].clone()];
    assert!(aggregator.admit(&swapped, (COLUMNS, true), lines()).is_err());
    let other = SumAggregator::new(&NoiseKey::seeded(1), &[4; 32]);
    assert!(other.admit(&greetings, (COLUMNS, true), lines()).is_err());
    let narrow = SumAggregator::new(&NoiseKey::seeded(1), &RUN);
    assert!(narrow.admit(&greetings, (COLUMNS + 1, true), lines()).is_err());
    // Bytes that the aggregator did not close are not answered.
    let mut table = tables[0].lock().unwrap();
    for bytes in [&[][..], &[0; 100], &greetings[0]] {
        assert!(matches!(table.answer(1, bytes), Err(Refusal::ForgedBlock { party: 0 })));
    }
}

/// Whoever carries the messages sees neither who is drawn nor what the sums are: as many bytes, and
/// none of them in the open.
#[test]
fn messages_are_as_long_whoever_is_drawn_and_closed() {
    let all = rows(40);
    let opening = opening(Adjacency::ReplaceOne);
    let at = [0.25; 4];
    let lengths = |seed: u64| {
        let (rows, heard) = held(&[&all[..3], &all[3..4], &all[4..]], &opening, as_it_is);
        let mut gate = Gate::open_held(rows, loss(), &opening, Entropy::seeded(seed)).unwrap();
        for rate in [0.01, 0.5] {
            let sampling = Sampling::Poisson(rate);
            let mean = ClippedMean { clip: 1.0, noise_multiplier: 1.0, sampling };
            gate.ask(&Gradient { at: &at, mean }).unwrap();
        }
        let mut heard = heard.lock().unwrap().clone();
        heard.sort_by_key(|(party, _, _)| *party);
        let point = 0.25_f64.to_le_bytes();
        for (_, request, answer) in &heard {
            assert!(![request, answer].iter().any(|bytes| bytes.windows(8).any(|w| w == point)));
        }
        heard
            .iter()
            .map(|(party, asked, said)| (*party, asked.len(), said.len()))
            .collect::<Vec<_>>()
    };
    let first = lengths(1);
    assert_eq!(first.len(), 6, "every party is asked every time");
    assert!((2..6).all(|seed| lengths(seed) == first));
}

/// A run that is done again from its key, and asks something else than the first time (on another
/// machine, whose arithmetic differs in the last bit), has other noise: with the same, the difference
/// of two answers would be that of two sums, exactly.
#[test]
fn a_run_that_is_done_again_has_its_noise_for_its_own_questions_alone() {
    let all = rows(20);
    let opening = opening(Adjacency::ReplaceOne);
    let asked = |points: &[f64], noise_multiplier| {
        let (rows, _) = held(&[&all[..7], &all[7..]], &opening, as_it_is);
        let mut gate = Gate::open_held(rows, loss(), &opening, Entropy::seeded(1)).unwrap();
        gate.repeat(NoiseKey::seeded(9));
        assert!(gate.ledger().taints().contains(&Taint::SeededNoise));
        let mean = ClippedMean { clip: 1.0, noise_multiplier, sampling: Sampling::Full };
        let ask = |point: &f64| gate.ask(&Gradient { at: &[*point; 4], mean }).unwrap();
        points.iter().map(ask).map(|answer| answer.into_inner()).collect::<Vec<_>>()
    };
    let noise = |points: &[f64], z| {
        let less = |(noisy, exact): (&f64, &f64)| ((noisy - exact) * 1e9).round() as i64;
        let pairs = asked(points, z).concat().into_iter().zip(asked(points, 0.0).concat());
        pairs.map(|(noisy, exact)| less((&noisy, &exact))).collect::<Vec<i64>>()
    };
    assert_eq!(asked(&[0.25, 0.25], 1.5), asked(&[0.25, 0.25], 1.5));
    let alike = |a: &[i64], b: &[i64]| a.iter().zip(b).any(|(a, b)| (a - b).abs() <= 2);
    let (first, second) = (noise(&[0.25, 0.25], 1.5), noise(&[0.250_000_1, 0.25], 1.5));
    assert!(!alike(&first[..4], &second[..4]), "{first:?} {second:?}");
    // Nor is it used twice within a run, for the same question.
    assert!(!alike(&first[..4], &first[4..]), "{first:?}");
    // Another amount of it is no multiple of the same.
    let doubled: Vec<i64> = first.iter().map(|noise| 2 * noise).collect();
    assert!(!alike(&doubled[..4], &noise(&[0.25], 3.0)), "{doubled:?}");
}

/// A question that needs the rows is refused before it is entered.
#[test]
fn what_is_no_sum_is_not_asked_of_rows_that_others_hold() {
    let all = rows(4);
    let mut gate = between(&[&all], Adjacency::ReplaceOne);
    let params = ResidualTerms {
        clip: 1.0,
        record_clip: 1.0,
        row_norm: 1.0,
        step: 1.0,
        inner: 1,
        noise_multiplier: 1.0,
        walk: None,
    };
    let asked = gate.ask(&Residual { v: &[0.0; 4], z: &[0.0; 4], params });
    assert!(matches!(asked, Err(Refusal::NoSum)));
    assert!(matches!(gate.open_consensus(&[0.0; 4]), Err(Refusal::NoSum)));
    // A sample would tell a party's carrier how many units it has, where that is private.
    let mut hidden = between(&[&all], Adjacency::AddRemove);
    let mean = |sampling| ClippedMean { clip: 1.0, noise_multiplier: 1.0, sampling };
    let drawn = mean(Sampling::Poisson(0.5));
    let (at, from) = (&[0.0; 4], &[0.1; 4]);
    let told = [
        hidden.ask(&Gradient { at, mean: drawn }).map(drop),
        hidden.ask(&Correction { at, from, mean: drawn }).map(drop),
        hidden.ask(&Coordinate { at, index: 0, mean: drawn }).map(drop),
    ];
    assert!(told.iter().all(|told| matches!(told, Err(Refusal::SampleTellsSizes))), "{told:?}");
    assert_eq!(gate.ledger().total_events() + hidden.ledger().total_events(), 0);
    hidden.ask(&Gradient { at, mean: mean(Sampling::Full) }).unwrap();
}

/// A party of numbers, and of persons: what is left of the kinds, and the other unit.
#[test]
fn errors_of_numbers_and_means_of_persons_have_the_bits_of_one_table() {
    let all = rows(24);
    let number: Arc<dyn Loss> = losses::parse("squared", None).unwrap().into();
    let mean = ClippedMean { clip: 0.4, noise_multiplier: 1.5, sampling: Sampling::Full };
    // Persons of one to six rows; each party has whole persons, numbered from 0 on.
    let of: Vec<u32> = (0..24).map(|i| [0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3][i % 12]).collect();
    let person = |part: &[_], users: &[u32]| Table { users: Some(users.to_vec()), ..table(part) };
    for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
        let opening = PrivacyModel { unit: Unit::User, ..opening(adjacency) };
        let whole: Vec<u32> = of.iter().zip(0..).map(|(own, i)| own + 4 * (i / 12)).collect();
        let parts = [person(&all[..12], &of[..12]), person(&all[12..], &of[12..])];
        let to = SumAggregator::new(&NoiseKey::seeded(1), &RUN);
        let key = to.public_key();
        let (tables, greetings) = parts
            .into_iter()
            .zip(0..)
            .map(|(part, party)| {
                let own = (&NoiseKey::seeded(6), party);
                let made = EntrustedTable::new(part.into(), number.clone(), &opening, own, &key);
                made.map(|(table, greeting)| (Mutex::new(table), greeting)).unwrap()
            })
            .unzip::<_, _, Vec<_>, Vec<_>>();
        let lines = Lines { tables, tamper: as_it_is, heard: Heard::default() };
        let held = to.admit(&greetings, (COLUMNS, true), Box::new(lines)).unwrap();
        let entropy = || Entropy::seeded(8);
        let mut held = Gate::open_held(held, number.clone(), &opening, entropy()).unwrap();
        let pooled = person(&all, &whole).into();
        let mut pooled = Gate::open(pooled, number.clone(), &opening, entropy()).unwrap();
        assert_eq!(held.terms(), pooled.terms());
        let mut answers = [&mut held, &mut pooled].map(|gate| {
            let at = &[0.3, -0.2, 0.5, 0.1];
            let errors = Errors { at, noise_multiplier: 0.7 };
            let mut said = gate.ask(&errors).unwrap().into_inner();
            said.extend(gate.ask(&Gradient { at, mean }).unwrap().into_inner());
            said
        });
        let first = std::mem::take(&mut answers[0]);
        assert_eq!(first, answers[1]);
        assert_eq!(held.ledger(), pooled.ledger());
    }
}

/// The gate on parties whose tables have these persons, a row each, as it comes or where each party is
/// one unit.
fn of_persons(persons: &[&[u32]], one_each: bool) -> Result<(Gate, Heard), Refusal> {
    let opening = PrivacyModel { unit: Unit::User, ..opening(Adjacency::ReplaceOne) };
    let to = SumAggregator::new(&NoiseKey::seeded(1), &RUN);
    let made = |(users, number): (&&[u32], u32)| {
        let own = Table { users: Some(users.to_vec()), ..table(&rows(users.len())) };
        let key = (&NoiseKey::seeded(6), number);
        let made = EntrustedTable::new(own.into(), loss(), &opening, key, &to.public_key());
        made.map(|(table, greeting)| (Mutex::new(table), greeting)).unwrap()
    };
    let (tables, greetings): (Vec<_>, Vec<_>) = persons.iter().zip(0..).map(made).unzip();
    let heard = Heard::default();
    let lines = Lines { tables, tamper: as_it_is, heard: Arc::clone(&heard) };
    let rows = to.admit(&greetings, (COLUMNS, true), Box::new(lines))?;
    let rows = if one_each { rows.one_unit_each()? } else { rows };
    Ok((Gate::open_held(rows, loss(), &opening, Entropy::seeded(2))?, heard))
}

/// Nobody who goes around the job can draw a sample of persons within parties: a request would have a
/// bit for each of them, and how many a party has follows from who they are. Also not where each
/// happens to have one.
#[test]
fn the_gate_draws_no_sample_of_persons_held() {
    let at = &[0.0; 4];
    let mean = |sampling| ClippedMean { clip: 1.0, noise_multiplier: 1.0, sampling };
    let samples = [Sampling::Poisson(0.5), Sampling::WithoutReplacement(1)];
    for persons in [&[&[0, 1, 1][..], &[0, 0]][..], &[&[0], &[0]], &[&[0, 1], &[0]]] {
        let (mut gate, heard) = of_persons(persons, false).unwrap();
        for sampling in samples {
            let drawn = mean(sampling);
            let told = [
                gate.ask(&Gradient { at, mean: drawn }).map(drop),
                gate.ask(&Correction { at, from: &[0.1; 4], mean: drawn }).map(drop),
                gate.ask(&Coordinate { at, index: 0, mean: drawn }).map(drop),
            ];
            let refused = |told: &_| matches!(told, Err(Refusal::SampleOfPersonsHeld));
            assert!(told.iter().all(refused), "{told:?}");
        }
        assert_eq!(gate.ledger().total_events(), 0);
        assert!(heard.lock().unwrap().is_empty());
        gate.ask(&Gradient { at, mean: mean(Sampling::Full) }).unwrap();
    }
    // Where each party is one person, which is public, nothing is told by a bit for each.
    let (mut gate, _) = of_persons(&[&[0, 0], &[0], &[0, 0, 0]], true).unwrap();
    for sampling in samples {
        gate.ask(&Gradient { at, mean: mean(sampling) }).unwrap();
    }
    for several in [&[&[0, 1][..], &[0]][..], &[&[0], &[]]] {
        assert!(of_persons(several, true).is_err());
    }
}

/// A person whose rows lie with two parties is two units: replaced, it moves the sum by up to twice what
/// a person does whose rows lie with one. That is what the certificate says of it, k for k parties.
#[test]
fn a_person_with_two_parties_counts_as_two() {
    let far = [1e6, -1e6, 1e6];
    let clip = 0.4;
    let mean = ClippedMean { clip, noise_multiplier: 0.0, sampling: Sampling::Full };
    let opening = PrivacyModel { unit: Unit::User, ..opening(Adjacency::ReplaceOne) };
    // Three rows of others, two of the victim, in each party; whose target is which.
    let sum = |targets: [f64; 2]| {
        let to = SumAggregator::new(&NoiseKey::seeded(1), &RUN);
        let key = to.public_key();
        let party = |(target, number): (f64, u32)| {
            let mut own = rows(3);
            own.extend([(far, target), (far, target)]);
            let own = Table { users: Some(vec![0, 1, 1, 2, 2]), ..table(&own) };
            let by = (&NoiseKey::seeded(6), number);
            let made = EntrustedTable::new(own.into(), loss(), &opening, by, &key).unwrap();
            (Mutex::new(made.0), made.1)
        };
        let (tables, greetings) =
            targets.into_iter().zip(0..).map(party).unzip::<_, _, Vec<_>, Vec<_>>();
        let lines = Lines { tables, tamper: as_it_is, heard: Heard::default() };
        let held = to.admit(&greetings, (COLUMNS, true), Box::new(lines)).unwrap();
        let mut gate = Gate::open_held(held, loss(), &opening, Entropy::seeded(8)).unwrap();
        assert_eq!(gate.terms().population(), 6, "the victim is one of three with each party");
        let said = gate.ask(&Gradient { at: &[0.0; COLUMNS + 1], mean }).unwrap().into_inner();
        said.into_iter().map(|mean| mean * 6.0).collect::<Vec<f64>>()
    };
    let apart = |a: [f64; 2], b: [f64; 2]| {
        let moved = sum(a).iter().zip(sum(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        moved / (2.0 * clip)
    };
    let (one, two) = (apart([1.0, 1.0], [-1.0, 1.0]), apart([1.0, 1.0], [-1.0, -1.0]));
    assert!(one <= 1.0 + 1e-9 && one > 0.99, "{one}");
    assert!(two <= 2.0 + 1e-9 && two > 1.98, "{two}");
}

/// What a unit is and which loss is summed is agreed on: sums that one side clips by records are
/// not noised by the other as sums over persons.
#[test]
fn a_gate_on_other_terms_than_its_parties_is_refused() {
    let all = rows(6);
    let own = opening(Adjacency::ReplaceOne);
    let heavy: Arc<dyn Loss> = Arc::new(losses::Weighted::new(loss(), vec![1.0, 2.0]).unwrap());
    let others = [
        (PrivacyModel { unit: Unit::User, ..own }, loss()),
        (PrivacyModel { adjacency: Adjacency::AddRemove, ..own }, loss()),
        (PrivacyModel { intercept: 1.0, ..own }, loss()),
        (own, heavy),
        (own, losses::parse("hinge", Some(2)).unwrap().into()),
    ];
    for (opening, other) in others {
        let (rows, _) = held(&[&all], &own, as_it_is);
        let refused = Gate::open_held(rows, other, &opening, Entropy::seeded(1)).unwrap_err();
        assert!(refused.to_string().contains("other terms"), "{refused}");
    }
    let aggregator = SumAggregator::new(&NoiseKey::seeded(1), &RUN);
    let to = aggregator.public_key();
    let other = PrivacyModel { intercept: 1.0, ..own };
    let mut greetings = greeted(&[&all], &own, &to).1;
    let key = NoiseKey::seeded(9);
    let second = EntrustedTable::new(table(&all).into(), loss(), &other, (&key, 1), &to);
    greetings.push(second.unwrap().1);
    let lines = |tables| Box::new(Lines { tables, tamper: as_it_is, heard: Heard::default() });
    let mixed = aggregator.admit(&greetings, (COLUMNS, true), lines(Vec::new())).unwrap_err();
    assert!(mixed.to_string().contains("other terms"), "{mixed}");
    // Nobody has opened anything.
    let nobody = SumAggregator::new(&NoiseKey::seeded(1), &RUN);
    let nobody = nobody.admit(&[], (COLUMNS, true), lines(Vec::new())).unwrap();
    assert!(Gate::open_held(nobody, loss(), &own, Entropy::seeded(1)).is_err());
}

/// Who knows the seed of a line reads exact sums: no guarantee then, however good the noise is.
#[test]
fn lines_of_a_seeded_key_taint_the_books() {
    let all = rows(6);
    let opening = opening(Adjacency::ReplaceOne);
    let taints = |server: &NoiseKey, party: &NoiseKey| {
        let aggregator = SumAggregator::new(server, &RUN);
        let own = (party, 0);
        let to = aggregator.public_key();
        let made = EntrustedTable::new(table(&all).into(), loss(), &opening, own, &to).unwrap();
        let tables = vec![Mutex::new(made.0)];
        let lines = Lines { tables, tamper: as_it_is, heard: Heard::default() };
        let rows = aggregator.admit(&[made.1], (COLUMNS, true), Box::new(lines)).unwrap();
        let entropy = Entropy::secure().unwrap();
        let gate = Gate::open_held(rows, loss(), &opening, entropy).unwrap();
        gate.ledger().taints().to_vec()
    };
    let (secure, seeded) = (NoiseKey::secure().unwrap(), NoiseKey::seeded(1));
    assert_eq!(taints(&secure, &secure), []);
    assert_eq!(taints(&seeded, &secure), [Taint::SeededNoise]);
    assert_eq!(taints(&secure, &seeded), [Taint::SeededNoise]);
}

/// What was asked is entered although a party did not answer, and nobody is asked again: one party
/// may have changed its coordinates and another not.
#[test]
fn a_party_that_does_not_answer_ends_the_run_and_what_was_asked_stays_entered() {
    let all = rows(9);
    let opening = opening(Adjacency::ReplaceOne);
    let mean = ClippedMean { clip: 1.0, noise_multiplier: 1.0, sampling: Sampling::Full };
    let ask = |gate: &mut Gate| gate.ask(&Gradient { at: &[0.1; 4], mean });
    let cut: Tamper = |party, answer| if party == 1 { Vec::new() } else { answer };
    let (rows, heard) = held(&[&all[..4], &all[4..]], &opening, cut);
    let mut gate = Gate::open_held(rows, loss(), &opening, Entropy::seeded(1)).unwrap();
    assert!(ask(&mut gate).is_err());
    assert_eq!(gate.ledger().total_events(), 1);
    let before = heard.lock().unwrap().len();
    let again = ask(&mut gate).unwrap_err();
    assert!(again.to_string().contains("ended the run"), "{again}");
    assert_eq!(heard.lock().unwrap().len(), before, "nobody is asked again");
    assert_eq!(gate.ledger().total_events(), 2, "an entry comes before the question");
    // A basis that reached one party of two.
    let (rows, _) = held(&[&all[..4], &all[4..]], &opening, cut);
    let mut gate = Gate::open_held(rows, loss(), &opening, Entropy::seeded(1)).unwrap();
    let map: Vec<f64> = (0..16).map(|at| f64::from(at % 5) - 1.5).collect();
    assert!(gate.set_basis(Some(&map)).is_err());
    assert!(ask(&mut gate).unwrap_err().to_string().contains("ended the run"));
}
