//! `R = R_{γp₁}R_{γp₂}` for `xᵢ = z`, with the blocks inside the gate (FP23, Algorithm 2, with E2).
//!
//! The blocks uᵢ carry no noise and never leave the gate, which averages them with λ_k itself; what
//! the iteration sees is their noisy mean ẑ, and z = prox_{γr}(ẑ). Released: ẑ, once an iteration, as
//! a Gaussian event in units of the bound of one block.

use std::sync::Arc;

use reticent_oracle::queries::{Consensus, ConsensusTerms, Moving};
use reticent_oracle::{Oracle, Refusal};
use reticent_problem::Regulariser;

use super::{IterationStep, Operator};

/// A step of every record's block, and the noisy mean of them.
#[derive(Clone, Debug)]
pub struct ConsensusStep {
    terms: ConsensusTerms,
    regulariser: Arc<Regulariser>,
}

impl ConsensusStep {
    /// With these terms, but for their relaxation, which is λ_k.
    pub fn new(terms: ConsensusTerms, regulariser: Arc<Regulariser>) -> Self {
        ConsensusStep { terms, regulariser }
    }
}

impl Operator for ConsensusStep {
    fn open(&mut self, u: &[f64], oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        oracle.open_consensus(u)
    }

    fn advance(
        &mut self,
        step: IterationStep,
        u: &mut [f64],
        oracle: &mut dyn Oracle,
    ) -> Result<(), Refusal> {
        let z = self.model(u);
        let params = ConsensusTerms { relaxation: step.relaxation, ..self.terms };
        let query = Consensus { z: &z, moving: Moving::All, params };
        u.copy_from_slice(&oracle.ask(&query)?.into_inner());
        Ok(())
    }

    fn model(&self, u: &[f64]) -> Vec<f64> {
        let mut z = u.to_vec();
        self.regulariser.prox_y(&mut z, self.terms.step);
        z
    }
}
