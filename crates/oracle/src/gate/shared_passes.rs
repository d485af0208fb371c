//! Passes that gates on one table share, so that one pass over it answers several of them: each with
//! its own books, its own noise, and the sum that it would have had by itself, to the bit.
//!
//! ```text
//! gate ─► SharedHolder ─┬─ gradient over all records ─► the meeting (sums/shared.rs) ─► the same integers
//!                       └─ anything else: it leaves the meeting ─► the holder that it had
//! ```
//!
//! Nothing else knows of it: the gate asks a holder, which is this one. Proof: proofs/sweep.md.

use std::sync::{Arc, Mutex, PoisonError};

use reticent_data::Table;
use reticent_problem::Shape;
use reticent_problem::losses::Loss;

use super::elsewhere::TellsHolders;
use super::{Gate, NoiseSource};
use crate::holder::{Holder, TableHolder};
use crate::queries::RecordSum;
use crate::refusal::Refusal;
use crate::sums::{Meeting, PassMember, Private};

/// Where gates on one table meet.
#[derive(Default)]
pub struct SharedPasses {
    meetings: Mutex<Vec<(Alike, Arc<Meeting>)>>,
}

/// What gates have in common whose gradients are of one kind: a pass shows the rows to one loss.
struct Alike {
    table: Arc<Table>,
    /// The constant behind the intercept, by its bits.
    constant: u64,
    loss: String,
    weights: Vec<u64>,
}

impl PartialEq for Alike {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.table, &other.table)
            && (self.constant, &self.loss, &self.weights)
                == (other.constant, &other.loss, &other.weights)
    }
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
        let private = &holder.table()?.private;
        let table = private.native_table()?;
        if loss.outputs() != 1 || private.users().is_some() || private.weights().is_some() {
            return None;
        }
        let alike = Alike {
            table: Arc::clone(table),
            constant: private.intercept().to_bits(),
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

impl SharedHolder {
    /// The rows that a meeting adds up: those of the table, and not their images in other coordinates.
    fn native(&self) -> Option<&Private> {
        let private = &self.own.table()?.private;
        private.native_table().map(|_| private)
    }
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
        match (what, chosen, self.native()) {
            (RecordSum::Gradient { at, clip }, None, Some(private)) => {
                out.copy_from_slice(&self.member.sum(private, loss, at, *clip));
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
    use crate::gate::PrivacyModel;
    use crate::oracle::Oracle;
    use crate::queries::{ClippedMean, Errors, Gradient};
    use crate::table::PrivateTable;
    use reticent_accountant::{Adjacency, Unit, View};
    use reticent_data::{Dense, Rows};
    use reticent_noise::{Entropy, Sampling};
    use reticent_problem::losses::{self, Weighted};

    const AT: [f64; 1] = [0.3];

    fn table() -> PrivateTable {
        PrivateTable::from(Table {
            rows: Rows::Dense(Dense { rows: 2, columns: 1, values: vec![0.5, -0.25] }),
            targets: vec![1.0, -1.0],
            users: None,
            weights: None,
            names: Vec::new(),
        })
    }

    fn gate(table: &PrivateTable, loss: Arc<dyn Loss>) -> Gate {
        let opening = PrivacyModel {
            adjacency: Adjacency::ReplaceOne,
            unit: Unit::Record,
            view: View::Central,
            public_n: None,
            intercept: 0.0,
        };
        Gate::open(table.share(), loss, &opening, Entropy::seeded(1)).unwrap()
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

    /// Answers, books and what is refused are those of a gate with passes of its own.
    #[test]
    fn a_gate_that_shares_answers_as_one_that_does_not() {
        let (table, passes) = (table(), SharedPasses::default());
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
    }
}
