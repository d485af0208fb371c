//! Squares of rows that were chosen to be longer than a clip, or to differ by more than their noise is
//! counted for.

use reticent_data::{Dense, Rows, Table};

use super::grid::{Grid, row_limit};
use super::pass::{Pass, Vectors};
use super::private::Private;
use super::sensitivity_tests::{CLIP, square};
use super::square::Squares;

/// Rows of many widths that are long, short, lopsided or just above half a step, as a record and as one
/// of two of a user, at shares that round up or vanish.
#[test]
fn no_square_of_an_extreme_row_moves_a_sum_by_more_than_its_noise_is_counted_for() {
    for width in [1, 2, 3, 17, 64, 150] {
        let alike = 1.0 / (width as f64).sqrt();
        let unit = 1.0 / row_limit(width);
        let makers: [&dyn Fn(usize) -> f64; 9] = [
            &|_| alike,
            &|k| if k % 2 == 0 { alike } else { -alike },
            &|k| if k == 0 { 1.0 } else { 0.500_001 * unit },
            &|k| if k == width - 1 { -1e160 } else { 1e-160 },
            &|k| if k == width / 2 { 1e140 } else { 1e139 },
            &|_| 1e-310,
            &|k| 0.500_001 * unit * (1 + k % 3) as f64,
            &|k| ((k * 37 + 11) % 23) as f64 / 11.0 - 1.0,
            &|k| f64::from(k == width - 1),
        ];
        let rows: Vec<Vec<f64>> =
            makers.iter().map(|make| (0..width).map(make).collect()).collect();
        for users in [false, true] {
            let mut said: Vec<Vec<i64>> = vec![vec![0; width * width]];
            for (at, row) in rows.iter().enumerate() {
                let units = [[row, row], [row, &rows[(at + 1) % rows.len()]]];
                for (records, share) in units.iter().flat_map(|unit| [1.0, 0.3].map(|s| (unit, s)))
                {
                    said.push(one_square(&records[..1 + usize::from(users)], users, share));
                }
            }
            for (at, one) in said.iter().enumerate() {
                assert!(square(one, &said[0]) <= CLIP, "{width} {users} {at}");
                let most = (2.0 * (1.0 + 1e-6_f64).powi(2) * CLIP as f64) as u128;
                assert!(said[..at].iter().all(|other| square(one, other) <= most), "{width} {at}");
            }
        }
    }
}

/// The integers of one unit with these rows, whose bound is 1.
fn one_square(records: &[&Vec<f64>], user: bool, share: f64) -> Vec<i64> {
    let width = records[0].len();
    let mut dense = Dense::empty(width);
    let all: Vec<u32> = (0..width as u32).collect();
    records.iter().for_each(|row| dense.push_sparse(&all, row));
    let table = Table {
        rows: Rows::Dense(dense),
        targets: vec![1.0; records.len()],
        users: user.then(|| vec![0; records.len()]),
        weights: None,
        names: vec![String::new(); width],
    };
    let private = match user {
        true => Private::by_user(table, 0.0).unwrap(),
        false => Private::by_record(table, 0.0).unwrap(),
    };
    let grid = Grid::of_squares(width);
    // The clip in the units of the sum is no matter of integers.
    let vectors = Vectors { units: 1, chosen: None, clip: 1e-3, grid };
    let mut out = vec![0; width * width];
    let taken = Squares { row_norm: 1.0, whole: true };
    Pass::default().square_sum(&private, taken, &vectors, &mut out, |_| share);
    out
}
