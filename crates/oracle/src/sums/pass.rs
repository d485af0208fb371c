//! One pass over the data: scores, slopes, clip, exact sum.
//!
//! Rows are taken in blocks small enough to stay in the first-level cache, so that each is fetched
//! from memory once: its score and its contribution to the sum are computed from the same fetch.
//! The sum is made of integers (see [`super::grid`]), so threads may share the rows in any way.

use std::ops::Range;

use reticent_problem::losses::Loss;

use super::grid::{self, Grid, nearest};
use super::private::{Private, norm_above};
use super::rows::{BlockRecords, RowAccess, TOGETHER, with_rows};
use super::threads;

/// Bytes of rows in a block.
const BLOCK_BYTES: usize = 24 << 10;

/// Rows of a block are a multiple of it, so that none is left over from the widest vectors; of rows so long that
/// a block has fewer, of [`TOGETHER`].
const LANES: usize = 8;

/// The units that one thread takes, in their order.
pub(super) enum SharedUnits<'a> {
    All(Range<usize>),
    Chosen(&'a [u32]),
}

impl SharedUnits<'_> {
    /// The next of them, as many as there are up to `most`; `list` is for their numbers.
    fn take_block<'b>(&mut self, most: usize, list: &'b mut Vec<u32>) -> BlockRecords<'b> {
        list.clear();
        match self {
            SharedUnits::All(left) => {
                let (first, end) = (left.start, left.end.min(left.start + most));
                list.extend((first..end).map(|unit| unit as u32));
                left.start = end;
                BlockRecords { list, first: Some(first) }
            }
            SharedUnits::Chosen(left) => {
                let (own, behind) = left.split_at(left.len().min(most));
                list.extend_from_slice(own);
                *left = behind;
                BlockRecords::some(list)
            }
        }
    }
}

impl Iterator for SharedUnits<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        match self {
            SharedUnits::All(left) => left.next(),
            SharedUnits::Chosen(left) => left.split_off_first().map(|&unit| unit as usize),
        }
    }
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
    fn score(
        &self,
        rows: &impl RowAccess,
        records: BlockRecords<'_>,
        at: &[f64],
        scores: &mut [f64],
    ) {
        if self.loss.outputs() == 1 {
            return self.private.scores_of(rows, records, at, scores);
        }
        for (scores, &i) in scores.chunks_exact_mut(self.loss.outputs()).zip(records.list) {
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
    norms: Vec<f64>,
}

impl Slopes<'_> {
    /// The slopes of `records`, one after the other, into `scratch.slopes`.
    #[inline(always)]
    fn fill(
        self,
        ask: &Ask<'_>,
        rows: &impl RowAccess,
        block: BlockRecords<'_>,
        scratch: &mut Scratch,
    ) {
        let Ask { private, loss, .. } = *ask;
        let (outputs, records) = (loss.outputs(), block.list);
        let Scratch { targets, scores, slopes, second, .. } = scratch;
        slopes.resize(records.len() * outputs, 0.0);
        scores.resize(records.len() * outputs, 0.0);
        private.copy_targets(block, targets);
        match self {
            Slopes::At(at) => {
                ask.score(rows, block, at, scores);
                loss.derivatives(scores, targets, slopes);
            }
            Slopes::Between(at, from) => {
                ask.score(rows, block, at, scores);
                loss.derivatives(scores, targets, slopes);
                second.resize(slopes.len(), 0.0);
                ask.score(rows, block, from, scores);
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
                ask.score(rows, block, at, scores);
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
        for slope in slopes {
            finite(slope);
        }
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
            ask.slopes.fill(ask, rows, BlockRecords::some(records), scratch);
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
            for (done, unit) in units.enumerate() {
                if done % grid::ROWS_PER_FLUSH == grid::ROWS_PER_FLUSH - 1 {
                    part.flush();
                }
                whole.fill(0.0);
                fill(unit, &mut whole, &mut scratch);
                whole.iter_mut().for_each(finite);
                let factor = grid.factor(norm_above(whole.iter().map(|v| v * v).sum(), len), clip);
                for (sum, v) in part.sums.iter_mut().zip(&whole) {
                    *sum += nearest(v * factor);
                }
            }
            part.flush();
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
            for (done, unit) in units.enumerate() {
                if done % grid::ROWS_PER_FLUSH == grid::ROWS_PER_FLUSH - 1 {
                    part.flush();
                }
                entries.clear();
                fill(unit, &mut entries);
                entries.iter_mut().for_each(|(_, v)| finite(v));
                let square = entries.iter().map(|(_, v)| v * v).sum();
                let factor = grid.factor(norm_above(square, len), clip);
                for (at, v) in &entries {
                    part.sums[*at] += nearest(v * factor);
                }
            }
            part.flush();
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
        let threads = if self.alone { 1 } else { threads::for_pass(count, len) };
        self.parts.resize_with(threads, PassPart::default);
        threads::for_each(&mut self.parts, |t, part| {
            part.reset(len);
            let range = threads::share(count, threads, t);
            match chosen {
                None => add(part, SharedUnits::All(range)),
                Some(chosen) => add(part, SharedUnits::Chosen(&chosen[range])),
            }
        });
        out.fill(0);
        for part in &self.parts {
            out.iter_mut().zip(&part.total).for_each(|(sum, part)| *sum += part);
        }
    }
}

impl PassPart {
    fn reset(&mut self, len: usize) {
        self.sums.clear();
        self.sums.resize(len, 0.0);
        self.total.clear();
        self.total.resize(len, 0);
    }

    pub(super) fn flush(&mut self) {
        for (total, sum) in self.total.iter_mut().zip(&mut self.sums) {
            *total += *sum as i64;
            *sum = 0.0;
        }
    }

    fn add_records(&mut self, ask: &Ask<'_>, rows: &impl RowAccess, mut records: SharedUnits<'_>) {
        let block = (BLOCK_BYTES / rows.bytes_per_row().max(1)).clamp(TOGETHER, 256);
        let block = block - block % if block < LANES { TOGETHER } else { LANES };
        let mut since_flush = 0;
        let mut taken = Vec::with_capacity(block);
        // The widest vector instructions of this machine. They compute the same bits: every
        // operation is rounded on its own, and the order of additions is fixed.
        let arch = pulp::Arch::new();
        loop {
            let records = records.take_block(block, &mut taken);
            let count = records.list.len();
            if count == 0 {
                break;
            }
            if since_flush + count > grid::ROWS_PER_FLUSH {
                self.flush();
                since_flush = 0;
            }
            since_flush += count;
            arch.dispatch(PassBlock { part: self, ask, rows, records });
        }
        self.flush();
    }

    /// Slopes, then factors, then the sum: loops over a block that stays in the cache.
    #[inline(always)]
    fn add_block(&mut self, ask: &Ask<'_>, rows: &impl RowAccess, records: BlockRecords<'_>) {
        let Ask { private, clip, .. } = *ask;
        let outputs = ask.loss.outputs();
        let features = private.features() * outputs;
        let grid = Grid::new(self.sums.len());
        ask.slopes.fill(ask, rows, records, &mut self.scratch);
        let Scratch { slopes, norms, .. } = &mut self.scratch;
        private.copy_norms(records, norms);
        if outputs == 1 {
            for (slope, norm) in slopes.iter_mut().zip(&*norms) {
                *slope *= grid.factor(slope.abs() * norm, clip);
            }
        } else {
            for (slopes, norm) in slopes.chunks_exact_mut(outputs).zip(&*norms) {
                let size = norm_above(slopes.iter().map(|s| s * s).sum(), outputs);
                let factor = grid.factor(size * norm, clip);
                slopes.iter_mut().for_each(|slope| *slope *= factor);
            }
        }
        let (sums, last) = self.sums.split_at_mut(features);
        if outputs == 1 {
            rows.add_steps(records, slopes, sums);
            let intercept = private.intercept();
            last.iter_mut().for_each(|sum| *sum += sum_of_steps(slopes, intercept));
            return;
        }
        for (slopes, &i) in slopes.chunks_exact(outputs).zip(records.list) {
            rows.add_outer(i as usize, slopes, sums, nearest);
        }
        if !last.is_empty() {
            let intercept = private.intercept();
            for slopes in slopes.chunks_exact(outputs) {
                last.iter_mut().zip(slopes).for_each(|(sum, t)| *sum += nearest(t * intercept));
            }
        }
    }
}

/// `Σᵣ nearest(tᵣ·a)`. Integers below 2⁵³: the order leaves no trace.
#[inline(always)]
fn sum_of_steps(t: &[f64], a: f64) -> f64 {
    let (eights, rest) = t.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for t in eights {
        for (sum, t) in sums.iter_mut().zip(t) {
            *sum += nearest(t * a);
        }
    }
    for (sum, t) in sums.iter_mut().zip(rest) {
        *sum += nearest(t * a);
    }
    sums.iter().sum()
}

/// A block of records to add: a type of its own because a closure would not be compiled for the
/// vector instructions that it is dispatched to.
struct PassBlock<'a, R> {
    part: &'a mut PassPart,
    ask: &'a Ask<'a>,
    rows: &'a R,
    records: BlockRecords<'a>,
}

impl<R: RowAccess> pulp::WithSimd for PassBlock<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.part.add_block(self.ask, self.rows, self.records);
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

    #[test]
    fn blocks_of_units_are_all_of_them_in_their_order() {
        let chosen = [4_u32, 2, 9, 7, 0, 1, 3];
        let all = || [SharedUnits::All(3..10), SharedUnits::Chosen(&chosen)];
        let wanted: [Vec<usize>; 2] = all().map(Iterator::collect);
        assert_eq!(wanted[0], (3..10).collect::<Vec<_>>());
        for most in [1, 3, 7, 8] {
            for (mut units, wanted) in all().into_iter().zip(&wanted) {
                let (mut found, mut block) = (Vec::new(), vec![77]);
                loop {
                    let taken = units.take_block(most, &mut block);
                    let Some(&first) = taken.list.first() else { break };
                    assert!(taken.list.len() <= most);
                    assert!(taken.first.is_none_or(|of| of == first as usize));
                    found.extend(taken.list.iter().map(|&unit| unit as usize));
                }
                assert_eq!(&found, wanted, "{most}");
            }
        }
    }

    /// Numbers of records around a vector, and halves that round to the even one.
    #[test]
    fn steps_of_a_constant_add_up_as_one_by_one() {
        for count in [0_u32, 1, 7, 8, 9, 40] {
            let t: Vec<f64> = (0..count).map(|k| f64::from(k) * 1.5 - 20.25).collect();
            let alone = t.iter().fold(0.0, |sum, t| sum + nearest(t * 2.0));
            assert_eq!(sum_of_steps(&t, 2.0), alone, "{count}");
        }
    }
}
