//! Clipped sums at many parameters in one pass over the rows, sixteen parameters at a time.
//!
//! For each parameter every operation on doubles is the one that [`super::pass`] makes, in its
//! order, and what is summed are integers: the sum is that of a pass of its own, to the bit. The
//! vectors are written out, because a compiler that is left to itself puts rows into the lanes and
//! gathers the parameters.

use pulp::Simd;
use reticent_data::{Csr, Dense, Rows};
use reticent_problem::losses::Loss;

use super::grid::{Grid, MAGIC};
use super::pass::{Ask, Pass, Slopes, finite};
use super::private::Private;
use super::threads;

/// Parameters that are worked on together, at most: two of the widest vectors, so that one waits
/// for memory while the other is added to.
const MOST: usize = 16;

/// The number of parameters in a group is a multiple of it: the lanes of the widest vectors.
const LANES: usize = 8;

/// Rows in a block.
const BLOCK: usize = 32;

/// Rows that are added to a column at once, so that its sums stay in a register.
const AT_ONCE: usize = 8;

/// What [`rounded`] makes of 0.
const ZERO: u64 = MAGIC.to_bits();

/// Parameters for which a pass of their own is faster than idle lanes.
const FEW: usize = 2;

/// What one gate asks: where, and how far a record may pull.
#[derive(Clone, Debug)]
pub struct LaneQuery {
    pub at: Vec<f64>,
    pub clip: f64,
}

/// The sums of all that is asked, in steps of the grid, in one pass; by as many threads as `pass` takes.
pub fn together(
    pass: &mut Pass,
    private: &Private,
    loss: &dyn Loss,
    asked: &[LaneQuery],
) -> Vec<Vec<i64>> {
    let len = asked.first().map_or(0, |asked| asked.at.len());
    let mut all = vec![vec![0; len]; asked.len()];
    if asked.len() <= FEW {
        for (LaneQuery { at, clip }, sum) in asked.iter().zip(&mut all) {
            let ask = Ask { private, loss, slopes: Slopes::At(at), clip: *clip, chosen: None };
            pass.clipped_sum(&ask, sum);
        }
        return all;
    }
    let groups: Vec<LaneGroup> = asked.chunks(MOST).map(LaneGroup::new).collect();
    let entries = groups.iter().map(|group| group.at.len()).sum();
    for part in in_lanes(private, loss, &groups, pass.threads(private.records(), entries)) {
        for (k, sum) in all.iter_mut().enumerate() {
            let (width, own) = (groups[k / MOST].width, &part[k / MOST]);
            let lane = own.iter().skip(k % MOST).step_by(width);
            sum.iter_mut().zip(lane).for_each(|(sum, part)| *sum += *part as i64);
        }
    }
    all
}

/// Integers for the parameters of a group, entry by entry, as the two's complement of what may be
/// negative.
type Sums = Vec<u64>;

/// What each thread adds up, group by group.
fn in_lanes(
    private: &Private,
    loss: &dyn Loss,
    groups: &[LaneGroup],
    threads: usize,
) -> Vec<Vec<Sums>> {
    let count = private.records();
    let mut parts = vec![Vec::new(); threads];
    threads::for_each(&mut parts, |t, sums| {
        let rows = threads::share(count, threads, t);
        *sums = match private.native_table().map(|table| &table.rows) {
            Some(Rows::Dense(table)) => part(private, loss, table, groups, rows),
            Some(Rows::Sparse(table)) => part(private, loss, table, groups, rows),
            // Rows that others stand in for are not asked about here.
            None => groups.iter().map(LaneGroup::nothing).collect(),
        };
    });
    parts
}

/// Some parameters, entry by entry; lanes that nobody asked for are 0.
#[derive(Debug)]
struct LaneGroup {
    width: usize,
    at: Vec<f64>,
    clips: Vec<f64>,
}

impl LaneGroup {
    fn new(asked: &[LaneQuery]) -> Self {
        let width = asked.len().next_multiple_of(LANES);
        let len = asked.first().map_or(0, |asked| asked.at.len());
        let (mut at, mut clips) = (vec![0.0; len * width], vec![1.0; width]);
        for (lane, asked) in asked.iter().enumerate() {
            at.iter_mut().skip(lane).step_by(width).zip(&asked.at).for_each(|(to, x)| *to = *x);
            clips[lane] = asked.clip;
        }
        LaneGroup { width, at, clips }
    }

    /// Coordinates of a parameter.
    fn len(&self) -> usize {
        self.at.len() / self.width
    }

    fn nothing(&self) -> Sums {
        vec![0; self.at.len()]
    }
}

/// The sums over some of the rows, for every group.
fn part(
    private: &Private,
    loss: &dyn Loss,
    rows: &impl Lanes,
    groups: &[LaneGroup],
    range: std::ops::Range<usize>,
) -> Vec<Sums> {
    let mut sums: Vec<Sums> = groups.iter().map(LaneGroup::nothing).collect();
    let arch = pulp::Arch::new();
    let mut scratch = LaneScratch::default();
    for start in range.clone().step_by(BLOCK) {
        let records = start..(start + BLOCK).min(range.end);
        for (group, sums) in groups.iter().zip(&mut sums) {
            let (records, scratch) = (records.clone(), &mut scratch);
            arch.dispatch(LaneBlock { private, loss, rows, group, sums, records, scratch });
        }
    }
    sums
}

/// The numbers of a block, record by record, with one for each parameter of the group.
#[derive(Debug)]
struct LaneScratch {
    targets: [f64; BLOCK * MOST],
    scores: [f64; BLOCK * MOST],
    slopes: [f64; BLOCK * MOST],
}

impl Default for LaneScratch {
    fn default() -> Self {
        let zeros = [0.0; BLOCK * MOST];
        LaneScratch { targets: zeros, scores: zeros, slopes: zeros }
    }
}

/// Where the lanes of one vector are among those of a group: every `of`-th vector from `first` on.
#[derive(Clone, Copy, Debug)]
struct LanePart {
    first: usize,
    of: usize,
}

impl LanePart {
    #[inline(always)]
    fn at(self, entry: usize) -> usize {
        entry * self.of + self.first
    }
}

/// Rows for several parameters at a time.
trait Lanes {
    /// `aᵢᵀx` for `N` vectors of parameters from `part` on, each as
    /// [`RowAccess::dot`](super::rows::RowAccess::dot) computes it.
    fn dot_lanes<S: Simd, const N: usize>(
        &self,
        simd: S,
        i: usize,
        x: &[S::f64s],
        part: LanePart,
    ) -> [S::f64s; N];

    /// `sums ← sums + nearest(t·aᵢ)` for `N` vectors of parameters and each of `records`.
    fn add_lanes<S: Simd, const N: usize>(
        &self,
        simd: S,
        records: std::ops::Range<usize>,
        t: &[S::f64s],
        sums: &mut [S::u64s],
        part: LanePart,
    );
}

/// `nearest(t·a)` as an integer, and [`ZERO`] more: where doubles are one apart, their bits count.
#[inline(always)]
fn rounded<S: Simd>(simd: S, t: S::f64s, a: f64) -> S::u64s {
    let steps = simd.mul_f64s(t, simd.splat_f64s(a));
    simd.transmute_u64s_f64s(simd.add_f64s(steps, simd.splat_f64s(MAGIC)))
}

/// `sum + nearest(t·a)`.
#[inline(always)]
fn plus<S: Simd>(simd: S, sum: S::u64s, t: S::f64s, a: f64) -> S::u64s {
    let less = simd.add_u64s(sum, simd.splat_u64s(ZERO.wrapping_neg()));
    simd.add_u64s(less, rounded(simd, t, a))
}

/// What a sum of no doubles is.
fn nothing() -> f64 {
    std::iter::empty::<f64>().sum()
}

impl Lanes for Dense {
    #[inline(always)]
    fn dot_lanes<S: Simd, const N: usize>(
        &self,
        simd: S,
        i: usize,
        x: &[S::f64s],
        part: LanePart,
    ) -> [S::f64s; N] {
        // The eight running sums of `dot`, each for the parameters of a vector.
        let (head, tail) = self.row(i).as_chunks::<8>();
        std::array::from_fn(|n| {
            let part = LanePart { first: part.first + n, ..part };
            let mut running = [simd.splat_f64s(0.0); 8];
            let add = |sum, a: f64, entry: usize| {
                simd.add_f64s(sum, simd.mul_f64s(simd.splat_f64s(a), x[part.at(entry)]))
            };
            for (c, chunk) in head.iter().enumerate() {
                for (k, (sum, a)) in running.iter_mut().zip(chunk).enumerate() {
                    *sum = add(*sum, *a, 8 * c + k);
                }
            }
            let none = simd.splat_f64s(nothing());
            let whole = running.iter().fold(none, |whole, sum| simd.add_f64s(whole, *sum));
            let behind = 8 * head.len();
            let rest = tail.iter().enumerate().fold(none, |sum, (k, a)| add(sum, *a, behind + k));
            simd.add_f64s(whole, rest)
        })
    }

    #[inline(always)]
    fn add_lanes<S: Simd, const N: usize>(
        &self,
        simd: S,
        records: std::ops::Range<usize>,
        t: &[S::f64s],
        sums: &mut [S::u64s],
        part: LanePart,
    ) {
        let columns = sums.len() / part.of;
        let zeros = simd.splat_u64s(ZERO.wrapping_mul(AT_ONCE as u64).wrapping_neg());
        let many = records.len() - records.len() % AT_ONCE;
        for part in (0..N).map(|n| LanePart { first: part.first + n, ..part }) {
            for start in (0..many).step_by(AT_ONCE) {
                let rows: [&[f64]; AT_ONCE] =
                    std::array::from_fn(|r| &self.row(records.start + start + r)[..columns]);
                let t: [S::f64s; AT_ONCE] = std::array::from_fn(|r| t[part.at(start + r)]);
                for j in 0..columns {
                    let mut sum = simd.add_u64s(sums[part.at(j)], zeros);
                    for r in 0..AT_ONCE {
                        sum = simd.add_u64s(sum, rounded(simd, t[r], rows[r][j]));
                    }
                    sums[part.at(j)] = sum;
                }
            }
            for r in many..records.len() {
                for (j, a) in self.row(records.start + r).iter().enumerate() {
                    let sum = &mut sums[part.at(j)];
                    *sum = plus(simd, *sum, t[part.at(r)], *a);
                }
            }
        }
    }
}

impl Lanes for Csr {
    #[inline(always)]
    fn dot_lanes<S: Simd, const N: usize>(
        &self,
        simd: S,
        i: usize,
        x: &[S::f64s],
        part: LanePart,
    ) -> [S::f64s; N] {
        let (indices, values) = self.row(i);
        let mut sums = [simd.splat_f64s(nothing()); N];
        for (&j, a) in indices.iter().zip(values) {
            let x = &x[part.at(j as usize)..][..N];
            for (sum, x) in sums.iter_mut().zip(x) {
                *sum = simd.add_f64s(*sum, simd.mul_f64s(simd.splat_f64s(*a), *x));
            }
        }
        sums
    }

    #[inline(always)]
    fn add_lanes<S: Simd, const N: usize>(
        &self,
        simd: S,
        records: std::ops::Range<usize>,
        t: &[S::f64s],
        sums: &mut [S::u64s],
        part: LanePart,
    ) {
        for (r, i) in records.enumerate() {
            let (indices, values) = self.row(i);
            let t: [S::f64s; N] = std::array::from_fn(|n| t[part.at(r) + n]);
            for (&j, a) in indices.iter().zip(values) {
                let sums = &mut sums[part.at(j as usize)..][..N];
                for (sum, t) in sums.iter_mut().zip(&t) {
                    *sum = plus(simd, *sum, *t, *a);
                }
            }
        }
    }
}

/// A block of records for a group: a type of its own because a closure would not be compiled for the
/// vector instructions that it is dispatched to.
struct LaneBlock<'a, R> {
    private: &'a Private,
    loss: &'a dyn Loss,
    rows: &'a R,
    group: &'a LaneGroup,
    sums: &'a mut Sums,
    records: std::ops::Range<usize>,
    scratch: &'a mut LaneScratch,
}

impl<R: Lanes> pulp::WithSimd for LaneBlock<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let of = self.group.width / S::F64_LANES;
        let pairs = of - of % 2;
        for first in (0..pairs).step_by(2) {
            self.score::<S, 2>(simd, LanePart { first, of });
        }
        for first in pairs..of {
            self.score::<S, 1>(simd, LanePart { first, of });
        }
        self.clip();
        for first in (0..pairs).step_by(2) {
            self.add::<S, 2>(simd, LanePart { first, of });
        }
        for first in pairs..of {
            self.add::<S, 1>(simd, LanePart { first, of });
        }
        self.add_constant();
    }
}

impl<R: Lanes> LaneBlock<'_, R> {
    /// The scores of `N` vectors of parameters, without the intercept.
    #[inline(always)]
    fn score<S: Simd, const N: usize>(&mut self, simd: S, part: LanePart) {
        let (at, _) = S::as_simd_f64s(&self.group.at);
        let weights = &at[..self.private.features() * part.of];
        let (scores, _) = S::as_mut_simd_f64s(&mut self.scratch.scores);
        for (r, i) in self.records.clone().enumerate() {
            let own: [S::f64s; N] = self.rows.dot_lanes(simd, i, weights, part);
            scores[part.at(r)..][..N].copy_from_slice(&own);
        }
    }

    /// From scores to clipped slopes in steps of the grid.
    #[inline(always)]
    fn clip(&mut self) {
        let LaneBlock { private, loss, group, records, scratch, .. } = self;
        let (width, count) = (group.width, records.len() * group.width);
        let (scores, targets) = (&mut scratch.scores[..count], &mut scratch.targets[..count]);
        let slopes = &mut scratch.slopes[..count];
        let last = &group.at[private.features() * width..];
        let rows = scores.chunks_exact_mut(width).zip(targets.chunks_exact_mut(width));
        for ((scores, targets), i) in rows.zip(records.clone()) {
            targets.fill(private.target(i));
            for (score, b) in scores.iter_mut().zip(last) {
                *score += b * private.intercept();
            }
        }
        loss.derivatives(scores, targets, slopes);
        let grid = Grid::new(group.len());
        let norms = records.clone().map(|i| private.norm_above(i));
        for (slopes, norm) in slopes.chunks_exact_mut(width).zip(norms) {
            for (slope, clip) in slopes.iter_mut().zip(&group.clips) {
                finite(slope);
                *slope *= grid.factor(slope.abs() * norm, *clip);
            }
        }
    }

    #[inline(always)]
    fn add<S: Simd, const N: usize>(&mut self, simd: S, part: LanePart) {
        let features = self.private.features() * self.group.width;
        let (t, _) = S::as_simd_f64s(&self.scratch.slopes);
        let (sums, _) = S::as_mut_simd_u64s(&mut self.sums[..features]);
        self.rows.add_lanes::<S, N>(simd, self.records.clone(), t, sums, part);
    }

    #[inline(always)]
    fn add_constant(&mut self) {
        let width = self.group.width;
        let sums = &mut self.sums[self.private.features() * width..];
        let slopes = &self.scratch.slopes[..self.records.len() * width];
        for slopes in slopes.chunks_exact(width) {
            for (sum, t) in sums.iter_mut().zip(slopes) {
                // As `plus`: a conversion to an integer is not made of vector instructions.
                let rounded = (t * self.private.intercept() + MAGIC).to_bits();
                *sum = sum.wrapping_add(rounded.wrapping_sub(ZERO));
            }
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use proptest::prelude::*;
    use reticent_data::Table;
    use reticent_problem::losses;

    /// A table of `n` rows of `d` numbers, of which some are 0; the same, sparse.
    pub fn tables(n: usize, d: usize, seed: u64) -> [Table; 2] {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let (mut dense, mut sparse) = (Dense::empty(d), Csr::empty(d));
        for _ in 0..n {
            let row: Vec<(u32, f64)> = (0..d as u32)
                .map(|j| (j, next()))
                .filter(|(j, a)| j % 3 == 0 || *a > 0.0)
                .collect();
            let (indices, values): (Vec<u32>, Vec<f64>) = row.into_iter().unzip();
            dense.push_sparse(&indices, &values);
            sparse.push(&indices, &values);
        }
        let targets: Vec<f64> = (0..n).map(|_| if next() > 0.0 { 1.0 } else { -1.0 }).collect();
        let names: Vec<String> = (0..d).map(|j| j.to_string()).collect();
        [Rows::Dense(dense), Rows::Sparse(sparse)].map(|rows| Table {
            rows,
            targets: targets.clone(),
            users: None,
            weights: None,
            names: names.clone(),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        /// Whoever else is there, a sum is the one of a pass of its own, to the bit.
        #[test]
        fn a_shared_sum_is_the_sum_of_a_pass_of_its_own(
            (n, d, many, seed) in (0..120_usize, 1..30_usize, 1..40_usize, any::<u64>()),
            loss in prop_oneof![Just("logistic"), Just("hinge"), Just("squared-hinge")],
            intercept in prop_oneof![Just(0.0), Just(0.5)],
            scale in prop_oneof![Just(1.0), Just(1e-200), Just(1e160), Just(1e308)],
        ) {
            let loss = losses::parse(loss, Some(2)).unwrap();
            for table in tables(n, d, seed) {
                let private = Private::by_record(table, intercept).unwrap();
                let len = d + usize::from(intercept != 0.0);
                let asked: Vec<LaneQuery> = (0..many)
                    .map(|k| LaneQuery {
                        at: (0..len).map(|j| scale * ((j * 7 + k * 3) % 11) as f64 - 0.3).collect(),
                        clip: 0.1 + k as f64,
                    })
                    .collect();
                let sums = together(&mut Pass::default(), &private, &*loss, &asked);
                prop_assert_eq!(&together(&mut Pass::alone(), &private, &*loss, &asked), &sums);
                for (asked, sum) in asked.iter().zip(&sums) {
                    let mut alone = vec![0; len];
                    let ask = Ask {
                        private: &private,
                        loss: &*loss,
                        slopes: Slopes::At(&asked.at),
                        clip: asked.clip,
                        chosen: None,
                    };
                    Pass::default().clipped_sum(&ask, &mut alone);
                    prop_assert_eq!(sum, &alone);
                }
            }
        }
    }
}
