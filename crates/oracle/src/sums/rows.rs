//! The two operations that a pass makes on a row, for dense and for sparse rows.

use reticent_data::{Csr, Dense};

use super::grid::nearest;

/// One expression for the rows of a table, be they dense or sparse: compiled for each.
macro_rules! with_rows {
    ($rows:expr, $name:ident => $body:expr) => {
        match $rows {
            reticent_data::Rows::Dense($name) => $body,
            reticent_data::Rows::Sparse($name) => $body,
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
    fn dot_many(&self, i: usize, x: &[f64], scores: &mut [f64]);

    /// Calls `f(feature, value)` for every stored entry of row `i`.
    fn for_each(&self, i: usize, f: impl FnMut(usize, f64));

    /// `sums ← sums + map(t·aᵢ)`, one output.
    fn add(&self, i: usize, t: f64, sums: &mut [f64], map: impl Fn(f64) -> f64);

    /// `aᵢᵀx` for eight parameters, entry by entry, each as [`RowAccess::dot`] computes it.
    fn dot_lanes(&self, i: usize, x: &[[f64; 8]], scores: &mut [f64; 8]);

    /// `sums ← sums + nearest(t·aᵢ)` for eight parameters.
    fn add_lanes(&self, i: usize, t: &[f64; 8], sums: &mut [[f64; 8]]);

    /// `‖aᵢ‖²` in plain floating point.
    fn square_norm(&self, i: usize) -> f64 {
        let mut sum = 0.0;
        self.for_each(i, |_, value| sum += value * value);
        sum
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

impl RowAccess for Dense {
    fn bytes_per_row(&self) -> usize {
        8 * self.columns
    }

    #[inline(always)]
    fn dot(&self, i: usize, x: &[f64]) -> f64 {
        // Eight running sums: one would chain every addition to the one before it.
        let row = self.row(i);
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

    fn dot_many(&self, i: usize, x: &[f64], scores: &mut [f64]) {
        for (a, weights) in self.row(i).iter().zip(x.chunks_exact(scores.len())) {
            for (score, weight) in scores.iter_mut().zip(weights) {
                *score += a * weight;
            }
        }
    }

    fn for_each(&self, i: usize, mut f: impl FnMut(usize, f64)) {
        self.row(i).iter().enumerate().for_each(|(feature, &value)| f(feature, value));
    }

    #[inline(always)]
    fn add(&self, i: usize, t: f64, sums: &mut [f64], map: impl Fn(f64) -> f64) {
        for (sum, a) in sums.iter_mut().zip(self.row(i)) {
            *sum += map(t * a);
        }
    }

    #[inline(always)]
    fn dot_lanes(&self, i: usize, x: &[[f64; 8]], scores: &mut [f64; 8]) {
        // The eight running sums of `dot`, each for eight parameters.
        let row = self.row(i);
        let (head, tail) = row.as_chunks::<8>();
        let (x_head, x_tail) = x[..row.len()].as_chunks::<8>();
        let mut lanes = [[0.0; 8]; 8];
        for (a, b) in head.iter().zip(x_head) {
            for lane in 0..8 {
                for k in 0..8 {
                    lanes[lane][k] += a[lane] * b[lane][k];
                }
            }
        }
        let nothing: f64 = std::iter::empty::<f64>().sum();
        let (mut whole, mut rest) = ([nothing; 8], [nothing; 8]);
        for lane in &lanes {
            (0..8).for_each(|k| whole[k] += lane[k]);
        }
        for (a, b) in tail.iter().zip(x_tail) {
            (0..8).for_each(|k| rest[k] += a * b[k]);
        }
        (0..8).for_each(|k| scores[k] = whole[k] + rest[k]);
    }

    #[inline(always)]
    fn add_lanes(&self, i: usize, t: &[f64; 8], sums: &mut [[f64; 8]]) {
        for (sum, a) in sums.iter_mut().zip(self.row(i)) {
            for k in 0..8 {
                sum[k] += nearest(t[k] * a);
            }
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

    fn dot_many(&self, i: usize, x: &[f64], scores: &mut [f64]) {
        let outputs = scores.len();
        self.for_each(i, |feature, a| {
            for (score, weight) in scores.iter_mut().zip(&x[feature * outputs..]) {
                *score += a * weight;
            }
        });
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

    #[inline(always)]
    fn dot_lanes(&self, i: usize, x: &[[f64; 8]], scores: &mut [f64; 8]) {
        let (indices, values) = self.row(i);
        let nothing: f64 = std::iter::empty::<f64>().sum();
        let mut whole = [nothing; 8];
        for (&j, a) in indices.iter().zip(values) {
            let b = &x[j as usize];
            (0..8).for_each(|k| whole[k] += a * b[k]);
        }
        *scores = whole;
    }

    #[inline(always)]
    fn add_lanes(&self, i: usize, t: &[f64; 8], sums: &mut [[f64; 8]]) {
        let (indices, values) = self.row(i);
        for (&j, a) in indices.iter().zip(values) {
            let sum = &mut sums[j as usize];
            for k in 0..8 {
                sum[k] += nearest(t[k] * a);
            }
        }
    }
}
