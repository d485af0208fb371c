//! What is behind the gate.

use std::sync::Arc;

use reticent_noise::Digest;
use reticent_problem::Shape;
use reticent_problem::losses::Loss;

use crate::sums::{Blocks, Descent, Pass, PassMember, Private, Risk};
use crate::terms::Terms;

/// What queries work on. It never leaves this crate: nothing gives one out, and outside it has no
/// name.
#[derive(Debug)]
pub struct GateState {
    pub private: Private,
    pub loss: Arc<dyn Loss>,
    pub terms: Terms,
    pub pass: Pass,
    /// A place where passes are shared with other gates on the table.
    pub shared: Option<PassMember>,
    pub blocks: Option<Blocks>,
    /// Stands for the map that the rows are images under; all zero for rows as they came.
    pub basis: Digest,
    /// Stands for all that the state above has come from, so that noise is never used for two
    /// states.
    pub lineage: Digest,
    #[cfg(feature = "seeded-bugs")]
    pub bug: Option<crate::bug::Bug>,
}

impl GateState {
    pub fn new(private: Private, loss: Arc<dyn Loss>, terms: Terms) -> Self {
        GateState {
            private,
            loss,
            terms,
            pass: Pass::default(),
            shared: None,
            blocks: None,
            basis: [0; 32],
            lineage: [0; 32],
            #[cfg(feature = "seeded-bugs")]
            bug: None,
        }
    }

    pub fn rows_and_loss(&self) -> (&Private, &dyn Loss) {
        (&self.private, &*self.loss)
    }

    pub fn shape(&self) -> Shape {
        self.private.shape(self.loss.outputs())
    }

    /// Where the descent on a risk of these records ends; of the units, those of `chosen`, or all
    /// of them.
    pub fn minimise(
        &mut self,
        descent: &Descent,
        risk: &Risk<'_>,
        clip: f64,
        hidden: &[f64],
        chosen: Option<&[u32]>,
    ) -> Vec<f64> {
        let population = self.terms.population();
        descent.run(risk, clip, hidden, (&self.private, population, chosen), &mut self.pass)
    }
}
