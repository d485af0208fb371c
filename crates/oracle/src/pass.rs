//! One pass over the data: scores, slopes, clip, exact sum.
//!
//! Rows are taken in blocks small enough to stay in the first-level cache, so that each is fetched from
//! memory once: its score and its contribution to the sum are computed from the same fetch. The sum is made
//! of integers (see [`crate::grid`]), so threads may share the rows in any way.

use rayon::prelude::*;
use reticent_data::Rows;
use reticent_problem::losses::Loss;

use crate::grid::{self, Grid, nearest};
use crate::private::{Private, norm_above};
use crate::rows::RowAccess;

/// Bytes of rows in a block.
const BLOCK_BYTES: usize = 16 << 10;

/// The buffers of a pass, kept between passes.
#[derive(Debug, Default)]
pub(crate) struct Pass {
    parts: Vec<Part>,
}

/// What one thread adds up.
#[derive(Debug, Default)]
struct Part {
    /// Integers below 2⁵³, kept as doubles until [`grid::ROWS_PER_FLUSH`] rows are in.
    sums: Vec<f64>,
    total: Vec<i64>,
    scores: Vec<f64>,
    targets: Vec<f64>,
    slopes: Vec<f64>,
    /// A user's mean gradient.
    whole: Vec<f64>,
}

/// What a pass is to sum: the clipped gradients of `loss` at `at`.
pub(crate) struct Ask<'a> {
    pub private: &'a Private,
    pub loss: &'a dyn Loss,
    pub at: &'a [f64],
    pub clip: f64,
    /// The records (or users) to take; all of them if `None`.
    pub chosen: Option<&'a [u32]>,
}

impl Pass {
    /// The sum of the clipped gradients, in steps of the grid, into `out`.
    pub fn clipped_sum(&mut self, ask: &Ask<'_>, out: &mut [i64]) {
        match ask.private.rows() {
            Rows::Dense(rows) => self.sum_over(ask, rows, out),
            Rows::Sparse(rows) => self.sum_over(ask, rows, out),
        }
    }

    fn sum_over(&mut self, ask: &Ask<'_>, rows: &impl RowAccess, out: &mut [i64]) {
        let count = ask.chosen.map_or(ask.private.units(), <[u32]>::len);
        let threads = rayon::current_num_threads().clamp(1, count.max(1));
        self.parts.resize_with(threads, Part::default);
        let share = count.div_ceil(threads).max(1);
        self.parts.par_iter_mut().enumerate().for_each(|(t, part)| {
            part.reset(ask.at.len());
            let range = (t * share).min(count)..((t + 1) * share).min(count);
            match (ask.private.users(), ask.chosen) {
                (None, None) => part.add_records(ask, rows, range),
                (None, Some(chosen)) => {
                    part.add_records(ask, rows, chosen[range].iter().map(|&i| i as usize));
                }
                (Some(_), None) => part.add_users(ask, rows, range),
                (Some(_), Some(chosen)) => {
                    part.add_users(ask, rows, chosen[range].iter().map(|&i| i as usize));
                }
            }
        });
        out.fill(0);
        for part in &self.parts {
            out.iter_mut().zip(&part.total).for_each(|(sum, part)| *sum += part);
        }
    }
}

impl Part {
    fn reset(&mut self, len: usize) {
        self.sums.clear();
        self.sums.resize(len, 0.0);
        self.total.clear();
        self.total.resize(len, 0);
    }

    fn flush(&mut self) {
        for (total, sum) in self.total.iter_mut().zip(&mut self.sums) {
            *total += *sum as i64;
            *sum = 0.0;
        }
    }

    fn add_records(&mut self, ask: &Ask<'_>, rows: &impl RowAccess, records: impl Iterator<Item = usize>) {
        let block = (BLOCK_BYTES / rows.bytes_per_row().max(1)).clamp(4, 256);
        let mut records = records;
        let mut since_flush = 0;
        let mut taken = Vec::with_capacity(block);
        // The widest vector instructions of this machine. They compute the same bits: every operation is rounded
        // on its own, and the order of additions is fixed.
        let arch = pulp::Arch::new();
        loop {
            taken.clear();
            taken.extend(records.by_ref().take(block));
            if taken.is_empty() {
                break;
            }
            if since_flush + taken.len() > grid::ROWS_PER_FLUSH {
                self.flush();
                since_flush = 0;
            }
            since_flush += taken.len();
            arch.dispatch(Block { part: self, ask, rows, records: &taken });
        }
        self.flush();
    }

    /// Scores, then slopes, then the sum: three loops without calls between them for the common case of one
    /// output.
    #[inline(always)]
    fn add_block(&mut self, ask: &Ask<'_>, rows: &impl RowAccess, records: &[usize]) {
        let Ask { private, loss, at, clip, .. } = *ask;
        let outputs = loss.outputs();
        let features = private.features() * outputs;
        let grid = Grid::new(at.len());
        self.scores.resize(records.len() * outputs, 0.0);
        self.slopes.resize(records.len() * outputs, 0.0);
        let intercept = private.intercept();
        self.targets.clear();
        self.targets.extend(records.iter().map(|&i| private.target(i)));
        for (scores, &i) in self.scores.chunks_exact_mut(outputs).zip(records) {
            private.scores(rows, i, at, scores);
        }
        loss.derivatives(&self.scores, &self.targets, &mut self.slopes);
        let (sums, last) = self.sums.split_at_mut(features);
        for (slopes, &i) in self.slopes.chunks_exact_mut(outputs).zip(records) {
            slopes.iter_mut().for_each(finite);
            let size = match &*slopes {
                [slope] => slope.abs(),
                many => many.iter().map(|s| s * s).sum::<f64>().sqrt() * (1.0 + 1e-14 * outputs as f64),
            };
            let factor = grid.factor(size * private.norm_above(i), clip);
            slopes.iter_mut().for_each(|slope| *slope *= factor);
            match &*slopes {
                &[t] => rows.add(i, t, sums, nearest),
                many => rows.add_outer(i, many, sums, nearest),
            }
            if !last.is_empty() {
                last.iter_mut().zip(&*slopes).for_each(|(sum, t)| *sum += nearest(t * intercept));
            }
        }
    }

    /// A user's contribution is the mean of the gradients of its records, clipped as one vector: each person
    /// counts once, however many rows they have.
    fn add_users(&mut self, ask: &Ask<'_>, rows: &impl RowAccess, users: impl Iterator<Item = usize>) {
        let Ask { private, loss, at, clip, .. } = *ask;
        let outputs = loss.outputs();
        let features = private.features() * outputs;
        let grid = Grid::new(at.len());
        self.scores.resize(outputs, 0.0);
        self.slopes.resize(outputs, 0.0);
        for (done, user) in users.enumerate() {
            if done % grid::ROWS_PER_FLUSH == grid::ROWS_PER_FLUSH - 1 {
                self.flush();
            }
            self.whole.clear();
            self.whole.resize(at.len(), 0.0);
            let records = private.records_of(user);
            let (whole, last) = self.whole.split_at_mut(features);
            for &i in records {
                let i = i as usize;
                private.scores(rows, i, at, &mut self.scores);
                loss.derivative(&self.scores, private.target(i), &mut self.slopes);
                self.slopes.iter_mut().for_each(|slope| *slope /= records.len() as f64);
                rows.add_outer(i, &self.slopes, whole, |v| v);
                last.iter_mut().zip(&self.slopes).for_each(|(sum, t)| *sum += t * private.intercept());
            }
            let factor = grid.factor(norm_above(self.whole.iter().map(|v| v * v).sum(), at.len()), clip);
            for (sum, v) in self.sums.iter_mut().zip(&mut self.whole) {
                finite(v);
                *sum += nearest(*v * factor);
            }
        }
        self.flush();
    }
}

/// A block of records to add: a type of its own because a closure would not be compiled for the vector
/// instructions that it is dispatched to.
struct Block<'a, R> {
    part: &'a mut Part,
    ask: &'a Ask<'a>,
    rows: &'a R,
    records: &'a [usize],
}

impl<R: RowAccess> pulp::WithSimd for Block<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.part.add_block(self.ask, self.rows, self.records);
    }
}

/// Scores that overflow make a slope without meaning; such a record counts as nothing.
#[inline]
fn finite(slope: &mut f64) {
    if !slope.is_finite() {
        *slope = 0.0;
    }
}
