//! The models of single parties, where each has one that it has broadcast.

use crate::error::Error;
use crate::model::Model;

/// The last model of each party of a run between peers: what it has sent to its neighbours last.
///
/// All of them together follow from what the books of the parties count as seen, so they may be
/// shown to whom the model of the run may be, under the same certificate
/// (proofs/recycled.md).
#[derive(Clone, Debug)]
pub struct NodeModels {
    /// The model of the run.
    like: Model,
    /// The constant behind the intercept.
    constant: f64,
    parameters: Vec<Vec<f64>>,
}

impl NodeModels {
    pub(super) fn new(like: Model, constant: f64, parameters: Vec<Vec<f64>>) -> Self {
        NodeModels { like, constant, parameters }
    }

    /// How many there are: as many as parties, or none where parties have no model of their own to
    /// show.
    pub fn len(&self) -> usize {
        self.parameters.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }

    /// The model of one party, numbered from 0, with the certificate of the run.
    ///
    /// # Errors
    /// If there is no such party.
    pub fn model(&self, party: usize) -> Result<Model, Error> {
        match self.parameters.get(party) {
            Some(parameter) => self.like.clone().with_parameter(parameter, self.constant),
            None => {
                let why = format!("there are {} models of single parties", self.len());
                Err(Error::value("party", party, why))
            }
        }
    }
}
