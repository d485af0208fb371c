//! Scores that were kept are those that are made anew, and no record moves one further than is
//! counted.

use reticent_data::{Csr, Dense, Rows, Table};
use reticent_problem::losses;

use super::*;

const PARTIAL: PartialTerms = PartialTerms { clip: 0.3, constant: 0.2 };
const TERMS: ColumnTerms = ColumnTerms { partial: PARTIAL, pull: 4.0, scale: 1 << 30 };

/// Numbers without a pattern, from 0 to below `below`.
struct Mixed(u64);

impl Mixed {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed >> 33) % below
    }

    fn number(&mut self) -> f64 {
        self.below(2_001) as f64 / 1_000.0 - 1.0
    }
}

/// Rows of four entries in 40 columns, or of all of them.
fn table(rows: usize, sparse: bool, mixed: &mut Mixed) -> Table {
    let columns = if sparse { 40 } else { 6 };
    let rows_of = if sparse {
        let mut made = Csr::empty(columns);
        for _ in 0..rows {
            let mut indices: Vec<u32> = (0..4).map(|_| mixed.below(40) as u32).collect();
            indices.sort_unstable();
            indices.dedup();
            let values: Vec<f64> = indices.iter().map(|_| mixed.number()).collect();
            made.indices.extend(&indices);
            made.values.extend(values);
            made.indptr.push(made.indices.len());
        }
        Rows::Sparse(made)
    } else {
        let values = (0..rows * columns).map(|_| mixed.number()).collect();
        Rows::Dense(Dense { rows, columns, values })
    };
    let targets = (0..rows).map(|_| if mixed.below(2) == 0 { 1.0 } else { -1.0 }).collect();
    Table { rows: rows_of, targets, users: None, weights: None, names: Vec::new() }
}

/// A point with a few coordinates that are not zero.
fn point(len: usize, mixed: &mut Mixed) -> Vec<(u32, f64)> {
    let mut indices: Vec<u32> = (0..3).map(|_| mixed.below(len as u64) as u32).collect();
    indices.sort_unstable();
    indices.dedup();
    indices.into_iter().map(|index| (index, mixed.number())).collect()
}

/// The sums of a point, record by record and coordinate by coordinate.
fn plain(private: &Private, loss: &dyn Loss, point: &[(u32, f64)]) -> Vec<i64> {
    let len = private.shape(1).len();
    let mut at = vec![0.0; len];
    point.iter().for_each(|&(index, value)| at[index as usize] = value);
    let mut buffer = [0.0; 2];
    let mut sum = |index: usize| -> i64 {
        let steps = |i: usize| {
            let mut partial = private.partial(loss, i, &at, index, &mut buffer);
            if index == private.features() {
                partial *= PARTIAL.constant / private.intercept();
            }
            let share = partial.clamp(-PARTIAL.clip, PARTIAL.clip) / PARTIAL.clip;
            (share * 4_294_967_296.0).round() as i64
        };
        (0..private.records()).map(steps).sum()
    };
    (0..len).map(&mut sum).collect()
}

#[test]
fn what_is_kept_is_what_a_new_pass_makes() {
    let mut mixed = Mixed(5);
    let loss = losses::parse("logistic", None).unwrap();
    for (sparse, constant) in [(true, 0.0), (true, 0.3), (false, 0.3)] {
        let private = Private::by_record(table(60, sparse, &mut mixed), constant).unwrap();
        let len = private.shape(1).len();
        let fresh = || ScoredColumns::new(&private, &*loss, TERMS).unwrap();
        let (mut kept, mut moves) = (fresh(), 0);
        for step in 0..200 {
            // Now and then back to zero.
            let at = if step % 17 == 16 { Vec::new() } else { point(len, &mut mixed) };
            kept.move_to(&private, &*loss, &at);
            let mut made = fresh();
            made.move_to(&private, &*loss, &at);
            assert_eq!(kept.gradient.sums(), made.gradient.sums(), "step {step}");
            assert_eq!(kept.levels.scores(), made.levels.scores(), "step {step}");
            let away = plain(&private, &*loss, &at)
                .iter()
                .zip(kept.gradient.sums())
                .map(|(plain, kept)| (plain - kept).abs())
                .max();
            // The quotient there is rounded once more, by a step for each record.
            assert!(away <= Some(60), "step {step}: {away:?}");
            moves += usize::from(kept.gradient.sums().iter().any(|sum| *sum != 0));
        }
        assert!(moves > 150, "{moves}");
    }
}

/// A ridge pulls on the coefficients, to the last step of the grid, and not on the intercept.
#[test]
fn a_ridge_is_added_to_the_coefficients_alone() {
    let mut mixed = Mixed(7);
    let loss = losses::parse("logistic", None).unwrap();
    let private = Private::by_record(table(9, true, &mut mixed), 0.3).unwrap();
    let mut scored = ScoredColumns::new(&private, &*loss, TERMS).unwrap();
    scored.move_to(&private, &*loss, &[(3, 0.6), (40, 0.5)]);
    let without = |index: usize| scored.levels.scores()[index] + scored.gradient.sums()[index];
    // 4 · 0.6 / 0.3 clips.
    assert_eq!((without(3), without(40), without(5)), (-8 << 32, 0, 0));
    let largest = scored.largest();
    assert_eq!((largest.index, largest.positive), (3, false));
    let far = ColumnTerms { pull: 1e20, ..TERMS };
    let mut scored = ScoredColumns::new(&private, &*loss, far).unwrap();
    scored.move_to(&private, &*loss, &[(3, -1e20)]);
    assert!(scored.levels.scores()[3] >= (1 << 61) - (9 << 32), "cut, and in a word");
}

/// Rows of all sizes, with the others unchanged: one record more, or another in its place.
#[test]
fn no_record_moves_a_sum_further_than_a_clip() {
    const CLIP: i64 = 1 << 32;
    let loss = losses::parse("huber:1e9", None).unwrap();
    let hostile = [1e300, -1e300, 5e-324, 1.0, -0.0, 1e-10, -0.3, 0.300_000_1, 1e16];
    let gradient = |last: Option<(usize, f64)>| {
        let mut mixed = Mixed(11);
        let mut others = table(5, false, &mut mixed);
        if let (Some((turn, target)), Rows::Dense(rows)) = (last, &mut others.rows) {
            rows.values.extend((0..6).map(|j| hostile[(turn * (j + 2) + j) % hostile.len()]));
            rows.rows += 1;
            others.targets.push(target);
        }
        let private = Private::by_record(others, 0.3).unwrap();
        let mut gradient = MovingGradient::new(&private, &*loss, PARTIAL);
        gradient.move_to(&private, &*loss, &[(0, 0.5), (2, -2.0), (6, 1e10)]);
        gradient.sums().to_vec()
    };
    let (without, mut farthest) = (gradient(None), 0);
    for turn in 0..hostile.len() {
        for target in [1.0, -1.0] {
            let with = gradient(Some((turn, target)));
            let moved = with.iter().zip(&without).map(|(a, b)| (a - b).abs()).max().unwrap();
            assert!(moved <= CLIP, "{turn} {target}: {moved}");
            farthest = farthest.max(moved);
        }
    }
    assert_eq!(farthest, CLIP, "some record moves a sum by all that it may");
}
