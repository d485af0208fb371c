//! What can be asked of the gate: a file per query, each with its event and its proof note.

mod bin_counts;
mod column_sums;
#[cfg(test)]
mod column_tests;
mod consensus;
mod coordinate;
mod correction;
mod count;
mod curvature;
mod erased;
mod errors;
#[cfg(test)]
mod evaluation_tests;
mod gradient;
mod histogram;
mod log_odds_line;
mod minimiser;
mod objective;
mod perturbed;
mod quantile;
mod record_sum;
#[cfg(test)]
mod record_sum_tests;
mod residual;
mod score;
mod second_moment;
mod steepest_column;
mod sum_query;

pub use bin_counts::{BinCounts, Bins};
pub use column_sums::ColumnSums;
pub use consensus::{Consensus, ConsensusTerms, Moving};
pub use coordinate::Coordinate;
pub use correction::Correction;
pub use count::Count;
pub use curvature::Curvature;
pub use errors::Errors;
pub use gradient::{ClippedMean, Gradient};
pub use histogram::{Histogram, HistogramCells};
pub use log_odds_line::LogOddsLine;
pub use minimiser::Minimiser;
pub use objective::PerturbedObjective;
pub use perturbed::Perturbed;
pub use quantile::Quantile;
pub use residual::{Residual, ResidualTerms};
pub use score::Score;
pub use second_moment::SecondMoment;
pub use steepest_column::{SteepestColumn, SteepestWay};

pub(crate) use erased::{Erased, QueryAnswer};
pub(crate) use record_sum::RecordSum;
pub(crate) use sum_query::{AskSum, AskedSum};

use reticent_accountant::Event;
use reticent_noise::entropy::Entropy;
use reticent_noise::grid::{GaussianGrid, GridNoise};
use reticent_problem::Shape;
use serde::Serialize;

use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::sums::grid;
use crate::terms::Terms;

/// Noise of so many clips, or more, is none that the grid has: what is refused is refused before it
/// is entered.
const MAX_NOISE: f64 = GaussianGrid::limit(grid::BITS);

/// One use of the data: what is asked, as a value, with its answer's type, its event and how it is
/// answered. It is put by `oracle.ask(&query)`.
///
/// Nobody outside this crate can add one, because what it would be answered from has no name there:
/// whoever adds a way to look at the data does it here, under review.
pub trait Query: Serialize {
    /// Tells its kind from every other in the contexts of noise: canonical bytes name no type, and
    /// questions of two kinds may have the same.
    const NAME: &'static str;

    /// What is released.
    type Answer: QueryAnswer;

    /// Refuses numbers that cannot be, by public quantities alone.
    fn check(&self, shape: Shape, terms: &Terms) -> Result<(), Refusal>;

    /// What the books will say, a function of public quantities alone.
    fn events(&self, shape: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal>;

    /// Refuses what the loss of a gate does not allow, before anything is entered. A rehearsal has
    /// no loss.
    fn fits(&self, _: &GateState) -> Result<(), Refusal> {
        Ok(())
    }

    /// Refuses what cannot be asked of rows that others hold: all but sums over records, and a sample
    /// where their number is private.
    fn fits_held(&self, _: &Terms) -> Result<(), Refusal> {
        Err(Refusal::NoSum)
    }

    /// Refuses what cannot be asked of records that have weights: all but sums over records, of which
    /// each is clipped after its weight or does not read it (proofs/weights.md).
    fn fits_weights(&self) -> Result<(), Refusal> {
        Err(Refusal::Weighted)
    }

    /// The answer from sums alone, each asked for by `ask` and given with its noise, whoever adds it;
    /// refused for what needs more than sums.
    fn answer_from_sums(
        &self,
        _: Shape,
        _: &Terms,
        _: &mut AskSum<'_>,
    ) -> Result<Self::Answer, Refusal> {
        Err(Refusal::NoSum)
    }

    /// Whether the answer moves the blocks of a consensus, on which later answers depend.
    fn moves_blocks(&self) -> bool {
        false
    }

    /// What a rehearsal has in place of an answer; `next` gives small numbers without pattern.
    fn made_up(&self, shape: Shape, _: &Terms, next: &mut dyn FnMut() -> f64) -> Self::Answer {
        Self::Answer::made_up(shape, next)
    }

    /// The answer, noise included. Called once, after the events are in the ledger.
    fn answer(
        &self,
        inside: &mut GateState,
        entropy: &mut Entropy,
    ) -> Result<Self::Answer, Refusal>;
}

/// Noise of `noise_multiplier` clips on sums in steps of the grid.
pub(crate) fn add_noise(
    entropy: &mut Entropy,
    noise_multiplier: f64,
    sum: &mut [i64],
) -> Result<(), Refusal> {
    if noise_multiplier > 0.0 {
        GaussianGrid::new(noise_multiplier, grid::BITS)?.perturb(entropy, sum)?;
    }
    Ok(())
}

/// Refuses a number outside a range.
pub(crate) fn check_range(name: &str, value: f64, least: f64, most: f64) -> Result<(), Refusal> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    // Settings are finite; what is not was computed from answers.
    check_finite(&[value])?;
    Err(Refusal::BadQuery(format!("{name} = {value}: it must be between {least} and {most}")))
}

pub(crate) fn wrong(what: &str) -> Refusal {
    Refusal::BadQuery(what.to_owned())
}

/// Refuses a clip for which norms could underflow or overflow.
fn check_clip(clip: f64) -> Result<(), Refusal> {
    check_range("clip", clip, 1e-100, 1e100)
}

/// Refuses a noise multiplier that is not a number of clips.
fn check_noise(noise_multiplier: f64) -> Result<(), Refusal> {
    if noise_multiplier == 0.0 || (1e-6..MAX_NOISE).contains(&noise_multiplier) {
        return Ok(());
    }
    Err(Refusal::BadQuery(format!(
        "noise multiplier = {noise_multiplier}: it must be from 1e-6 to below {MAX_NOISE}, or 0 for no noise and no privacy"
    )))
}

/// Refuses a parameter of the wrong length, or one that is not finite: an algorithm that diverged
/// must stop rather than spend budget on nonsense.
pub(crate) fn check_point(at: &[f64], shape: Shape) -> Result<(), Refusal> {
    if at.len() != shape.len() {
        return Err(Refusal::BadQuery(format!(
            "a parameter of length {} was given where {} is needed",
            at.len(),
            shape.len()
        )));
    }
    check_finite(at)
}

/// Refuses images of another number of coordinates, or such that are not finite.
pub(crate) fn check_basis(images: Option<&[f64]>, width: usize) -> Result<(), Refusal> {
    let Some(images) = images else { return Ok(()) };
    if images.len() != width * width {
        return Err(wrong("a basis needs an image for each coordinate of a row"));
    }
    check_finite(images)
}

/// Refuses numbers that ran away.
pub(crate) fn check_finite(values: &[f64]) -> Result<(), Refusal> {
    if values.iter().all(|v| v.is_finite()) {
        return Ok(());
    }
    Err(Refusal::Diverged(
        "the iterates are no longer finite: take a smaller step size or more noise-robust settings"
            .to_owned(),
    ))
}

/// Refuses a minimiser that cannot be computed accurately. How accurately depends on where its
/// solver starts and on where it is pulled to, which were computed from answers.
fn too_flat() -> Refusal {
    Refusal::Diverged(
        "the minimiser cannot be released: the objective is too flat for its solution to be computed accurately: give a \
         larger ridge"
            .to_owned(),
    )
}
