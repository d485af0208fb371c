//! No record and no user moves sums, bins or counts of columns further than is counted.

use proptest::prelude::*;
use reticent_accountant::{Adjacency, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_noise::Entropy;
use reticent_problem::losses;

use super::{BinCounts, Bins, ColumnSums, Query};
use crate::holder::TableHolder;
use crate::inside::GateState;
use crate::sums::Private;
use crate::terms::Terms;

/// Two numbers, two categories, and whose record it is.
type Record = ([f64; 4], u32);

/// Values at the bounds, between them, beyond them and such as no reader makes.
fn record() -> impl Strategy<Value = Record> {
    let value = || {
        prop_oneof![
            4 => prop::sample::select(vec![-1.0, 1.0]),
            4 => -1.0..1.0f64,
            1 => prop::sample::select(vec![0.0, -0.0, 1e300, f64::MAX, f64::MIN, 5e-324]),
        ]
    };
    let category = || prop::sample::select(vec![0.0, 1.0, 7.0, -1e300]);
    ((value(), value(), category(), category()).prop_map(|(a, b, c, d)| [a, b, c, d]), 0..3u32)
}

fn inside(records: &[Record], adjacency: Adjacency, unit: Unit) -> GateState {
    let mut users: Vec<u32> = records.iter().map(|record| record.1).collect();
    // Users are numbered without gaps.
    let mut known = users.clone();
    known.sort_unstable();
    known.dedup();
    users.iter_mut().for_each(|user| *user = known.binary_search(user).unwrap() as u32);
    let table = Table {
        rows: Rows::Dense(Dense {
            values: records.iter().flat_map(|record| record.0).collect(),
            rows: records.len(),
            columns: 4,
        }),
        targets: vec![0.0; records.len()],
        users: Some(users),
        weights: None,
        names: Vec::new(),
    };
    let private = match unit {
        Unit::Record => Private::by_record(table, 0.0),
        Unit::User | Unit::Party => Private::by_user(table, 0.0),
    };
    let terms = match adjacency {
        Adjacency::ReplaceOne => Terms::replace_one(unit, View::Central, records.len() as u64),
        Adjacency::AddRemove => Terms::add_remove(unit, View::Central, 9).unwrap(),
    };
    GateState::new(
        Box::new(TableHolder::new(private.unwrap())),
        losses::parse("squared", None).unwrap().into(),
        terms,
    )
}

/// The answer without noise, and the deviation of each of its numbers at z = 1.
type Ask = fn(&mut GateState) -> (Vec<f64>, Vec<f64>);

/// What the answers to a question differ by, squared, in standard deviations.
fn moved(inside: [GateState; 2], ask: Ask) -> f64 {
    let [(a, deviations), (b, _)] = inside.map(|mut inside| ask(&mut inside));
    a.iter().zip(b).zip(deviations).map(|((a, b), s)| ((a - b) / s).powi(2)).sum()
}

fn sums(inside: &mut GateState, counted: bool) -> (Vec<f64>, Vec<f64>) {
    let one = ColumnSums { features: &[1, 0], counted, noise_multiplier: 1.0 };
    let (sum, count) = one.deviations();
    let asked = ColumnSums { noise_multiplier: 0.0, ..one };
    let answer = asked.answer(inside, &mut Entropy::seeded(1)).unwrap();
    let deviations = [sum, sum, count][..answer.len()].to_vec();
    (answer, deviations)
}

fn plain(inside: &mut GateState) -> (Vec<f64>, Vec<f64>) {
    sums(inside, false)
}

fn counted(inside: &mut GateState) -> (Vec<f64>, Vec<f64>) {
    sums(inside, true)
}

fn bins(inside: &mut GateState) -> (Vec<f64>, Vec<f64>) {
    let of = [
        Bins::Categories { first: 2, len: 2 },
        Bins::Edges { feature: 0, edges: vec![-0.5, 0.0, 1.0] },
        Bins::Edges { feature: 1, edges: vec![] },
    ];
    let one = BinCounts { of: &of, noise_multiplier: 1.0 };
    let deviation = one.deviation(&inside.terms);
    let asked = BinCounts { noise_multiplier: 0.0, ..one };
    let answer = asked.answer(inside, &mut Entropy::seeded(1)).unwrap();
    let deviations = vec![deviation; answer.len()];
    (answer, deviations)
}

/// Beyond what numbers of 53 bits lose when answers are compared as such.
const SLACK: f64 = 1.0 + 1e-9;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn neighbours_are_as_near_as_is_counted(
        records in prop::collection::vec(record(), 2..10),
        strangers in prop::collection::vec(record(), 1..4),
    ) {
        for (unit, ask) in [Unit::Record, Unit::User]
            .into_iter()
            .flat_map(|unit| [plain as Ask, counted, bins].map(|ask| (unit, ask)))
        {
            // The last record, or the last user with all of theirs, for one with as many as may be.
            let last = records[records.len() - 1].1;
            let goes = |(i, record): (usize, &Record)| match unit {
                Unit::Record => i == records.len() - 1,
                Unit::User | Unit::Party => record.1 == last,
            };
            let rest: Vec<Record> =
                records.iter().enumerate().filter(|kept| !goes(*kept)).map(|(_, r)| *r).collect();
            let instead = if unit == Unit::User { strangers.len() } else { 1 };
            let mut other = rest.clone();
            other.extend(strangers[..instead].iter().map(|stranger| (stranger.0, last)));
            let pair = |adjacency, b: &[Record]| {
                [inside(&records, adjacency, unit), inside(b, adjacency, unit)]
            };
            // Counted are 1/z and 2/z.
            let removed = moved(pair(Adjacency::AddRemove, &rest), ask);
            prop_assert!(removed <= SLACK, "{unit:?}: removed {removed}");
            let replaced = moved(pair(Adjacency::ReplaceOne, &other), ask);
            prop_assert!(replaced <= 4.0 * SLACK, "{unit:?}: replaced {replaced}");
        }
    }
}

/// And the bounds are attained, by one record from bound to bound and by a user with many: noise is
/// not wasted. Who counts units as well does so where a removal matters.
#[test]
fn the_worst_records_are_that_far_apart() {
    for unit in [Unit::Record, Unit::User] {
        let rows = if unit == Unit::User { 5 } else { 1 };
        let worst = |value: f64| -> Vec<Record> {
            let category = f64::from(value > 0.0);
            vec![([value, value, category, 1.0 - category], 1); rows]
        };
        let beside: Record = ([0.5, -0.5, 0.0, 0.0], 0);
        let world = |own: &[Record]| [&[beside][..], own].concat();
        let pair = |adjacency, b: &[Record]| {
            [world(&worst(1.0)), world(b)].map(|records| inside(&records, adjacency, unit))
        };
        for (ask, replaced) in [(plain as Ask, 4.0), (counted, 2.34), (bins, 2.66)] {
            let found = moved(pair(Adjacency::AddRemove, &[]), ask);
            assert!(found > 0.999, "{unit:?}: removed {found}");
            let found = moved(pair(Adjacency::ReplaceOne, &worst(-1.0)), ask);
            assert!(found > 0.999 * replaced, "{unit:?}: replaced {found}");
        }
    }
}
