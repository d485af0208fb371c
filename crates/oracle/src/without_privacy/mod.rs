//! The one exit for values without noise. Nothing that leaves here is protected, and the name says
//! so: the steps of the exact solver, predictions for records that somebody asked about, and what
//! the quality of a model is measured from, on a file or on a table behind a gate.
//!
//! What comes out of a gate this way is entered as an event of ε = ∞ and taints its books for good.
//! Predictions are made from a file that somebody holds, with a model that is public; there is no
//! gate, and so there are no books.
//!
//! A [`SimulatedTable`] is about nobody. Whoever attacks the gate asks such tables without noise.

mod exact;
mod known;
mod scores;

pub use exact::ExactOracle;
pub use known::known_scores;
pub use scores::*;

use reticent_accountant::{NonPrivate, Taint};
use reticent_data::Table;

use crate::gate::Gate;
use crate::inside::GateState;
use crate::queries::check_point;
use crate::refusal::Refusal;
use crate::sums::Split;
use crate::table::PrivateTable;

/// A table that was made up, row by row. No [`PrivateTable`] becomes one, so nothing that the facade
/// reads or encodes does. Whoever reads a file by `reticent-data` has its rows already, and no gate
/// between.
#[derive(Debug)]
pub struct SimulatedTable(PrivateTable);

impl From<Table> for SimulatedTable {
    fn from(table: Table) -> Self {
        SimulatedTable(table.into())
    }
}

impl From<SimulatedTable> for PrivateTable {
    fn from(simulated: SimulatedTable) -> Self {
        simulated.0
    }
}

/// Opens the gate's back: the taint and the entry first, then the data and the multipliers of a
/// split. A gate that is bound to a plan refuses, unless the plan itself foresees it.
fn behind<'g>(
    gate: &'g mut Gate,
    points: &[&[f64]],
) -> Result<(&'g mut GateState, &'g mut Option<Split>), Refusal> {
    let (books, inside, split) = gate.behind();
    points.iter().try_for_each(|at| check_point(at, inside.shape()))?;
    books.enter(None, vec![inside.terms.event(NonPrivate::new()?)?])?;
    books.taint(Taint::RawRelease);
    Ok((inside, split))
}
