//! The two operations that a pass makes on a row, for dense and for sparse rows and for images.

use reticent_data::{Csr, Dense, Rows};

use super::grid::nearest;
use super::images::Made;

/// Rows that are added to a sum together, so that it is fetched and stored once for all of them.
pub const TOGETHER: usize = 4;

/// The records of a block.
#[derive(Clone, Copy, Debug)]
pub struct BlockRecords<'a> {
    /// Their numbers.
    pub list: &'a [u32],
    /// The first, where each is the next one in the table. Not found out of the list: a processor that has to wait for it
    /// fetches no row ahead, which takes a half more time than the whole pass.
    pub first: Option<usize>,
}

impl<'a> BlockRecords<'a> {
    /// Records in any order.
    pub fn some(list: &'a [u32]) -> Self {
        BlockRecords { list, first: None }
    }

    /// Their numbers of `all`, in place of what `out` has.
    #[inline(always)]
    pub fn copy(self, all: &[f64], out: &mut Vec<f64>) {
        out.clear();
        match self.first {
            Some(first) => out.extend_from_slice(&all[first..][..self.list.len()]),
            None => out.extend(self.list.iter().map(|&i| all[i as usize])),
        }
    }

    /// Their rows, one after the other, where they are there so.
    #[inline(always)]
    fn of(self, dense: &Dense) -> Option<&[f64]> {
        let first = self.first.filter(|_| dense.columns > 0)?;
        Some(&dense.values[first * dense.columns..][..self.list.len() * dense.columns])
    }
}

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
    fn dot_many(&self, i: usize, x: &[f64], scores: &mut [f64]);

    /// Calls `f(feature, value)` for every stored entry of row `i`.
    fn for_each(&self, i: usize, f: impl FnMut(usize, f64));

    /// `sums ← sums + map(t·aᵢ)`, one output.
    fn add(&self, i: usize, t: f64, sums: &mut [f64], map: impl Fn(f64) -> f64);

    /// `‖aᵢ‖²` in plain floating point.
    fn square_norm(&self, i: usize) -> f64 {
        let mut sum = 0.0;
        self.for_each(i, |_, value| sum += value * value);
        sum
    }

    /// `‖aᵢ‖²` of the rows from `first` on, each as [`RowAccess::square_norm`] has it.
    fn square_norms(&self, first: usize, out: &mut [f64]) {
        (first..).zip(out).for_each(|(i, norm)| *norm = self.square_norm(i));
    }

    /// `aᵢᵀx` of several rows, each as [`RowAccess::dot`] has it. A loop and no closure, here and below: only what is
    /// inlined is compiled for the vector instructions of the machine.
    #[inline(always)]
    fn dots(&self, records: BlockRecords<'_>, x: &[f64], out: &mut [f64]) {
        for (out, &i) in out.iter_mut().zip(records.list) {
            *out = self.dot(i as usize, x);
        }
    }

    /// `sums ← sums + Σᵢ nearest(tᵢ·aᵢ)` of several rows, one output: integers, whose order leaves no trace.
    #[inline(always)]
    fn add_steps(&self, records: BlockRecords<'_>, t: &[f64], sums: &mut [f64]) {
        for (t, &i) in t.iter().zip(records.list) {
            self.add(i as usize, *t, sums, nearest);
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

/// `sums ← sums + Σᵣ nearest(tᵣ·aᵣ)` of rows with all of their entries.
#[inline(always)]
fn add_four(rows: [&[f64]; TOGETHER], t: [f64; TOGETHER], sums: &mut [f64]) {
    let [a, b, c, d] = rows;
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
        add_slice(self.row(i), t, sums, map);
    }

    #[inline(always)]
    fn dots(&self, records: BlockRecords<'_>, x: &[f64], out: &mut [f64]) {
        let Some(rows) = records.of(self) else {
            for (out, &i) in out.iter_mut().zip(records.list) {
                *out = self.dot(i as usize, x);
            }
            return;
        };
        for (out, row) in out.iter_mut().zip(rows.chunks_exact(self.columns)) {
            *out = dot_slices(row, x);
        }
    }

    #[inline(always)]
    fn add_steps(&self, records: BlockRecords<'_>, t: &[f64], sums: &mut [f64]) {
        let (fours, last) = t.as_chunks::<TOGETHER>();
        let (lists, rest) = records.list.as_chunks::<TOGETHER>();
        match records.of(self) {
            Some(rows) => {
                for (t, rows) in fours.iter().zip(rows.chunks_exact(TOGETHER * self.columns)) {
                    let (first, rows) = rows.split_at(self.columns);
                    let (second, rows) = rows.split_at(self.columns);
                    let (third, fourth) = rows.split_at(self.columns);
                    add_four([first, second, third, fourth], *t, sums);
                }
            }
            None => {
                for (t, &[a, b, c, d]) in fours.iter().zip(lists) {
                    let (first, second) = (self.row(a as usize), self.row(b as usize));
                    let (third, fourth) = (self.row(c as usize), self.row(d as usize));
                    add_four([first, second, third, fourth], *t, sums);
                }
            }
        }
        for (t, &i) in last.iter().zip(rest) {
            self.add(i as usize, *t, sums, nearest);
        }
    }

    /// Four rows at a time: the additions of one wait for each other, those of four do not.
    fn square_norms(&self, first: usize, out: &mut [f64]) {
        let (fours, rest) = out.as_chunks_mut::<4>();
        let behind = first + 4 * fours.len();
        for (i, norms) in (first..).step_by(4).zip(fours) {
            let (a, b) = (self.row(i), self.row(i + 1));
            let (c, d) = (self.row(i + 2), self.row(i + 3));
            let mut sums = [0.0; 4];
            for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
                sums[0] += a * a;
                sums[1] += b * b;
                sums[2] += c * c;
                sums[3] += d * d;
            }
            *norms = sums;
        }
        (behind..).zip(rest).for_each(|(i, norm)| *norm = self.square_norm(i));
    }
}

impl RowAccess for Csr {
    fn bytes_per_row(&self) -> usize {
        12 * self.values.len() / self.rows().max(1) + 8
    }

    #[inline(always)]
    fn dot(&self, i: usize, x: &[f64]) -> f64 {
        let (indices, values) = self.row(i);
        // What a sum of no numbers is: a zero has a sign.
        let mut sum = std::iter::empty::<f64>().sum();
        for (&j, a) in indices.iter().zip(values) {
            sum += a * x[j as usize];
        }
        sum
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of both signs, large and small.
    fn number(i: usize) -> f64 {
        let number = (i as f64 * 0.618_033_988_749_894_9).fract() - 0.5;
        [1.0, 1e-9, -3e5, 0.0][i / 3 % 4] * number
    }

    fn dense(rows: usize, columns: usize) -> Dense {
        Dense { rows, columns, values: (0..rows * columns).map(number).collect() }
    }

    /// Numbers of rows around every group, records that follow each other and others.
    #[test]
    fn rows_together_are_the_rows_one_by_one_to_the_bit() {
        let bits = |numbers: &[f64]| numbers.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        for columns in [0, 1, 7, 8, 20, 33] {
            let table = dense(40, columns);
            let x: Vec<f64> = (0..columns).map(|j| number(7 * j + 1)).collect();
            for count in [0, 1, 3, 4, 5, 8, 11] {
                let follow: Vec<u32> = (3..3 + count).collect();
                let jump: Vec<u32> = (0..count).map(|k| (k * 17 + 5) % 40).collect();
                let first = [Some(3), None, None];
                for (records, first) in [follow.clone(), follow, jump].into_iter().zip(first) {
                    let block = BlockRecords { list: &records, first };
                    let mut scores = vec![f64::NAN; records.len()];
                    table.dots(block, &x, &mut scores);
                    let alone: Vec<f64> =
                        records.iter().map(|&i| table.dot(i as usize, &x)).collect();
                    assert_eq!(bits(&scores), bits(&alone), "{columns} {count}");

                    let t: Vec<f64> = (0..records.len()).map(|k| 1e4 * number(k + 2)).collect();
                    let (mut sums, mut one) = (vec![5.0; columns], vec![5.0; columns]);
                    table.add_steps(block, &t, &mut sums);
                    for (t, &i) in t.iter().zip(&records) {
                        table.add(i as usize, *t, &mut one, nearest);
                    }
                    assert_eq!(bits(&sums), bits(&one), "{columns} {count}");
                    assert!(count < 3 || columns < 3 || sums.iter().any(|sum| *sum != 5.0));
                }
            }
        }
    }
}
