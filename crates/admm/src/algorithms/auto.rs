//! `auto`: an algorithm and its settings from public quantities alone.
//!
//! ```text
//! n̂  the public number of units      R  the bound of the row norm      L, S  bounds of the loss's slope and curvature
//! p  parameters                      z₁ the noise, in clips, with which one answer spends the whole budget
//! s = n̂/z₁ is the signal
//!
//! dp-sgd in coordinates of its own, where s ≥ 0.8p, there are no more than 2000 columns, and the
//! penalty is convex:
//!   a tenth of the budget for the second moment of the rows, 32 steps with a momentum of 0.7 (for a
//!   number without), the late average; behind a linear constraint 96 without momentum, and of
//!   samples 96 for each √ of an epoch;
//!   clip and step follow from what is released (see precondition.rs), and scores are drawn towards
//!   a constant by it (see shrinkage.rs)
//!
//! dp-sgd with momentum in those of the table, elsewhere:
//!   τ  = 0.56·s·min( 1, s/25 )            the time, in steps of 1/(S R²) without momentum
//!   T  the fewest steps with momentum that go for it, about 1.5√s, at most 400
//!   C  = c·L·R,  c = ½                    and more, up to 1, where 400 steps do not go for it
//!   η  = 1/(S R²)                         the largest step that is stable whatever the data; shorter
//!                                         where T steps would go for longer
//!   β  = 0.97                             the most momentum; the solution is the last iterate
//! ```
//!
//! Why. T answers that share a budget have √T times the noise of one, so a full-batch method in
//! small steps has the same noise at a given time η·T whatever T is: what must be chosen is the
//! time. In coordinates in which all directions are equally curved a short time is enough for all
//! of them, and a second moment is cheap where s is well above p: it is one answer, and the noise
//! of each of its entries is that of a mean over everybody. Where almost all records are of one
//! class the loss is hardly curved anywhere, and momentum is what takes few steps far enough. A
//! penalty behind a linear constraint ties many coefficients together, and more and shorter steps
//! come closer to its solution; they go as far and have the same noise.
//!
//! In the table's own coordinates the noise of a score, in directions that the loss has hardly curved
//! by then, is about c·τ/s·L/S, whatever p is: a row has the norm R, and the noise of one direction
//! is that of any other. So the time is in proportion to s. The intercept, which has 0.3·R of every
//! row behind it, needs about as much to tell the share of the classes: with less a model of many
//! columns is worse than a constant. With hardly any signal there is nothing to learn, and less noise
//! is better. The derivative of a classification loss is far below its bound for most records, so a
//! clip of half of the bound, below which nothing is at a score of 0, costs little. The constants
//! were measured: docs/auto.md.
//!
//! All quantities are relative to R, L and S: a table in other units gives the same model in those
//! units. L of the squared loss is bought, where that pays (see [`crate::residual_scale`]); a loss
//! without a bound of its curvature counts as one with 1, a kink that is as wide as that.
//!
//! Released: whatever the chosen algorithm releases. The choice itself reads no data, so it costs
//! nothing.

use serde::{Deserialize, Serialize};

use super::Algorithm;
use crate::average::Average;
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe, find};
use crate::momentum::{ahead, needed};
use crate::precondition::{ITERATIONS, whitened_steps};
use crate::settings::Settings;
use crate::step_size::StepSize;
use reticent_oracle::{Refused, Sampling};

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "auto",
    about: "one of the others, with settings from public quantities: nothing to tune",
    reference: "docs/auto.md",
    takes: takes![iterations sampling clip clip_share step momentum average precondition shrinkage],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: AlgorithmKind::Private(build),
};

/// The part of the budget that a second moment gets.
const SHARE: f64 = 0.1;

/// The least signal for each parameter with which a second moment is worth its price.
const WORTH: f64 = 0.8;

/// The most columns, the constant behind the intercept among them, that steps are taken in coordinates of their
/// own for: with more nothing was measured (docs/auto.md), and time grows with their square. How large the
/// table is does not count: where its images are kept changes no bit of them.
pub const MOST_COLUMNS: usize = 2000;

/// Iterations in coordinates of its own, and their momentum for classes, from gradients of all
/// records.
const FEW: u64 = 32;
const PUSH: f64 = 0.7;

/// How far from 1 the factor of the scores is expected to be, in coordinates of its own.
const SHRINKAGE: f64 = 0.3;

/// The time in the coordinates of the table for each s, in steps of 1/(S R²) and at a clip of
/// [`CLIP`], and the s below which it is less.
const TIME: f64 = 0.56;
const FAINT: f64 = 25.0;

/// The clip in the coordinates of the table, as a part of the bound.
const CLIP: f64 = 0.5;

/// More than this is time and no accuracy.
const MOST_ITERATIONS: f64 = 400.0;

/// The most momentum.
const MOMENTUM: f64 = 0.97;

/// A part of a run, and what it gets of the budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunPart {
    /// What is asked.
    pub what: &'static str,
    /// How often.
    pub answers: u64,
    /// Its part of the budget of the run; `None` for samples, of which what one costs beside the
    /// others is not known beforehand.
    pub share: Option<f64>,
}

/// What was chosen: typed by hand, it is the same run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoChoice {
    /// The algorithm.
    pub algorithm: String,
    /// All of its settings that matter.
    pub settings: Settings,
}

impl AutoChoice {
    /// The steps in coordinates of its own, of gradients of all records.
    pub const FEW: u64 = FEW;

    /// The same behind a constraint other than identity.
    pub const MANY: u64 = ITERATIONS as u64;

    /// Whether steps are taken in coordinates of its own, which are learned first.
    pub fn learns_coordinates(&self) -> bool {
        self.settings.precondition.is_some_and(|share| share != 0.0)
    }

    /// What was chosen, as names and values: given in place of `auto`, they make the same run.
    pub fn given(&self) -> Vec<(&'static str, String)> {
        let algorithm = ("algorithm", self.algorithm.clone());
        std::iter::once(algorithm).chain(self.settings.given()).collect()
    }

    /// What the run is made of, in its order.
    pub fn parts(&self) -> Vec<RunPart> {
        let scale = self.settings.clip_share.unwrap_or(0.0);
        let share = self.settings.precondition.unwrap_or(0.0);
        let answers = self.settings.iterations.unwrap_or(0);
        // A sample costs what it costs, and not the square of what is drawn.
        let sampled = self.settings.sampling.is_some_and(|sampling| sampling != Sampling::Full);
        let alone = share == 0.0 && scale == 0.0;
        let left = 1.0 - scale;
        let known = |part: f64| (alone || !sampled).then_some(left * part);
        let median = (!sampled).then_some(scale);
        let median = RunPart { what: "median size of the targets", answers: 1, share: median };
        let moment = RunPart { what: "second moment of the rows", answers: 1, share: known(share) };
        let gradients = RunPart { what: "mean gradient", answers, share: known(1.0 - share) };
        let median = (scale > 0.0).then_some(median);
        let moment = (share > 0.0).then_some(moment);
        median.into_iter().chain(moment).chain([gradients]).collect()
    }
}

/// The choice for a problem. What the user has set stays, and the rest is chosen around it.
pub(crate) fn choose(recipe: &Recipe<'_>) -> Result<AutoChoice, Refused> {
    let share = recipe.clip_share()?;
    // What is chosen by the signal is chosen by what the scale of the residuals leaves of it.
    let public = recipe.public.with_share(1.0 - share.unwrap_or(0.0));
    let left = Recipe { public: &public, ..*recipe };
    let chosen = if is_whitened(&left) { whitened(&left) } else { plain(&left, share.is_some()) };
    let chosen = Settings { clip_share: share, ..chosen };
    Ok(AutoChoice { algorithm: "dp-sgd".to_owned(), settings: recipe.settings.clone().or(chosen) })
}

/// Whether to take steps in coordinates of their own.
fn is_whitened(recipe: &Recipe<'_>) -> bool {
    let Recipe { settings, public, regulariser, .. } = recipe;
    if let Some(share) = settings.precondition {
        return share != 0.0;
    }
    let columns = public.shape.features + usize::from(public.shape.intercept);
    // A clip or a step that is given is in the coordinates of the table.
    settings.clip.is_none()
        && settings.step.is_none()
        && regulariser.penalty().is_convex()
        && public.signal() >= WORTH * public.shape.len() as f64
        && columns <= MOST_COLUMNS
        && recipe.no_moment().is_none()
}

/// In coordinates of its own; clip and step follow from what is released.
fn whitened(recipe: &Recipe<'_>) -> Settings {
    let sampling = recipe.sampling();
    let Recipe { settings, public, regulariser, .. } = recipe;
    // As many as were given are those of any problem.
    let constrained = !regulariser.constraint().is_identity() && settings.iterations.is_none();
    let few = sampling == Sampling::Full && !constrained;
    let steps = if few { FEW } else { whitened_steps(recipe.per_epoch(sampling)) };
    Settings {
        iterations: Some(steps),
        sampling: Some(sampling),
        // The squared loss is curved alike everywhere: there is no long way, and momentum adds noise.
        momentum: (few && !public.numeric).then_some(PUSH),
        average: Some(Average::Late),
        precondition: Some(SHARE),
        shrinkage: recipe.no_shrinkage().is_none().then_some(SHRINKAGE),
        ..Settings::default()
    }
}

/// In the coordinates of the table.
fn plain(recipe: &Recipe<'_>, scaled: bool) -> Settings {
    let Recipe { settings, public, .. } = recipe;
    let (bound, signal) = (public.row_norm * public.slope(), public.signal());
    let per_epoch = recipe.per_epoch(recipe.sampling());

    // A clip that follows from the scale of the residuals is the whole of it.
    let usual = if scaled { 1.0 } else { CLIP };
    let share = settings.clip.map_or(usual, |clip| clip / bound);
    // The noise of a score is in proportion to clip and time.
    let time = TIME * signal * (signal / FAINT).min(1.0) * public.reach() * CLIP / share;
    let most = settings.momentum.unwrap_or(MOMENTUM);
    let steps = needed(time, most).clamp(1.0, MOST_ITERATIONS) * per_epoch.max(1.0).sqrt();
    let iterations = settings.iterations.unwrap_or_else(|| steps.round() as u64);
    // More steps, as those of samples are, go as far together, or less far where their noise is more.
    let left = recipe.walked(iterations as f64, per_epoch) / signal;
    let length = time * left.min(1.0) / ahead(iterations.max(1) as f64, most);
    Settings {
        iterations: Some(iterations),
        sampling: Some(recipe.sampling()),
        clip: (!scaled).then(|| rounded((CLIP * length).clamp(CLIP, 1.0) * bound)),
        step: Some(StepSize::Constant(rounded(length.min(1.0) / public.curvature()))),
        momentum: Some(MOMENTUM),
        average: Some(Average::Last),
        ..Settings::default()
    }
}

/// To three digits: what is printed can be typed, and nothing hangs on more.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    recipe.only(&ENTRY)?;
    let choice = choose(recipe)?;
    let chosen = Recipe { settings: &choice.settings, ..*recipe };
    let built = find(&choice.algorithm).map(|entry| entry.build(&chosen)).transpose()?;
    built.flatten().ok_or_else(|| {
        let allowed = "auto chose what does not exist; report this";
        Refused::new("algorithm", choice.algorithm, allowed)
    })
}

#[cfg(test)]
mod tests {
    use super::{
        AutoChoice, CLIP, FAINT, FEW, MOMENTUM, MOST_COLUMNS, MOST_ITERATIONS, PUSH, SHARE,
        SHRINKAGE, TIME, WORTH, rounded,
    };

    const DOCUMENT: &str = include_str!("../../../../docs/auto.md");

    #[test]
    fn the_document_has_the_constants() {
        for cell in [
            format!("τ = {TIME}·s·min(1, s/{FAINT})"),
            format!("at most {MOST_ITERATIONS}"),
            format!("| `momentum` | {MOMENTUM} |"),
            format!("| `iterations` | {FEW}; behind a linear constraint {} |", AutoChoice::MANY),
            format!("| `momentum` | {PUSH} |"),
            format!("| `clip` C | c·L·R with c = {CLIP}"),
            format!("| `precondition` | {SHARE} |"),
            format!("| `shrinkage` | {SHRINKAGE} |"),
            format!("s ≥ {WORTH}p"),
            format!("at most {MOST_COLUMNS} columns"),
        ] {
            assert!(DOCUMENT.contains(&cell), "docs/auto.md lacks {cell}");
        }
    }

    #[test]
    fn three_digits_are_kept() {
        assert_eq!([rounded(0.261_478), rounded(1234.5), rounded(1e-9)], [0.261, 1230.0, 1e-9]);
    }
}
