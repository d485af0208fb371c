//! Who is protected and by how much, for commands about events, books and attacks: a job has its
//! [`Guarantee`](reticent::Guarantee), which also says what is public of a table.

use clap::Args;
use reticent::accountant::{Adjacency, Unit, View};
use reticent::{Scope, one_of};

use crate::number;

/// What is promised, and to whom.
#[derive(Clone, Copy, Debug, Args)]
pub struct PromiseFlags {
    /// The privacy loss ε of the budget
    #[arg(long, value_name = "E", value_parser = number::parse, allow_negative_numbers = true)]
    pub epsilon: f64,

    /// The additive slack δ of the budget
    #[arg(long, value_name = "D", value_parser = number::parse, allow_negative_numbers = true)]
    pub delta: f64,

    #[command(flatten)]
    pub neighbours: NeighbourFlags,
}

/// What neighbours of a table are.
#[derive(Clone, Copy, Debug, Args)]
pub struct NeighbourFlags {
    /// The neighbouring relation of tables [default: replace-one]
    #[arg(long, value_parser = one_of!(Adjacency))]
    pub adjacency: Option<Adjacency>,

    /// The unit of protection [default: record]
    #[arg(long, value_parser = one_of!(Unit))]
    pub unit: Option<Unit>,
}

impl NeighbourFlags {
    /// Whom a statement is about, with this trust model.
    pub fn scope(self, view: View) -> Scope {
        let (adjacency, unit) = (self.adjacency.unwrap_or_default(), self.unit.unwrap_or_default());
        Scope { adjacency, unit, view }
    }
}
