//! The two operations that a pass makes on a row, for dense and for sparse rows and for images.

use reticent_data::{Csr, Dense, Rows};

use super::grid::nearest;
use super::images::Made;

/// The rows that a pass sees.
#[derive(Debug)]
pub enum SeenRows<'a> {
    /// Every entry is stored.
    Dense(&'a Dense),
    /// Those that are not zero are.
    Sparse(&'a Csr),
    /// None is.
    Made(Made<'a>),
}

impl<'a> From<&'a Rows> for SeenRows<'a> {
    fn from(rows: &'a Rows) -> Self {
        match rows {
            Rows::Dense(rows) => SeenRows::Dense(rows),
            Rows::Sparse(rows) => SeenRows::Sparse(rows),
        }
    }
}

impl SeenRows<'_> {
    /// How many features a row has.
    pub fn columns(&self) -> usize {
        match self {
            SeenRows::Dense(rows) => rows.columns,
            SeenRows::Sparse(rows) => rows.columns,
            SeenRows::Made(rows) => rows.width(),
        }
    }
}

/// One expression for the rows that are seen, whichever they are: compiled for each.
macro_rules! with_rows {
    ($rows:expr, $name:ident => $body:expr) => {
        match &$rows {
            $crate::sums::SeenRows::Dense($name) => {
                let $name = *$name;
                $body
            }
            $crate::sums::SeenRows::Sparse($name) => {
                let $name = *$name;
                $body
            }
            $crate::sums::SeenRows::Made($name) => $body,
        }
    };
}
pub(crate) use with_rows;

/// A row-major table whose row `i` can be multiplied with a parameter and added to a sum.
///
/// The parameter is a row-major matrix with `outputs` columns and a row per feature; rows beyond
/// the features (the intercept) are the caller's.
pub trait RowAccess: Sync {
    /// A typical number of bytes per row, to size the blocks of a pass.
    fn bytes_per_row(&self) -> usize;

    /// `aᵢᵀx` for one output.
    fn dot(&self, i: usize, x: &[f64]) -> f64;

    /// `scores += xᵀaᵢ` for several outputs.
    fn dot_many(&self, i: usize, x: &[f64], scores: &mut [f64]) {
        let outputs = scores.len();
        self.for_each(i, |feature, a| {
            for (score, weight) in scores.iter_mut().zip(&x[feature * outputs..]) {
                *score += a * weight;
            }
        });
    }

    /// So many rows from the first on, one behind the other, where every entry is stored; otherwise nothing.
    fn slab(&self, _: usize, _: usize) -> &[f64] {
        &[]
    }

    /// Calls `f(feature, value)` for every stored entry of row `i`.
    fn for_each(&self, i: usize, f: impl FnMut(usize, f64));

    /// `sums ← sums + map(t·aᵢ)`, one output.
    fn add(&self, i: usize, t: f64, sums: &mut [f64], map: impl Fn(f64) -> f64);

    /// `‖aᵢ‖²` of the rows from `first` on in plain floating point, each added up from its first entry to its last.
    fn square_norms(&self, first: usize, out: &mut [f64]) {
        for (i, norm) in (first..).zip(out) {
            *norm = 0.0;
            self.for_each(i, |_, value| *norm += value * value);
        }
    }

    /// `sums ← sums + map(aᵢ ⊗ t)`, several outputs.
    fn add_outer(&self, i: usize, t: &[f64], sums: &mut [f64], map: impl Fn(f64) -> f64) {
        let outputs = t.len();
        self.for_each(i, |feature, value| {
            for (sum, slope) in sums[feature * outputs..][..outputs].iter_mut().zip(t) {
                *sum += map(slope * value);
            }
        });
    }
}

/// `aᵀx` of a row with all of its entries.
#[inline(always)]
pub fn dot_slices(row: &[f64], x: &[f64]) -> f64 {
    // Eight running sums: one would chain every addition to the one before it.
    let (head, tail) = row.as_chunks::<8>();
    let (x_head, x_tail) = x[..row.len()].as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for (a, b) in head.iter().zip(x_head) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = tail.iter().zip(x_tail).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f64>() + rest
}

/// `sums ← sums + map(t·a)` of a row with all of its entries.
#[inline(always)]
pub fn add_slice(row: &[f64], t: f64, sums: &mut [f64], map: impl Fn(f64) -> f64) {
    for (sum, a) in sums.iter_mut().zip(row) {
        *sum += map(t * a);
    }
}

/// `sums ← sums + Σᵣ nearest(tᵣ·aᵣ)` of four rows with all of their entries: a sum is fetched and stored once for them.
#[inline(always)]
pub fn add_four(rows: &[f64], t: [f64; 4], sums: &mut [f64]) {
    let (a, rest) = rows.split_at(sums.len());
    let (b, rest) = rest.split_at(sums.len());
    let (c, d) = rest.split_at(sums.len());
    for ((((sum, a), b), c), d) in sums.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        let first = nearest(t[0] * a) + nearest(t[1] * b);
        *sum += first + (nearest(t[2] * c) + nearest(t[3] * d));
    }
}

impl RowAccess for Dense {
    fn bytes_per_row(&self) -> usize {
        8 * self.columns
    }

    #[inline(always)]
    fn dot(&self, i: usize, x: &[f64]) -> f64 {
        dot_slices(self.row(i), x)
    }

    fn slab(&self, first: usize, count: usize) -> &[f64] {
        &self.values[first * self.columns..][..count * self.columns]
    }

    fn for_each(&self, i: usize, mut f: impl FnMut(usize, f64)) {
        self.row(i).iter().enumerate().for_each(|(feature, &value)| f(feature, value));
    }

    #[inline(always)]
    fn add(&self, i: usize, t: f64, sums: &mut [f64], map: impl Fn(f64) -> f64) {
        add_slice(self.row(i), t, sums, map);
    }

    /// Four rows at a time: the additions of one wait for each other, those of four do not. Where fewer are
    /// left the last is taken again.
    fn square_norms(&self, first: usize, out: &mut [f64]) {
        for (i, norms) in (first..).step_by(4).zip(out.chunks_mut(4)) {
            let [a, b, c, d] = std::array::from_fn(|k| self.row(i + k.min(norms.len() - 1)));
            let mut sums = [0.0; 4];
            for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
                sums[0] += a * a;
                sums[1] += b * b;
                sums[2] += c * c;
                sums[3] += d * d;
            }
            norms.copy_from_slice(&sums[..norms.len()]);
        }
    }
}

impl RowAccess for Csr {
    fn bytes_per_row(&self) -> usize {
        12 * self.values.len() / self.rows().max(1) + 8
    }

    #[inline(always)]
    fn dot(&self, i: usize, x: &[f64]) -> f64 {
        let (indices, values) = self.row(i);
        indices.iter().zip(values).map(|(&j, a)| a * x[j as usize]).sum()
    }

    fn for_each(&self, i: usize, mut f: impl FnMut(usize, f64)) {
        let (indices, values) = self.row(i);
        indices.iter().zip(values).for_each(|(&j, &a)| f(j as usize, a));
    }

    #[inline(always)]
    fn add(&self, i: usize, t: f64, sums: &mut [f64], map: impl Fn(f64) -> f64) {
        let (indices, values) = self.row(i);
        for (&j, a) in indices.iter().zip(values) {
            sums[j as usize] += map(t * a);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of both signs, large and small.
    fn number(i: usize) -> f64 {
        let number = (i as f64 * 0.618_033_988_749_894_9).fract() - 0.5;
        [1.0, 1e-9, -3e5, 0.0][i / 3 % 4] * number
    }

    /// Widths around a vector; the last rows of a table and rows from its middle.
    #[test]
    fn four_rows_together_are_the_rows_one_by_one_to_the_bit() {
        let bits = |numbers: &[f64]| numbers.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        for columns in [1, 7, 8, 20, 33] {
            let values = (0..12 * columns).map(number).collect();
            let table = Dense { rows: 12, columns, values };
            for first in [0, 3, 8] {
                let slab = table.slab(first, 4);
                let t: [f64; 4] = std::array::from_fn(|k| 1e4 * number(k + first + 2));
                let (mut sums, mut one) = (vec![5.0; columns], vec![5.0; columns]);
                add_four(slab, t, &mut sums);
                for (t, i) in t.iter().zip(first..) {
                    table.add(i, *t, &mut one, nearest);
                    assert_eq!(table.row(i), &slab[(i - first) * columns..][..columns]);
                }
                assert_eq!(bits(&sums), bits(&one), "{columns} {first}");
                assert!(columns < 3 || sums.iter().any(|sum| *sum != 5.0));
            }
            assert!(table.slab(12, 0).is_empty() && table.slab(0, 0).is_empty());
        }
    }
}
