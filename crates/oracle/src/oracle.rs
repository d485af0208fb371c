//! What an algorithm may ask. Each question is a query that the gate answers from data, and that a
//! rehearsal enters without any.

use reticent_problem::Shape;

use crate::claim::PaperClaim;
use crate::queries::{Erased, Query, QueryAnswer};
use crate::refusal::Refusal;
use crate::released::Released;
use crate::terms::Terms;

/// How every query is put. Outside this crate it has no name, so that nobody else is an [`Oracle`].
pub trait Asked {
    /// Enters the events of the query, and answers it.
    fn ask_raw(&mut self, query: &dyn Erased) -> Result<Released<Vec<f64>>, Refusal>;
}

/// What an algorithm may ask. It is implemented by the [`Gate`](crate::Gate), which has data, and
/// by the [`Rehearsal`](crate::Rehearsal), which has none.
pub trait Oracle: Asked {
    /// The layout of the parameter.
    fn shape(&self) -> Shape;

    /// The terms that every answer is given on.
    fn terms(&self) -> &Terms;

    /// Whether answers are made up, to draw up a plan: arithmetic that no question hangs on may then
    /// be left out.
    fn is_rehearsal(&self) -> bool {
        false
    }

    /// Whom the last answer was taken over.
    fn answered_by(&self) -> crate::AnsweredBy {
        crate::AnsweredBy::ALL
    }

    /// Has the next answer recorded as what a paper claims of it, in place of what it is. The books
    /// say so, and the run is not certified.
    fn claim(&mut self, claim: PaperClaim);

    /// Puts the blocks of all records at `start`, for [`Consensus`](crate::queries::Consensus).
    /// Nothing is released.
    fn open_consensus(&mut self, start: &[f64]) -> Result<(), Refusal>;

    /// From here on, rows are their images under a linear map, and parameters are about those:
    /// `images` has that of each feature, one after the other, and last that of the constant behind
    /// the intercept, if there is one. Answers are clipped in these coordinates. `None` gives the
    /// rows back. Nothing is released. Proof: proofs/change-of-basis.md.
    fn set_basis(&mut self, images: Option<&[f64]>) -> Result<(), Refusal>;
}

impl dyn Oracle + '_ {
    /// Enters the events of a query, and answers it.
    pub fn ask<Q: Query>(&mut self, query: &Q) -> Result<Released<Q::Answer>, Refusal> {
        self.ask_raw(query).map(|released| released.map(Q::Answer::from_values))
    }
}
