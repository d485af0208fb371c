//! What can be asked of the gate: a file per query, each with one event and one proof note.

mod gradient;

pub(crate) use gradient::Gradient;
pub use gradient::GradientTerms;

use reticent_accountant::Event;
use reticent_problem::Shape;

use crate::entropy::Entropy;
use crate::gate::Inside;
use crate::refusal::Refusal;
use crate::terms::Terms;

/// Noise of so many clips still fits, with room for 60 standard deviations, beside the largest sum.
const MAX_NOISE: f64 = (1 << 24) as f64;

/// One use of the data. The trait is private to this crate: whoever adds a way to look at the data does it
/// here, under review.
pub(crate) trait Query {
    /// What is released.
    type Answer;

    /// Refuses numbers that cannot be, by public quantities alone.
    fn check(&self, shape: Shape) -> Result<(), Refusal>;

    /// What the books will say, a function of public quantities alone.
    fn event(&self, terms: &Terms) -> Result<Event, Refusal>;

    /// The answer, noise included. Called once, after the event is in the ledger.
    fn answer(&self, inside: &mut Inside, entropy: &mut Entropy) -> Result<Self::Answer, Refusal>;
}

/// Refuses a clip for which norms could underflow or overflow.
fn check_clip(clip: f64) -> Result<(), Refusal> {
    if (1e-100..=1e100).contains(&clip) {
        return Ok(());
    }
    Err(Refusal::BadQuery(format!(
        "clip = {clip}: the clip must be a positive number between 1e-100 and 1e100"
    )))
}

/// Refuses a noise multiplier that is not a number of clips.
fn check_noise(noise_multiplier: f64) -> Result<(), Refusal> {
    if noise_multiplier == 0.0 || (1e-6..=MAX_NOISE).contains(&noise_multiplier) {
        return Ok(());
    }
    Err(Refusal::BadQuery(format!(
        "noise multiplier = {noise_multiplier}: it must be between 1e-6 and {MAX_NOISE}, or 0 for no noise and no privacy"
    )))
}

/// Refuses a parameter of the wrong length, or one that is not finite: an algorithm that diverged must stop
/// rather than spend budget on nonsense.
pub(crate) fn check_point(at: &[f64], shape: Shape) -> Result<(), Refusal> {
    if at.len() != shape.len() {
        return Err(Refusal::BadQuery(format!(
            "a parameter of length {} was given where {} is needed",
            at.len(),
            shape.len()
        )));
    }
    if at.iter().any(|v| !v.is_finite()) {
        return Err(Refusal::BadQuery(
            "the iterates are no longer finite: take a smaller step size or more noise-robust settings"
                .to_owned(),
        ));
    }
    Ok(())
}
