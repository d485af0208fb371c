//! `clip_share`: a part of the budget buys the scale of the residuals, which the clip of a loss
//! without a bounded slope is then in proportion to.
//!
//! ```text
//! τ = noisy median of |b| among 2^(−j/2), j = 0 … 15      |b|, the residual at a parameter of zeros
//! the rest of the run as for a loss whose slope is at most min(2τ, 1)
//! ```
//!
//! Why. Noise is in proportion to the clip, and a target that fills a sixth of its declared range
//! would have six times the noise that it needs: what is learnt is then worse than nothing. Every
//! rule of the defaults is relative to the bound of the slope, so that with 2τ in its place the noise
//! of a score is a part of τ and not of the range. Twice, because that is what a bound is for the
//! classification losses that the rules were found on: at a score of 0 they are half as steep.
//!
//! Which part. The noise of one of the four counts, in units, is 2/(s√share): a twentieth of all
//! where that is to be had for a tenth of the budget or less. Below s = 30 a tenth buys nothing, and
//! the clip is a part of the range (see [`ProblemFacts::slope`]).
//!
//! Released: τ, once, before everything else, as a Gaussian event with noise z₁/√share over all
//! units, z₁ being the noise with which it would spend the whole budget; then what the algorithm
//! releases. Proof: proofs/quantile.md.

use std::sync::Arc;

use reticent_oracle::queries::Quantile;
use reticent_oracle::{Oracle, RecordStatistic, Refusal, Refused};
use reticent_problem::Regulariser;

use crate::algorithms::{Algorithm, Tell};
use crate::block_schedule::BlockSchedule;
use crate::catalogue::{AlgorithmEntry, Build, Recipe};
use crate::settings::{ProblemFacts, Settings};

/// The median.
const FRACTION: f64 = 0.5;

/// What the scale may be found to be: 2^(−j/2), four counts to tell.
const CANDIDATES: [f64; 16] = [
    0.005_524_271_728_019_903,
    0.007_812_5,
    0.011_048_543_456_039_806,
    0.015_625,
    0.022_097_086_912_079_61,
    0.031_25,
    0.044_194_173_824_159_22,
    0.062_5,
    0.088_388_347_648_318_45,
    0.125,
    0.176_776_695_296_636_9,
    0.25,
    0.353_553_390_593_273_8,
    0.5,
    std::f64::consts::FRAC_1_SQRT_2,
    1.0,
];

/// The slope that counts as the bound, in medians; no residual at zeros is above 1.
const BOUND: f64 = 2.0;

/// The root of the number of counts.
const ROOT: f64 = 2.0;

/// The noise of a count that is little enough, in units over all.
const NOISE: f64 = 0.05;

/// The most of the budget that it gets, and the least that can be given.
const MOST: f64 = 0.1;
const LEAST: f64 = 1e-6;

/// The signal below which it is not worth its price.
const WORTH: f64 = 30.0;

/// An algorithm that asks for the scale first.
struct Scaled {
    build: Build,
    settings: Settings,
    /// With what is left of the budget.
    public: ProblemFacts,
    regulariser: Arc<Regulariser>,
    noise_multiplier: f64,
    /// The noise of the scale.
    scale_noise: f64,
    iterations: u64,
}

impl AlgorithmEntry {
    /// The algorithm for a recipe, behind the question for the scale of the residuals where that is
    /// asked.
    ///
    /// # Errors
    /// A setting that cannot be.
    pub(crate) fn built(
        &self,
        build: Build,
        recipe: &Recipe<'_>,
    ) -> Result<Box<dyn Algorithm>, Refused> {
        let share = if self.takes.contains(&"clip_share") { recipe.clip_share()? } else { None };
        // `auto` hands on what it chose, the share among it.
        let Some(share) = share.filter(|_| self.name != "auto") else { return build(recipe) };
        let Recipe { settings, public, regulariser, noise_multiplier } = recipe;
        let mut scaled = Scaled {
            build,
            // The scale that it buys is then a bound like any other.
            settings: Settings { clip_share: None, ..(*settings).clone() },
            public: public.with_share(1.0 - share),
            regulariser: Arc::clone(regulariser),
            noise_multiplier: *noise_multiplier,
            scale_noise: public.whole_budget / share.sqrt(),
            iterations: 0,
        };
        // Whatever cannot be is refused before anything is asked.
        scaled.iterations = scaled.at(1.0)?.iterations();
        Ok(Box::new(scaled))
    }
}

impl Scaled {
    /// What runs with this scale. No number of questions hangs on it.
    fn at(&self, scale: f64) -> Result<Box<dyn Algorithm>, Refused> {
        (self.build)(&Recipe {
            settings: &self.settings,
            public: &ProblemFacts { lipschitz: (BOUND * scale).min(1.0), ..self.public },
            regulariser: &self.regulariser,
            noise_multiplier: self.noise_multiplier,
        })
    }
}

impl Algorithm for Scaled {
    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        let median = Quantile {
            of: RecordStatistic::TargetSize,
            fraction: FRACTION,
            candidates: &CANDIDATES,
            noise_multiplier: self.scale_noise,
        };
        let scale = oracle.ask(&median)?.into_inner();
        let suited = self.at(scale);
        suited.map_err(|error| Refusal::Diverged(error.to_string()))?.run(oracle, tell)
    }
}

impl Recipe<'_> {
    /// The part of the budget for the scale: as it is given, or by public numbers; `None` for none.
    pub(crate) fn clip_share(&self) -> Result<Option<f64>, Refused> {
        let Recipe { settings, public, .. } = self;
        match settings.clip_share {
            None => Ok(self.usual_share()),
            Some(0.0) => Ok(None),
            Some(share) => {
                let refuse = |why: &str| Err(Refused::new("clip_share", share, why));
                if !(LEAST..1.0).contains(&share) {
                    return refuse(&format!("0, or a number from {LEAST:e} to below 1, is needed"));
                }
                if !public.numeric || public.lipschitz.is_finite() {
                    return refuse(
                        "the slope of this loss has a bound, or its target no scale: it is for loss = squared; \
                         leave it out",
                    );
                }
                if settings.clip.is_some() || self.as_published() {
                    return refuse(
                        "it is what a clip is made from, and a clip is given, or a published version asked for; \
                         give one of the two",
                    );
                }
                Ok(Some(share))
            }
        }
    }

    fn usual_share(&self) -> Option<f64> {
        let Recipe { settings, public, .. } = self;
        let open = public.numeric
            && !public.lipschitz.is_finite()
            && settings.clip.is_none()
            && !self.as_published()
            && matches!(settings.schedule, None | Some(BlockSchedule::All));
        let signal = public.signal();
        // Without noise there is nothing to save.
        let pays = open && signal.is_finite() && signal >= WORTH;
        pays.then(|| rounded((ROOT / (NOISE * signal)).powi(2).clamp(LEAST, MOST)))
    }
}

/// To three digits: what is printed can be typed.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::CANDIDATES;

    #[test]
    fn candidates_are_powers_of_a_half() {
        for (j, candidate) in CANDIDATES.iter().rev().enumerate() {
            assert!((candidate - 0.5_f64.powf(j as f64 / 2.0)).abs() < 1e-15, "{j}");
        }
    }
}
