//! No kind of sum moves by more than its noise is counted for, whatever the records are.

use std::sync::Arc;

use reticent_accountant::Adjacency;
use reticent_data::{Dense, Rows, Table};
use reticent_problem::losses::{self, Loss};

use super::Bins;
use super::record_sum::RecordSum;
use crate::holder::TableHolder;
use crate::sums::grid::BITS;
use crate::sums::{Private, RecordStatistic};

const COLUMNS: usize = 3;
const AT: [f64; 4] = [0.7, -30.0, 2.0, 0.4];
const FROM: [f64; 4] = [-5.0, 1.0, 0.0, 0.0];

type Row = ([f64; COLUMNS], f64);

/// Every kind that fits a loss of two classes, and the one that is of numbers.
fn kinds(classes: bool) -> Vec<RecordSum<'static>> {
    let (at, from) = (|| AT[..].into(), FROM[..].into());
    if !classes {
        return vec![
            RecordSum::Errors { at: at(), counted: false },
            RecordSum::Errors { at: at(), counted: true },
        ];
    }
    let of = vec![
        Bins::Categories { first: 0, len: 2 },
        Bins::Edges { feature: 2, edges: vec![-0.5, 0.0, 0.5] },
    ];
    vec![
        RecordSum::Gradient { at: at(), clip: 0.4 },
        RecordSum::Correction { at: at(), from, clip: 0.4 },
        RecordSum::Coordinate { at: at(), index: 1, clip: 0.2 },
        RecordSum::SecondMoment { row_norm: 0.9, whole: true },
        RecordSum::SecondMoment { row_norm: 2.0, whole: false },
        RecordSum::Curvature { at: at(), row_norm: 0.9, most: 0.1 },
        RecordSum::Count { of: RecordStatistic::Feature(1), at_most: 0.1 },
        RecordSum::Count { of: RecordStatistic::Target, at_most: 0.0 },
        RecordSum::Score { at: at() },
        RecordSum::Histogram { at: at(), cut: 0.0, edges: (&[-0.5, 0.5][..]).into() },
        RecordSum::LogOddsLine { at: at(), line: [1.0, 0.0], most: 3.0 },
        RecordSum::LogOddsLine { at: at(), line: [-9.0, 1e300], most: 0.5 },
        RecordSum::BinCounts { of: of.into() },
        RecordSum::ColumnSums { features: (&[2, 0][..]).into(), counted: true },
        RecordSum::ColumnSums { features: (&[1][..]).into(), counted: false },
    ]
}

/// Rows beyond every bound, at it, within it and empty, in both classes.
fn records() -> Vec<Row> {
    let values = [-1e9, -1.0, -0.3, 0.0, 0.6, 1.0, 1e9];
    let rows = values
        .iter()
        .flat_map(|a| values.iter().flat_map(move |b| [-1e9, 0.0, 0.6].map(move |c| [*a, *b, c])));
    rows.flat_map(|row| [(row, 1.0), (row, -1.0)]).collect()
}

/// A table of one unit.
fn holder((unit, person): (&[Row], bool), weight: Option<f64>) -> TableHolder {
    let mut dense = Dense::empty(COLUMNS);
    unit.iter().for_each(|(row, _)| dense.push_sparse(&[0, 1, 2], row));
    let table = Table {
        rows: Rows::Dense(dense),
        targets: unit.iter().map(|(_, target)| *target).collect(),
        users: person.then(|| vec![0; unit.len()]),
        weights: weight.map(|weight| vec![weight; unit.len()]),
        names: vec![String::new(); COLUMNS],
    };
    let private = match person {
        true => Private::by_user(table, 0.5),
        false => Private::by_record(table, 0.5),
    };
    TableHolder::new(private.unwrap())
}

/// The integers of one unit.
fn steps(
    what: &RecordSum<'_>,
    loss: &dyn Loss,
    unit: (&[Row], bool),
    weight: Option<f64>,
) -> Vec<i64> {
    let mut table = holder(unit, weight);
    let shape = table.private.shape(loss.outputs());
    what.check(shape).unwrap();
    what.fits(loss).unwrap();
    let mut out = vec![0; what.len(shape)];
    what.add_up(&mut table, loss, None, &mut out);
    out
}

/// Whether what a record adds depends on its weight (proofs/weights.md).
fn reads_weight(what: &RecordSum<'_>) -> bool {
    match what {
        RecordSum::Gradient { .. }
        | RecordSum::Correction { .. }
        | RecordSum::Coordinate { .. }
        | RecordSum::Curvature { .. } => true,
        RecordSum::SecondMoment { .. }
        | RecordSum::Count { .. }
        | RecordSum::Score { .. }
        | RecordSum::Histogram { .. }
        | RecordSum::Errors { .. }
        | RecordSum::LogOddsLine { .. }
        | RecordSum::BinCounts { .. }
        | RecordSum::ColumnSums { .. } => false,
    }
}

/// A weight of 1 is no weight, to the bit; another one shows in what is made of the loss, and in
/// nothing else.
#[test]
fn a_weight_reaches_what_is_made_of_the_loss_alone() {
    let logistic = losses::parse("logistic", Some(2)).unwrap();
    let squared = losses::parse("squared", None).unwrap();
    let unit = [([0.6, 0.1, 0.6], 1.0), ([-0.3, 0.1, 0.6], -1.0)];
    for what in [kinds(true), kinds(false)].concat() {
        let loss = if matches!(what, RecordSum::Errors { .. }) { &*squared } else { &*logistic };
        for (unit, person) in [(&unit[..1], false), (&unit[..], true)] {
            let said = |weight| steps(&what, loss, (unit, person), weight);
            assert_eq!(said(None), said(Some(1.0)), "{what:?}");
            // Some are at their clip with a third of their weight too.
            assert_eq!(said(None) != said(Some(1e-3)), reads_weight(&what), "{what:?}");
        }
    }
}

/// Noise of z·`noise` clips is counted as z: a unit that comes or goes moves the sum by one clip, and
/// one that takes another's place by two of what the noise is measured in.
#[test]
fn no_unit_moves_a_sum_by_more_than_its_noise_is_counted_for() {
    let losses: [Arc<dyn Loss>; 2] = [
        losses::parse("logistic", Some(2)).unwrap().into(),
        losses::parse("squared", None).unwrap().into(),
    ];
    let clip = (1_u64 << BITS) as f64;
    let length = |steps: &mut dyn Iterator<Item = i64>| {
        steps.map(|step| (step as f64).powi(2)).sum::<f64>().sqrt()
    };
    let records = records();
    let alone: Vec<(Vec<Row>, bool)> = records.iter().map(|&row| (vec![row], false)).collect();
    let persons = records.windows(8).step_by(5).map(|rows| (vec![rows[0], rows[6]], true));
    let persons: Vec<(Vec<Row>, bool)> = persons.collect();
    let weights = [None, Some(0.0), Some(0.3)];
    for what in [kinds(true), kinds(false)].concat() {
        let loss = &*losses[usize::from(matches!(what, RecordSum::Errors { .. }))];
        for units in [&alone, &persons] {
            // Neighbours may differ in what a record counts as well.
            let said: Vec<Vec<i64>> = units
                .iter()
                .enumerate()
                .map(|(at, (unit, person))| {
                    let weight = if reads_weight(&what) { weights[at / 2 % 3] } else { None };
                    steps(&what, loss, (unit, *person), weight)
                })
                .collect();
            let longest = said.iter().map(|one| length(&mut one.iter().copied()));
            let longest = longest.fold(0.0, f64::max) / clip;
            assert!(longest <= what.noise(Adjacency::AddRemove), "{what:?}: {longest}");
            let mut farthest = 0.0_f64;
            for (at, one) in said.iter().enumerate() {
                for other in &said[at + 1..] {
                    let apart = &mut one.iter().zip(other).map(|(a, b)| a - b);
                    farthest = farthest.max(length(apart) / clip);
                }
            }
            // What is counted under add-remove alone never takes another's place.
            if matches!(what, RecordSum::Errors { counted: true, .. }) {
                continue;
            }
            let most = 2.0 * what.noise(Adjacency::ReplaceOne);
            assert!(farthest <= most, "{what:?}: {farthest} > {most}");
            assert!(farthest > 0.4 * most, "{what:?}: the pairs show little: {farthest} of {most}");
        }
    }
}

/// A server that is not trusted chooses points, clips and coordinates. Numbers at the ends of what a
/// double holds make no unit longer than its clip, and stop nothing: a refusal would tell of a row.
#[test]
fn no_unit_is_longer_than_its_clip_whatever_a_server_asks() {
    let ends = [1e308, -1e154, 1e-154, 5e-324, 1.0];
    let pairs = || ends.iter().flat_map(|a| ends.iter().map(move |b| [*a, *b]));
    let units: [(&[Row], bool); 3] = [
        (&[([1.0, -0.3, 1e9], 1.0)], false),
        (&[([1e-300, 0.0, 1.0], -1.0)], false),
        (&[([1.0, 1.0, 1.0], 1.0), ([-1e9, 0.5, 1e-9], -1.0)], true),
    ];
    let losses = [("logistic", Some(2)), ("squared", None)];
    let losses = losses.map(|(name, classes)| losses::parse(name, classes).unwrap());
    let limit = (1_u128 << BITS).pow(2);
    let mut longest = 0;
    for ((rows, person), basis) in units.iter().flat_map(|unit| pairs().map(move |b| (unit, b))) {
        let map: Vec<f64> = (0..16).map(|at| basis[(at * 7 / 3) % 2]).collect();
        let mut table = holder((rows, *person), None);
        table.private.set_basis(Some(&map));
        let shape = table.private.shape(1);
        for point in pairs() {
            let at = || [point[0], point[1], point[1], point[0]].to_vec();
            let from: Vec<f64> = at().iter().map(|x| -x).collect();
            let mut kinds = vec![];
            for clip in [1e-100, 0.4, 1e100] {
                kinds.push(RecordSum::Gradient { at: at().into(), clip });
                kinds.push(RecordSum::Correction { at: at().into(), from: from[..].into(), clip });
                kinds.push(RecordSum::Coordinate { at: at().into(), index: 2, clip });
            }
            for (row_norm, most) in [(1e-30, 1e30), (1.0, 1e-30), (1e30, 1e30)] {
                kinds.push(RecordSum::SecondMoment { row_norm, whole: true });
                kinds.push(RecordSum::Curvature { at: at().into(), row_norm, most });
            }
            for (what, loss) in kinds.iter().flat_map(|what| losses.iter().map(move |l| (what, l)))
            {
                what.check(shape).unwrap();
                let mut out = vec![0; what.len(shape)];
                what.add_up(&mut table, &**loss, None, &mut out);
                let square: u128 =
                    out.iter().map(|step| u128::from(step.unsigned_abs()).pow(2)).sum();
                assert!(square <= limit, "{what:?} {map:?} {rows:?}: {out:?}");
                longest = longest.max(square);
            }
        }
    }
    assert!(longest > limit / 2, "the search must come near it: {longest}");
}
