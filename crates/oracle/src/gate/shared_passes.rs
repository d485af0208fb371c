//! Passes that gates on one table share, in memory or in a cache file, so that one pass over it answers several of
//! them: each with its own books, its own noise, and the sum that it would have had by itself, to the bit.
//!
//! ```text
//! gate ─► SharedHolder ─┬─ gradient over all records ─► the meeting (sums/shared.rs) ─► the same integers
//!                       └─ anything else: it leaves the meeting ─► the holder that it had
//! ```
//!
//! Nothing else knows of it: the gate asks a holder, which is this one. Proof: proofs/sweep.md.

use std::sync::{Arc, Mutex, PoisonError};

use reticent_data::{CacheFile, Table};
use reticent_problem::Shape;
use reticent_problem::losses::Loss;

use super::elsewhere::TellsHolders;
use super::{Gate, NoiseSource};
use crate::holder::{Holder, TableHolder};
use crate::queries::RecordSum;
use crate::refusal::Refusal;
use crate::sums::{LaneQuery, Meeting, Pass, PassMember, together};

/// Holds rows that are shown once for gradients at several parameters: records, all of which count as much.
pub trait LaneHolder {
    /// What it holds: holders of the same have the same sums.
    fn holds(&self) -> LaneRows;

    /// The sums of clipped gradients over all records, of a loss with one score, in steps of the grid.
    fn gradients(&self, loss: &dyn Loss, asked: &[LaneQuery]) -> Result<Vec<Vec<i64>>, Refusal>;
}

/// Rows, and the bits of the constant behind them.
pub enum LaneRows {
    Table(Arc<Table>, u64),
    File(Arc<CacheFile>, u64),
}

impl PartialEq for LaneRows {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Table(own, constant), Self::Table(its, other)) => {
                Arc::ptr_eq(own, its) && constant == other
            }
            (Self::File(own, constant), Self::File(its, other)) => {
                Arc::ptr_eq(own, its) && constant == other
            }
            _ => false,
        }
    }
}

impl TableHolder {
    /// Its rows, for several gradients at a time; `None` where persons or weights make them more than rows.
    pub fn as_lanes(&self) -> Option<&dyn LaneHolder> {
        let alike = self.private.users().is_none() && self.private.weights().is_none();
        (alike && self.private.native_table().is_some()).then_some(self)
    }
}

impl LaneHolder for TableHolder {
    fn holds(&self) -> LaneRows {
        let table = self.private.native_table().map(Arc::clone).unwrap_or_default();
        LaneRows::Table(table, self.private.intercept().to_bits())
    }

    fn gradients(&self, loss: &dyn Loss, asked: &[LaneQuery]) -> Result<Vec<Vec<i64>>, Refusal> {
        Ok(together(&mut Pass::default(), &self.private, loss, asked))
    }
}

/// Where gates on one table meet.
#[derive(Default)]
pub struct SharedPasses {
    meetings: Mutex<Vec<(Alike, Arc<Meeting>)>>,
}

/// What gates have in common whose gradients are of one kind: a pass shows the rows to one loss.
#[derive(PartialEq)]
struct Alike {
    rows: LaneRows,
    loss: String,
    weights: Vec<u64>,
}

/// Not derived: it would show the rows.
impl std::fmt::Debug for SharedPasses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedPasses(..)")
    }
}

impl SharedPasses {
    /// A place among the gates on the rows of this holder; `None` for rows whose passes are not
    /// shared.
    fn join(&self, holder: &dyn Holder, loss: &dyn Loss) -> Option<PassMember> {
        let rows = holder.lanes().filter(|_| loss.outputs() == 1)?.holds();
        let alike = Alike {
            rows,
            loss: loss.spec(),
            // Not in the name of a loss.
            weights: loss.weights().iter().map(|weight| weight.to_bits()).collect(),
        };
        let mut all = self.meetings.lock().unwrap_or_else(PoisonError::into_inner);
        let meeting = match all.iter().find(|(own, _)| *own == alike) {
            Some((_, meeting)) => Arc::clone(meeting),
            None => {
                let meeting = Arc::<Meeting>::default();
                all.push((alike, Arc::clone(&meeting)));
                meeting
            }
        };
        Some(meeting.join())
    }
}

impl<S: NoiseSource> Gate<S> {
    /// From here on, gradients over all records of a loss with one score are computed together with
    /// those of the other gates on the same table that were told so. Everything else is as it was.
    #[must_use]
    pub fn share_passes(mut self, with: &SharedPasses) -> Self {
        if let Some(member) = with.join(&*self.inside.holder, &*self.inside.loss) {
            self.inside.holder = Box::new(SharedHolder { own: self.inside.holder, member });
        }
        self
    }
}

/// A holder of a table whose gradients over all records come from passes that it shares. Whoever asks
/// it for anything else, another sum or the table itself, is not waited for until it asks for a
/// gradient again.
#[derive(Debug)]
struct SharedHolder {
    own: Box<dyn Holder>,
    member: PassMember,
}

impl Holder for SharedHolder {
    fn units(&self) -> usize {
        self.own.units()
    }

    fn shape(&self, outputs: usize) -> Shape {
        self.own.shape(outputs)
    }

    fn native_width(&self) -> usize {
        self.own.native_width()
    }

    fn set_basis(&mut self, images: Option<&[f64]>) -> Result<(), Refusal> {
        self.member.leave();
        self.own.set_basis(images)
    }

    fn sum(
        &mut self,
        what: &RecordSum<'_>,
        loss: &dyn Loss,
        chosen: Option<&[u32]>,
        out: &mut [i64],
    ) -> Result<(), Refusal> {
        // The rows as they came, and not their images in other coordinates.
        match (what, chosen, self.own.lanes()) {
            (RecordSum::Gradient { at, clip }, None, Some(rows)) => {
                let asked = LaneQuery { at: at.to_vec(), clip: *clip };
                let sum = self.member.sum(asked, |asked| rows.gradients(loss, asked))?;
                out.copy_from_slice(&sum);
                Ok(())
            }
            _ => {
                self.member.leave();
                self.own.sum(what, loss, chosen, out)
            }
        }
    }

    fn tells(&self) -> TellsHolders {
        self.own.tells()
    }

    fn is_weighted(&self) -> bool {
        self.own.is_weighted()
    }

    fn is_here(&self) -> bool {
        self.own.is_here()
    }

    /// Whoever takes the table asks for something that is no sum.
    fn table(&self) -> Option<&TableHolder> {
        self.member.leave();
        self.own.table()
    }

    fn table_mut(&mut self) -> Option<&mut TableHolder> {
        self.member.leave();
        self.own.table_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cached_table::CachedTable;
    use crate::gate::PrivacyModel;
    use crate::oracle::Oracle;
    use crate::queries::{ClippedMean, Errors, Gradient};
    use crate::table::PrivateTable;
    use reticent_accountant::{Adjacency, Unit, View};
    use reticent_data::{Dense, Rows};
    use reticent_noise::{Entropy, Sampling};
    use reticent_problem::losses::{self, Weighted};

    const AT: [f64; 1] = [0.3];

    fn rows(count: usize) -> Table {
        let values = (0..count).map(|i| 0.5 - 0.75 * i as f64 / (1.0 + i as f64 / 9.0)).collect();
        let rows = Rows::Dense(Dense { rows: count, columns: 1, values });
        let targets = (0..count).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        Table { rows, targets, users: None, weights: None, names: Vec::new() }
    }

    fn table() -> PrivateTable {
        PrivateTable::from(rows(2))
    }

    const OPENING: PrivacyModel = PrivacyModel {
        adjacency: Adjacency::ReplaceOne,
        unit: Unit::Record,
        view: View::Central,
        public_n: None,
        intercept: 0.0,
    };

    fn gate(table: &PrivateTable, loss: Arc<dyn Loss>) -> Gate {
        Gate::open(table.share(), loss, &OPENING, Entropy::seeded(1)).unwrap()
    }

    fn cached(table: &CachedTable, seed: u64) -> Gate {
        Gate::open_cached(table.share(), squared(), &OPENING, Entropy::seeded(seed)).unwrap()
    }

    fn squared() -> Arc<dyn Loss> {
        losses::parse("squared", None).unwrap().into()
    }

    fn gradient(sampling: Sampling) -> Gradient<'static> {
        Gradient { at: &AT, mean: ClippedMean { clip: 1.0, noise_multiplier: 1.5, sampling } }
    }

    fn members(passes: &SharedPasses) -> usize {
        passes.meetings.lock().unwrap()[0].1.members()
    }

    /// Weights are not in the name of a loss, and a pass shows the rows to one loss.
    #[test]
    fn gates_with_other_class_weights_do_not_share_a_pass() {
        let (table, passes) = (table(), SharedPasses::default());
        for weights in [[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]] {
            let plain: Arc<dyn Loss> = losses::parse("logistic", Some(2)).unwrap().into();
            let loss = Arc::new(Weighted::new(plain, weights.to_vec()).unwrap());
            drop(gate(&table, loss).share_passes(&passes));
        }
        assert_eq!(passes.meetings.lock().unwrap().len(), 2);
    }

    /// A gate that went on with other questions kept those waiting who share passes with it: another
    /// sum, a sum over a sample, rows in another basis, and what takes the table itself.
    #[test]
    fn whoever_asks_for_anything_but_a_gradient_of_all_is_not_waited_for() {
        let (table, passes) = (table(), SharedPasses::default());
        let mut gate = gate(&table, squared()).share_passes(&passes);
        for other in ["sum", "sample", "table", "basis"] {
            gate.ask(&gradient(Sampling::Full)).unwrap();
            assert_eq!(members(&passes), 1, "before the {other}");
            match other {
                "sum" => gate.ask(&Errors { at: &AT, noise_multiplier: 1.0 }).map(drop).unwrap(),
                "sample" => gate.ask(&gradient(Sampling::WithoutReplacement(1))).map(drop).unwrap(),
                "table" => gate.open_consensus(&AT).unwrap(),
                _ => {
                    gate.set_basis(Some(&[2.0])).unwrap();
                    gate.ask(&gradient(Sampling::Full)).map(drop).unwrap();
                }
            }
            assert_eq!(members(&passes), 0, "behind the {other}");
        }
        // Rows as they came are shared again.
        gate.set_basis(None).unwrap();
        gate.ask(&gradient(Sampling::Full)).unwrap();
        assert_eq!(members(&passes), 1);
        drop(gate);
        assert_eq!(members(&passes), 0);
    }

    /// Answers and books are those of a gate with passes of its own.
    #[test]
    fn a_gate_that_shares_answers_as_one_that_does_not() {
        let (table, passes) = (table(), SharedPasses::default());
        let folder = tempfile::tempdir().unwrap();
        let file = CachedTable::of_table(&rows(2), 1, folder.path()).unwrap();
        let asked = |mut gate: Gate| {
            let mut all = Vec::new();
            for sampling in [Sampling::Full, Sampling::WithoutReplacement(1), Sampling::Full] {
                all.extend(gate.ask(&gradient(sampling)).unwrap().into_inner());
            }
            all.extend(gate.ask(&Errors { at: &AT, noise_multiplier: 1.0 }).unwrap().into_inner());
            gate.set_basis(Some(&[2.0])).unwrap();
            all.extend(gate.ask(&gradient(Sampling::Full)).unwrap().into_inner());
            let bits: Vec<u64> = all.iter().map(|value| value.to_bits()).collect();
            (bits, gate.shape(), gate.close().unwrap())
        };
        let own = asked(gate(&table, squared()));
        assert_eq!(asked(gate(&table, squared()).share_passes(&passes)), own);
        assert_eq!(asked(cached(&file, 1)), own);
        assert_eq!(asked(cached(&file, 1).share_passes(&passes)), own);
        assert_eq!(passes.meetings.lock().unwrap().len(), 2, "a table, and a file");
    }

    /// Gates on one file that ask at the same time, and one that asks for something else on its way.
    #[test]
    fn gates_on_a_file_that_ask_together_have_the_answers_of_gates_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (table, passes) = (rows(40), SharedPasses::default());
        let file = CachedTable::of_table(&table, 64, folder.path()).unwrap();
        let asked = |mut gate: Gate, seed: u64| {
            let mut all = Vec::new();
            for round in 0..6 {
                let sampling = match (seed, round) {
                    (2, 3) => Sampling::WithoutReplacement(7),
                    _ => Sampling::Full,
                };
                all.extend(gate.ask(&gradient(sampling)).unwrap().into_inner());
            }
            all.into_iter().map(f64::to_bits).collect::<Vec<_>>()
        };
        let memory = PrivateTable::from(table);
        let own = |seed| {
            let gate = Gate::open(memory.share(), squared(), &OPENING, Entropy::seeded(seed));
            asked(gate.unwrap(), seed)
        };
        std::thread::scope(|scope| {
            let one = |seed| {
                let gate = cached(&file, seed).share_passes(&passes);
                scope.spawn(move || asked(gate, seed))
            };
            let all: Vec<_> = (0..5).map(|seed| (seed, one(seed))).collect();
            for (seed, found) in all {
                assert_eq!(found.join().unwrap(), own(seed), "{seed}");
            }
        });
        let meetings = passes.meetings.lock().unwrap();
        assert_eq!((meetings.len(), meetings[0].1.members()), (1, 0));
    }

    /// A pass shows rows in which persons are protected to nobody else, and none that count less.
    #[test]
    fn persons_and_weights_of_a_file_have_passes_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = rows(6);
        table.users = Some(vec![0, 0, 1, 1, 2, 2]);
        let user = PrivacyModel { unit: Unit::User, ..OPENING };
        let file = CachedTable::of_table(&table, 64, folder.path()).unwrap();
        let passes = SharedPasses::default();
        let gate = Gate::open_cached(file, squared(), &user, Entropy::seeded(1)).unwrap();
        drop(gate.share_passes(&passes));
        let weights = Some(vec![0.5; 6]);
        let file = CachedTable::of_table(&Table { weights, ..rows(6) }, 64, folder.path()).unwrap();
        drop(cached(&file, 1).share_passes(&passes));
        assert!(passes.meetings.lock().unwrap().is_empty());
    }
}
