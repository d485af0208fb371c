//! One pass over the rows for the gradients that several gates on one table ask for.
//!
//! ```text
//! gate 1 ─ at₁, clip₁ ─┐                                  ┌─ Σ clip(∇f(at₁; dᵢ)) ─► its noise
//! gate 2 ─ at₂, clip₂ ─┤ meet ─► one pass, 8 at a time ─► ├─ Σ clip(∇f(at₂; dᵢ)) ─► its noise
//! …                    ┘                                  └─ …
//! ```
//!
//! Each gate keeps its own books, its own noise and its own plan, and has entered what it asks
//! before it comes here; what meets are raw sums, which never leave this module but to the gate that
//! asked. For each parameter every operation on doubles is the one that [`super::pass`] makes, in
//! its order, and sums are of integers: a sum is the same to the bit whoever else is there, so that
//! neither sensitivity nor certificate depends on it (proofs/sensitivity-clipped-sum.md). Only how
//! long it takes does. Nobody waits for ever: whoever is waited for has asked before and does
//! arithmetic until it asks again, asks something else, or is gone.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use reticent_data::{Csr, Dense, Rows};
use reticent_problem::losses::Loss;

use super::grid::{self, Grid, nearest};
use super::pass::finite;
use super::private::Private;
use super::rows::RowAccess;

/// Parameters that are worked on together: one to a lane of the widest vectors.
const LANES: usize = 8;

/// Rows in a block.
const BLOCK: usize = 32;

/// Where gates meet whose gradients are of one table and one loss.
#[derive(Debug, Default)]
pub struct Meeting {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    members: usize,
    next: u64,
    waiting: BTreeMap<u64, Asked>,
    answers: BTreeMap<u64, Vec<i64>>,
    at_work: usize,
}

#[derive(Clone, Debug)]
struct Asked {
    at: Vec<f64>,
    clip: f64,
}

/// A gate's place at a meeting; it leaves when it is dropped.
#[derive(Debug)]
pub struct Member {
    meeting: Arc<Meeting>,
    /// Whether the others wait for it: from when it first asks.
    counted: bool,
}

impl Meeting {
    /// One more who may ask.
    pub fn join(self: &Arc<Self>) -> Member {
        Member { meeting: Arc::clone(self), counted: false }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Says that whoever worked on a batch does not any more, also where it ended in a panic.
struct AtWork<'a>(&'a Meeting);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.locked().at_work -= 1;
        self.0.changed.notify_all();
    }
}

impl Member {
    /// It asks for something else, and is not waited for until it asks again.
    pub fn leave(&mut self) {
        if std::mem::take(&mut self.counted) {
            self.meeting.locked().members -= 1;
            self.meeting.changed.notify_all();
        }
    }

    /// The sum of the clipped gradients at `at`, in steps of the grid; together with the others who
    /// ask now.
    pub fn sum(&mut self, private: &Private, loss: &dyn Loss, at: &[f64], clip: f64) -> Vec<i64> {
        let meeting = &*self.meeting;
        let mut state = meeting.locked();
        state.members += usize::from(!std::mem::replace(&mut self.counted, true));
        let own = state.next;
        state.next += 1;
        state.waiting.insert(own, Asked { at: at.to_vec(), clip });
        loop {
            if let Some(sum) = state.answers.remove(&own) {
                return sum;
            }
            let mine = state.waiting.contains_key(&own);
            // Whoever took it with the others came to no end.
            if !mine && state.at_work == 0 {
                drop(state);
                return one(private, loss, at, clip);
            }
            let all = state.waiting.len() >= state.members;
            if mine && all && state.at_work == 0 {
                let batch = std::mem::take(&mut state.waiting);
                state.at_work += 1;
                drop(state);
                let over = AtWork(meeting);
                let (ids, asked): (Vec<u64>, Vec<Asked>) = batch.into_iter().unzip();
                let sums = together(private, loss, &asked);
                meeting.locked().answers.extend(ids.into_iter().zip(sums));
                drop(over);
                state = meeting.locked();
                continue;
            }
            let waited = meeting.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn one(private: &Private, loss: &dyn Loss, at: &[f64], clip: f64) -> Vec<i64> {
    together(private, loss, &[Asked { at: at.to_vec(), clip }]).pop().unwrap_or_default()
}

/// The sums of all that is asked, in one pass.
fn together(private: &Private, loss: &dyn Loss, asked: &[Asked]) -> Vec<Vec<i64>> {
    let groups: Vec<Group> = asked.chunks(LANES).map(Group::new).collect();
    let count = private.records();
    let threads = rayon::current_num_threads().clamp(1, count.max(1));
    let share = count.div_ceil(threads).max(1);
    let parts: Vec<Vec<Sums>> = (0..threads)
        .into_par_iter()
        .map(|t| {
            let rows = (t * share).min(count)..((t + 1) * share).min(count);
            match private.native_table().map(|table| &table.rows) {
                Some(Rows::Dense(table)) => part(private, loss, table, &groups, rows),
                Some(Rows::Sparse(table)) => part(private, loss, table, &groups, rows),
                // Rows that others stand in for are not asked about here.
                None => groups.iter().map(|group| Sums::new(group.at.len())).collect(),
            }
        })
        .collect();
    let len = asked.first().map_or(0, |asked| asked.at.len());
    let mut all = vec![vec![0; len]; asked.len()];
    for part in &parts {
        for (k, sum) in all.iter_mut().enumerate() {
            let own = &part[k / LANES].total;
            sum.iter_mut().enumerate().for_each(|(j, s)| *s += own[j][k % LANES]);
        }
    }
    all
}

/// Up to eight parameters, entry by entry; lanes that nobody asked for are 0.
#[derive(Debug)]
struct Group {
    at: Vec<[f64; LANES]>,
    clips: Vec<f64>,
}

impl Group {
    fn new(asked: &[Asked]) -> Self {
        let len = asked.first().map_or(0, |asked| asked.at.len());
        let mut at = vec![[0.0; LANES]; len];
        for (lane, asked) in asked.iter().enumerate() {
            at.iter_mut().zip(&asked.at).for_each(|(all, x)| all[lane] = *x);
        }
        Group { at, clips: asked.iter().map(|asked| asked.clip).collect() }
    }
}

/// What one thread adds up for a group.
#[derive(Debug)]
struct Sums {
    /// Integers below 2⁵³, kept as doubles until [`grid::ROWS_PER_FLUSH`] rows are in.
    sums: Vec<[f64; LANES]>,
    total: Vec<[i64; LANES]>,
}

impl Sums {
    fn new(len: usize) -> Self {
        Sums { sums: vec![[0.0; LANES]; len], total: vec![[0; LANES]; len] }
    }

    fn flush(&mut self) {
        for (total, sum) in self.total.iter_mut().zip(&mut self.sums) {
            total.iter_mut().zip(sum.iter()).for_each(|(total, sum)| *total += *sum as i64);
            *sum = [0.0; LANES];
        }
    }
}

/// The sums over some of the rows, for every group.
fn part(
    private: &Private,
    loss: &dyn Loss,
    rows: &impl Lanes,
    groups: &[Group],
    range: std::ops::Range<usize>,
) -> Vec<Sums> {
    let mut sums: Vec<Sums> = groups.iter().map(|group| Sums::new(group.at.len())).collect();
    let arch = pulp::Arch::new();
    let mut scratch = Scratch::default();
    for (done, start) in range.clone().step_by(BLOCK).enumerate() {
        let records = start..(start + BLOCK).min(range.end);
        if done % (grid::ROWS_PER_FLUSH / BLOCK) == grid::ROWS_PER_FLUSH / BLOCK - 1 {
            sums.iter_mut().for_each(Sums::flush);
        }
        for (group, sums) in groups.iter().zip(&mut sums) {
            let (records, scratch) = (records.clone(), &mut scratch);
            arch.dispatch(Block { private, loss, rows, group, sums, records, scratch });
        }
    }
    sums.iter_mut().for_each(Sums::flush);
    sums
}

/// The numbers of a block: lane by lane, so that a loss is shown one parameter's scores at a time.
#[derive(Debug)]
struct Scratch {
    targets: [f64; BLOCK],
    scores: [[f64; BLOCK]; LANES],
    slopes: [[f64; BLOCK]; LANES],
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch {
            targets: [0.0; BLOCK],
            scores: [[0.0; BLOCK]; LANES],
            slopes: [[0.0; BLOCK]; LANES],
        }
    }
}

/// Rows for eight parameters at a time.
trait Lanes: RowAccess {
    /// `aᵢᵀx` for eight parameters, entry by entry, each as [`RowAccess::dot`] computes it.
    fn dot_lanes(&self, i: usize, x: &[[f64; 8]], scores: &mut [f64; 8]);

    /// `sums ← sums + nearest(t·aᵢ)` for eight parameters.
    fn add_lanes(&self, i: usize, t: &[f64; 8], sums: &mut [[f64; 8]]);
}

impl Lanes for Dense {
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

impl Lanes for Csr {
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

/// A block of records for a group: a type of its own because a closure would not be compiled for the
/// vector instructions that it is dispatched to.
struct Block<'a, R> {
    private: &'a Private,
    loss: &'a dyn Loss,
    rows: &'a R,
    group: &'a Group,
    sums: &'a mut Sums,
    records: std::ops::Range<usize>,
    scratch: &'a mut Scratch,
}

impl<R: Lanes> pulp::WithSimd for Block<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Block { private, loss, rows, group, sums, records, scratch } = self;
        let (count, features) = (records.len(), private.features());
        let (weights, last) = group.at.split_at(features);
        for (r, i) in records.clone().enumerate() {
            scratch.targets[r] = private.target(i);
            let mut scores = [0.0; LANES];
            rows.dot_lanes(i, weights, &mut scores);
            for lane in 0..LANES {
                let constant = last.first().map_or(0.0, |b| b[lane] * private.intercept());
                scratch.scores[lane][r] = scores[lane] + constant;
            }
        }
        let grid = Grid::new(group.at.len());
        for (lane, &clip) in group.clips.iter().enumerate() {
            let slopes = &mut scratch.slopes[lane][..count];
            loss.derivatives(&scratch.scores[lane][..count], &scratch.targets[..count], slopes);
            for (slope, i) in slopes.iter_mut().zip(records.clone()) {
                finite(slope);
                *slope *= grid.factor(slope.abs() * private.norm_above(i), clip);
            }
        }
        let (sums, constant) = sums.sums.split_at_mut(features);
        for (r, i) in records.enumerate() {
            let t: [f64; LANES] = std::array::from_fn(|lane| scratch.slopes[lane][r]);
            rows.add_lanes(i, &t, sums);
            if let Some(sum) = constant.first_mut() {
                for lane in 0..LANES {
                    sum[lane] += nearest(t[lane] * private.intercept());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::{Ask, Pass, Slopes};
    use proptest::prelude::*;
    use reticent_data::Table;
    use reticent_problem::losses;

    /// A table of `n` rows of `d` numbers, of which some are 0; the same, sparse.
    fn tables(n: usize, d: usize, seed: u64) -> [Table; 2] {
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
            names: names.clone(),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        /// Whoever else is there, a sum is the one of a pass of its own, to the bit.
        #[test]
        fn a_shared_sum_is_the_sum_of_a_pass_of_its_own(
            (n, d, many, seed) in (0..120_usize, 1..30_usize, 1..20_usize, any::<u64>()),
            loss in prop_oneof![Just("logistic"), Just("hinge"), Just("squared-hinge")],
            intercept in prop_oneof![Just(0.0), Just(0.5)],
            scale in prop_oneof![Just(1.0), Just(1e-200), Just(1e160), Just(1e308)],
        ) {
            let loss = losses::parse(loss, Some(2)).unwrap();
            for table in tables(n, d, seed) {
                let private = Private::by_record(table, intercept).unwrap();
                let len = d + usize::from(intercept != 0.0);
                let asked: Vec<Asked> = (0..many)
                    .map(|k| Asked {
                        at: (0..len).map(|j| scale * ((j * 7 + k * 3) % 11) as f64 - 0.3).collect(),
                        clip: 0.1 + k as f64,
                    })
                    .collect();
                let sums = together(&private, &*loss, &asked);
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

    /// Gates that come and go, and one that never asks: nobody waits for ever, and nobody is given
    /// what another asked for.
    #[test]
    fn everybody_gets_its_own_answer_whoever_leaves() {
        let [table, _] = tables(50, 5, 3);
        let private = Private::by_record(table, 0.0).unwrap();
        let loss = losses::parse("logistic", Some(2)).unwrap();
        let meeting = Arc::<Meeting>::default();
        let _idle = meeting.join();
        std::thread::scope(|scope| {
            for k in 0..9_u32 {
                let (mut member, private, loss) = (meeting.join(), &private, &*loss);
                scope.spawn(move || {
                    for round in 0..=k {
                        let at = vec![f64::from(k) - f64::from(round) / 7.0; 5];
                        let sum = member.sum(private, loss, &at, 1.0);
                        assert_eq!(sum, one(private, loss, &at, 1.0), "{k} {round}");
                    }
                });
            }
        });
        let state = meeting.locked();
        assert!(state.members == 0 && state.waiting.is_empty() && state.answers.is_empty());
    }
}
