//! A gate without data behind it, to write the ledger of a run before the run.

use reticent_accountant::Ledger;
use reticent_problem::Shape;

use crate::claim::{Claim, booked};
use crate::gate::Oracle;
use crate::queries::{
    Consensus, ConsensusTerms, Coordinate, Correction, Count, CountTerms, Gradient, GradientTerms, Minimiser,
    MinimiserTerms, Moving, Objective, ObjectiveTerms, Perturbed, Quantile, QuantileTerms, Query, Residual,
    ResidualTerms, Score, SecondMoment, SecondMomentTerms, check_point,
};
use crate::refusal::Refusal;
use crate::released::Released;
use crate::terms::Terms;

/// Takes the queries that the gate would take and records the events that the gate would record. The answers
/// are made up. The plan of a run is therefore made by the very code that will run, and cannot differ from it
/// by an oversight; noise is calibrated to it, and the gate is bound to it.
#[derive(Debug)]
pub struct Rehearsal {
    shape: Shape,
    terms: Terms,
    ledger: Ledger,
    state: u64,
    consensus: bool,
    claim: Option<Claim>,
}

impl Rehearsal {
    /// A rehearsal of what would be asked about a parameter of this shape on these terms.
    pub fn new(shape: Shape, terms: Terms) -> Self {
        Rehearsal { shape, terms, ledger: Ledger::new(), state: 0, consensus: false, claim: None }
    }

    /// The events of everything that was asked.
    pub fn into_plan(self) -> Ledger {
        self.ledger
    }

    fn record<Q: Query>(&mut self, query: &Q) -> Result<(), Refusal> {
        let claim = self.claim.take();
        query.check(self.shape)?;
        for event in booked(query, claim.as_ref(), &self.terms, &mut self.ledger)? {
            self.ledger.append(event);
        }
        Ok(())
    }

    /// Small numbers without pattern (Weyl sequence): all zeros could send an algorithm into a special case
    /// that real answers never reach.
    fn made_up(&mut self, len: usize) -> Vec<f64> {
        let mut next = || {
            self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            (self.state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        (0..len).map(|_| 1e-3 * next()).collect()
    }
}

impl Oracle for Rehearsal {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn terms(&self) -> &Terms {
        &self.terms
    }

    fn gradient(&mut self, at: &[f64], how: &GradientTerms) -> Result<Released<Vec<f64>>, Refusal> {
        self.record(&Gradient { at, how })?;
        Ok(Released::new(self.made_up(at.len())))
    }

    fn coordinate(
        &mut self,
        at: &[f64],
        index: usize,
        how: &GradientTerms,
    ) -> Result<Released<f64>, Refusal> {
        self.record(&Coordinate { at, index, how })?;
        Ok(Released::new(self.made_up(1)[0]))
    }

    fn correction(
        &mut self,
        at: &[f64],
        from: &[f64],
        how: &GradientTerms,
    ) -> Result<Released<Vec<f64>>, Refusal> {
        self.record(&Correction { at, from, how })?;
        Ok(Released::new(self.made_up(at.len())))
    }

    fn open_consensus(&mut self, start: &[f64]) -> Result<(), Refusal> {
        check_point(start, self.shape)?;
        self.consensus = true;
        Ok(())
    }

    fn consensus(
        &mut self,
        z: &[f64],
        moving: Moving<'_>,
        how: &ConsensusTerms,
    ) -> Result<Released<Vec<f64>>, Refusal> {
        if !self.consensus {
            return Err(Refusal::NoConsensus);
        }
        let query = Consensus { z, moving, how };
        query.check_moving(&self.terms)?;
        self.record(&query)?;
        Ok(Released::new(self.made_up(z.len())))
    }

    fn minimiser(&mut self, how: &MinimiserTerms<'_>) -> Result<Released<Vec<f64>>, Refusal> {
        self.record(&Minimiser::rehearsed(how))?;
        let image = how.public.penalty.filter(|_| how.image).map(|(_, _, v)| v.len());
        Ok(Released::new(self.made_up(image.unwrap_or(how.start.len()))))
    }

    fn objective(&mut self, how: &ObjectiveTerms<'_>) -> Result<Released<Vec<f64>>, Refusal> {
        self.record(&Objective::rehearsed(how, self.shape))?;
        Ok(Released::new(self.made_up(how.start.len())))
    }

    fn second_moment(&mut self, how: &SecondMomentTerms) -> Result<Released<Vec<f64>>, Refusal> {
        self.record(&SecondMoment { how })?;
        Ok(Released::new(self.made_up(self.shape.features * self.shape.features)))
    }

    fn quantile(&mut self, how: &QuantileTerms<'_>) -> Result<Released<f64>, Refusal> {
        self.record(&Quantile { how })?;
        Ok(Released::new(how.candidates[how.candidates.len() / 2]))
    }

    fn count(&mut self, how: &CountTerms) -> Result<Released<f64>, Refusal> {
        self.record(&Count { how })?;
        Ok(Released::new(0.5 * self.terms.population() as f64))
    }

    fn claim(&mut self, claim: Claim) {
        self.claim = Some(claim);
    }

    fn perturb(
        &mut self,
        values: &[f64],
        scale: f64,
        noise_multiplier: f64,
    ) -> Result<Released<Vec<f64>>, Refusal> {
        self.record(&Perturbed { values, scale, noise_multiplier })?;
        Ok(Released::new(self.made_up(values.len())))
    }

    fn score(&mut self, at: &[f64], noise_multiplier: f64) -> Result<Released<f64>, Refusal> {
        self.record(&Score { at, noise_multiplier })?;
        Ok(Released::new(0.25 + self.made_up(1)[0]))
    }

    fn residual(&mut self, v: &[f64], z: &[f64], how: &ResidualTerms) -> Result<Released<Vec<f64>>, Refusal> {
        self.record(&Residual { v, z, how })?;
        Ok(Released::new(self.made_up(z.len())))
    }
}
