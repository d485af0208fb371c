//! What an algorithm may ask. Each question is a query that the gate answers from data, and that a
//! rehearsal enters without any.

use reticent_problem::Shape;

use crate::claim::Claim;
use crate::queries::{
    Consensus, ConsensusTerms, Coordinate, Correction, Count, CountTerms, Gradient, GradientTerms,
    Minimiser, MinimiserTerms, Moving, Objective, ObjectiveTerms, Perturbed, Quantile,
    QuantileTerms, Query, Residual, ResidualTerms, Score, SecondMoment, SecondMomentTerms,
};
use crate::refusal::Refusal;
use crate::released::Released;
use crate::terms::Terms;

/// How every query is put. Outside this crate it has no name, so that nobody else is an [`Oracle`].
pub trait Asked {
    /// Enters the events of the query, and answers it.
    fn ask(&mut self, query: &dyn Query) -> Result<Released<Vec<f64>>, Refusal>;
}

/// What an algorithm may ask. It is implemented by the [`Gate`](crate::Gate), which has data, and
/// by the [`Rehearsal`](crate::Rehearsal), which has none.
pub trait Oracle: Asked {
    /// The layout of the parameter.
    fn shape(&self) -> Shape;

    /// The terms that every answer is given on.
    fn terms(&self) -> &Terms;

    /// Has the next answer recorded as what a paper claims of it, in place of what it is. The books
    /// say so, and the run is not certified.
    fn claim(&mut self, claim: Claim);

    /// Puts the blocks of all records at `start`, for [`Oracle::consensus`]. Nothing is released.
    fn open_consensus(&mut self, start: &[f64]) -> Result<(), Refusal>;

    /// Moves blocks against the consensus `z`; the noisy mean of all blocks.
    fn consensus(
        &mut self,
        z: &[f64],
        moving: Moving<'_>,
        params: &ConsensusTerms,
    ) -> Result<Released<Vec<f64>>, Refusal> {
        self.ask(&Consensus { z, moving, params })
    }

    /// The noisy mean of the clipped gradients at `at`.
    fn gradient(
        &mut self,
        at: &[f64],
        params: &GradientTerms,
    ) -> Result<Released<Vec<f64>>, Refusal> {
        self.ask(&Gradient { at, params })
    }

    /// One coordinate of the noisy mean gradient at `at`, clipped by itself.
    fn coordinate(
        &mut self,
        at: &[f64],
        index: usize,
        params: &GradientTerms,
    ) -> Result<Released<f64>, Refusal> {
        self.ask(&Coordinate { at, index, params }).map(Released::number)
    }

    /// The noisy mean of the clipped differences between the gradients at `at` and at `from`.
    fn correction(
        &mut self,
        at: &[f64],
        from: &[f64],
        params: &GradientTerms,
    ) -> Result<Released<Vec<f64>>, Refusal> {
        self.ask(&Correction { at, from, params })
    }

    /// The noisy minimiser of a regularised empirical risk.
    fn minimiser(&mut self, params: &MinimiserTerms<'_>) -> Result<Released<Vec<f64>>, Refusal> {
        self.ask(&Minimiser { params })
    }

    /// The minimiser of a regularised empirical risk with a random linear term.
    fn objective(&mut self, params: &ObjectiveTerms<'_>) -> Result<Released<Vec<f64>>, Refusal> {
        let shape = self.shape();
        self.ask(&Objective { params, shape })
    }

    /// The noisy mean of `aaᵀ`, row-major, symmetric but perhaps not positive semidefinite.
    fn second_moment(&mut self, params: &SecondMomentTerms) -> Result<Released<Vec<f64>>, Refusal> {
        self.ask(&SecondMoment { params })
    }

    /// A quantile among public candidates.
    fn quantile(&mut self, params: &QuantileTerms<'_>) -> Result<Released<f64>, Refusal> {
        self.ask(&Quantile { params }).map(Released::number)
    }

    /// The noisy number of units with a value at or below a threshold.
    fn count(&mut self, params: &CountTerms) -> Result<Released<f64>, Refusal> {
        self.ask(&Count { params }).map(Released::number)
    }

    /// `values` with noise of `noise_multiplier` scales, where a paper has it. Answered under a
    /// claim alone.
    fn perturb(
        &mut self,
        values: &[f64],
        scale: f64,
        noise_multiplier: f64,
    ) -> Result<Released<Vec<f64>>, Refusal> {
        self.ask(&Perturbed { values, scale, noise_multiplier })
    }

    /// The noisy mean error of the predictions of a model, in [0, 1] but for the noise of
    /// `noise_multiplier` units.
    fn score(&mut self, at: &[f64], noise_multiplier: f64) -> Result<Released<f64>, Refusal> {
        self.ask(&Score { at, noise_multiplier }).map(Released::number)
    }

    /// How far the prox of this party's objective at `v` is from `z`, clipped, with noise.
    fn residual(
        &mut self,
        v: &[f64],
        z: &[f64],
        params: &ResidualTerms,
    ) -> Result<Released<Vec<f64>>, Refusal> {
        self.ask(&Residual { v, z, params })
    }
}
