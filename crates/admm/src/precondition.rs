//! `precondition`: a part of the budget buys the second moment of the rows, and the steps are taken
//! in coordinates in which it is near the identity (see [`crate::basis`]).
//!
//! What an algorithm is then set to, unless it is given, with s the signal, d̃ the directions that
//! stand out of the noise, L and S the loss's bounds:
//!
//! ```text
//! C = c·L·√d̃,  c = 0.07·√(s/d̃), from 0.6 to 2      a clip in mean norms of a row; for a number from 0.7
//! η = a/S,     a = ν s/(c d̃ T′), at most 1          ν = 0.35·√(s/2p), at most 0.35: the noise of a score,
//!                                                   in its scale, by the end of steps of this length
//! T = 96, the late average                          T′ how far T steps go: T, and with momentum more
//! ```
//!
//! Why a clip of at least 0.6. Where the columns say little, a record of either class has a slope of
//! its class alone, and slopes that are clipped at c balance where the probability of a class with
//! the share π is c·π/(1 − π), and not π. Beside the log loss of a constant that costs up to .073 for
//! c = 0.35, .023 for 0.5, .009 for 0.6 and .003 for 0.7. With signal a shorter clip has less noise.

use std::sync::Arc;

use reticent_oracle::queries::{ClippedMean, SecondMoment};
use reticent_oracle::{Oracle, Refusal, Refused};
use reticent_problem::Regulariser;

use crate::average::Average;
use crate::basis::Basis;
use crate::catalogue::{AlgorithmEntry, Recipe};
use crate::momentum::ahead;
use crate::settings::ProblemFacts;
use crate::step_size::StepSize;

/// The clip over √(s/d̃), and its limits, in mean norms of a row.
const CLIP: (f64, f64, f64) = (0.07, 0.6, 2.0);

/// The least clip of a number, whose residuals have no bound that they stay below: what is clipped
/// pulls less, and a penalty as much as before.
const NUMERIC: f64 = 0.7;

/// The noise of a score, in scales of the loss, that steps of full length may come to.
const NOISE: f64 = 0.35;

/// A second moment with a smaller part of the budget is nothing but noise, and with next to nothing
/// there is no such noise.
const LEAST: f64 = 1e-6;

/// Iterations in coordinates of its own, where there is no long way to go.
pub(crate) const ITERATIONS: f64 = 96.0;

/// The same for a sample that needs so many to see everybody.
pub(crate) fn whitened_steps(per_epoch: f64) -> u64 {
    (ITERATIONS * per_epoch.max(1.0).sqrt()).round() as u64
}

/// What coordinates are chosen by, and what is chosen with them.
#[derive(Debug)]
pub(crate) struct Precondition {
    /// The noise of the second moment, in clips.
    noise_multiplier: f64,
    public: ProblemFacts,
    /// s as the noise of the gradients leaves it.
    signal: f64,
    regulariser: Arc<Regulariser>,
    /// How far the steps go, in steps without momentum.
    far: f64,
    clip: bool,
    step: bool,
}

impl Precondition {
    /// For so many gradients of a sample that is seen `per_epoch` times; `None` where the setting
    /// is not there.
    pub fn new(recipe: &Recipe<'_>, iterations: u64, per_epoch: f64) -> Option<Self> {
        let Recipe { settings, public, regulariser, noise_multiplier } = recipe;
        let share = recipe.precondition()?;
        // A sample of a fraction q costs about q² of what everything costs; far from exactly so
        // where q is small, so that the share is one of full batches alone.
        let over = per_epoch * ((1.0 - share) / (share * iterations as f64)).sqrt();
        Some(Precondition {
            noise_multiplier: noise_multiplier * over,
            public: **public,
            signal: recipe.walked(iterations as f64, per_epoch),
            regulariser: Arc::clone(regulariser),
            far: ahead(iterations as f64, settings.momentum.unwrap_or(0.0)),
            clip: settings.clip.is_none(),
            step: settings.step.is_none(),
        })
    }

    /// Asks for the second moment, goes over to its coordinates, and sets what follows from them.
    /// `None` in a rehearsal.
    pub fn change(
        &self,
        oracle: &mut dyn Oracle,
        mean: &mut ClippedMean,
        step: &mut StepSize,
    ) -> Result<Option<Basis>, Refusal> {
        let ProblemFacts { row_norm, smoothness, shape, .. } = self.public;
        let Some(basis) = Basis::ask(oracle, row_norm, self.noise_multiplier, &self.regulariser)?
        else {
            return Ok(None);
        };
        let (signal, directions) = (self.signal, basis.effective());
        let least = if self.public.numeric { NUMERIC } else { CLIP.1 };
        let part = (CLIP.0 * (signal / directions).sqrt()).clamp(least, CLIP.2);
        // A loss with kinks counts as one that is as wide as its scale, and a flat one as any.
        let bound = |bound: f64| if bound.is_finite() && bound > 0.0 { bound } else { 1.0 };
        if self.clip {
            // It follows from an answer, so that no loss may make it one that is refused.
            let clip = part * bound(self.public.slope()) * directions.sqrt();
            mean.clip = clip.clamp(1e-100, 1e100);
        }
        if self.step {
            let noise = NOISE * (signal / (2.0 * shape.len() as f64)).sqrt().min(1.0);
            let time = self.public.reach() * noise * signal / (part * directions);
            let length = (time / self.far).min(1.0);
            *step = StepSize::Constant(length / bound(smoothness));
        }
        Ok(Some(basis))
    }
}

/// Gives the rows back, whatever came of the run: whoever asks next asks about them as they came.
pub(crate) fn leave(
    oracle: &mut dyn Oracle,
    precondition: Option<&Precondition>,
    ended: Result<(), Refusal>,
) -> Result<(), Refusal> {
    if precondition.is_some() {
        oracle.set_basis(None)?;
    }
    ended
}

impl Recipe<'_> {
    /// The part of the budget for the coordinates; `None` for none.
    fn precondition(&self) -> Option<f64> {
        self.settings.precondition.filter(|share| *share != 0.0)
    }

    /// Why there can be no second moment of these rows, by what is public of them; `None` where
    /// there can.
    pub(crate) fn no_moment(&self) -> Option<String> {
        let ProblemFacts { shape, row_norm, .. } = *self.public;
        let (columns, most) =
            (shape.features + usize::from(shape.intercept), SecondMoment::MOST_COLUMNS);
        let norms = SecondMoment::ROW_NORMS;
        if columns > most {
            return Some(format!(
                "coordinates of their own are for at most {most} columns, the intercept among \
                 them, and there are {columns}; leave it out"
            ));
        }
        (!norms.contains(&row_norm)).then(|| {
            format!(
                "coordinates of their own are for rows of a norm from {:e} to {:e}, and the bound \
                 here is {row_norm:.1e}; leave it out, or declare other units",
                norms.start(),
                norms.end()
            )
        })
    }

    /// Whether steps are taken in coordinates of their own, where they can be.
    ///
    /// # Errors
    /// A share that is none, rows that can have no second moment, a penalty that is not convex, and
    /// what speaks of the coordinates of the table.
    pub(crate) fn is_preconditioned(&self, entry: &AlgorithmEntry) -> Result<bool, Refused> {
        let Some(share) = self.precondition() else { return Ok(false) };
        let given = if share.abs() < LEAST { format!("{share:e}") } else { share.to_string() };
        let refuse = |why: &str| Err(Refused::new("precondition", &given, why));
        if !(share > 0.0 && share < 1.0) {
            return refuse("a number from 0 to below 1 is needed");
        }
        if share < LEAST {
            return refuse(&format!("0, or a part of at least {LEAST:e}, is needed"));
        }
        if let Some(why) = self.no_moment() {
            return refuse(&why);
        }
        self.needs_convex(entry)?;
        let settings = self.settings;
        let is_set = |number: Option<f64>| number.is_some_and(|number| number != 0.0);
        let others = [
            ("as_published", self.as_published()),
            ("smoothing", is_set(settings.smoothing)),
            ("strong_convexity", is_set(settings.strong_convexity)),
            ("proximal", settings.proximal.is_some()),
            ("gamma", settings.gamma.is_some()),
        ];
        match others.into_iter().find(|(_, given)| *given) {
            Some((name, _)) => refuse(&format!(
                "steps in coordinates of their own have no {name}; leave one of the two out"
            )),
            None => Ok(true),
        }
    }

    /// Steps of a method without momentum, in either coordinates.
    pub(crate) fn steps(&self, per_epoch: f64) -> u64 {
        match self.precondition() {
            None => self.plain_steps(per_epoch),
            Some(_) => whitened_steps(per_epoch),
        }
    }

    /// The average that was asked for, or in coordinates of their own the late one, and elsewhere
    /// the last iterate, because an average of sparse vectors is not sparse.
    pub(crate) fn average(&self) -> Average {
        let usual = if self.precondition().is_some() { Average::Late } else { Average::Last };
        self.settings.average.unwrap_or(usual)
    }
}
