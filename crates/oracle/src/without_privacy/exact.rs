//! The objective without noise, for the exact solver: the mean loss, its gradient and its
//! curvature.
//!
//! ```text
//! F(x) = Σᵢ ωᵢ φ(xᵀaᵢ; bᵢ),   ωᵢ = 1/n, or 1/(users · records of the user) when the unit is the user
//! ```
//!
//! so `F` is what the noisy gradients are gradients of, but for the clip; `n` is the true count.
//!
//! A loss with kinks has no curvature to work with. Its scores can be **split** off: `wᵢ = xᵀaᵢ`
//! becomes a constraint with scaled multipliers `sᵢ`, and minimising the augmented Lagrangian over
//! `wᵢ` leaves the Moreau envelope of the loss with the given step,
//!
//! ```text
//! F_s(x) = Σᵢ ωᵢ min_p { φ(p; bᵢ) + ‖xᵀaᵢ + sᵢ − p‖²/(2·step) },
//! ```
//!
//! which is smooth. The multipliers make it exact at any step; smoothing alone would be exact only
//! in the limit of a vanishing step, where Newton's method finds nothing but kinks.
//!
//! Event: every use is recorded as non-private, ε = ∞.

use reticent_problem::Shape;

use super::behind;
use crate::gate::Gate;
use crate::refusal::Refusal;
use crate::sums::{Split, Want, unclipped_sum};

/// What a solver without privacy may ask. None of the answers has noise.
pub trait ExactOracle {
    /// The layout of the parameter.
    fn shape(&self) -> Shape;

    /// A bound of the loss's curvature in the scores; ∞ for a loss with kinks, which must be split.
    fn smoothness(&self) -> f64;

    /// The mean loss at `at`, split or not.
    fn loss(&mut self, at: &[f64]) -> Result<f64, Refusal>;

    /// `F(at)` (`F_s` when split) with its gradient and, if wanted, its Hessian, dense and
    /// symmetric.
    fn evaluate(
        &mut self,
        at: &[f64],
        gradient: &mut [f64],
        hessian: Option<&mut [f64]>,
    ) -> Result<f64, Refusal>;

    /// `out ← ∇²F(at)·v`, for parameters too long for a dense Hessian.
    fn hessian_times(&mut self, at: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), Refusal>;

    /// Splits the scores off with this step, multipliers 0; when they are split already, changes
    /// the step.
    fn split(&mut self, step: f64) -> Result<(), Refusal>;

    /// `sᵢ ← sᵢ + relaxation·(xᵀaᵢ − pᵢ)` at `x = at`. Returns `Σ ωᵢ ‖sᵢ‖·‖xᵀaᵢ − pᵢ‖/step`, a
    /// bound of what the violated constraints are worth; 0 when nothing is split.
    fn raise_multipliers(&mut self, at: &[f64], relaxation: f64) -> Result<f64, Refusal>;
}

impl ExactOracle for Gate {
    fn shape(&self) -> Shape {
        self.inside().shape()
    }

    fn smoothness(&self) -> f64 {
        self.inside().loss.smoothness()
    }

    fn loss(&mut self, at: &[f64]) -> Result<f64, Refusal> {
        let (inside, _) = behind(self, &[at])?;
        Ok(unclipped_sum(inside.rows_and_loss()?, None, at, Want::Value, &mut [], None))
    }

    fn evaluate(
        &mut self,
        at: &[f64],
        gradient: &mut [f64],
        hessian: Option<&mut [f64]>,
    ) -> Result<f64, Refusal> {
        let (inside, split) = behind(self, &[at])?;
        Ok(unclipped_sum(
            inside.rows_and_loss()?,
            split.as_ref(),
            at,
            Want::Gradient,
            gradient,
            hessian,
        ))
    }

    fn hessian_times(&mut self, at: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), Refusal> {
        let (inside, split) = behind(self, &[at, v])?;
        unclipped_sum(
            inside.rows_and_loss()?,
            split.as_ref(),
            at,
            Want::HessianTimes(v),
            out,
            None,
        );
        Ok(())
    }

    fn split(&mut self, step: f64) -> Result<(), Refusal> {
        let (inside, split) = behind(self, &[])?;
        let len = inside.private()?.records() * inside.loss.outputs();
        match split {
            Some(split) => split.rescale(step),
            None => *split = Some(Split::new(step, len)),
        }
        Ok(())
    }

    fn raise_multipliers(&mut self, at: &[f64], relaxation: f64) -> Result<f64, Refusal> {
        let (inside, split) = behind(self, &[at])?;
        let rows_and_loss = inside.rows_and_loss()?;
        Ok(split.as_mut().map_or(0.0, |split| split.raise(rows_and_loss, at, relaxation)))
    }
}
