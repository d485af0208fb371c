//! One pass over the data: scores, slopes, clip, exact sum.
//!
//! Rows are taken in blocks small enough to stay in the first-level cache, so that each is fetched
//! from memory once: its score and its contribution to the sum are computed from the same fetch.
//! The sum is made of integers (see [`super::grid`]), so threads may share the rows in any way.

use std::ops::Range;

use reticent_problem::losses::Loss;

use super::grid::{self, Grid, nearest};
use super::private::{Private, norm_above};
use super::rows::{RowAccess, add_four, dot_slices, with_rows};
use super::threads;

/// Bytes of rows in a block.
const BLOCK_BYTES: usize = 24 << 10;

/// Rows of a block are a multiple of it, so that none is left over from the widest vectors.
const LANES: usize = 8;

/// The units that one thread takes, in their order.
pub(super) struct SharedUnits<'a> {
    chosen: Option<&'a [u32]>,
    left: Range<usize>,
}

impl Iterator for SharedUnits<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let at = self.left.next()?;
        Some(self.chosen.map_or(at, |chosen| chosen[at] as usize))
    }
}

/// The records of a block, and their rows where these lie one behind the other: a processor that has to wait for a list
/// of records fetches no row ahead, which takes half as long again as the whole pass.
#[derive(Clone, Copy)]
struct RowSet<'a> {
    records: &'a [u32],
    first: Option<usize>,
    slab: &'a [f64],
}

/// The buffers of a pass, kept between passes.
#[derive(Debug, Default)]
pub struct Pass {
    parts: Vec<PassPart>,
    /// Whether it is one of several threads' own, and takes no others.
    alone: bool,
}

/// What one thread adds up.
#[derive(Debug, Default)]
pub(super) struct PassPart {
    /// Integers below 2⁵³, kept as doubles until [`grid::ROWS_PER_FLUSH`] rows are in.
    pub(super) sums: Vec<f64>,
    /// The rows that are in.
    since_flush: usize,
    total: Vec<i64>,
    scratch: Scratch,
}

/// What a pass is to sum: the vectors `aᵢ ⊗ t`, with the slopes `t` of each record, clipped.
pub struct Ask<'a> {
    /// The table.
    pub private: &'a Private,
    /// What the slopes are derivatives of.
    pub loss: &'a dyn Loss,
    /// The slopes.
    pub slopes: Slopes<'a>,
    /// The largest norm of one unit's vector.
    pub clip: f64,
    /// The records (or users) to take; all of them if `None`.
    pub chosen: Option<&'a [u32]>,
}

impl Ask<'_> {
    /// The scores of `records`, one after the other. A method and not a closure: only what is
    /// inlined is compiled for the vector instructions of the machine.
    #[inline(always)]
    fn score(&self, rows: &impl RowAccess, set: RowSet<'_>, at: &[f64], scores: &mut [f64]) {
        let outputs = self.loss.outputs();
        let (weights, last) = at.split_at(self.private.features() * outputs);
        let constant = last.first().map_or(0.0, |b| b * self.private.intercept());
        let known = set.slab.chunks_exact(weights.len().max(1));
        let done = known.len();
        for (score, row) in scores.iter_mut().zip(known) {
            *score = dot_slices(row, weights) + constant;
        }
        if outputs == 1 {
            for (score, &i) in scores.iter_mut().zip(set.records).skip(done) {
                *score = rows.dot(i as usize, weights) + constant;
            }
            return;
        }
        for (scores, &i) in scores.chunks_exact_mut(outputs).zip(set.records) {
            self.private.scores(rows, i as usize, at, scores);
        }
    }
}

/// Where the slopes of a record come from. Each is a function of that record and of public numbers
/// alone.
#[derive(Clone, Copy, Debug)]
pub enum Slopes<'a> {
    /// The derivative of the loss at a parameter: `aᵢ ⊗ t` is the gradient.
    At(&'a [f64]),
    /// The derivative at the first parameter less the one at the second.
    Between(&'a [f64], &'a [f64]),
    /// The derivative at a parameter, for rows that are first scaled down to a norm.
    Shortened(&'a [f64], f64),
    /// The rows of a matrix that the gate keeps, one for each record.
    Stored(&'a [f64]),
}

/// The buffers that slopes are computed in.
#[derive(Debug, Default)]
pub struct Scratch {
    targets: Vec<f64>,
    scores: Vec<f64>,
    slopes: Vec<f64>,
    second: Vec<f64>,
}

impl Slopes<'_> {
    /// The slopes of `records`, one after the other, into `scratch.slopes`.
    #[inline(always)]
    fn fill(self, ask: &Ask<'_>, rows: &impl RowAccess, set: RowSet<'_>, scratch: &mut Scratch) {
        let Ask { private, loss, .. } = *ask;
        let (outputs, records) = (loss.outputs(), set.records);
        let Scratch { targets, scores, slopes, second } = scratch;
        slopes.resize(records.len() * outputs, 0.0);
        scores.resize(records.len() * outputs, 0.0);
        targets.clear();
        match set.first {
            Some(first) => targets.extend_from_slice(&private.targets()[first..][..records.len()]),
            None => targets.extend(records.iter().map(|&i| private.target(i as usize))),
        }
        match self {
            Slopes::At(at) => {
                ask.score(rows, set, at, scores);
                loss.derivatives(scores, targets, slopes);
            }
            Slopes::Between(at, from) => {
                ask.score(rows, set, at, scores);
                loss.derivatives(scores, targets, slopes);
                second.resize(slopes.len(), 0.0);
                ask.score(rows, set, from, scores);
                loss.derivatives(scores, targets, second);
                slopes.iter_mut().zip(&*second).for_each(|(slope, from)| *slope -= from);
            }
            Slopes::Shortened(at, norm) => {
                let scale = |i: u32| norm / private.norm_above(i as usize).max(norm);
                let each = |values: &mut [f64]| {
                    for (values, &i) in values.chunks_exact_mut(outputs).zip(records) {
                        values.iter_mut().for_each(|value| *value *= scale(i));
                    }
                };
                ask.score(rows, set, at, scores);
                each(scores);
                loss.derivatives(scores, targets, slopes);
                each(slopes);
            }
            Slopes::Stored(matrix) => {
                for (slopes, &i) in slopes.chunks_exact_mut(outputs).zip(records) {
                    slopes.copy_from_slice(&matrix[i as usize * outputs..][..outputs]);
                }
            }
        }
        // Before anything is clipped: what a record adds is as long as the clip at most, whatever its
        // weight is.
        if let Some(weights) = private.weights() {
            for (slopes, &i) in slopes.chunks_exact_mut(outputs).zip(records) {
                slopes.iter_mut().for_each(|slope| *slope *= weights[i as usize]);
            }
        }
        slopes.iter_mut().for_each(finite);
    }
}

/// What a pass over whole vectors is to sum.
pub struct Vectors<'a> {
    /// How many units there are.
    pub units: usize,
    /// The units to take; all of them if `None`.
    pub chosen: Option<&'a [u32]>,
    /// The largest norm of one unit's vector.
    pub clip: f64,
    /// The grid of the vectors.
    pub grid: Grid,
}

impl Pass {
    /// A pass in the thread that makes it.
    pub fn alone() -> Self {
        Pass { alone: true, ..Pass::default() }
    }

    /// How many threads it takes for so many rows, each of which is added to `len` sums.
    pub(super) fn threads(&self, count: usize, len: usize) -> usize {
        if self.alone { 1 } else { threads::for_pass(count, len) }
    }

    /// The sum of the clipped contributions, in steps of the grid, into `out`.
    pub fn clipped_sum(&mut self, ask: &Ask<'_>, out: &mut [i64]) {
        with_rows!(ask.private.rows(), rows => self.sum_over(ask, rows, out))
    }

    fn sum_over(&mut self, ask: &Ask<'_>, rows: &impl RowAccess, out: &mut [i64]) {
        if ask.private.users().is_none() {
            return self.share(ask.private.units(), ask.chosen, out, |part, records| {
                part.add_records(ask, rows, records);
            });
        }
        // A user's contribution is the mean of those of its records, clipped as one vector: each
        // person counts once, however many rows they have.
        let outputs = ask.loss.outputs();
        let features = ask.private.features() * outputs;
        let vectors = Vectors {
            units: ask.private.units(),
            chosen: ask.chosen,
            clip: ask.clip,
            grid: Grid::new(out.len()),
        };
        self.vector_sum(&vectors, out, |user, whole, scratch| {
            let (whole, last) = whole.split_at_mut(features);
            let records = ask.private.records_of(user);
            ask.slopes.fill(ask, rows, RowSet { records, first: None, slab: &[] }, scratch);
            for (slopes, &i) in scratch.slopes.chunks_exact_mut(outputs).zip(records) {
                slopes.iter_mut().for_each(|slope| *slope /= records.len() as f64);
                rows.add_outer(i as usize, slopes, whole, |v| v);
                last.iter_mut()
                    .zip(&*slopes)
                    .for_each(|(sum, t)| *sum += t * ask.private.intercept());
            }
        });
    }

    /// The sum of the vectors that `fill` writes for each unit, clipped, in steps of the grid, into
    /// `out`. `fill` gets the unit, a vector of zeros and buffers of its own.
    pub fn vector_sum(
        &mut self,
        vectors: &Vectors<'_>,
        out: &mut [i64],
        fill: impl Fn(usize, &mut [f64], &mut Scratch) + Sync,
    ) {
        let Vectors { units, chosen, clip, grid } = *vectors;
        let len = out.len();
        self.share(units, chosen, out, |part, units| {
            let mut whole = vec![0.0; len];
            let mut scratch = Scratch::default();
            for unit in units {
                part.room_for(1);
                whole.fill(0.0);
                fill(unit, &mut whole, &mut scratch);
                whole.iter_mut().for_each(finite);
                let factor = grid.factor(norm_above(whole.iter().map(|v| v * v).sum(), len), clip);
                for (sum, v) in part.sums.iter_mut().zip(&whole) {
                    *sum += nearest(v * factor);
                }
            }
        });
    }

    /// The same for vectors that are zero but for the entries that `fill` writes, in ascending order
    /// and each once.
    pub fn entry_sum(
        &mut self,
        vectors: &Vectors<'_>,
        out: &mut [i64],
        fill: impl Fn(usize, &mut Vec<(usize, f64)>) + Sync,
    ) {
        let Vectors { units, chosen, clip, grid } = *vectors;
        let len = out.len();
        self.share(units, chosen, out, |part, units| {
            let mut entries = Vec::new();
            for unit in units {
                part.room_for(1);
                entries.clear();
                fill(unit, &mut entries);
                entries.iter_mut().for_each(|(_, v)| finite(v));
                let square = entries.iter().map(|(_, v)| v * v).sum();
                let factor = grid.factor(norm_above(square, len), clip);
                for (at, v) in &entries {
                    part.sums[*at] += nearest(v * factor);
                }
            }
        });
    }

    /// Deals the units out to the threads and adds up what they add up. Integers: the shares leave
    /// no trace.
    pub(super) fn share(
        &mut self,
        units: usize,
        chosen: Option<&[u32]>,
        out: &mut [i64],
        add: impl Fn(&mut PassPart, SharedUnits<'_>) + Sync,
    ) {
        let count = chosen.map_or(units, <[u32]>::len);
        let len = out.len();
        let threads = self.threads(count, len);
        self.parts.resize_with(threads, PassPart::default);
        threads::for_each(&mut self.parts, |t, part| {
            part.sums.clear();
            part.sums.resize(len, 0.0);
            part.total.clear();
            part.total.resize(len, 0);
            add(part, SharedUnits { chosen, left: threads::share(count, threads, t) });
            part.flush();
        });
        out.fill(0);
        for part in &self.parts {
            out.iter_mut().zip(&part.total).for_each(|(sum, part)| *sum += part);
        }
    }
}

impl PassPart {
    /// Sees to it that so many rows more can be added.
    pub(super) fn room_for(&mut self, rows: usize) {
        if self.since_flush + rows > grid::ROWS_PER_FLUSH {
            self.flush();
        }
        self.since_flush += rows;
    }

    fn flush(&mut self) {
        self.since_flush = 0;
        for (total, sum) in self.total.iter_mut().zip(&mut self.sums) {
            *total += *sum as i64;
            *sum = 0.0;
        }
    }

    fn add_records(&mut self, ask: &Ask<'_>, rows: &impl RowAccess, mut records: SharedUnits<'_>) {
        let block = (BLOCK_BYTES / rows.bytes_per_row().max(1)).clamp(4, 256);
        let block = block - block % block.min(LANES);
        let mut taken = Vec::with_capacity(block);
        // The widest vector instructions of this machine. They compute the same bits: every
        // operation is rounded on its own, and the order of additions is fixed.
        let arch = pulp::Arch::new();
        loop {
            let first = records.chosen.is_none().then_some(records.left.start);
            taken.clear();
            taken.extend(records.by_ref().take(block).map(|i| i as u32));
            if taken.is_empty() {
                break;
            }
            self.room_for(taken.len());
            let slab = match first {
                Some(first) if ask.loss.outputs() == 1 => rows.slab(first, taken.len()),
                _ => &[],
            };
            let set = RowSet { records: &taken, first, slab };
            arch.dispatch(PassBlock { part: self, ask, rows, set });
        }
    }

    /// Slopes, then factors, then the sum: loops over a block that stays in the cache.
    #[inline(always)]
    fn add_block(&mut self, ask: &Ask<'_>, rows: &impl RowAccess, set: RowSet<'_>) {
        let Ask { private, clip, .. } = *ask;
        let (outputs, grid) = (ask.loss.outputs(), Grid::new(self.sums.len()));
        let features = private.features() * outputs;
        ask.slopes.fill(ask, rows, set, &mut self.scratch);
        let slopes = &mut self.scratch.slopes;
        let known = set.first.filter(|_| outputs == 1);
        let norms = known.map_or(&[][..], |first| private.norms_above(first..first + slopes.len()));
        for (slope, norm) in slopes.iter_mut().zip(norms) {
            *slope *= grid.factor(slope.abs() * norm, clip);
        }
        for (slopes, &i) in slopes.chunks_exact_mut(outputs).zip(set.records).skip(norms.len()) {
            let size = match &*slopes {
                [slope] => slope.abs(),
                many => norm_above(many.iter().map(|s| s * s).sum(), outputs),
            };
            let factor = grid.factor(size * private.norm_above(i as usize), clip);
            slopes.iter_mut().for_each(|slope| *slope *= factor);
        }
        let (sums, last) = self.sums.split_at_mut(features);
        let fours = set.slab.chunks_exact(4 * features.max(1));
        let done = 4 * fours.len();
        for (rows, t) in fours.zip(slopes.as_chunks::<4>().0) {
            add_four(rows, *t, sums);
        }
        let intercept = private.intercept();
        if outputs == 1 {
            for (&t, &i) in slopes.iter().zip(set.records).skip(done) {
                rows.add(i as usize, t, sums, nearest);
            }
            last.iter_mut().for_each(|sum| *sum += rounded_sum(slopes, intercept));
            return;
        }
        for (slopes, &i) in slopes.chunks_exact(outputs).zip(set.records) {
            rows.add_outer(i as usize, slopes, sums, nearest);
            last.iter_mut().zip(slopes).for_each(|(sum, t)| *sum += nearest(t * intercept));
        }
    }
}

/// `Σ nearest(t·by)`. In eight sums, which do not wait for each other: of integers, so that their order leaves no trace.
#[inline(always)]
fn rounded_sum(slopes: &[f64], by: f64) -> f64 {
    let (eights, rest) = slopes.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for eight in eights {
        for (lane, t) in lanes.iter_mut().zip(eight) {
            *lane += nearest(t * by);
        }
    }
    lanes.iter().sum::<f64>() + rest.iter().map(|t| nearest(t * by)).sum::<f64>()
}

/// A block of records to add: a type of its own because a closure would not be compiled for the
/// vector instructions that it is dispatched to.
struct PassBlock<'a, R> {
    part: &'a mut PassPart,
    ask: &'a Ask<'a>,
    rows: &'a R,
    set: RowSet<'a>,
}

impl<R: RowAccess> pulp::WithSimd for PassBlock<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.part.add_block(self.ask, self.rows, self.set);
    }
}

/// Scores that overflow make a slope without meaning; it counts as nothing.
#[inline]
pub fn finite(slope: &mut f64) {
    if !slope.is_finite() {
        *slope = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_data::{Dense, Rows, Table};
    use reticent_problem::losses;

    #[test]
    fn shared_units_are_all_or_those_that_were_chosen() {
        let chosen = [4_u32, 2, 9, 7];
        let of = |chosen, left| SharedUnits { chosen, left }.collect::<Vec<_>>();
        assert_eq!(of(None, 3..6), [3, 4, 5]);
        assert_eq!(of(Some(&chosen[..]), 1..3), [2, 9]);
    }

    /// All records, which are taken as slices, against the same ones as a list, which are taken one by one; counts
    /// around blocks, with and without a constant.
    #[test]
    fn rows_as_slices_add_up_as_rows_of_a_list() {
        let number = |i: usize| (i as f64 * 0.618_033_988_749_894_9).fract() - 0.5;
        let loss = losses::parse("logistic", None).unwrap();
        for (columns, intercept) in [(0, 0.5), (1, 0.0), (20, 0.7), (131, 0.0)] {
            for count in [1, 3, 8, 150, 163] {
                let values: Vec<f64> = (0..count * columns).map(number).collect();
                let rows = Rows::Dense(Dense { rows: count, columns, values });
                let targets = (0..count).map(|i| number(i * 7).signum()).collect();
                let names = vec![String::new(); columns];
                let table = Table { rows, targets, users: None, weights: None, names };
                let private = Private::by_record(table, intercept).unwrap();
                let all: Vec<u32> = (0..count as u32).collect();
                let at: Vec<f64> = (0..private.shape(1).len()).map(|j| number(3 * j)).collect();
                let sums = [None, Some(&all[..])].map(|chosen| {
                    let slopes = Slopes::At(&at);
                    let ask = Ask { private: &private, loss: &*loss, slopes, clip: 0.4, chosen };
                    let mut out = vec![0; at.len()];
                    Pass::default().clipped_sum(&ask, &mut out);
                    out
                });
                assert_eq!(sums[0], sums[1], "{columns} {count}");
                assert!(at.is_empty() || sums[0].iter().any(|sum| *sum != 0));
            }
        }
    }
}
