//! Known defects, for `reticent audit` to find: an auditor that finds nothing proves nothing.
//!
//! This file and the few lines that call it exist only in builds with `RETICENT_SEEDED_BUGS=1`
//! (build.rs), which no dependant can ask for. The books are kept as if the defect were not there, as they
//! would be with a real one.

use reticent_masks::{AggregationTerms as MaskTerms, NoiseShare, NoiseShareError};
use reticent_noise::Sampling;
use reticent_noise::entropy::{Entropy, EntropyError};

use crate::inside::GateState;
use crate::queries::{AskedSum, ClippedMean, QueryAnswer, RecordSum, ResidualTerms};
use crate::sums::{ColumnTerms, PartialTerms};

reticent_core::words! {
    /// One defect of the gate.
    #[derive(Eq)]
    pub enum Bug = "bug" {
        /// Half of the noise that is counted.
        NoiseHalved = "noise-halved",
        /// Records are not clipped (up to a thousand clips, where the grid ends).
        ClipMissing = "clip-missing",
        /// Samples without replacement, counted as Poisson samples. One record then pushes another
        /// one out, and under add-remove the sum moves by up to two clips where one is counted.
        PoissonCounted = "poisson-counted",
        /// Sums are divided by the true number of units, which add-remove keeps private.
        TrueCount = "true-count",
        /// The noise of every answer is the same.
        NoiseReused = "noise-reused",
        /// Full gradients without noise: the snapshot of LS22, Algorithm 1 (erratum E5).
        SnapshotUnnoised = "snapshot-unnoised",
        /// The sensitivity of a model update without its factor η, with η = 4 (RDP20, equation 21;
        /// erratum E4): a quarter of the noise.
        StepForgotten = "step-forgotten",
        /// The mean of m messages with noise for a gain of 1/m² where it is 1/m (FP23, Theorem 3;
        /// erratum E3): 1/√m of the noise on the mean of consensus blocks.
        GainSquared = "gain-squared",
        /// A table of as many units as the public number, or more, is answered with zeros: a
        /// refusal that looks at the records, swallowed on its way.
        SwallowedRows = "swallowed-rows",
        /// A sum over drawn parties, where a record is protected: noise for what the record moves,
        /// counted as if it were secret who was drawn.
        SampleShows = "sample-shows",
        /// The token of a walk is not rounded to the lattice of the noise after its prox: its last
        /// bits say what it was before.
        OffLatticeToken = "off-lattice-token",
        /// A checkpoint of other tables is resumed: whose table has not changed repeats its noise
        /// in answer to other things.
        ForkedNoise = "forked-noise",
        /// An accountant whose losses overflow, and that answers zero.
        OverflowToZero = "overflow-to-zero",
    }
}

impl Bug {
    /// The step at which [`Bug::StepForgotten`] forgets it.
    pub const FORGOTTEN_STEP: f64 = 4.0;

    /// What is certified by an accountant with the defect where one without it says `epsilon`.
    pub fn certified(self, epsilon: f64) -> f64 {
        if self == Bug::OverflowToZero { 0.0 } else { epsilon }
    }

    /// A seed to begin every answer with.
    pub(crate) fn reused_seed(self, entropy: &mut Entropy) -> Result<Option<u64>, EntropyError> {
        (self == Bug::NoiseReused).then(|| entropy.below(u64::MAX)).transpose()
    }

    /// What is left of the noise of one answer that is the mean of so many messages.
    fn noise_left(self, messages: f64) -> f64 {
        match self {
            Bug::NoiseHalved => 0.5,
            Bug::StepForgotten => 1.0 / Bug::FORGOTTEN_STEP,
            Bug::GainSquared => 1.0 / messages.max(1.0).sqrt(),
            _ => 1.0,
        }
    }
}

/// What is left of a trusted aggregator's noise on the mean of so many blocks.
pub(crate) fn mean_noise_left(bug: Option<Bug>, messages: f64) -> f64 {
    bug.map_or(1.0, |bug| bug.noise_left(messages))
}

/// How a residual is computed.
pub(crate) fn spoiled_residual(bug: Option<Bug>, params: ResidualTerms) -> ResidualTerms {
    let ResidualTerms { clip, record_clip, noise_multiplier, .. } = params;
    if bug == Some(Bug::ClipMissing) {
        return ResidualTerms {
            clip: clip * UNCLIPPED,
            record_clip: record_clip * UNCLIPPED,
            noise_multiplier: noise_multiplier / UNCLIPPED,
            ..params
        };
    }
    let left = mean_noise_left(bug, 1.0);
    ResidualTerms { noise_multiplier: noise_multiplier * left, ..params }
}

/// What the columns of a table are scored with, for a choice among them.
pub(crate) fn spoiled_columns(bug: Option<Bug>, terms: ColumnTerms) -> ColumnTerms {
    let (times, left) = match bug {
        Some(Bug::ClipMissing) => (UNCLIPPED, 1.0 / UNCLIPPED),
        _ => (1.0, mean_noise_left(bug, 1.0)),
    };
    let scale = ((terms.scale as f64 * left) as u64).max(1);
    let partial = PartialTerms { clip: terms.partial.clip * times, ..terms.partial };
    ColumnTerms { partial, scale, ..terms }
}

/// A member's share of the noise of a masked sum.
pub(crate) fn spoiled_share(
    bug: Option<Bug>,
    share: &NoiseShare,
    masks: &MaskTerms,
) -> Result<NoiseShare, NoiseShareError> {
    match mean_noise_left(bug, 1.0) {
        1.0 => Ok(*share),
        left => NoiseShare::new(masks, 0, left * share.whole()),
    }
}

/// A sum over records when the gate has a defect, and what its answer is multiplied with.
pub(crate) fn spoiled_sum<'a>(inside: &GateState, asked: AskedSum<'a>) -> (AskedSum<'a>, f64) {
    let AskedSum { what, sampling, noise_multiplier } = asked;
    let mut params = ClippedMean { clip: what.clip(), noise_multiplier, sampling };
    let mut scale = 1.0;
    let what = match what {
        RecordSum::Gradient { at, .. } => {
            if inside.bug == Some(Bug::SnapshotUnnoised) {
                params.noise_multiplier = 0.0;
            }
            (params, scale) = spoiled(inside, &params);
            RecordSum::Gradient { at, clip: params.clip }
        }
        RecordSum::Correction { at, from, .. } => {
            (params, scale) = spoiled(inside, &params);
            RecordSum::Correction { at, from, clip: params.clip }
        }
        other => {
            if inside.bug == Some(Bug::NoiseHalved) {
                params.noise_multiplier /= 2.0;
            }
            other
        }
    };
    let ClippedMean { sampling, noise_multiplier, .. } = params;
    (AskedSum { what, sampling, noise_multiplier }, scale)
}

/// The same for the mean of consensus blocks.
pub(crate) fn spoiled_blocks(inside: &GateState, params: &ClippedMean) -> (ClippedMean, f64) {
    let (mut spoiled, scale) = spoiled(inside, params);
    if let Some(bug @ Bug::GainSquared) = inside.bug {
        let messages = params.sampling.normaliser(inside.terms.population() as f64);
        spoiled.noise_multiplier *= bug.noise_left(messages);
    }
    (spoiled, scale)
}

/// An answer, so many times as large.
pub(crate) fn scaled<A: QueryAnswer>(answer: A, scale: f64) -> A {
    A::from_values(answer.into_values().into_iter().map(|value| value * scale).collect())
}

/// How a mean is computed when the gate has a defect, and what it is multiplied with: it is read as
/// if there were none.
fn spoiled(inside: &GateState, params: &ClippedMean) -> (ClippedMean, f64) {
    let (mut params, units) = (*params, inside.holder.units());
    let divided_by = |population: f64| params.sampling.normaliser(population);
    let normaliser = divided_by(inside.terms.population() as f64);
    let mut scale = 1.0;
    match inside.bug {
        Some(bug @ (Bug::NoiseHalved | Bug::StepForgotten)) => {
            params.noise_multiplier *= bug.noise_left(1.0);
        }
        Some(Bug::ClipMissing) => {
            params.clip *= UNCLIPPED;
            params.noise_multiplier /= UNCLIPPED;
            scale = UNCLIPPED;
        }
        Some(Bug::PoissonCounted) => {
            if let Sampling::Poisson(rate) = params.sampling {
                let size = (rate * inside.terms.population() as f64).round().max(1.0);
                params.sampling = Sampling::WithoutReplacement((size as u64).min(units as u64));
            }
        }
        Some(Bug::TrueCount) => scale = normaliser / divided_by(units.max(1) as f64),
        Some(Bug::SwallowedRows) if units as u64 >= inside.terms.population() => scale = 0.0,
        // What they touch is not here; the others are elsewhere in the gate, in the runtime and in
        // the books.
        Some(Bug::SnapshotUnnoised | Bug::GainSquared | Bug::SwallowedRows) => {}
        Some(Bug::NoiseReused | Bug::SampleShows | Bug::OverflowToZero) => {}
        Some(Bug::OffLatticeToken | Bug::ForkedNoise) | None => {}
    }
    (params, scale)
}

/// So many clips are as good as none.
const UNCLIPPED: f64 = 1024.0;
