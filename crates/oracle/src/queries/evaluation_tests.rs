//! No record and no user moves the counts and the sums of an evaluation further than is counted.

use proptest::prelude::*;
use reticent_accountant::{Adjacency, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_noise::Entropy;
use reticent_problem::losses;

use super::{Errors, Histogram, Query};
use crate::holder::TableHolder;
use crate::inside::GateState;
use crate::sums::Private;
use crate::terms::Terms;

/// A row, a target in [−1, 1] and whose it is.
type Record = (f64, f64, u32);

fn record() -> impl Strategy<Value = Record> {
    let row = prop_oneof![
        6 => -3.0..3.0f64,
        1 => prop::sample::select(vec![0.0, -0.0, 1e300, f64::MAX, f64::MIN, 5e-324]),
    ];
    let target = prop_oneof![Just(-1.0), Just(1.0), -1.0..1.0f64];
    (row, target, 0..3u32)
}

fn inside(records: &[Record], loss: &str, adjacency: Adjacency, unit: Unit) -> GateState {
    let loss = losses::parse(loss, None).unwrap();
    let mut users: Vec<u32> = records.iter().map(|record| record.2).collect();
    // Users are numbered without gaps.
    let mut known = users.clone();
    known.sort_unstable();
    known.dedup();
    users.iter_mut().for_each(|user| *user = known.binary_search(user).unwrap() as u32);
    let target = |record: &Record| match loss.name() {
        "logistic" => record.1.signum(),
        "multinomial" => ((record.1 + 1.0) * 1.49).floor(),
        _ => record.1,
    };
    let table = Table {
        rows: Rows::Dense(Dense {
            values: records.iter().map(|record| record.0).collect(),
            rows: records.len(),
            columns: 1,
        }),
        targets: records.iter().map(target).collect(),
        users: Some(users),
        weights: None,
        names: vec!["x".to_owned()],
    };
    let private = match unit {
        Unit::Record => Private::by_record(table, 0.5),
        Unit::User | Unit::Party => Private::by_user(table, 0.5),
    };
    let terms = match adjacency {
        Adjacency::ReplaceOne => Terms::replace_one(unit, View::Central, records.len() as u64),
        Adjacency::AddRemove => Terms::add_remove(unit, View::Central, 9).unwrap(),
    };
    let private = private.unwrap();
    private.check_targets(&*loss).unwrap();
    GateState::new(Box::new(TableHolder::new(private)), loss.into(), terms)
}

/// What the answers to a question differ by, squared, in standard deviations of its noise at z = 1.
fn moved(inside: [GateState; 2], ask: impl Fn(&mut GateState) -> (Vec<f64>, Vec<f64>)) -> f64 {
    let [(a, deviations), (b, _)] = inside.map(|mut inside| ask(&mut inside));
    a.iter().zip(b).zip(deviations).map(|((a, b), s)| ((a - b) / s).powi(2)).sum()
}

fn counts(inside: &mut GateState) -> (Vec<f64>, Vec<f64>) {
    let shape = inside.shape();
    let at: Vec<f64> = (0..shape.len()).map(|i| [0.8, -1.3, 0.4, 0.9, -0.2, 0.1][i % 6]).collect();
    let question =
        Histogram { at: &at, cut: 0.0, edges: &[-2.0, -0.5, 0.0, 0.5, 2.0], noise_multiplier: 0.0 };
    let (coarse, fine) =
        Histogram { noise_multiplier: 1.0, ..question }.deviations(shape, &inside.terms);
    let answer = question.answer(inside, &mut Entropy::seeded(1)).unwrap();
    let classes = question.cells(shape).classes();
    let deviation = |i: usize| if i < classes * classes { coarse } else { fine };
    let deviations = (0..answer.len()).map(deviation).collect();
    (answer, deviations)
}

fn sums(inside: &mut GateState) -> (Vec<f64>, Vec<f64>) {
    let at = [0.7, -0.2];
    let one = Errors { at: &at, noise_multiplier: 1.0 };
    let deviations = one.deviations(&inside.terms);
    let answer = Errors { noise_multiplier: 0.0, ..one };
    let answer = answer.answer(inside, &mut Entropy::seeded(1)).unwrap();
    (answer, deviations)
}

/// Beyond what numbers of 53 bits lose when answers are compared as such.
const SLACK: f64 = 1.0 + 1e-9;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn neighbours_are_as_near_as_is_counted(
        records in prop::collection::vec(record(), 2..10),
        stranger in record(),
        loss in prop::sample::select(vec!["logistic", "multinomial:3", "squared"]),
    ) {
        let ask = if loss == "squared" { sums } else { counts };
        for unit in [Unit::Record, Unit::User] {
            // The last record, or the last user with all of theirs.
            let last = records[records.len() - 1].2;
            let goes = |(i, record): (usize, &Record)| match unit {
                Unit::Record => i == records.len() - 1,
                Unit::User | Unit::Party => record.2 == last,
            };
            let rest: Vec<Record> =
                records.iter().enumerate().filter(|kept| !goes(*kept)).map(|(_, r)| *r).collect();
            let mut other = rest.clone();
            other.push((stranger.0, stranger.1, last));
            let pair = |adjacency, b: &[Record]| {
                [inside(&records, loss, adjacency, unit), inside(b, loss, adjacency, unit)]
            };
            // Counted are 1/z and 2/z.
            let removed = moved(pair(Adjacency::AddRemove, &rest), ask);
            prop_assert!(removed <= SLACK, "{unit:?}: removed {removed}");
            let replaced = moved(pair(Adjacency::ReplaceOne, &other), ask);
            prop_assert!(replaced <= 4.0 * SLACK, "{unit:?}: replaced {replaced}");
        }
    }
}

/// And the bounds are attained: noise is not wasted.
#[test]
fn the_worst_records_are_that_far_apart() {
    for (loss, ask) in [("logistic", counts as fn(&mut GateState) -> _), ("squared", sums)] {
        let pair = |adjacency, other: &[Record]| {
            let own: [Record; 2] = [(0.0, 1.0, 0), (3.0, 1.0, 1)];
            [&own[..], other].map(|records| inside(records, loss, adjacency, Unit::Record))
        };
        let removed = moved(pair(Adjacency::AddRemove, &[(0.0, 1.0, 0)]), ask);
        let replaced = moved(pair(Adjacency::ReplaceOne, &[(0.0, 1.0, 0), (3.0, -1.0, 1)]), ask);
        assert!(removed > 0.999 && replaced > 3.996, "{loss}: {removed} {replaced}");
    }
}
