//! Neighbouring sums never differ by more than the declared sensitivity: the real passes over rows
//! that were chosen to break them. Integers throughout, so the assertions have no tolerance.

use proptest::prelude::*;
use reticent_data::{Csr, Dense, Rows, Table};
use reticent_problem::losses;

use super::grid::{BITS, Grid};
use super::pass::{Ask, Pass, Slopes, Vectors};
use super::private::{Private, TableError};
use super::square::Squares;

const COLUMNS: usize = 4;

#[derive(Clone, Copy, Debug)]
enum Unit {
    Record,
    User,
}

#[derive(Clone, Debug)]
struct Record {
    row: Vec<f64>,
    target: f64,
    user: u32,
    weight: f64,
}

/// Huge, small, denormal, signed zeros, and ordinary numbers; a row mixes them.
fn entry() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -2.0..2.0f64,
        1 => prop::sample::select(vec![0.0, -0.0, 5e-324, -5e-324, 1e-310, f64::MIN_POSITIVE]),
        1 => prop::sample::select(vec![1e150, -1e150, 1e154, -1e160, 1e300, f64::MAX, f64::MIN]),
        1 => (-160.0..160.0f64).prop_map(|e| 10f64.powf(e)),
    ]
}

/// Most records count once; others nothing, next to nothing, or a part.
fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => Just(1.0),
        1 => prop::sample::select(vec![0.0, -0.0, 5e-324, 1e-300, 0.5, 1.0 - f64::EPSILON]),
        1 => 0.0..=1.0f64,
    ]
}

fn record() -> impl Strategy<Value = Record> {
    (prop::collection::vec(entry(), COLUMNS), prop::bool::ANY, 0..3u32, weight()).prop_map(
        |(row, positive, user, weight)| {
            let target = if positive { 1.0 } else { -1.0 };
            Record { row, target, user, weight }
        },
    )
}

/// Pairs of rows that cancel exactly, and records of every other kind.
fn records() -> impl Strategy<Value = Vec<Record>> {
    prop::collection::vec((record(), prop::bool::ANY), 1..12).prop_map(|drawn| {
        drawn
            .into_iter()
            .flat_map(|(record, twice)| {
                let opposite = Record { target: -record.target, ..record.clone() };
                std::iter::once(record).chain(twice.then_some(opposite))
            })
            .collect()
    })
}

fn private(records: &[Record], sparse: bool, unit: Unit, loss: &str) -> Private {
    let indices: Vec<u32> = (0..COLUMNS as u32).collect();
    let rows = if sparse {
        let mut rows = Csr::empty(COLUMNS);
        records.iter().for_each(|record| rows.push(&indices, &record.row));
        Rows::Sparse(rows)
    } else {
        let mut rows = Dense::empty(COLUMNS);
        records.iter().for_each(|record| rows.push_sparse(&indices, &record.row));
        Rows::Dense(rows)
    };
    let class = |record: &Record| {
        if loss.starts_with("multinomial") { record.target + 1.0 } else { record.target }
    };
    // All of one is none.
    let weighted = records.iter().any(|record| record.weight != 1.0);
    let table = Table {
        rows,
        targets: records.iter().map(class).collect(),
        users: Some(records.iter().map(|record| record.user).collect()),
        weights: weighted.then(|| records.iter().map(|record| record.weight).collect()),
        names: vec!["x".to_owned(); COLUMNS],
    };
    match unit {
        Unit::Record => Private::by_record(table, 0.5),
        Unit::User => Private::by_user(table, 0.5),
    }
    .unwrap()
}

pub(super) fn square(a: &[i64], b: &[i64]) -> u128 {
    a.iter().zip(b).map(|(a, b)| (i128::from(*a) - i128::from(*b)).pow(2) as u128).sum()
}

/// One clip, squared and in steps.
pub(super) const CLIP: u128 = 1 << (2 * BITS);

fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn clipped_sums_of_neighbours(
        records in records(),
        stranger in record(),
        place in any::<prop::sample::Index>(),
        (at, from) in (prop::collection::vec(entry(), 15), prop::collection::vec(entry(), 15)),
        stored in prop::collection::vec(entry(), 96),
        clip in prop_oneof![1e-3..1e3f64, Just(1e-100), Just(1e100)],
        loss in prop::sample::select(vec!["logistic", "squared", "absolute", "multinomial:3"]),
        which in 0..4usize,
        sparse in prop::bool::ANY,
    ) {
        let loss = losses::parse(loss, None).unwrap();
        let len = (COLUMNS + 1) * loss.outputs();
        let slopes = [
            Slopes::At(&at[..len]),
            Slopes::Between(&at[..len], &from[..len]),
            Slopes::Shortened(&at[..len], 1.0),
            Slopes::Stored(&stored),
        ][which];
        let sum = |records: &[Record], unit| {
            let private = private(records, sparse, unit, loss.name());
            let mut out = vec![0; len];
            let ask = Ask { private: &private, loss: &*loss, slopes, clip, chosen: None };
            Pass::default().clipped_sum(&ask, &mut out);
            out
        };
        let place = place.index(records.len());
        let whole = sum(&records, Unit::Record);

        let mut replaced = records.clone();
        replaced[place] = stranger.clone();
        prop_assert!(square(&whole, &sum(&replaced, Unit::Record)) <= 4 * CLIP);

        // The last record, so that the stored slopes of the others stay theirs.
        let removed = sum(&records[..records.len() - 1], Unit::Record);
        prop_assert!(square(&whole, &removed) <= CLIP);

        // A user with all its records, against a user with none of them the same.
        let by_user = sum(&records, Unit::User);
        let user = records[place].user;
        let mut other = records.clone();
        for record in other.iter_mut().filter(|record| record.user == user) {
            *record = Record { user, ..stranger.clone() };
        }
        prop_assert!(square(&by_user, &sum(&other, Unit::User)) <= 4 * CLIP);
    }

    /// A record adds the same integers wherever it stands and whoever stands beside it: a vector
    /// loop whose last few records were rounded differently would make every record after a removed
    /// one move the sum.
    #[test]
    fn a_sum_is_the_sum_of_its_records(
        records in prop::collection::vec(record(), 1..40),
        (at, from) in (prop::collection::vec(entry(), 15), prop::collection::vec(entry(), 15)),
        loss in prop::sample::select(vec!["logistic", "huber:1.35", "multinomial:3"]),
        which in 0..3usize,
        sparse in prop::bool::ANY,
    ) {
        let loss = losses::parse(loss, None).unwrap();
        let len = (COLUMNS + 1) * loss.outputs();
        let slopes = [
            Slopes::At(&at[..len]),
            Slopes::Between(&at[..len], &from[..len]),
            Slopes::Shortened(&at[..len], 1.0),
        ][which];
        let sum = |records: &[Record]| {
            let private = private(records, sparse, Unit::Record, loss.name());
            let mut out = vec![0; len];
            let ask = Ask { private: &private, loss: &*loss, slopes, clip: 1.0, chosen: None };
            on_threads(1, || Pass::default().clipped_sum(&ask, &mut out));
            out
        };
        let mut apart = vec![0; len];
        for record in &records {
            let one = sum(std::slice::from_ref(record));
            apart.iter_mut().zip(&one).for_each(|(sum, one)| *sum += one);
        }
        prop_assert_eq!(sum(&records), apart);
    }

    #[test]
    fn the_bits_do_not_depend_on_the_threads(
        records in prop::collection::vec(record(), 1..200),
        at in prop::collection::vec(entry(), COLUMNS + 1),
        unit in prop::sample::select(vec![Unit::Record, Unit::User]),
    ) {
        let loss = losses::parse("logistic", None).unwrap();
        let private = private(&records, false, unit, "logistic");
        let sum = || {
            let mut out = vec![0; at.len()];
            let ask = Ask { private: &private, loss: &*loss, slopes: Slopes::At(&at), clip: 1.0, chosen: None };
            Pass::default().clipped_sum(&ask, &mut out);
            out
        };
        let alone = on_threads(1, sum);
        prop_assert_eq!(&alone, &on_threads(2, sum));
        prop_assert_eq!(&alone, &on_threads(3, sum));
    }

    /// What second moments and curvatures add: positive semidefinite, whatever a record's share is.
    #[test]
    fn squares_of_neighbours_are_closer_than_two_clips(
        records in records(),
        stranger in record(),
        place in any::<prop::sample::Index>(),
        unit in prop::sample::select(vec![Unit::Record, Unit::User]),
        row_norm in prop_oneof![1e-3..1e3f64, Just(1e-50), Just(1e50)],
    ) {
        let sum = |records: &[Record]| squares(records, true, unit, row_norm);
        let whole = sum(&records);
        let mut other = records.clone();
        let place = place.index(other.len());
        match unit {
            Unit::Record => other[place] = stranger,
            Unit::User => {
                let user = other[place].user;
                other.retain(|record| record.user != user);
                other.push(Record { user, ..stranger });
            }
        }
        prop_assert!(square(&whole, &sum(&other)) <= 2 * CLIP);
        if let Unit::Record = unit {
            let mut fewer = records.clone();
            fewer.remove(place);
            prop_assert!(square(&whole, &sum(&fewer)) <= CLIP);
        }
    }

    /// One by one or in blocks, on any number of threads.
    #[test]
    fn the_bits_of_squares_do_not_depend_on_how_they_are_added(
        records in prop::collection::vec(record(), 1..400),
    ) {
        let sum = |records: &[Record]| squares(records, false, Unit::Record, 1.0);
        let whole = on_threads(1, || sum(&records));
        let mut apart = vec![0; whole.len()];
        for record in &records {
            let one = sum(std::slice::from_ref(record));
            apart.iter_mut().zip(&one).for_each(|(sum, one)| *sum += one);
        }
        prop_assert_eq!(&whole, &apart);
        prop_assert_eq!(&whole, &on_threads(3, || sum(&records)));
    }

    /// Rows that are mostly zeros are added entry by entry, others as products of matrices.
    #[test]
    fn squares_of_sparse_rows_have_the_bits_of_dense_ones(
        rows in prop::collection::vec((0..6_u32, 6..12_u32, entry(), entry()), 1..300),
    ) {
        let (mut sparse, mut dense) = (Csr::empty(12), Dense::empty(12));
        for &(j, k, a, b) in &rows {
            sparse.push(&[j, k], &[a, b]);
            dense.push_sparse(&[j, k], &[a, b]);
        }
        let sum = |rows: Rows| {
            let (targets, names) = (vec![1.0; rows.len()], vec!["x".to_owned(); 12]);
            let table = Table { rows, targets, users: None, weights: None, names };
            let private = Private::by_record(table, 0.5).unwrap();
            let (units, grid) = (private.units(), Grid::of_squares(13));
            let vectors = Vectors { units, chosen: None, clip: 4.0, grid };
            let mut out = vec![0; 13 * 13];
            let taken = Squares { row_norm: 2.0, whole: true };
            Pass::default().square_sum(&private, taken, &vectors, &mut out, |_| 1.0);
            out
        };
        prop_assert_eq!(sum(Rows::Sparse(sparse)), sum(Rows::Dense(dense)));
    }
}

fn squares(records: &[Record], sparse: bool, unit: Unit, row_norm: f64) -> Vec<i64> {
    let private = private(records, sparse, unit, "logistic");
    let width = COLUMNS + 1;
    let vectors = Vectors {
        units: private.units(),
        chosen: None,
        clip: row_norm * row_norm,
        grid: Grid::of_squares(width),
    };
    let mut out = vec![0; width * width];
    let taken = Squares { row_norm, whole: true };
    let share = |i: usize| private.times_weight(i, 1.0);
    Pass::default().square_sum(&private, taken, &vectors, &mut out, share);
    out
}

/// The rows that rounding lengthens most: all coordinates alike, a little more than half a step above
/// an integer.
#[test]
fn the_square_of_a_row_that_is_rounded_up_does_not_pass_the_clip() {
    for width in 1..5000_usize {
        let entry = 1.0 / (width as f64).sqrt();
        let step = super::grid::nearest(entry * super::grid::row_limit(width)) as u128;
        let square = step * step * width as u128;
        assert!(square * square <= CLIP, "{width} coordinates");
    }
}

/// Shares that are no numbers from 0 to 1 do not lengthen a square.
#[test]
fn a_share_above_one_counts_as_one() {
    let record = Record { row: vec![0.5; COLUMNS], target: 1.0, user: 0, weight: 1.0 };
    for unit in [Unit::Record, Unit::User] {
        let private = private(std::slice::from_ref(&record), false, unit, "logistic");
        let sum = |share: f64| {
            let (width, grid) = (COLUMNS + 1, Grid::of_squares(COLUMNS + 1));
            let vectors = Vectors { units: 1, chosen: None, clip: 1.0, grid };
            let mut out = vec![0; width * width];
            let taken = Squares { row_norm: 1.0, whole: true };
            Pass::default().square_sum(&private, taken, &vectors, &mut out, |_| share);
            out
        };
        let none = vec![0; (COLUMNS + 1) * (COLUMNS + 1)];
        assert_eq!(sum(1e9), sum(1.0), "{unit:?}");
        assert_ne!(sum(1.0), none, "{unit:?}");
        assert!([f64::NAN, -1.0, -0.0].into_iter().all(|share| sum(share) == none), "{unit:?}");
    }
}

/// A million equal records at the clip: the sum stays exact far beyond what a double could add up.
#[test]
fn long_sums_stay_exact() {
    let count = 3 << 20;
    let vectors = Vectors { units: count, chosen: None, clip: 1.0, grid: Grid::new(1) };
    let (mut one, mut many) = ([0], [0]);
    Pass::default()
        .vector_sum(&Vectors { units: 1, ..vectors }, &mut one, |_, whole, _| whole[0] = 1.0 / 3.0);
    Pass::default().vector_sum(&vectors, &mut many, |_, whole, _| whole[0] = 1.0 / 3.0);
    assert_eq!(many[0], one[0] * count as i64);
}

/// Slopes whose squares are zero in floating point, on a row so long that the product is far above
/// the clip.
#[test]
fn squares_that_underflow_do_not_pass_the_clip() {
    let loss = losses::parse("multinomial:3", None).unwrap();
    let long = Record { row: vec![1e150; COLUMNS], target: 1.0, user: 0, weight: 1.0 };
    let private = private(&[long], false, Unit::Record, loss.name());
    let mut sum = vec![0; 3 * (COLUMNS + 1)];
    let slopes = Slopes::Stored(&[1e-165, -1e-165, 1e-170]);
    let ask = Ask { private: &private, loss: &*loss, slopes, clip: 1e-100, chosen: None };
    Pass::default().clipped_sum(&ask, &mut sum);
    assert!(square(&sum, &vec![0; sum.len()]) <= CLIP);
}

/// One number without a value would make every sum of its column one, and an index that comes twice
/// a row longer than its norm: no clip would hold either.
#[test]
fn rows_that_are_none_are_refused() {
    let table = |rows| Table {
        rows,
        targets: vec![1.0; 2],
        users: None,
        weights: None,
        names: vec!["x".to_owned(); 2],
    };
    let dense =
        |value| Rows::Dense(Dense { rows: 2, columns: 2, values: vec![0.5, 0.5, value, 0.5] });
    let sparse = |indices: [u32; 2], value| {
        let (indices, values) = (indices.to_vec(), vec![1.0, value]);
        Rows::Sparse(Csr { indptr: vec![0, 0, 2], indices, values, columns: 2 })
    };
    for rows in [dense(0.5), sparse([0, 1], 1.0)] {
        assert!(Private::by_record(table(rows), 0.5).is_ok());
    }
    let inf = f64::INFINITY;
    for rows in [
        dense(f64::NAN),
        dense(inf),
        sparse([0, 1], -inf),
        sparse([1, 1], 1.0),
        sparse([1, 0], 1.0),
        sparse([0, 2], 1.0),
    ] {
        let refused = Private::by_record(table(rows.clone()), 0.5).err();
        assert_eq!(refused, Some(TableError::Malformed), "{rows:?}");
    }
}
