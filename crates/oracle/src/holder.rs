//! Who has the rows: whoever answers a [`RecordSum`] with exact integers, inside the gate's trust.
//!
//! ```text
//! gate: event, sample ──what is summed, who is drawn──► holder: clip, round, add ──integers──► gate: noise
//! ```
//!
//! What is summed is public numbers; who is drawn is secret, and goes no further than the holder.
//! A sum of integers is the same to the bit however the rows are dealt to holders, so that noise,
//! sampling and books stay in the gate, once. Proof: proofs/holders.md.

use std::fmt::Debug;

use reticent_problem::Shape;
use reticent_problem::losses::Loss;

use crate::gate::{LaneHolder, TellsHolders};
use crate::queries::RecordSum;
use crate::refusal::Refusal;
use crate::sums::{Pass, Private};

/// Holds rows, and says their sums. Nothing else is asked of rows that are not here.
pub trait Holder: Debug + Send {
    /// How many units a neighbour may differ in one of.
    fn units(&self) -> usize;

    /// The layout of a parameter with this many outputs.
    fn shape(&self, outputs: usize) -> Shape;

    /// How many coordinates a row has as it came, the constant behind the intercept included.
    fn native_width(&self) -> usize;

    /// See [`Oracle::set_basis`](crate::Oracle::set_basis).
    fn set_basis(&mut self, images: Option<&[f64]>) -> Result<(), Refusal>;

    /// The sum over the `chosen` units, or over all of them, in steps of the grid of what is summed,
    /// into `out`.
    fn sum(
        &mut self,
        what: &RecordSum<'_>,
        loss: &dyn Loss,
        chosen: Option<&[u32]>,
        out: &mut [i64],
    ) -> Result<(), Refusal>;

    /// Whether what is asked travels to others: how long a message is may then not follow from the
    /// rows.
    fn tells(&self) -> TellsHolders {
        match self.is_here() {
            true => TellsHolders::Nothing,
            false => TellsHolders::Several,
        }
    }

    /// Whether some records count less than others.
    fn is_weighted(&self) -> bool {
        false
    }

    /// The rows as they came, where one pass over them gives gradients at several parameters.
    fn lanes(&self) -> Option<&dyn LaneHolder> {
        self.table().and_then(TableHolder::as_lanes)
    }

    /// Whether the table is in memory here.
    fn is_here(&self) -> bool {
        false
    }

    /// The table, where it is in memory here, for what is no sum.
    fn table(&self) -> Option<&TableHolder> {
        None
    }

    /// The same, for what is no sum and is computed in its buffers.
    fn table_mut(&mut self) -> Option<&mut TableHolder> {
        None
    }
}

/// A table in memory.
#[derive(Debug)]
pub struct TableHolder {
    pub private: Private,
    pub pass: Pass,
}

impl TableHolder {
    pub fn new(private: Private) -> Self {
        TableHolder { private, pass: Pass::default() }
    }
}

impl Holder for TableHolder {
    fn units(&self) -> usize {
        self.private.units()
    }

    fn shape(&self, outputs: usize) -> Shape {
        self.private.shape(outputs)
    }

    fn native_width(&self) -> usize {
        self.private.native_width()
    }

    fn set_basis(&mut self, images: Option<&[f64]>) -> Result<(), Refusal> {
        self.private.set_basis(images);
        Ok(())
    }

    fn sum(
        &mut self,
        what: &RecordSum<'_>,
        loss: &dyn Loss,
        chosen: Option<&[u32]>,
        out: &mut [i64],
    ) -> Result<(), Refusal> {
        what.add_up(self, loss, chosen, out);
        Ok(())
    }

    fn is_weighted(&self) -> bool {
        self.private.weights().is_some()
    }

    fn is_here(&self) -> bool {
        true
    }

    fn table(&self) -> Option<&TableHolder> {
        Some(self)
    }

    fn table_mut(&mut self) -> Option<&mut TableHolder> {
        Some(self)
    }
}
