//! Squares of rows, `a aᵀ`, as vectors `(M_jj, √2·M_jk for j < k)` whose Euclidean norm is the
//! matrix's.

use std::f64::consts::SQRT_2;

use super::private::{Private, norm_above};
use super::rows::{RowAccess, with_rows};

impl Private {
    /// The same of record `i` alone, as the entries that are not zero by nature and where they stand,
    /// in ascending order: to the bit what [`Private::add_square`] adds to zeros.
    pub fn push_square(
        &self,
        i: usize,
        (row_norm, whole): (f64, bool),
        out: &mut Vec<(usize, f64)>,
    ) {
        let features = self.features() + usize::from(whole && self.intercept() != 0.0);
        squares(&self.entries(i, whole), row_norm, 1.0, features, |at, value| {
            out.push((at, value));
        });
    }

    /// Adds `share·a'a'ᵀ` of record `i`, `a'` its row scaled down to `row_norm`; the constant
    /// behind the intercept is a last coordinate of the row where it is to be `whole`.
    pub fn add_square(
        &self,
        i: usize,
        (row_norm, whole): (f64, bool),
        share: f64,
        out: &mut [f64],
    ) {
        add_square_of(&self.entries(i, whole), row_norm, share, out);
    }

    fn entries(&self, i: usize, whole: bool) -> Vec<(usize, f64)> {
        let mut entries = Vec::new();
        with_rows!(self.rows(), rows => rows.for_each(i, |k, value| entries.push((k, value))));
        if whole && self.intercept() != 0.0 {
            entries.push((self.features(), self.intercept()));
        }
        entries
    }
}

/// The matrix of such a vector in steps of a grid, row-major.
pub fn symmetric(features: usize, steps: &[i64], step: f64) -> Vec<f64> {
    let mut matrix = vec![0.0; features * features];
    for j in 0..features {
        for k in j..features {
            let entry =
                steps[place(features, j, k)] as f64 * step / if j == k { 1.0 } else { SQRT_2 };
            matrix[j * features + k] = entry;
            matrix[k * features + j] = entry;
        }
    }
    matrix
}

/// Where entry `(j, k)`, `j ≤ k`, of the upper triangle stands.
fn place(features: usize, j: usize, k: usize) -> usize {
    j * (2 * features - j + 1) / 2 + (k - j)
}

fn add_square_of(entries: &[(usize, f64)], row_norm: f64, share: f64, out: &mut [f64]) {
    let features = (((8 * out.len() + 1) as f64).sqrt() as usize - 1) / 2;
    squares(entries, row_norm, share, features, |at, value| out[at] += value);
}

/// Tells the entries of the square, where they stand and what they are.
fn squares(
    entries: &[(usize, f64)],
    row_norm: f64,
    share: f64,
    features: usize,
    mut tell: impl FnMut(usize, f64),
) {
    let square = entries.iter().map(|(_, value)| value * value).sum();
    let scale = row_norm / norm_above(square, entries.len()).max(row_norm);
    for (first, &(j, a)) in entries.iter().enumerate() {
        let a = a * scale * (scale * share);
        tell(place(features, j, j), a * entries[first].1);
        for &(k, b) in &entries[first + 1..] {
            tell(place(features, j, k), SQRT_2 * a * b);
        }
    }
}
