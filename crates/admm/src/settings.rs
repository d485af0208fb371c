//! What a user may set, and the public facts that the rest is derived from.

use reticent_oracle::Sampling;
use reticent_problem::Shape;
use serde::{Deserialize, Serialize};

use crate::step_size::StepSize;

/// Hyper-parameters, each left to the algorithm when it is not given. A setting that an algorithm does not
/// have is refused rather than passed over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Iterations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u64>,
    /// The units of each iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// The largest norm of one unit's gradient.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
    /// η_k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepSize>,
    /// The penalty parameter ρ of the augmented Lagrangian.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rho: Option<f64>,
}

/// What may be known without spending anything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Public {
    /// The layout of the parameter.
    pub shape: Shape,
    /// The public number of units.
    pub population: u64,
    /// A bound of the norm of a row, the constant behind the intercept included.
    pub row_norm: f64,
    /// A bound of the derivative of the loss in the scores; ∞ when there is none.
    pub lipschitz: f64,
    /// A bound of its curvature; ∞ when there is none.
    pub smoothness: f64,
}

/// A setting that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{name} = {given}: {allowed}")]
pub struct SettingsError {
    /// The setting, as users type it.
    pub name: &'static str,
    /// What was given.
    pub given: String,
    /// What is allowed, and what to do.
    pub allowed: String,
}

/// `value`, if it is a positive number.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, SettingsError> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(SettingsError { name, given: value.to_string(), allowed: "a number above 0 is needed".to_owned() })
}

impl Settings {
    /// Iterations, at least one.
    pub(crate) fn iterations_or(&self, default: u64) -> Result<u64, SettingsError> {
        match self.iterations {
            Some(0) => Err(SettingsError {
                name: "iterations",
                given: "0".to_owned(),
                allowed: "a whole number of at least 1 is needed".to_owned(),
            }),
            given => Ok(given.unwrap_or(default)),
        }
    }

    /// The clip, or the largest norm that a gradient of the loss can have: then nothing is clipped. A loss
    /// without such a bound is clipped at the row norm, which is its gradient at a residual of 1, half of the
    /// range of a scaled target.
    pub(crate) fn clip_or_bound(&self, public: &Public) -> Result<f64, SettingsError> {
        let bound = if public.lipschitz.is_finite() { public.lipschitz } else { 1.0 };
        positive("clip", self.clip.unwrap_or(bound * public.row_norm))
    }
}
