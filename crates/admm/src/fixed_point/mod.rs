//! The private fixed-point iteration that the algorithms here are instances of (FP23, Algorithm 1).
//!
//! ```text
//! minimise g through a non-expansive R whose fixed points have its solutions
//!
//! u_{k+1,b} = u_{k,b} + ρ_{k,b} λ_k ( R_b(u_k) + e_{k,b} + η_{k+1,b} − u_{k,b} ),   b = 1 … B
//! ```
//!
//! An [`Operator`] is R with its blocks: a composition of queries that a gate answers and of maps
//! that are public. It is handed an [`Oracle`] and no rows, so that what it can know of the data is
//! what was released to it: the noise η and its sensitivity are the query's, the event is in the
//! ledger before the answer, and no operator can ask for less. The error of a sample is in the
//! answer too; errors of evaluation that are public, as of an inner solver that stops early, are
//! [`FixedPointIteration::with_errors`]. λ_k is a list, which is public ([`Relaxations`]).
//!
//! | operator | R(u) | is |
//! | --- | --- | --- |
//! | [`GradientStep`] | `u − (2/β)∇f(u)` | DP-SGD without a penalty, λ = ηβ/2 (Proposition 1) |
//! | [`CoordinateStep`] | `u_b − (2/β)∇_b f(u)`, one block a step | DP-CD without a penalty (Proposition 2) |
//! | [`Reflections`] | `R_{γp₁}R_{γp₂}`, `u + 2(A x⁺ + B z⁺ − c)` | general (Algorithm 5) |
//! | [`ConsensusStep`] | the same for `xᵢ = z`, blocks inside the gate | consensus (Algorithm 2) |
//!
//! Each equals its algorithm to the bit where the instance is exact in the arithmetic: general and
//! consensus always, the first two where β is a power of 2, and else to rounding. Proposition 1
//! covers r = 0 alone: with a penalty DP-SGD is `R(u) = prox_{ηr}(u − η∇f(u))` with λ = 1, an
//! operator that depends on η.
//!
//! Released: what the operator asks for. Requires: an operator that asks the same queries in the
//! same order whatever the answers were, as every [`Algorithm`] must. Reference:
//! FP23, Algorithm 1, Propositions 1 and 2, Theorem 1 on utility.

mod consensus_step;
mod coordinate_step;
mod gradient_step;
mod relaxations;

use std::fmt;

use reticent_oracle::{Oracle, Refusal};

pub use crate::algorithms::general::Reflections;
use crate::algorithms::{Algorithm, Iterate, Tell, told};
pub use consensus_step::ConsensusStep;
pub use coordinate_step::CoordinateStep;
pub use gradient_step::GradientStep;
pub use relaxations::Relaxations;

/// Where the iteration is: `k`, from 1, and λ_k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterationStep {
    /// The number of the iteration.
    pub k: u64,
    /// λ_k.
    pub relaxation: f64,
}

impl IterationStep {
    /// `u_b ← u_b + λ_k d_b` for a block and its displacement `d_b = R_b(u) + e_b + η_b − u_b`.
    pub fn average(&self, block: &mut [f64], displacement: &[f64]) {
        block.iter_mut().zip(displacement).for_each(|(u, d)| *u += self.relaxation * d);
    }
}

/// A non-expansive operator R over blocks, evaluated through a gate.
pub trait Operator: fmt::Debug {
    /// Before the first iteration: what the gate has to set up for it.
    ///
    /// # Errors
    /// What the oracle refuses.
    fn open(&mut self, _u: &[f64], _oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        Ok(())
    }

    /// Moves the active blocks of `u`, mostly by [`IterationStep::average`] of their displacement.
    ///
    /// # Errors
    /// What the oracle refuses.
    fn advance(
        &mut self,
        step: IterationStep,
        u: &mut [f64],
        oracle: &mut dyn Oracle,
    ) -> Result<(), Refusal>;

    /// The parameter that `u` stands for.
    fn model(&self, u: &[f64]) -> Vec<f64> {
        u.to_vec()
    }
}

/// Public errors of evaluation: e_k of iteration `k` at `u`.
pub type Errors = Box<dyn FnMut(u64, &[f64]) -> Vec<f64>>;

/// The iteration at its start, ready to run.
pub struct FixedPointIteration {
    operator: Box<dyn Operator>,
    relaxations: Relaxations,
    errors: Option<Errors>,
    u: Vec<f64>,
}

impl fmt::Debug for FixedPointIteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FixedPointIteration { operator, relaxations, u, .. } = self;
        f.debug_struct("FixedPoint")
            .field("operator", operator)
            .field("relaxations", relaxations)
            .field("u", u)
            .finish_non_exhaustive()
    }
}

impl FixedPointIteration {
    /// From `start`, with as many iterations as there are λ_k.
    pub fn new(
        operator: impl Operator + 'static,
        relaxations: Relaxations,
        start: Vec<f64>,
    ) -> Self {
        FixedPointIteration { operator: Box::new(operator), relaxations, errors: None, u: start }
    }

    /// The same with errors e_k in the evaluation of R, which may depend on what is public alone.
    #[must_use]
    pub fn with_errors(self, errors: impl FnMut(u64, &[f64]) -> Vec<f64> + 'static) -> Self {
        FixedPointIteration { errors: Some(Box::new(errors)), ..self }
    }
}

impl Iterate for FixedPointIteration {
    fn running(&self) -> Vec<f64> {
        self.operator.model(&self.u)
    }

    fn published(&self) -> Vec<f64> {
        self.running()
    }
}

impl Algorithm for FixedPointIteration {
    fn iterations(&self) -> u64 {
        self.relaxations.len() as u64
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        let FixedPointIteration { operator, u, .. } = self;
        operator.open(u, oracle)?;
        let of = self.iterations();
        for k in 1..=of {
            let FixedPointIteration { operator, relaxations, errors, u } = self;
            let step = IterationStep { k, relaxation: relaxations.at(k) };
            let error = errors.as_mut().map(|errors| errors(k, u));
            operator.advance(step, u, oracle)?;
            if let Some(error) = error {
                step.average(u, &error);
            }
            told(tell, k, of, self)?;
        }
        Ok(self.running())
    }
}
