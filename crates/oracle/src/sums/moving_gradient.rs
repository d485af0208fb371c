//! The clipped sums of all partial derivatives, kept up to date as a point moves by few coordinates.
//!
//! ```text
//! q_ij = round( clip(φ'(xᵀaᵢ; bᵢ) a_ij, ±C) · 2³²/C )      Q_j = Σᵢ q_ij
//! ```
//!
//! Each partial derivative of a record is clipped by itself, so |q_ij| ≤ 2³² whatever the record is.
//! A step that changes x_j changes the scores of the records with an entry in column j, and no
//! others: these have their scores made anew, the integers of their old slopes taken off and those
//! of their new ones added. A score is a function of the row and of x, and integers add up exactly,
//! so the sums are those of a pass over all rows, to the bit, whatever way x has come. What a record
//! adds is in no other record's integers. Proof: proofs/exponential-mechanism.md.

use reticent_data::Rows;
use reticent_problem::losses::Loss;

use super::grid::{BITS, nearest};
use super::private::Private;
use super::rows::with_rows;

/// `C` in steps of the grid.
const CLIP: f64 = (1_u64 << BITS) as f64;

/// How a partial derivative of a record is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartialTerms {
    /// `C`.
    pub clip: f64,
    /// What the derivative along the intercept is multiplied with, in place of the constant behind it:
    /// along a multiple of the intercept, that is.
    pub constant: f64,
}

/// The sums at a point, and what is needed to move it.
#[derive(Debug)]
pub struct MovingGradient {
    terms: PartialTerms,
    holders: ColumnHolders,
    at: Vec<f64>,
    /// What is not zero of `at`.
    point: Vec<(u32, f64)>,
    slopes: Vec<f64>,
    sums: Vec<i64>,
    changed: Changed,
}

/// The records with an entry in a column.
#[derive(Debug)]
struct ColumnHolders {
    /// Where each column starts among `records`, and one more for the end; nothing where every
    /// record has an entry in every column.
    starts: Vec<usize>,
    records: Vec<u32>,
}

/// Coordinates whose sums changed.
#[derive(Debug)]
struct Changed {
    list: Vec<u32>,
    is_in: Vec<bool>,
}

impl MovingGradient {
    /// At zero.
    pub fn new(private: &Private, loss: &dyn Loss, terms: PartialTerms) -> Self {
        let len = private.shape(1).len();
        let mut gradient = MovingGradient {
            terms,
            holders: ColumnHolders::new(private),
            at: vec![0.0; len],
            point: Vec::new(),
            slopes: vec![0.0; private.records()],
            sums: vec![0; len],
            changed: Changed { list: Vec::new(), is_in: vec![false; len] },
        };
        (0..private.records()).for_each(|record| gradient.renew(private, loss, record));
        gradient
    }

    /// `Q`, in steps of the grid.
    pub fn sums(&self) -> &[i64] {
        &self.sums
    }

    /// `x`.
    pub fn at(&self) -> &[f64] {
        &self.at
    }

    /// Moves to a point, of which `point` has what is not zero, in the order of the coordinates.
    pub fn move_to(&mut self, private: &Private, loss: &dyn Loss, point: &[(u32, f64)]) {
        let before = std::mem::replace(&mut self.point, point.to_vec());
        let mut moved: Vec<u32> = before.iter().chain(point).map(|(index, _)| *index).collect();
        moved.sort_unstable();
        moved.dedup();
        let old: Vec<f64> = moved.iter().map(|&index| self.at[index as usize]).collect();
        before.iter().for_each(|&(index, _)| self.at[index as usize] = 0.0);
        point.iter().for_each(|&(index, value)| self.at[index as usize] = value);
        for (&index, old) in moved.iter().zip(old) {
            if self.at[index as usize].to_bits() != old.to_bits() {
                self.changed.add(index as usize);
                self.renew_holders(private, loss, index as usize);
            }
        }
    }

    /// The coordinates whose sums, or themselves, changed since this was asked last.
    pub fn take_changed(&mut self) -> Vec<u32> {
        let list = std::mem::take(&mut self.changed.list);
        list.iter().for_each(|&index| self.changed.is_in[index as usize] = false);
        list
    }

    /// Makes the records anew that have an entry in a column.
    fn renew_holders(&mut self, private: &Private, loss: &dyn Loss, column: usize) {
        let every = self.holders.starts.is_empty() || column == private.features();
        if every {
            (0..private.records()).for_each(|record| self.renew(private, loss, record));
            return;
        }
        for place in self.holders.starts[column]..self.holders.starts[column + 1] {
            self.renew(private, loss, self.holders.records[place] as usize);
        }
    }

    /// Has a record's integers follow its score.
    fn renew(&mut self, private: &Private, loss: &dyn Loss, record: usize) {
        let (mut score, mut slope) = ([0.0], [0.0]);
        with_rows!(private.rows(), rows => private.scores(rows, record, &self.at, &mut score));
        loss.derivative(&score, private.target(record), &mut slope);
        let [new] = slope;
        let old = std::mem::replace(&mut self.slopes[record], new);
        if new.to_bits() == old.to_bits() {
            return;
        }
        let MovingGradient { terms, sums, changed, .. } = self;
        let factor = CLIP / terms.clip;
        let mut replace = |index: usize, entry: f64| {
            let step = steps(new * entry, factor) - steps(old * entry, factor);
            if step != 0 {
                sums[index] += step;
                changed.add(index);
            }
        };
        private.each_entry(record, &mut replace);
        if private.intercept() != 0.0 {
            replace(private.features(), terms.constant);
        }
    }
}

/// A partial derivative, clipped, in steps of the grid: at most 2³² of them either way, whatever it
/// is. What is not a number counts as nothing.
#[inline]
fn steps(derivative: f64, factor: f64) -> i64 {
    nearest((derivative * factor).clamp(-CLIP, CLIP)) as i64
}

impl ColumnHolders {
    /// A counting sort of the entries by column.
    fn new(private: &Private) -> Self {
        let sparse =
            private.native_table().is_some_and(|table| matches!(table.rows, Rows::Sparse(_)));
        if !sparse {
            return ColumnHolders { starts: Vec::new(), records: Vec::new() };
        }
        let mut starts = vec![0; private.features() + 1];
        (0..private.records())
            .for_each(|record| private.each_entry(record, |column, _| starts[column + 1] += 1));
        (0..private.features()).for_each(|column| starts[column + 1] += starts[column]);
        let mut next = starts.clone();
        let mut records = vec![0; starts.last().copied().unwrap_or(0)];
        for record in 0..private.records() {
            private.each_entry(record, |column, _| {
                records[next[column]] = record as u32;
                next[column] += 1;
            });
        }
        ColumnHolders { starts, records }
    }
}

impl Changed {
    #[inline]
    fn add(&mut self, index: usize) {
        if !std::mem::replace(&mut self.is_in[index], true) {
            self.list.push(index as u32);
        }
    }
}
