//! What is behind the gate.

use std::sync::Arc;

use reticent_noise::{Digest, Entropy};
use reticent_problem::Shape;
use reticent_problem::losses::Loss;

use crate::holder::{Holder, TableHolder};
use crate::queries::{AskedSum, add_noise};
use crate::refusal::Refusal;
use crate::sums::{Blocks, Descent, Private, PrivateLoss, Risk, ScoredColumns};
use crate::terms::Terms;

/// What queries work on. It never leaves this crate: nothing gives one out, and outside it has no
/// name.
#[derive(Debug)]
pub struct GateState {
    pub holder: Box<dyn Holder>,
    pub loss: Arc<dyn Loss>,
    pub terms: Terms,
    pub blocks: Option<Blocks>,
    /// The scores of the columns at the point that was asked about last: they follow from the rows
    /// and that point, and save making them anew.
    pub columns: Option<ScoredColumns>,
    /// Stands for the map that the rows are images under; all zero for rows as they came.
    pub basis: Digest,
    /// Stands for all that the state above has come from, so that noise is never used for two
    /// states.
    pub lineage: Digest,
    #[cfg(reticent_seeded_bugs)]
    pub bug: Option<crate::bug::Bug>,
}

impl GateState {
    pub fn new(holder: Box<dyn Holder>, loss: Arc<dyn Loss>, terms: Terms) -> Self {
        GateState {
            holder,
            loss,
            terms,
            blocks: None,
            columns: None,
            basis: [0; 32],
            lineage: [0; 32],
            #[cfg(reticent_seeded_bugs)]
            bug: None,
        }
    }

    /// The table, for what is no sum.
    pub fn private(&self) -> Result<&Private, Refusal> {
        self.check_alike()?;
        self.holder.table().map(|table| &table.private).ok_or(Refusal::NoSum)
    }

    /// Whether some records count less than others.
    pub fn is_weighted(&self) -> bool {
        self.holder.is_weighted()
    }

    /// Refuses what is proven for records that count alike.
    pub fn check_alike(&self) -> Result<(), Refusal> {
        if self.is_weighted() { Err(Refusal::Weighted) } else { Ok(()) }
    }

    pub fn rows_and_loss(&self) -> Result<PrivateLoss<'_>, Refusal> {
        Ok(PrivateLoss { private: self.private()?, loss: &*self.loss })
    }

    pub fn shape(&self) -> Shape {
        self.holder.shape(self.loss.outputs())
    }

    /// A sum with its noise, in steps of its grid: the sample is drawn here, and the noise after the
    /// integers are together.
    pub fn noisy_sum(
        &mut self,
        asked: &AskedSum<'_>,
        entropy: &mut Entropy,
    ) -> Result<Vec<i64>, Refusal> {
        let AskedSum { what, sampling, .. } = asked;
        let mut sum = vec![0; what.len(self.shape())];
        let mut chosen = Vec::new();
        let sampled = sampling.draw(self.holder.units(), entropy, &mut chosen)?;
        self.holder.sum(what, &*self.loss, sampled.then_some(&*chosen), &mut sum)?;
        add_noise(entropy, asked.noise(&self.terms), &mut sum)?;
        Ok(sum)
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
    ) -> Result<Vec<f64>, Refusal> {
        self.check_alike()?;
        let population = self.terms.population();
        let TableHolder { private, pass } = self.holder.table_mut().ok_or(Refusal::NoSum)?;
        Ok(descent.run(risk, clip, hidden, (private, population, chosen), pass))
    }
}
