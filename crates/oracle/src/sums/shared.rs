//! One pass over the rows for the gradients that several gates on one table ask for.
//!
//! ```text
//! gate 1 ─ at₁, clip₁ ─┐                             ┌─ Σ clip(∇f(at₁; dᵢ)) ─► its noise
//! gate 2 ─ at₂, clip₂ ─┤ meet ─► one pass (lanes) ─► ├─ Σ clip(∇f(at₂; dᵢ)) ─► its noise
//! …                    ┘                             └─ …
//! ```
//!
//! Each gate keeps its own books, its own noise and its own plan, and has entered what it asks
//! before it comes here; what meets are raw sums, which never leave this module but to the gate that
//! asked. For each parameter every operation on doubles is the one that [`super::pass`] makes, in
//! its order, and sums are of integers: a sum is the same to the bit whoever else is there, so that
//! neither sensitivity nor certificate depends on it (proofs/sensitivity-clipped-sum.md). Only how
//! long it takes does. Nobody waits for ever: whoever is waited for has asked before and does
//! arithmetic until it asks again, asks something else, which `gate/shared_passes.rs` tells apart, or is
//! gone.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::lanes::LaneQuery;

/// Where gates meet whose gradients are of one table and one loss.
#[derive(Debug, Default)]
pub struct Meeting {
    state: Mutex<PassState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct PassState {
    members: usize,
    next: u64,
    waiting: BTreeMap<u64, LaneQuery>,
    answers: BTreeMap<u64, Vec<i64>>,
    at_work: usize,
}

/// A gate's place at a meeting; it leaves when it is dropped.
#[derive(Debug)]
pub struct PassMember {
    meeting: Arc<Meeting>,
    /// Whether the others wait for it: from when it first asks.
    counted: Cell<bool>,
}

impl Meeting {
    /// One more who may ask.
    pub fn join(self: &Arc<Self>) -> PassMember {
        PassMember { meeting: Arc::clone(self), counted: Cell::new(false) }
    }

    /// How many are waited for.
    #[cfg(test)]
    pub fn members(&self) -> usize {
        self.locked().members
    }

    fn locked(&self) -> MutexGuard<'_, PassState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PassMember {
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

impl PassMember {
    /// It asks for something else, and is not waited for until it asks again.
    pub fn leave(&self) {
        if self.counted.take() {
            self.meeting.locked().members -= 1;
            self.meeting.changed.notify_all();
        }
    }

    /// The sum of the clipped gradients that are asked for, in steps of the grid; by `together`, with the others
    /// who ask now. Where that fails, whoever did it is told so, and each of the others asks for its own.
    ///
    /// # Errors
    /// That of `together`.
    pub fn sum<E>(
        &self,
        asked: LaneQuery,
        together: impl Fn(&[LaneQuery]) -> Result<Vec<Vec<i64>>, E>,
    ) -> Result<Vec<i64>, E> {
        let meeting = &*self.meeting;
        let alone = asked.clone();
        let mut state = meeting.locked();
        state.members += usize::from(!self.counted.replace(true));
        let own = state.next;
        state.next += 1;
        state.waiting.insert(own, asked);
        loop {
            if let Some(sum) = state.answers.remove(&own) {
                return Ok(sum);
            }
            let mine = state.waiting.contains_key(&own);
            // Whoever took it with the others came to no end.
            if !mine && state.at_work == 0 {
                drop(state);
                return Ok(together(&[alone])?.pop().unwrap_or_default());
            }
            let all = state.waiting.len() >= state.members;
            if mine && all && state.at_work == 0 {
                let batch = std::mem::take(&mut state.waiting);
                state.at_work += 1;
                drop(state);
                let over = AtWork(meeting);
                let (ids, asked): (Vec<u64>, Vec<LaneQuery>) = batch.into_iter().unzip();
                let sums = together(&asked)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::lanes::{tests::tables, together};
    use crate::sums::{Pass, Private};
    use reticent_problem::losses;
    use std::convert::Infallible;

    fn query(k: u32, round: u32) -> LaneQuery {
        LaneQuery { at: vec![f64::from(k) - f64::from(round) / 7.0; 5], clip: 1.0 }
    }

    /// Gates that come and go, and one that never asks: nobody waits for ever, and nobody is given
    /// what another asked for.
    #[test]
    fn everybody_gets_its_own_answer_whoever_leaves() {
        let [table, _] = tables(50, 5, 3);
        let private = Private::by_record(table, 0.0).unwrap();
        let loss = losses::parse("logistic", Some(2)).unwrap();
        let all = |asked: &[LaneQuery]| {
            Ok::<_, Infallible>(together(&mut Pass::default(), &private, &*loss, asked))
        };
        let meeting = Arc::<Meeting>::default();
        let _idle = meeting.join();
        std::thread::scope(|scope| {
            for k in 0..9_u32 {
                let (member, all) = (meeting.join(), &all);
                scope.spawn(move || {
                    for round in 0..=k {
                        let Ok(sum) = member.sum(query(k, round), all);
                        let Ok(own) = all(&[query(k, round)]);
                        assert_eq!(sum, own[0], "{k} {round}");
                    }
                });
            }
        });
        let state = meeting.locked();
        assert!(state.members == 0 && state.waiting.is_empty() && state.answers.is_empty());
    }

    /// A disk that fails for all together: one is told so, and the others get their sums by themselves.
    #[test]
    fn a_pass_that_fails_leaves_nobody_waiting() {
        let meeting = Arc::<Meeting>::default();
        let all = |asked: &[LaneQuery]| match asked {
            [one] => Ok(vec![vec![one.at[0] as i64]]),
            _ => Err("the disk"),
        };
        // All are members before the first of them asks again.
        let begun = std::sync::Barrier::new(5);
        let failed = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for k in 0..5_u32 {
                let (member, all, begun, failed) = (meeting.join(), &all, &begun, &failed);
                scope.spawn(move || {
                    member.counted.set(true);
                    member.meeting.locked().members += 1;
                    begun.wait();
                    match member.sum(query(k, 0), all) {
                        Ok(sum) => assert_eq!(sum, [i64::from(k)]),
                        Err(why) => {
                            assert_eq!(why, "the disk");
                            failed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(failed.into_inner(), 1);
        assert!(meeting.locked().waiting.is_empty() && meeting.locked().answers.is_empty());
    }
}
