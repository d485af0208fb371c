//! Noise on a vector that the algorithm has computed, for papers that put it where no query does.
//!
//! ```text
//! v + N(0, (z·scale)² I),   on a grid of scale·2⁻³²
//! ```
//!
//! Event: none of its own. The vector is a function of answers without noise, whose sensitivity the
//! gate cannot know, so it is answered only under a [`Claim`](crate::PaperClaim), and no such run is
//! certified. Proof: none is claimed; the noise itself is that of proofs/noise-gaussian-grid.md.

use reticent_accountant::Event;
use reticent_noise::entropy::Entropy;
use reticent_problem::Shape;
use serde::Serialize;

use super::minimiser::noisy_point;
use super::{Query, check_noise, check_range, wrong};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::terms::Terms;

/// A vector with noise, where a paper has it. Answered under a claim alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Perturbed<'a> {
    /// The vector.
    pub values: &'a [f64],
    /// What the noise is in units of.
    pub scale: f64,
    /// `z`, in units of the scale.
    pub noise_multiplier: f64,
}

impl Query for Perturbed<'_> {
    const NAME: &'static str = "perturbed";
    type Answer = Vec<f64>;

    fn check(&self, _: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)?;
        check_range("scale", self.scale, 1e-50, 1e50)?;
        // Steps of the grid are whole numbers of 63 bits. The message has no value in it: it would
        // have no noise.
        let most = self.scale * (1_u64 << 28) as f64;
        if self.values.iter().all(|value| value.abs() <= most) {
            return Ok(());
        }
        Err(Refusal::BadQuery(format!(
            "what is to be perturbed has to be between −{most:e} and {most:e}"
        )))
    }

    fn events(&self, _: Shape, _: &Terms) -> Result<Vec<Event>, Refusal> {
        Err(wrong(
            "noise on a vector that was computed elsewhere is for algorithms as published, under their claim",
        ))
    }

    fn made_up(&self, _: Shape, _: &Terms, next: &mut dyn FnMut() -> f64) -> Vec<f64> {
        self.values.iter().map(|_| next()).collect()
    }

    fn answer(&self, _: &mut GateState, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        noisy_point(self.values, self.scale, self.noise_multiplier, entropy)
    }
}
