//! Runs of steps along noisy gradients: what they are set to, the coordinates that they may go over
//! to first (see [`crate::precondition`]), and the loop.

use std::fmt::Debug;

use reticent_oracle::queries::ClippedMean;
use reticent_oracle::{Oracle, Refusal, Refused, Sampling};

use crate::algorithms::{Algorithm, Iterate, Tell, told};
use crate::basis::Basis;
use crate::catalogue::Recipe;
use crate::precondition::{Precondition, leave};
use crate::printed::PaperBudget;
use crate::step_size::StepSize;

/// The settings of a run.
#[derive(Debug)]
pub(crate) struct GradientRun {
    pub iterations: u64,
    pub params: ClippedMean,
    pub step: StepSize,
    pub per_epoch: f64,
    precondition: Option<Precondition>,
}

/// The iterates of an algorithm, and its iteration.
pub(crate) trait GradientSteps: Debug {
    /// Where the run has come to.
    fn at(&self) -> &dyn Iterate;

    /// Goes over to other coordinates.
    fn enter(&mut self, basis: Basis, run: &GradientRun);

    /// Does iteration `k`.
    fn iterate(
        &mut self,
        k: u64,
        run: &GradientRun,
        oracle: &mut dyn Oracle,
    ) -> Result<(), Refusal>;

    /// Goes to where the next gradient is taken, where that is no iterate.
    fn prepare(&mut self, _k: u64) {}

    /// See [`Algorithm::printed_noise`].
    fn printed_noise(&self, _: &GradientRun, _: PaperBudget) -> Result<Option<f64>, Refused> {
        Ok(None)
    }
}

impl GradientRun {
    /// What the recipe says, or leaves to the defaults, for gradients of such samples.
    pub fn new(recipe: &Recipe<'_>, sampling: Sampling) -> Result<Self, Refused> {
        let Recipe { settings, public, noise_multiplier, .. } = recipe;
        let per_epoch = recipe.per_epoch(sampling);
        let iterations = settings.iterations_or(recipe.steps(per_epoch))?;
        let (clip, noise_multiplier) = (settings.clip_or_bound(public)?, *noise_multiplier);
        let length = recipe.step_length(iterations as f64, per_epoch);
        Ok(GradientRun {
            iterations,
            params: ClippedMean { clip, noise_multiplier, sampling },
            step: settings.step_or_times(public, length)?,
            per_epoch,
            precondition: Precondition::new(recipe, iterations, per_epoch),
        })
    }

    /// The length of step `k`.
    pub fn eta(&self, k: u64) -> f64 {
        self.step.at(k, self.per_epoch)
    }

    /// The algorithm that takes these steps.
    pub fn with(self, steps: impl GradientSteps + 'static) -> Box<dyn Algorithm> {
        Box::new(GradientAlgorithm { run: self, steps })
    }
}

#[derive(Debug)]
struct GradientAlgorithm<S> {
    run: GradientRun,
    steps: S,
}

impl<S: GradientSteps> Algorithm for GradientAlgorithm<S> {
    fn iterations(&self) -> u64 {
        self.run.iterations
    }

    fn printed_noise(&self, epsilon: f64, delta: f64) -> Result<Option<f64>, Refused> {
        self.steps.printed_noise(&self.run, PaperBudget { epsilon, delta })
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        let GradientRun { params, step, precondition, .. } = &mut self.run;
        if let Some(precondition) = precondition
            && let Some(basis) = precondition.change(oracle, params, step)?
        {
            self.steps.enter(basis, &self.run);
        }
        let ended = self.iterate(oracle, tell);
        leave(oracle, self.run.precondition.as_ref(), ended)?;
        Ok(self.steps.at().published())
    }
}

impl<S: GradientSteps> GradientAlgorithm<S> {
    fn iterate(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<(), Refusal> {
        for k in 1..=self.run.iterations {
            self.steps.iterate(k, &self.run, oracle)?;
            told(tell, k, self.run.iterations, self.steps.at())?;
            self.steps.prepare(k);
        }
        Ok(())
    }
}
