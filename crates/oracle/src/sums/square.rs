//! Squares of rows, `a aᵀ`, with all `width²` entries: the Euclidean norm of such a vector is the
//! matrix's.
//!
//! ```text
//! r = round(√share·a'·L/R),  ‖r‖ ≤ 2¹⁶;   Σ r rᵀ is a sum of integers below 2³² a row
//! ```
//!
//! A row becomes integers before it is squared, so that its square is exact, and a sum of squares is
//! the same to the bit in whatever order it is taken: rows that are mostly zeros are added entry by
//! entry, others as a product of matrices, block by block. Proof: proofs/second-moment.md.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, MatMut, MatRef, Par};

use super::grid::{Grid, nearest, row_limit};
use super::pass::{Pass, PassPart, SharedUnits, Vectors, finite};
use super::private::{Private, norm_above};
use super::rows::{RowAccess, SeenRows, with_rows};

/// Rows that are multiplied at once: enough for a product of matrices, few enough for a cache.
const BLOCK_ROWS: usize = 128;

/// Which squares are taken.
#[derive(Clone, Copy, Debug)]
pub struct Squares {
    /// `R`: longer rows are scaled down to it.
    pub row_norm: f64,
    /// Whether the constant behind the intercept is a last coordinate of the rows.
    pub whole: bool,
}

impl Squares {
    fn width(self, private: &Private) -> usize {
        private.features() + usize::from(self.whole && private.intercept() != 0.0)
    }
}

impl Pass {
    /// The sum of `share(i)·a'a'ᵀ` over records, of a user the mean over its records, in steps of the
    /// grid, into `out`. A share is a function of its record, from 0 to 1.
    pub fn square_sum(
        &mut self,
        private: &Private,
        squares: Squares,
        vectors: &Vectors<'_>,
        out: &mut [i64],
        share: impl Fn(usize) -> f64 + Sync,
    ) {
        let width = squares.width(private);
        if width == 0 {
            return;
        }
        // A share that is no number counts as nothing.
        let share =
            |i: usize| Some(share(i)).filter(|share| *share > 0.0).map_or(0.0, |s| s.min(1.0));
        self.share(vectors.units, vectors.chosen, out, |part, units| {
            if private.users().is_some() {
                return part.add_users(private, squares, vectors.grid, units, &share);
            }
            let records = units.map(|i| (i, share(i)));
            match private.is_mostly_zeros(width) {
                true => part.add_entries(private, squares, records),
                false => part.add_blocks(private, squares, records),
            }
        });
        for j in 0..width {
            for k in j + 1..width {
                out[k * width + j] = out[j * width + k];
            }
        }
    }
}

/// Each adds the entries `(j, k)`, `j ≤ k`, at `j·width + k`; the others follow from these.
impl PassPart {
    fn add_entries(
        &mut self,
        private: &Private,
        squares: Squares,
        records: impl Iterator<Item = (usize, f64)>,
    ) {
        let mut row = Vec::new();
        for (i, share) in records {
            self.room_for(1);
            self.add_entries_of(private, squares, (i, share), &mut row);
        }
    }

    fn add_entries_of(
        &mut self,
        private: &Private,
        squares: Squares,
        (i, share): (usize, f64),
        row: &mut Vec<(usize, f64)>,
    ) {
        let width = squares.width(private);
        row.clear();
        private.entries(i, squares, |k, value| row.push((k, value)));
        let factor = row_factor(row.iter().map(|(_, v)| *v), width, squares.row_norm, share);
        row.iter_mut().for_each(|(_, value)| *value = nearest(*value * factor));
        for (first, &(j, a)) in row.iter().enumerate() {
            for &(k, b) in &row[first..] {
                self.sums[j * width + k] += a * b;
            }
        }
    }

    fn add_blocks(
        &mut self,
        private: &Private,
        squares: Squares,
        records: impl Iterator<Item = (usize, f64)>,
    ) {
        let width = squares.width(private);
        let mut block = vec![0.0; BLOCK_ROWS * width];
        let mut records = records.peekable();
        while records.peek().is_some() {
            let mut taken = 0;
            for (row, (i, share)) in block.chunks_exact_mut(width).zip(&mut records) {
                row.fill(0.0);
                private.entries(i, squares, |k, value| row[k] = value);
                let factor = row_factor(row.iter().copied(), width, squares.row_norm, share);
                row.iter_mut().for_each(|value| *value = nearest(*value * factor));
                taken += 1;
            }
            self.room_for(taken);
            add_product(&block[..taken * width], width, &mut self.sums);
        }
    }

    /// The matrix of a user with several records is a mean, which is no integers: it is rounded entry by
    /// entry. Shares are parts
    /// of the largest, so that it is `R²` long at most, whatever the clip is in the units of the sum.
    fn add_users(
        &mut self,
        private: &Private,
        squares: Squares,
        grid: Grid,
        users: SharedUnits<'_>,
        share: &impl Fn(usize) -> f64,
    ) {
        let width = squares.width(private);
        let (mut row, mut whole) = (Vec::new(), vec![0.0; width * width]);
        for user in users {
            self.room_for(1);
            let records = private.records_of(user);
            if let &[i] = records {
                self.add_entries_of(private, squares, (i as usize, share(i as usize)), &mut row);
                continue;
            }
            whole.fill(0.0);
            for i in records.iter().map(|&i| i as usize) {
                row.clear();
                private.entries(i, squares, |k, value| row.push((k, value)));
                let share = share(i) / records.len() as f64;
                add_square(&row, squares.row_norm, share, width, &mut whole);
            }
            whole.iter_mut().for_each(finite);
            let norm = norm_above(square_of(&whole, width), whole.len());
            let factor = grid.factor(norm, squares.row_norm * squares.row_norm);
            for j in 0..width {
                let upper = j * width + j..(j + 1) * width;
                for (sum, v) in self.sums[upper.clone()].iter_mut().zip(&whole[upper]) {
                    *sum += nearest(v * factor);
                }
            }
        }
    }
}

impl Private {
    /// Tells the entries of row `i`, in ascending order.
    fn entries(&self, i: usize, squares: Squares, mut tell: impl FnMut(usize, f64)) {
        with_rows!(self.rows(), rows => rows.for_each(i, &mut tell));
        if squares.whole && self.intercept() != 0.0 {
            tell(self.features(), self.intercept());
        }
    }

    /// Whether rows have so few entries that their squares are cheaper entry by entry: twice as many
    /// additions take about as long as a product of matrices. How it is done shows in no sum.
    fn is_mostly_zeros(&self, width: usize) -> bool {
        match self.rows() {
            SeenRows::Sparse(rows) => 2 * rows.values.len() < width * rows.rows(),
            SeenRows::Dense(_) | SeenRows::Made(_) => false,
        }
    }
}

/// What a row is multiplied with before it is rounded to integers: the whole is no longer than 2¹⁶
/// whatever the row and its share are.
fn row_factor(row: impl Iterator<Item = f64>, width: usize, row_norm: f64, share: f64) -> f64 {
    let norm = norm_above(row.map(|value| value * value).sum(), width);
    // A norm of ∞ counts as nothing.
    let factor = row_limit(width) / norm.max(row_norm) * share.sqrt();
    if factor.is_finite() { factor } else { 0.0 }
}

/// `sums ← sums + blockᵀ·block`, in the entries of a triangle. Integers, all partial sums of which a
/// double holds.
fn add_product(block: &[f64], width: usize, sums: &mut [f64]) {
    let rows = MatRef::from_row_major_slice(block, block.len() / width, width);
    let sums = MatMut::from_column_major_slice_mut(sums, width, width);
    let (lower, all) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    matmul(sums, lower, Accum::Add, rows.transpose(), all, rows, all, 1.0, Par::Seq);
}

/// Adds `share·a'a'ᵀ`.
fn add_square(row: &[(usize, f64)], row_norm: f64, share: f64, width: usize, out: &mut [f64]) {
    let square = row.iter().map(|(_, value)| value * value).sum();
    let scale = row_norm / norm_above(square, width).max(row_norm);
    for (first, &(j, a)) in row.iter().enumerate() {
        let a = a * scale * (scale * share);
        for &(k, b) in &row[first..] {
            out[j * width + k] += a * b;
        }
    }
}

/// The square of the norm of a symmetric matrix whose entries `(j, k)`, `j ≤ k`, these are.
fn square_of(upper: &[f64], width: usize) -> f64 {
    let row = |j: usize| {
        let (diagonal, rest) = (upper[j * width + j], &upper[j * width + j + 1..(j + 1) * width]);
        diagonal * diagonal + 2.0 * rest.iter().map(|v| v * v).sum::<f64>()
    };
    (0..width).map(row).sum()
}

/// The matrix of a noisy sum, row-major: noise is on each entry by itself, so that the two of a pair
/// are averaged.
pub fn symmetric(width: usize, steps: &[i64], step: f64) -> Vec<f64> {
    let entry = |at: usize| {
        let (j, k) = (at / width, at % width);
        0.5 * step * (steps[at] as f64 + steps[k * width + j] as f64)
    };
    (0..width * width).map(entry).collect()
}

impl Grid {
    /// A grid for the `width²` entries of squares of rows: a row takes half of the digits.
    pub fn of_squares(width: usize) -> Self {
        Grid::within(row_limit(width) * row_limit(width))
    }
}
