//! `auto`: an algorithm and its settings from public quantities alone.
//!
//! ```text
//! n̂  the public number of units      R  the bound of the row norm      L, S  bounds of the loss's slope and curvature
//! z₁ the noise, in clips, with which one answer spends the whole budget; s = n̂/z₁ is the signal
//!
//! algorithm  dp-sgd                      any loss, penalty and constraint
//! T  = min( 5√s, 400 )                   iterations, all records in each
//! C  = c·L·R,  c = ¼·5√s/T, at most 1    the clip; at 1 nothing is clipped
//! η  = 1/(S R²)                          the largest step that is stable whatever the data
//! β  = 0.97                              the most momentum; the solution is the late average of the iterates
//! ```
//!
//! Why. T answers that share a budget have √T times the noise of one, so a full-batch method in
//! small steps has the same noise at a given time η·T whatever T is: what must be chosen is the
//! time. Momentum makes it η·T²/4. In directions that the loss has hardly curved by then, the noise
//! of a score is about R·(ηT²/4)·C·z₁/n̂, which is c·T²/(4s)·L/S: constant for T in proportion to
//! √(s/c). Later iterates are nearer to the optimum and no noisier than their number allows, so the
//! average counts them more. The derivative of a classification loss is far below its bound for all
//! but the records on the wrong side, so a clip of a quarter of the bound costs little and saves
//! three quarters of the noise; where iterations are at their limit, there is signal to spare and c
//! grows instead. The limit of the momentum damps what noise has set in motion. The constants were
//! measured: docs/auto.md.
//!
//! All quantities are relative to R, L and S: a table in other units gives the same model in those
//! units. A loss without a bound of its slope or curvature counts as one with 1: half of the range
//! of a scaled target, and a kink that is as wide as that.
//!
//! Released: whatever the chosen algorithm releases. The choice itself reads no data, so it costs
//! nothing.

use serde::{Deserialize, Serialize};

use super::Algorithm;
use crate::average::Average;
use crate::catalogue::{Entry, Kind, Recipe, find};
use crate::defaults::CLIP;
use crate::settings::Settings;
use crate::step_size::StepSize;
use reticent_oracle::Refused;

pub(crate) const ENTRY: Entry = Entry {
    name: "auto",
    about: "one of the others, with settings from public quantities: nothing to tune",
    reference: "docs/auto.md",
    takes: &["iterations", "sampling", "clip", "step", "momentum", "average"],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: Kind::Private(build),
};

/// Iterations for each √s at a clip of [`CLIP`].
const PACE: f64 = 5.0;

/// More than this is time and no accuracy.
const MOST_ITERATIONS: f64 = 400.0;

/// The most momentum.
const MOMENTUM: f64 = 0.97;

/// What was chosen: typed by hand, it is the same run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The algorithm.
    pub algorithm: String,
    /// All of its settings that matter.
    pub settings: Settings,
}

impl Choice {
    /// What was chosen, as names and values: given in place of `auto`, they make the same run.
    pub fn given(&self) -> Vec<(&'static str, String)> {
        let algorithm = ("algorithm", self.algorithm.clone());
        std::iter::once(algorithm).chain(self.settings.given()).collect()
    }
}

/// The choice for a problem. What the user has set stays, and the rest is chosen around it.
pub(crate) fn choose(recipe: &Recipe<'_>) -> Result<Choice, Refused> {
    let Recipe { settings, public, .. } = recipe;
    let bound = public.row_norm * if public.lipschitz.is_finite() { public.lipschitz } else { 1.0 };

    // c·T is what the signal allows; one of the two may be given.
    let wanted = PACE * public.signal().sqrt() * CLIP;
    let sampled = recipe.per_epoch(recipe.sampling()).max(1.0).sqrt();
    let share = settings.clip.map_or(CLIP, |clip| clip / bound);
    let iterations = settings
        .iterations
        .unwrap_or_else(|| ((wanted / share).clamp(1.0, MOST_ITERATIONS) * sampled).round() as u64);
    let share = (wanted * sampled / iterations.max(1) as f64).clamp(CLIP, 1.0);

    let chosen = Settings {
        iterations: Some(iterations),
        sampling: Some(recipe.sampling()),
        clip: Some(rounded(share * bound)),
        step: Some(StepSize::Constant(rounded(1.0 / public.curvature()))),
        momentum: Some(MOMENTUM),
        average: Some(Average::Late),
        ..Settings::default()
    };
    Ok(Choice { algorithm: "dp-sgd".to_owned(), settings: (*settings).clone().or(chosen) })
}

/// To three digits: what is printed can be typed, and nothing hangs on more.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    recipe.only(&ENTRY)?;
    let choice = choose(recipe)?;
    match find(&choice.algorithm).map(|entry| entry.kind) {
        Some(Kind::Private(build)) => build(&Recipe { settings: &choice.settings, ..*recipe }),
        _ => Err(Refused::new(
            "algorithm",
            choice.algorithm,
            "auto chose what does not exist; report this",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{MOMENTUM, MOST_ITERATIONS, PACE, rounded};

    const DOCUMENT: &str = include_str!("../../../../docs/auto.md");

    #[test]
    fn the_document_has_the_constants() {
        for cell in
            [format!("min({PACE}√s, {MOST_ITERATIONS})"), format!("| `momentum` | {MOMENTUM} |")]
        {
            assert!(DOCUMENT.contains(&cell), "docs/auto.md lacks {cell}");
        }
    }

    #[test]
    fn three_digits_are_kept() {
        assert_eq!([rounded(0.261_478), rounded(1234.5), rounded(1e-9)], [0.261, 1230.0, 1e-9]);
    }
}
